"""Markdown with a size limit: the important parts get their space first, the others say how much is left out."""

from collections.abc import Callable, Sequence

from model_accuracy_eval.records import Record

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
        summary = f"{part.title}: {len(folded)} more" if visible else part.title
        inner = "\n".join([*part.head, *folded, *part.foot])
        blocks.append(f"<details><summary>{summary}</summary>\n\n{inner}\n\n</details>")
    if count < total:
        end = "first" if part.keep_end else "last"
        blocks.append(f"_{part.title}: the {end} {total - count} of {total} lines do not fit here; see the artifact._")
    return "\n\n".join(blocks)
