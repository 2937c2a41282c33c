"""How the scripted model weighs texts; both sides of the comparison import this."""

import hashlib


def weigh(context: str, continuation: str) -> tuple[float, bool]:
    """A likelihood that depends on the two texts alone, in eighths, so that ties happen."""
    digest = hashlib.sha256(f"{context}\0{continuation}".encode()).digest()
    return -(digest[0] % 40) / 4 - len(continuation) / 8, digest[1] % 2 == 0
