"""Right or wrong of every sample → figures with intervals, for datasets and groups."""
