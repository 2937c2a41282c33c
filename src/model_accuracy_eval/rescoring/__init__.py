"""Replies that another tool saved, judged again, next to the figures that the tool claims."""
