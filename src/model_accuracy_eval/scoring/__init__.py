"""Reply → answer → right or wrong → figures → verdict: filters, answers, metrics, figures, verdicts."""
