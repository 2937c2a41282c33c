"""Foreign text inside Markdown that GitHub renders: shown as it is, and nothing more than text.

Model names, dataset names and sentences that quote a service may hold anything: a table's bar, a tag, a mention
that would write to a stranger, a link, a reference that shows up in somebody's issue.
"""

import html
import re
from urllib.parse import quote

_BREAK = "\u200b"
"""A blank of no width: what it stands in looks the same and is no longer recognised."""

_UNSEEN = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")
_BLANKS = re.compile(r"\s+")
_LIVE = (
    # What is a word is GitHub's business: `²mailto:` has no word's edge for Unicode, and has one for it.
    # `avg@5` stays whole, so that a gate can be copied; any other @ may be a mention or an address.
    (re.compile(r"(?<![A-Za-z])@|@(?!\d+(?![\w.-]|[^\W_]))"), f"@{_BREAK}"),
    (re.compile(r"#(?=\d)"), f"#{_BREAK}"),
    (re.compile(r"(GH)-(?=\d)", re.IGNORECASE), rf"\1{_BREAK}-"),
    (re.compile(r":(?=//)"), f":{_BREAK}"),
    # At the end, too: the dot or the colon that our own sentence goes on with would complete an address.
    (re.compile(r"(www)(?=\.|\Z)", re.IGNORECASE), rf"\1{_BREAK}"),
    (re.compile(r"(mailto|xmpp)(?=:|\Z)", re.IGNORECASE), rf"\1{_BREAK}"),
    (re.compile(r"\b([0-9a-f]{6})(?=[0-9a-f]+\b)", re.ASCII), rf"\1{_BREAK}"),
)
_MARKUP = re.compile(r"[\\`*_\[\]~!]")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "$": "&#36;", '"': "&quot;"})
_IN_ADDRESSES = ":/?#@!$&'*+,;=%~"
_STARTS_A_BLOCK = re.compile(r"^([-+#=]|\d+[.)](?=\s|\Z))")
_WORD = re.compile(r"[\w.-]{1,64}", re.ASCII)


def text(raw: str, longest: int = 200) -> str:
    """One line of plain words, for a sentence or a table's cell."""
    clean = clip(_BLANKS.sub(" ", _UNSEEN.sub("", sound(raw))).strip(), longest)
    for live, dead in _LIVE:
        clean = live.sub(dead, clean)
    marked = _MARKUP.sub(r"\\\g<0>", clean).translate(_ENTITIES)
    return _STARTS_A_BLOCK.sub(lambda match: _as_entity(match[0]), marked)


def _as_entity(start: str) -> str:
    return f"{start[:-1]}&#{ord(start[-1])};"


def code(raw: str) -> str:
    """A name of ours, such as a commit: easy to copy, as long as it is one word."""
    return f"`{raw}`" if _WORD.fullmatch(raw) else text(raw)


def block_line(raw: str, longest: int = 2000) -> str:
    """One line inside `<pre>`, where nothing but a tag or an entity means anything."""
    return html.escape(clip(_UNSEEN.sub("", sound(raw.replace("\x1b", ""))).rstrip(), longest))


def link(words: str, url: str) -> str:
    """A link of ours; what is no web address is words alone."""
    if not url.startswith(("https://", "http://")):
        return text(words)
    return f"[{text(words)}](<{quote(sound(url), safe=_IN_ADDRESSES)}>)"


def clip(raw: str, longest: int) -> str:
    return raw if len(raw) <= longest else f"{raw[: longest - 1]}…"


def sound(raw: str) -> str:
    """Without halves of characters, which no file and no request can carry."""
    return raw.encode("utf-8", "replace").decode()
