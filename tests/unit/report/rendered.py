"""A comment as a Markdown renderer shows it: its tags, its tables, and the text between them."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

from markdown_it import MarkdownIt

MENTION = re.compile(r"(?<![A-Za-z0-9_`])@[A-Za-z0-9]")
REFERENCE = re.compile(r"#\d|\bGH-\d", re.IGNORECASE)
ADDRESS = re.compile(
    r"https?://|ftp://|\bwww\.|\b(?:mailto|xmpp):|[\w.+-]+@[\w-]+\.[\w-]*[A-Za-z0-9]", re.IGNORECASE | re.ASCII
)


@dataclass
class Shown:
    tags: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    """Outside `pre` and `code`, where nothing is linked."""
    code: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.shown = Shown()
        self.depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.shown.tags.append(tag)
        self.shown.links += [value or "" for name, value in attrs if name in {"href", "src"}]
        self.depth += tag in {"pre", "code"}
        if tag == "tr":
            self.shown.rows.append([])
        if tag in {"td", "th"}:
            self.shown.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag in {"pre", "code"}

    def handle_comment(self, data: str) -> None:
        self.shown.comments.append(data)

    def handle_data(self, data: str) -> None:
        (self.shown.code if self.depth else self.shown.texts).append(data)
        if self.shown.rows and self.shown.rows[-1]:
            self.shown.rows[-1][-1] += data


def render(markdown: str) -> Shown:
    reader = _Reader()
    reader.feed(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown))
    reader.close()
    reader.shown.rows = [[cell.strip() for cell in cells] for cells in reader.shown.rows]
    return reader.shown


def live(shown: Shown) -> list[str]:
    """Whatever GitHub would make a mention, a reference or a link of."""
    return [text for text in shown.texts for what in (MENTION, REFERENCE, ADDRESS) if what.search(text)]
