"""Replies that some tool kept, judged anew, beside the figures that the tool claims."""
