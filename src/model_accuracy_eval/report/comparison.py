"""The comparison of two runs as text for the terminal, as Markdown, and as JSON for programs."""

from collections.abc import Iterator

import msgspec

from model_accuracy_eval.records import (
    Comparison,
    DatasetChange,
    Difference,
    Flips,
    Report,
    Speed,
    Spread,
)
from model_accuracy_eval.report import figures, markdown, tables
from model_accuracy_eval.report.figures import signed
from model_accuracy_eval.run_folder.runfile import gate_entry

HEAD = ("dataset", "metric", "old", "new", "points", "95 % interval")
_NOTHING = "Nothing to compare: the runs have no dataset in common."


def as_json(comparison: Comparison, verdict: Report | None = None) -> str:
    """`verdict`: the newer run with gates that were decided on it."""
    fields = msgspec.to_builtins(comparison)
    if verdict is not None:
        ending = verdict.outcome
        fields["gates"] = [msgspec.to_builtins(gate_entry(each)) for each in verdict.gates]
        fields |= {"conclusion": ending.conclusion, "exit_code": ending.exit_code, "sentence": ending.sentence}
    return msgspec.json.format(msgspec.json.encode(fields), indent=2).decode()


def as_text(comparison: Comparison, width: int = tables.WIDTH) -> str:
    blocks = [f"Old: {comparison.base}\nNew: {comparison.new}"]
    blocks += [tables.fitted([HEAD, *cells(comparison)], width) if comparison.changes else _NOTHING]
    blocks += ["\n".join([f"{change.dataset}:", *(f"  {line}" for line in remarks(change))])
               for change in comparison.changes]  # fmt: skip
    blocks.append("\n".join(run_remarks(comparison)))
    return "\n\n".join(block for block in blocks if block)


def as_markdown(comparison: Comparison) -> str:
    """A table and lists, without a heading of their own."""
    table = tables.as_markdown([HEAD, *cells(comparison)]) if comparison.changes else f"{_NOTHING}\n"
    runs = f"Old: run `{comparison.base}`. New: run `{comparison.new}`."
    return "\n".join([runs, "", table, *(f"- {line}" for line in lines(comparison))]).rstrip() + "\n"


def lines(comparison: Comparison) -> Iterator[str]:
    """Everything but the figures, as sentences that start with their dataset; safe inside Markdown."""
    for change in comparison.changes:
        name = markdown.text(change.dataset, 100)
        yield from (f"{name}: {markdown.text(line, 1000)}" for line in remarks(change))
    yield from (markdown.text(line, 1000) for line in run_remarks(comparison))


def cells(comparison: Comparison) -> list[tuple[str, ...]]:
    """The lines below `HEAD`, one for every metric of every dataset."""
    return [
        (
            change.dataset,
            difference.metric,
            figures.number(difference.old),
            figures.number(difference.new),
            points(difference),
            points_interval(difference),
        )
        for change in comparison.changes
        for difference in change.differences
    ]


def points(difference: Difference) -> str:
    """With lost samples their limits: such a change is not known exactly."""
    if difference.points is None:
        return "-"
    return signed(difference.points) if difference.bounds is None else figures.range_of(difference.bounds, signed)


def points_interval(difference: Difference) -> str:
    interval = difference.interval
    if interval is not None and interval.low == interval.high == 0:
        return "± 0"
    return "-" if interval is None else f"{interval.low:+.2f} .. {interval.high:+.2f}"


def remarks(change: DatasetChange) -> Iterator[str]:
    """Sentences about one dataset: notes, flips, samples and speed."""
    yield from change.notes
    if change.flips is not None:
        yield from _flips(change.flips, change.problems)
    yield f"Samples: {figures.counts_compared(change.old_counts, change.new_counts)}."
    yield from _speed(change.old_speed, change.new_speed)


def run_remarks(comparison: Comparison) -> Iterator[str]:
    """Sentences about the two runs as a whole."""
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


def _speed(old: Speed, new: Speed) -> Iterator[str]:
    for figure in figures.of_units("comparison", "seconds"):
        before, after = getattr(old, figure.field), getattr(new, figure.field)
        if before is not None and after is not None:
            yield f"{figure.name}: {_seconds(before, after)}."


def _seconds(before: Spread, after: Spread) -> str:
    pairs = {"median": (before.p50, after.p50), "p99": (before.p99, after.p99)}
    return ", ".join(f"{name} {old:.3f} → {new:.3f} s" for name, (old, new) in pairs.items())
