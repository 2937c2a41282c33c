"""Sentences below the table of speeds: tokens, and how long the cards were not full."""

from collections.abc import Iterator

from model_accuracy_eval.records import DatasetResult, Report


def tokens(result: DatasetResult) -> str:
    """What the service has counted; a sum that lacks requests says so."""
    speed = result.speed
    counted = f"{_whole(speed.prompt_tokens)} prompt tokens, {_whole(speed.completion_tokens)} completion tokens"
    if not speed.uncounted:
        return counted
    requests = "1 request" if speed.uncounted == 1 else f"{speed.uncounted:,} requests"
    return f"{counted} without those of {requests}, of which the service counted none, or one choice of several"


def tail(report: Report) -> Iterator[str]:
    """How much of the asking the last answers took, while no other question was left."""
    asked, seconds = report.seconds.get("infer", 0.0), report.tail_seconds
    if not seconds or not asked:
        return
    share = 100 * min(1.0, seconds / asked)
    yield (
        f"Tail: for {seconds:.1f} s of {asked:.1f} s of asking ({share:.0f} %), fewer than "
        f"{report.plan.client_limits.concurrency} requests were under way, because none was left."
    )


def _whole(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"
