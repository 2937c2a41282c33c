"""Rows as people write them → questions of one form: columns are found by name, right answers read as what they are."""
