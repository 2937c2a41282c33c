"""What figures decide: gates, comparisons with a baseline, early stop, regressions."""
