"""The language of the runner's log: how a command is written, and how foreign text is kept from being one.

The runner reads `::name key=value::data` at the start of a line and the older `##[name]data` anywhere in one,
on stdout and stderr alike. Lines end at LF, CR or both; blanks before a command are skipped.
"""

import base64
import re
from collections.abc import Callable, Iterator
from typing import Literal
from urllib.parse import quote

Level = Literal["notice", "warning", "error"]

LONGEST_MESSAGE = 4096
"""UTF-16 units, as the runner counts."""
LONGEST_TITLE = 255

# More line ends and blanks than the runner's own, so that a change on its side finds nothing new.
_LINE_START = re.compile(r"(\A|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])([\s\x00-\x1f\u200b-\u200d\u2060\ufeff]*)::")
_SHORTEST_LINE = 4
"""A shorter line of a longer secret, such as a brace, would mask half of the log."""


def command(name: str, data: str = "", properties: dict[str, str] | None = None) -> str:
    """One line, without its end."""
    told = ",".join(f"{key}={escape_property(value)}" for key, value in (properties or {}).items() if value)
    return f"::{name}{' ' + told if told else ''}::{escape_data(data)}"


def escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def neutral(text: str) -> str:
    """Foreign text in which nothing is a command any more; a reader sees one blank more."""
    return _LINE_START.sub(r"\1\2: :", text).replace("##[", "## [")


def cut(text: str, longest: int) -> str:
    """At most so many UTF-16 units, with an ellipsis where something is missing; no character is torn."""
    units = text.encode("utf-16-le", "replace")
    if len(units) <= 2 * longest:
        return text
    return units[: 2 * (longest - 1)].decode("utf-16-le", "ignore") + "…"


def secret_forms(secret: str) -> Iterator[str]:
    """The lines of a secret, and how it looks inside a URL or a header."""
    lines = [line.strip() for line in secret.splitlines() if line.strip()]
    yield from (line for line in lines if len(lines) == 1 or len(line) >= _SHORTEST_LINE)
    whole = secret.strip()
    if len(whole) < _SHORTEST_LINE:
        return
    raw = whole.encode("utf-8", "surrogateescape")
    forms = [quote(raw, safe=""), *_encoded(raw), *_encoded(b"x-access-token:" + raw)]
    yield from (form for form in dict.fromkeys(forms) if form != whole)


def _encoded(raw: bytes) -> tuple[str, str]:
    """Without padding: a mask hides what it is a part of as well."""
    return base64.b64encode(raw).decode().rstrip("="), base64.urlsafe_b64encode(raw).decode().rstrip("=")


class ForeignLines:
    """A file to write foreign text to; it passes on whole lines, so that no command comes together of two writes."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._rest = ""

    def write(self, text: str) -> int:
        whole, end, rest = (self._rest + text).rpartition("\n")
        self._rest = rest
        if end:
            self._say(whole)
        return len(text)

    def flush(self) -> None:
        """Part of a line stays until its end is there."""

    def close(self) -> None:
        if self._rest:
            self._say(self._rest)
            self._rest = ""
