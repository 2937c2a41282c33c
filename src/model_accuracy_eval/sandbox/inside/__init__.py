"""What runs within the isolation. It is sent there as text, so it needs Python 3.10 and the standard library alone."""
