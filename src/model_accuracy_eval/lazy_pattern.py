"""Regular expressions that are compiled at their first use: a long one takes a millisecond, and a run uses few."""

import re
from typing import Any, AnyStr, cast


class _LazyPattern:
    def __init__(self, source: str | bytes, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        """Called once for each method that is used: afterwards it is the compiled pattern's own."""
        method = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, method)
        return method


def lazy_pattern(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Used as what `re.compile` returns."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(source, flags))
