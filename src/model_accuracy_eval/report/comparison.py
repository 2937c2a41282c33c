"""The comparison of two runs as text for the terminal, as Markdown, and as JSON for programs."""

from collections.abc import Iterator, Sequence

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
from model_accuracy_eval.report.languages import say
from model_accuracy_eval.run_folder.runfile import gate_entry

HEAD = ("dataset", "metric", "old", "new", "points", "95 % interval")


def as_json(comparison: Comparison, gated: Report | None = None) -> str:
    """`gated`: the newer run with gates that were decided on it."""
    fields = {**msgspec.to_builtins(comparison), "verdict": verdict(comparison)}
    if gated is not None:
        ending = gated.outcome
        fields["gates"] = [msgspec.to_builtins(gate_entry(each)) for each in gated.gates]
        fields |= {"conclusion": ending.conclusion, "exit_code": ending.exit_code, "sentence": ending.sentence}
    return msgspec.json.format(msgspec.json.encode(fields), indent=2).decode()


def as_text(comparison: Comparison, width: int = tables.WIDTH) -> str:
    blocks = [say("Old: {run}", run=comparison.base) + "\n" + say("New: {run}", run=comparison.new)]
    blocks += [tables.fitted([head(), *cells(comparison)], width) if comparison.changes else _nothing()]
    blocks += ["\n".join([f"{change.dataset}:", *(f"  {line}" for line in remarks(change))])
               for change in comparison.changes]  # fmt: skip
    blocks.append("\n".join(run_remarks(comparison)))
    return "\n\n".join(block for block in blocks if block)


def as_markdown(comparison: Comparison) -> str:
    """A table and lists, without a heading of their own."""
    table = tables.as_markdown([head(), *cells(comparison)]) if comparison.changes else f"{_nothing()}\n"
    runs = say("Old: run `{old}`. New: run `{new}`.", old=comparison.base, new=comparison.new)
    return (
        "\n".join(
            [
                runs,
                "",
                markdown.text(verdict(comparison), 1000),
                "",
                table,
                *(f"- {line}" for line in lines(comparison)),
            ]
        ).rstrip()
        + "\n"
    )


def head() -> tuple[str, ...]:
    return tuple(map(say, HEAD))


def _nothing() -> str:
    return say("Nothing to compare: the runs have no dataset in common.")


_TOLD = 3
"""Datasets of which the sentence tells what changed."""


def verdict(comparison: Comparison) -> str:
    """What changed since the older run, in a sentence, those datasets first of which it is known."""
    told = sorted((_changed(change) for change in comparison.changes), key=lambda each: each[0])
    shown = [sentence for _, sentence in told[:_TOLD]] or [say("nothing can be compared")]
    more = [say("{count} more datasets are below", count=len(told) - _TOLD)] if len(told) > _TOLD else []
    return say("Against the run {run}: {changes}.", run=comparison.base[:8], changes="; ".join([*shown, *more]))


def _changed(change: DatasetChange) -> tuple[int, str]:
    """How it ranks: 0 a change that is no chance, 1 one that may be, 2 none that is known; and the words."""
    named = [each for each in change.differences if each.metric.startswith("avg@")] or list(change.differences)
    difference = named[0] if named else None
    if difference is None or difference.points is None:
        return 2, say("{dataset} cannot be compared", dataset=change.dataset)
    what = say("{metric} of {dataset}", metric=difference.metric, dataset=change.dataset)
    moved, interval = difference.points, difference.interval
    if difference.bounds is not None:
        return 2, say(
            "{what} changed by {points} points, depending on samples without a verdict",
            what=what,
            points=points(difference),
        )
    template = "{what} fell by {points} points" if moved < 0 else "{what} rose by {points} points"
    told = say(template, what=what, points=figures.number(abs(moved)))
    if interval is None or interval.low == interval.high == 0:
        return 1, told if abs(moved) >= _VISIBLE else say("{what} is the same", what=what)
    if interval.low <= 0 <= interval.high:
        rank, told = 1, say("{told}, which may be chance ({interval})", told=told, interval=points_interval(difference))
    else:
        ends = sorted((abs(interval.low), abs(interval.high)))
        rank, told = 0, f"{told} ({ends[0]:.2f} .. {ends[1]:.2f}, 95 %)"
    if (flips := change.flips) is None:
        return rank, told
    return rank, say(
        "{told}, {lost} problems have fewer right samples and {gained} more",
        told=told,
        lost=flips.lost,
        gained=flips.gained,
    )


_VISIBLE = 0.005
"""Smaller changes are shown as 0.00."""


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
    if samples := figures.counts_compared(change.old_counts, change.new_counts):
        yield say("Samples: {changes}.", changes=samples)
    yield from _speed(change.old_speed, change.new_speed)


def run_remarks(comparison: Comparison) -> Iterator[str]:
    """Sentences about the two runs as a whole."""
    yield from comparison.notes
    if told := [_of_speed(each) for each in comparison.speed]:
        yield f"Speed: {'; '.join(told)}."
    if comparison.only_base:
        yield say("Only in the old run: {datasets}.", datasets=", ".join(comparison.only_base))
    if comparison.only_new:
        yield say("Only in the new run: {datasets}.", datasets=", ".join(comparison.only_new))


def _of_speed(difference: Difference) -> str:
    interval = f" ({points_interval(difference)})" if difference.interval else ""
    change = f"{signed(difference.points or 0.0)} %{interval}"
    return f"{difference.metric} {difference.old or 0.0:,.2f} → {difference.new or 0.0:,.2f}, {change}"


def _flips(flips: Flips, problems: int) -> Iterator[str]:
    yield say(
        "Of {problems} problems, {gained} have more right samples than before and {lost} fewer (sign test: p = {p}).",
        problems=problems,
        gained=flips.gained,
        lost=flips.lost,
        p=f"{flips.p:.2g}",
    )
    if flips.first_gained:
        yield say("Gained: {problems}.", problems=_ids(flips.first_gained, flips.gained))
    if flips.first_lost:
        yield say("Lost: {problems}.", problems=_ids(flips.first_lost, flips.lost))


def _ids(ids: Sequence[int], count: int) -> str:
    listed = ", ".join(map(str, ids))
    return say("{listed} and {count} more", listed=listed, count=count - len(ids)) if count > len(ids) else listed


def _speed(old: Speed, new: Speed) -> Iterator[str]:
    for figure in figures.of_units("comparison", "seconds", "tokens a reply"):
        before, after = getattr(old, figure.field), getattr(new, figure.field)
        if before is not None and after is not None:
            moved = _moved(before, after, ".3f" if figure.unit == "seconds" else ",.0f")
            yield say("{figure}: {changes}.", figure=say(figure.name), changes=moved)


def _moved(before: Spread, after: Spread, form: str) -> str:
    pairs = {say("median"): (before.p50, after.p50), "p99": (before.p99, after.p99)}
    unit = " s" if form == ".3f" else ""
    return ", ".join(f"{name} {old:{form}} → {new:{form}}{unit}" for name, (old, new) in pairs.items())
