"""The adapter as a process of this machine."""
