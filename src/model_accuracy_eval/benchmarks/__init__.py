"""Benchmarks as data: one file a family, and one index of them in `dataset_table.py`."""
