"""Both sides of tasks, and whether they are equal: requests to the byte, figures to nine digits."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from tests.parity import next_manner, sides
from tests.parity.conftest import Oracle

from model_accuracy_eval.records import PreparedDataset, TaskSpec
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.scoring.metrics.metric_table import metric, metric_uses
from model_accuracy_eval.tasks.importers.lm_eval_files import TaskFields

_OF_SAMPLES = re.compile(r"(pass@\d+)\((.+)\)")
_SIZES = {1, 3, 5, 10, 20, 50}
"""The k that 0.5 takes where it is told none, with n itself, as far as n goes here."""


@dataclass(frozen=True)
class Compared:
    """Both sides of every task, by its name."""

    plain: dict[str, PreparedDataset]
    """As this package has them."""
    ours: dict[str, PreparedDataset]
    """The same in the manner of the version."""
    theirs: Mapping[str, Any]
    replies: dict[str, list[str]]


def both(oracle: Oracle, fields_of: Mapping[str, TaskFields], job: sides.Job, *, trusted: bool = False) -> Compared:
    def prepared(fields: TaskFields, change: sides.Change | None = None) -> PreparedDataset:
        return sides.ours(fields, job.data, trusted=trusted, limit=job.limit, change=change)

    plain = {name: prepared(fields) for name, fields in fields_of.items()}
    ours = plain
    if oracle.is_next:
        ours = {name: next_manner.prepared(prepared(fields, next_manner.task)) for name, fields in fields_of.items()}
    told = {prompt: texts for name in ours for prompt, texts in sides.replies(ours[name], plain[name]).items()}
    return Compared(plain, ours, sides.ask_lm_eval(oracle.python, replace(job, replies=told)), told)


def check_prompts(found: Compared) -> None:
    for name, prepared in found.ours.items():
        assert len(prepared.problems) >= sides.LIMIT, name
        for ours, theirs in zip(sides.asked(prepared), found.theirs[name]["asked"], strict=True):
            assert ours == theirs, name


def check_scores(found: Compared) -> None:
    for name, prepared in found.ours.items():
        assert _values(judged(prepared, found)) == _near(scores(found.theirs[name]["scores"], prepared.task)), name


def check_errors(found: Compared) -> None:
    for name, prepared in found.ours.items():
        theirs = scores(found.theirs[name]["scores"], prepared.task, "_stderr")
        ours = {row.metric: row.stderr for row in judged(prepared, found).rows("000000")}
        assert {metric: ours[metric] for metric in theirs} == _near(theirs), name


def check_directions(found: Compared) -> None:
    """Which way is better."""
    for name, prepared in found.ours.items():
        rows = judged(prepared, found).rows("000000")
        ours = {row.metric.partition(",")[0]: row.higher_is_better for row in rows if not re.search("[(@]", row.metric)}
        assert ours.items() <= found.theirs[name]["better"].items(), name


def unlike(found: Compared) -> Iterator[str]:
    """Tasks of which a prompt or a figure differs from what this package has on its own account."""
    for name, prepared in found.plain.items():
        theirs = found.theirs[name]
        if sides.asked(prepared) != theirs["asked"] or _values(judged(prepared, found)) != _near(
            scores(theirs["scores"], prepared.task)
        ):
            yield name


def judged(prepared: PreparedDataset, found: Compared) -> Scorecard:
    n = prepared.task.repeats or 1
    card = Scorecard(prepared.task, n, sorted({n, *_SIZES}))
    for problem in prepared.problems:
        card.judge(problem, sides.attempts(prepared, problem, found.replies))
    return card


def _values(card: Scorecard) -> dict[str, float | None]:
    return {row.metric: row.value for row in card.rows("000000")}


def _near(theirs: dict[str, float]) -> Any:
    return pytest.approx(theirs, abs=1e-9, rel=1e-9)


def scores(theirs: Mapping[str, float], task: TaskSpec, suffix: str = "") -> dict[str, float]:
    """lm-eval's figures under our names; shares are shown times 100 here."""
    shares = {measure.label or measure.name: metric(measure.name).share for measure in metric_uses(task)}
    told = {}
    for key, value in theirs.items():
        name, _, pipeline = key.partition(",")
        reduced = _OF_SAMPLES.fullmatch(name.removesuffix(suffix))
        plain = reduced[2] if reduced else name.removesuffix(suffix)
        if plain in shares and name.endswith(suffix):
            whole = plain if pipeline == "none" else f"{plain},{pipeline}"
            told[f"{reduced[1]}({whole})" if reduced else whole] = 100 * value if shares[plain] else value
    assert told
    return told
