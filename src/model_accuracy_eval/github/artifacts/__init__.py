"""The workflow run's artifact store."""
