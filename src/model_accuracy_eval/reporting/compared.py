"""Two runs side by side, for the terminal, for Markdown and for programs."""

from collections.abc import Iterator

import msgspec

from model_accuracy_eval.records import Change, Comparison, Counts, Difference, Flips, Speed, Spread
from model_accuracy_eval.reporting import foreign, summary

HEAD = ("dataset", "metric", "old", "new", "points", "95 % interval")
_NOTHING = "Nothing to compare: the runs have no dataset in common."


def as_json(comparison: Comparison) -> str:
    return msgspec.json.format(msgspec.json.encode(comparison), indent=2).decode()


def as_text(comparison: Comparison) -> str:
    blocks = [f"Old: {comparison.base}\nNew: {comparison.new}"]
    blocks += [summary.as_plain([HEAD, *cells(comparison)]) if comparison.changes else _NOTHING]
    blocks += ["\n".join([f"{change.dataset}:", *(f"  {line}" for line in remarks(change))])
               for change in comparison.changes]  # fmt: skip
    blocks.append("\n".join(apart(comparison)))
    return "\n\n".join(block for block in blocks if block)


def as_markdown(comparison: Comparison) -> str:
    """A table and lists, without a heading of their own."""
    table = summary.as_markdown([HEAD, *cells(comparison)]) if comparison.changes else f"{_NOTHING}\n"
    said = f"Old: run `{comparison.base}`. New: run `{comparison.new}`."
    return "\n".join([said, "", table, *(f"- {line}" for line in lines(comparison))]).rstrip() + "\n"


def lines(comparison: Comparison) -> Iterator[str]:
    """Everything beside the figures, each sentence with its dataset; names of foreign datasets are harmless in it."""
    for change in comparison.changes:
        name = foreign.text(change.dataset, 100)
        yield from (f"{name}: {foreign.text(line, 1000)}" for line in remarks(change))
    yield from (foreign.text(line, 1000) for line in apart(comparison))


def cells(comparison: Comparison) -> list[tuple[str, ...]]:
    return [_cells(change, one) for change in comparison.changes for one in change.differences]


def _cells(change: Change, one: Difference) -> tuple[str, ...]:
    return (change.dataset, one.metric, summary.number(one.old), summary.number(one.new), points(one), span(one))


def points(one: Difference) -> str:
    """Signed, except for nothing."""
    if one.points is None:
        return "-"
    return f"{one.points:+.2f}" if abs(one.points) >= 0.005 else "0.00"


def span(one: Difference) -> str:
    return "-" if one.interval is None else f"{one.interval.low:+.2f} .. {one.interval.high:+.2f}"


def remarks(change: Change) -> Iterator[str]:
    """What to know of one dataset beside its figures."""
    yield from change.notes
    if change.flips is not None:
        yield from _flips(change.flips, change.problems)
    yield from _counts(change.old_counts, change.new_counts)
    yield from _speed(change.old_speed, change.new_speed)


def apart(comparison: Comparison) -> Iterator[str]:
    """What is said of the runs as wholes."""
    yield from comparison.notes
    if comparison.only_base:
        yield f"Only in the old run: {', '.join(comparison.only_base)}."
    if comparison.only_new:
        yield f"Only in the new run: {', '.join(comparison.only_new)}."


def _flips(flips: Flips, problems: int) -> Iterator[str]:
    yield (
        f"Of {problems} problems, {flips.gained} have more right samples than before and {flips.lost} fewer "
        f"(sign test: p = {flips.p:.2g})."
    )
    for word, ids, number in (("Gained", flips.first_gained, flips.gained), ("Lost", flips.first_lost, flips.lost)):
        if ids:
            more = f" and {number - len(ids)} more" if number > len(ids) else ""
            yield f"{word}: {', '.join(map(str, ids))}{more}."


def _counts(old: Counts, new: Counts) -> Iterator[str]:
    shown = {
        "failed": (old.failed, new.failed),
        "rejected": (old.rejected, new.rejected),
        "missing": (old.missing, new.missing),
        "without an answer in them": (old.not_found, new.not_found),
        "cut by length": (old.cut, new.cut),
    }
    told = [f"{before} → {after} {what}" for what, (before, after) in shown.items() if before or after]
    yield f"Samples: {', '.join([f'{old.planned} → {new.planned} planned', *told])}."


def _speed(old: Speed, new: Speed) -> Iterator[str]:
    for what, before, after in (("First text", old.ttft, new.ttft), ("Whole answer", old.e2e, new.e2e)):
        if before is not None and after is not None:
            yield f"{what}: {_seconds(before, after)}."


def _seconds(before: Spread, after: Spread) -> str:
    pairs = {"median": (before.p50, after.p50), "p99": (before.p99, after.p99)}
    return ", ".join(f"{name} {one:.3f} → {two:.3f} s" for name, (one, two) in pairs.items())
