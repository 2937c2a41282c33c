"""Where data and weights come from."""
