"""The platform that repositories live on: GitHub, and git."""
