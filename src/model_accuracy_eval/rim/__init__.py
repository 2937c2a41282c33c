"""The real outside world."""

import sys

# httpx brings a command line of its own, for which it imports rich and Pygments wherever they are installed: as much
# time as all the rest of it takes to load. It does without when this module cannot be imported.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
