"""The adapter in a container beside us."""
