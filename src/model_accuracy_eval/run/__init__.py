"""One run, from its plan to its report; `pipeline.py` tells the story."""
