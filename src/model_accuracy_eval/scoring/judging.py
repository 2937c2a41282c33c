"""The samples of one problem → what each is worth, by every metric of one pipeline."""

from collections.abc import Sequence
from dataclasses import dataclass

from model_accuracy_eval.records import Attempt, Measure, Pipeline, Problem, Verdict, Why
from model_accuracy_eval.scoring import filters
from model_accuracy_eval.scoring.metrics import METRICS, Metric, Payload, metric

Samples = Sequence[Attempt | None]
"""The n samples of a problem; None where nothing is known of one."""


@dataclass(frozen=True, slots=True)
class Marks:
    """`verdicts`: one a sample, by the first metric. `payloads`: for every metric one an answer, None if unknown."""

    verdicts: tuple[Verdict, ...]
    payloads: tuple[tuple[Payload | None, ...], ...]


def check(pipeline: Pipeline) -> None:
    """Every name is in its table, or the run is refused before it starts."""
    for step in pipeline.filters:
        filters.check(step)
    for measure in pipeline.metrics:
        metric(measure.name)


def judge(problem: Problem, samples: Samples, pipeline: Pipeline, *, score_reasoning: bool = False) -> Marks:
    """All samples of a problem, judged together, because some filters choose among them."""
    first = METRICS[pipeline.metrics[0].name]
    if first.reads == "likelihoods":
        return _by_likelihood(problem, samples, pipeline)
    texts = [_text(sample, score_reasoning=score_reasoning) for sample in samples]
    # A sample's own verdict is what the pipeline says when it sees that sample alone.
    alone = filters.run(pipeline.filters, texts, problem)
    answers = alone
    if filters.choose(pipeline.filters):
        alone = [filters.run(pipeline.filters, [text], problem)[0] for text in texts]
    own = _payloads(pipeline.metrics[0], alone, problem)
    verdicts = tuple(map(_verdict, samples, texts, alone, own))
    return Marks(verdicts, tuple(_payloads(measure, answers, problem) for measure in pipeline.metrics))


def _text(sample: Attempt | None, *, score_reasoning: bool) -> str | None:
    if sample is None or sample.fault is not None:
        return None
    text = sample.text or (sample.reasoning if score_reasoning else "")
    return text if text.strip() else None


def _payloads(measure: Measure, answers: filters.Answers, problem: Problem) -> tuple[Payload | None, ...]:
    """Equal answers are judged once: the n samples of a problem often agree."""
    row = METRICS[measure.name]
    values = {answer: _score(row, measure, answer, problem) for answer in dict.fromkeys(answers)}
    return tuple(values[answer] for answer in answers)


def _score(row: Metric, measure: Measure, answer: str | None, problem: Problem) -> Payload | None:
    """Strict: no answer is never right; where there is no right and wrong, it is judged as an empty text."""
    if answer is None and row.yes_or_no:
        return 0.0
    return row.score(answer or "", problem.references, **measure.args)


def _verdict(sample: Attempt | None, text: str | None, answer: str | None, payload: Payload | None) -> Verdict:
    cut = sample is not None and sample.fault is None and sample.finish_reason == "length"
    lost = _lost(sample) or (None if text else "empty") or (None if answer is not None else "not found")
    if lost:
        return Verdict(value=None, why=lost, cut=cut)
    value = headline(payload)
    return Verdict(value=value, answer=answer, why="right" if value is not None and value >= 1.0 else "wrong", cut=cut)


def _lost(sample: Attempt | None) -> Why | None:
    if sample is None:
        return "missing"
    if sample.fault is None:
        return None
    return "rejected" if sample.fault.kind == "rejected" else "failed"


def headline(payload: Payload | None) -> float | None:
    """The one value of a sample that stands for it: of several the first, of what is no value none."""
    if isinstance(payload, dict):
        payload = next(iter(payload.values()), None)
    return float(payload) if isinstance(payload, int | float) else None


def _by_likelihood(problem: Problem, samples: Samples, pipeline: Pipeline) -> Marks:
    payloads = tuple(tuple(_weigh(measure, sample, problem) for sample in samples) for measure in pipeline.metrics)
    return Marks(tuple(_weighed(*pair, problem) for pair in zip(samples, payloads[0], strict=True)), payloads)


def _weigh(measure: Measure, sample: Attempt | None, problem: Problem) -> Payload | None:
    if sample is None or sample.fault is not None or not sample.weighed or None in sample.weighed:
        return None
    return METRICS[measure.name].score(sample.weighed, problem, **measure.args)


def _weighed(sample: Attempt | None, payload: Payload | None, problem: Problem) -> Verdict:
    lost = _lost(sample) or (None if payload is not None else "not found")
    if sample is None or lost:
        return Verdict(value=None, why=lost or "missing")
    value = headline(payload)
    return Verdict(
        value=value, answer=_likeliest(sample, problem), why="right" if value is not None and value >= 1.0 else "wrong"
    )


def _likeliest(sample: Attempt, problem: Problem) -> str | None:
    """The option that the service finds likeliest, for people to read."""
    options = problem.choices
    if not options:
        return None
    return options[max(range(len(options)), key=lambda place: sample.weighed[place].logprob)]  # type: ignore[union-attr]
