"""A report as text: table, page, comment, terminal, exports. `figures.py` has the columns."""
