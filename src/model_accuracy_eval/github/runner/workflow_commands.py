"""Workflow commands: how one is written to the log, and how other text is kept from being one.

The runner reads `::name key=value::data` at the start of a line and the older `##[name]data` anywhere in one,
on stdout and stderr alike. Lines end at LF, CR or both; blanks before a command are skipped.
"""

import base64
import re
from collections.abc import Iterator
from typing import Literal
from urllib.parse import quote

AnnotationLevel = Literal["notice", "warning", "error"]

MESSAGE_UNITS = 4096
"""UTF-16 units, as the runner counts."""
TITLE_UNITS = 255

# More line ends and blanks than the runner has, in case it learns more of them.
_LINE_START = re.compile(r"(\A|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])([\s\x00-\x1f\u200b-\u200d\u2060\ufeff]*)::")
_SHORTEST_MASKED_LINE = 4
"""A shorter line of a longer secret, such as a brace, would hide half of the log."""


def workflow_command(name: str, data: str = "", properties: dict[str, str] | None = None) -> str:
    """One line, without its end."""
    pairs = ",".join(f"{key}={escape_property(value)}" for key, value in (properties or {}).items() if value)
    return f"::{name}{' ' + pairs if pairs else ''}::{escape_data(data)}"


def escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def neutralize(text: str) -> str:
    """The text with a blank inside everything that the runner would take for a command."""
    return _LINE_START.sub(r"\1\2: :", text).replace("##[", "## [")


def cut(text: str, longest: int) -> str:
    """At most so many UTF-16 units, with an ellipsis if something is missing; no character is split."""
    units = text.encode("utf-16-le", "replace")
    if len(units) <= 2 * longest:
        return text
    return units[: 2 * (longest - 1)].decode("utf-16-le", "ignore") + "…"


def secret_forms(secret: str) -> Iterator[str]:
    """The lines of a secret, and how it looks inside a URL or a header."""
    lines = [line.strip() for line in secret.splitlines() if line.strip()]
    yield from (line for line in lines if len(lines) == 1 or len(line) >= _SHORTEST_MASKED_LINE)
    text = secret.strip()
    if len(text) < _SHORTEST_MASKED_LINE:
        return
    raw = text.encode("utf-8", "surrogateescape")
    forms = [quote(raw, safe=""), *_base64_forms(raw), *_base64_forms(b"x-access-token:" + raw)]
    yield from (form for form in dict.fromkeys(forms) if form != text)


def _base64_forms(raw: bytes) -> tuple[str, str]:
    """In both alphabets, without padding: a mask also hides text that contains it."""
    return base64.b64encode(raw).decode().rstrip("="), base64.urlsafe_b64encode(raw).decode().rstrip("=")
