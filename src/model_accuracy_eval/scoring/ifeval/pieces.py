"""A reply cut at a divider of asterisks."""


def pieces(reply: str, divider: str) -> list[str]:
    """What stands between the dividers. A divider may open or close the reply, but two of them with nothing in between
    divide nothing: then there are no pieces."""
    found = [piece.strip() for piece in reply.split(divider)]
    return [piece for piece in found if piece] if all(found[1:-1]) else []
