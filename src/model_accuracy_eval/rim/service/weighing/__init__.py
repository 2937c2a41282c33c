"""How likely a service finds given texts: the ways to find that out, and which of them it offers."""
