"""Sentences that keep a reader from misreading figures: lost, cut, empty and suspiciously equal samples."""

from collections.abc import Iterator, Mapping, Sequence

from model_accuracy_eval.records import Counts, RunPlan, Sampling, Tally


def notes(
    plan: RunPlan, sampling: Sampling, counts: Counts, tallies: Sequence[Tally], *, problems: int, all_equal: bool
) -> tuple[str, ...]:
    """In the order of how much they can mislead."""
    return (
        *_partial(len(tallies), problems),
        *_lost(counts),
        *_unjudged(counts),
        *_unreadable(plan, counts),
        *_sampling(sampling, all_equal=all_equal),
    )


def cropped(sizes: Mapping[int, int]) -> Iterator[str]:
    """`sizes`: tokens that a context was cropped to → contexts."""
    for window, contexts in sizes.items():
        yield (
            f"{contexts:,} contexts were longer than the {window:,} tokens that the model reads at once, and lost "
            "their beginning."
        )


def _partial(marked: int, problems: int) -> Iterator[str]:
    if marked < problems:
        yield f"The run ended early: {marked} of {problems} problems have all their samples, and only those are marked."


def _lost(counts: Counts) -> Iterator[str]:
    if counts.failed:
        yield f"{counts.failed} of {counts.planned} samples failed after all retries and count as not correct."
    if counts.rejected:
        yield f"{counts.rejected} of {counts.planned} samples were rejected by the service and count as not correct."


def _unjudged(counts: Counts) -> Iterator[str]:
    if counts.unjudged:
        yield (
            f"{counts.unjudged} of {counts.answered} answers could not be judged, and count as not correct; "
            "--mode eval --reuse asks about them again."
        )


def _unreadable(plan: RunPlan, counts: Counts) -> Iterator[str]:
    if counts.reasoning_only and not plan.score_reasoning:
        yield (
            f"{counts.reasoning_only} replies hold reasoning and nothing else; they count as empty. "
            "If the service puts its answers there, judge them with --score-reasoning."
        )
    if counts.cut:
        yield f"{counts.cut} of {counts.answered} replies were cut by length: consider a larger --max-tokens."
    if counts.not_found:
        yield f"In {counts.not_found} of {counts.answered} replies no answer was found; they count as not correct."


def _sampling(sampling: Sampling, *, all_equal: bool) -> Iterator[str]:
    if not all_equal:
        return
    if sampling.temperature:
        yield (
            f"All {sampling.n} samples are the same text in every problem although temperature is "
            f"{sampling.temperature:g}: the service decodes greedily; pass@k and cons@k say no more than accuracy."
        )
    else:
        yield f"Temperature is 0 and the {sampling.n} samples of every problem are equal: they are one sample."
