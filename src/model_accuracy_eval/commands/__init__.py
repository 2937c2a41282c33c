"""The commands beside `run`, one file a kind; `cli` is their door."""
