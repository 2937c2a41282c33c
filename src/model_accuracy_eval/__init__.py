"""Is this model adapter's inference as accurate as it should be? Answered inside CI, with evidence."""

__version__ = "0.1.0"
