"""Text from outside, made harmless for Markdown that GitHub renders: readers see it as it is, and only as text.

Model names, dataset names and sentences that quote a service may contain anything: a table's bar, a tag, a mention
that would notify a stranger, a link, a reference that shows up in an issue.
"""

import html
import re
from collections.abc import Callable, Sequence
from urllib.parse import quote

from model_accuracy_eval.records import Record
from model_accuracy_eval.report.languages import say

_ZERO_WIDTH_SPACE = "\u200b"
"""Inside a mention or an address it changes nothing for the eye, and GitHub no longer recognises it."""

_INVISIBLE = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
_BLANKS = re.compile(r"\s+")
_RECOGNISED = (
    # No \b here: GitHub sees the start of a word in `²mailto:`, where Unicode sees none.
    # `avg@5` stays whole, so that a gate can be copied; any other @ may be a mention or an address.
    (re.compile(r"(?<![A-Za-z])@|@(?!\d+(?![\w.-]|[^\W_]))"), f"@{_ZERO_WIDTH_SPACE}"),
    (re.compile(r"#(?=\d)"), f"#{_ZERO_WIDTH_SPACE}"),
    (re.compile(r"(GH)-(?=\d)", re.IGNORECASE), rf"\1{_ZERO_WIDTH_SPACE}-"),
    (re.compile(r":(?=//)"), f":{_ZERO_WIDTH_SPACE}"),
    # Also at the end: a dot or a colon with which our own sentence continues would complete an address.
    (re.compile(r"(www)(?=\.|\Z)", re.IGNORECASE), rf"\1{_ZERO_WIDTH_SPACE}"),
    (re.compile(r"(mailto|xmpp)(?=:|\Z)", re.IGNORECASE), rf"\1{_ZERO_WIDTH_SPACE}"),
    (re.compile(r"\b([0-9a-f]{6})(?=[0-9a-f]+\b)", re.ASCII), rf"\1{_ZERO_WIDTH_SPACE}"),
)
_MARKUP = re.compile(r"[\\`*_\[\]~!]")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "$": "&#36;", '"': "&quot;"})
_NOT_LITERAL = str.maketrans("`<>|", "'‹›¦")
_IN_ADDRESSES = ":/?#@!$&'*+,;=%~"
_STARTS_A_BLOCK = re.compile(r"^([-+#=]|\d+[.)](?=\s|\Z))")
_WORD = re.compile(r"[\w.-]{1,64}", re.ASCII)


def text(raw: str, longest: int = 200) -> str:
    """One line without markup, for a sentence or a table's cell."""
    clean = clip(_BLANKS.sub(" ", _INVISIBLE.sub("", valid_unicode(raw))).strip(), longest)
    for pattern, replacement in _RECOGNISED:
        clean = pattern.sub(replacement, clean)
    marked = _MARKUP.sub(r"\\\g<0>", clean).translate(_ENTITIES)
    return _STARTS_A_BLOCK.sub(lambda match: _as_entity(match[0]), marked)


def _as_entity(start: str) -> str:
    return f"{start[:-1]}&#{ord(start[-1])};"


def plain(raw: str) -> str:
    """One line for a terminal, which nothing in it can draw on."""
    return _BLANKS.sub(" ", _INVISIBLE.sub("", valid_unicode(raw))).strip()


def code(raw: str) -> str:
    """A name such as a commit, easy to copy, if it is one word; otherwise as `text`."""
    return f"`{raw}`" if _WORD.fullmatch(raw) else text(raw)


def literal(raw: str, longest: int = 600) -> str:
    """One line as it is, to be copied. Neither does it end itself, nor is it taken for a hidden comment."""
    return f"`{clip(plain(raw), longest).translate(_NOT_LITERAL)}`"


def block_line(raw: str, longest: int = 2000) -> str:
    """One line inside `<pre>`, where only tags and entities have a meaning."""
    return html.escape(clip(_INVISIBLE.sub("", valid_unicode(raw.replace("\x1b", ""))).rstrip(), longest))


def link(words: str, url: str) -> str:
    """A link; the words alone if `url` is no web address."""
    if not url.startswith(("https://", "http://")):
        return text(words)
    return f"[{text(words)}](<{quote(valid_unicode(url), safe=_IN_ADDRESSES)}>)"


def clip(raw: str, longest: int) -> str:
    return raw if len(raw) <= longest else f"{raw[: longest - 1]}…"


def valid_unicode(raw: str) -> str:
    """Replaces lone surrogates, which cannot be encoded for a file or a request."""
    return raw if raw.isascii() else raw.encode("utf-8", "replace").decode()


# Markdown with a size limit: the important parts get their space first, the others say how much is left out.


MeasureText = Callable[[str], int]


class MarkdownPart(Record, frozen=True, kw_only=True):
    """Lines of which the first `shown` are visible at once and the others after unfolding."""

    title: str
    lines: tuple[str, ...]
    rank: int
    """Parts with a smaller rank get their space first."""
    shown: int = 0
    head: tuple[str, ...] = ()
    """Stands before the lines, and again before the folded ones."""
    foot: tuple[str, ...] = ()
    heading: bool = True
    """Whether the title stands above the visible lines."""
    keep_end: bool = False
    """Whether the last lines are kept when space is short, instead of the first: for a log."""


def characters(text: str) -> int:
    """UTF-16 units: never fewer than characters, in whatever way a service counts those."""
    return len(text.encode("utf-16-le")) // 2


def octets(text: str) -> int:
    return len(text.encode())


def fit(opening: str, parts: Sequence[MarkdownPart], closing: str, *, limit: int, measure: MeasureText) -> str:
    """The whole text. `opening` and `closing` are never shortened; the parts keep the order in which they are given."""
    space = limit - measure(opening) - measure(closing) - 4
    bodies = [""] * len(parts)
    for place in sorted(range(len(parts)), key=lambda place: parts[place].rank):
        bodies[place] = _shorten(parts[place], space, measure)
        space -= measure(bodies[place]) + 2 if bodies[place] else 0
    return "\n\n".join(text for text in (opening, *bodies, closing) if text) + "\n"


def _shorten(part: MarkdownPart, space: int, measure: MeasureText) -> str:
    """The part with as many lines as fit, found by bisection: more lines are never shorter."""
    if not part.lines:
        return ""
    least, most = 0, len(part.lines)
    if measure(_render(part, most)) + 2 <= space:
        return _render(part, most)
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if measure(_render(part, middle)) + 2 <= space else (least, middle)
    text = _render(part, least)
    return text if measure(text) + 2 <= space else ""


def _render(part: MarkdownPart, count: int) -> str:
    total = len(part.lines)
    lines = part.lines[total - count :] if part.keep_end else part.lines[:count]
    visible, folded = lines[: part.shown], lines[part.shown :]
    blocks = []
    if visible:
        title = [f"**{part.title}**", ""] if part.heading else []
        blocks.append("\n".join([*title, *part.head, *visible, *part.foot]))
    if folded:
        summary = say("{title}: {count} more", title=part.title, count=len(folded)) if visible else part.title
        inner = "\n".join([*part.head, *folded, *part.foot])
        blocks.append(f"<details><summary>{summary}</summary>\n\n{inner}\n\n</details>")
    if count < total:
        lost = {"title": part.title, "count": total - count, "total": total}
        first = say("{title}: the first {count} of {total} lines do not fit here; see the artifact.", **lost)
        last = say("{title}: the last {count} of {total} lines do not fit here; see the artifact.", **lost)
        blocks.append(f"_{first if part.keep_end else last}_")
    return "\n\n".join(blocks)
