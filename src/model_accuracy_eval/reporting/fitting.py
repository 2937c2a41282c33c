"""Parts of a page with a size limit: the important ones take their room first, the rest says what is missing."""

from collections.abc import Callable, Sequence

from model_accuracy_eval.records import Record

Size = Callable[[str], int]


class Part(Record, frozen=True, kw_only=True):
    """Lines of which the first `shown` are seen at once and the others when somebody unfolds them."""

    title: str
    lines: tuple[str, ...]
    rank: int
    """The smaller, the sooner it gets its room."""
    shown: int = 0
    head: tuple[str, ...] = ()
    """Stands before the lines, and again before the folded ones."""
    foot: tuple[str, ...] = ()
    heading: bool = True
    """Whether the title stands over the lines that are seen at once."""
    last: bool = False
    """Whether the last lines are kept instead of the first, as for the end of a log."""


def characters(text: str) -> int:
    """UTF-16 units: never fewer than characters, however a service counts those."""
    return len(text.encode("utf-16-le")) // 2


def octets(text: str) -> int:
    return len(text.encode())


def page(opening: str, parts: Sequence[Part], closing: str, *, limit: int, size: Size) -> str:
    """`opening` and `closing` are always whole; the parts stand in the order given."""
    room = limit - size(opening) - size(closing) - 4
    bodies = [""] * len(parts)
    for place in sorted(range(len(parts)), key=lambda place: parts[place].rank):
        bodies[place] = _fit(parts[place], room, size)
        room -= size(bodies[place]) + 2 if bodies[place] else 0
    return "\n\n".join(text for text in (opening, *bodies, closing) if text) + "\n"


def _fit(part: Part, room: int, size: Size) -> str:
    """As many lines as fit: found by halving, since more lines are never shorter."""
    if not part.lines:
        return ""
    least, most = 0, len(part.lines)
    if size(_render(part, most)) + 2 <= room:
        return _render(part, most)
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if size(_render(part, middle)) + 2 <= room else (least, middle)
    text = _render(part, least)
    return text if size(text) + 2 <= room else ""


def _render(part: Part, count: int) -> str:
    total = len(part.lines)
    lines = part.lines[total - count :] if part.last else part.lines[:count]
    seen, folded = lines[: part.shown], lines[part.shown :]
    blocks = []
    if seen:
        title = [f"**{part.title}**", ""] if part.heading else []
        blocks.append("\n".join([*title, *part.head, *seen, *part.foot]))
    if folded:
        title_text = f"{part.title}: {len(folded)} more" if seen else part.title
        inner = "\n".join([*part.head, *folded, *part.foot])
        blocks.append(f"<details><summary>{title_text}</summary>\n\n{inner}\n\n</details>")
    if count < total:
        which = "first" if part.last else "last"
        missing = f"the {which} {total - count} of {total} lines have no room here; the artifact has them."
        blocks.append(f"_{part.title}: {missing}_")
    return "\n\n".join(blocks)
