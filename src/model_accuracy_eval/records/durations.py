"""Durations as people read them."""


def duration(seconds: float | None) -> str:
    """`1:02:03` or `2:03`; a dash when it is not known yet."""
    if seconds is None:
        return "–"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
