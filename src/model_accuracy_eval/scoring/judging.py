"""The samples of one problem → what each is worth, by every metric of one pipeline."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from numbers import Real

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import Attempt, Measure, Pipeline, Problem, Verdict, Why
from model_accuracy_eval.scoring import filters, metrics, rungs
from model_accuracy_eval.scoring.aggregations import aggregation
from model_accuracy_eval.scoring.asks import Ask, Findings, nothing_found
from model_accuracy_eval.scoring.metrics import Metric, Payload, metric
from model_accuracy_eval.scoring.metrics.options import likeliest, logprobs
from model_accuracy_eval.scoring.reductions import reduction

Samples = Sequence[Attempt | None]
"""The n samples of a problem; None where nothing is known of one."""


@dataclass(frozen=True, slots=True)
class Marks:
    """`verdicts`: one a sample, by the first metric. `payloads`: for every metric one an answer, None if unknown."""

    verdicts: tuple[Verdict, ...]
    payloads: tuple[tuple[Payload | None, ...], ...]


def check(pipeline: Pipeline) -> None:
    """Every name is in its table and has its arguments, or the run is refused before it starts."""
    for step in pipeline.filters:
        filters.check(step)
    for measure in pipeline.metrics:
        metrics.check(measure)
        aggregation(measure.aggregation or metric(measure.name).aggregation)
        if measure.reduction:
            reduction(measure.reduction)
    kinds = {metric(measure.name).reads == "likelihoods" for measure in pipeline.metrics}
    if len(kinds) > 1:
        named = ", ".join(measure.name for measure in pipeline.metrics)
        raise BadValue(f"The pipeline '{pipeline.name}' has metrics of texts and of weighed options at once: {named}.")


def judge(
    problem: Problem,
    samples: Samples,
    pipeline: Pipeline,
    *,
    score_reasoning: bool = False,
    findings: Findings = nothing_found,
) -> Marks:
    """All samples of a problem, judged together, because some filters choose among them."""
    if metric(pipeline.metrics[0].name).reads == "likelihoods":
        return _by_likelihood(problem, samples, pipeline)
    texts = [_text(sample, score_reasoning=score_reasoning) for sample in samples]
    alone = answers = _alone(problem, texts, pipeline)
    if filters.choose(pipeline.filters):
        answers = filters.run(pipeline.filters, texts, problem)
    own = _payloads(pipeline.metrics[0], alone, problem, findings)
    verdicts = tuple(map(_verdict, samples, texts, alone, own))
    return Marks(verdicts, tuple(_payloads(measure, answers, problem, findings) for measure in pipeline.metrics))


def asks(problem: Problem, samples: Samples, pipeline: Pipeline, *, score_reasoning: bool = False) -> Iterator[Ask]:
    """All that has to be found out before these samples can be judged."""
    asking = [measure for measure in pipeline.metrics if metric(measure.name).asks]
    if not asking:
        return
    texts = [_text(sample, score_reasoning=score_reasoning) for sample in samples]
    for answer in dict.fromkeys(_alone(problem, texts, pipeline)):
        for measure in asking:
            if answer is not None:
                yield from _asks(metric(measure.name), measure, answer, problem)


def _alone(problem: Problem, texts: filters.Answers, pipeline: Pipeline) -> filters.Answers:
    """What the pipeline says to each sample when it sees that sample alone: nothing is chosen then."""
    return filters.run([step for step in pipeline.filters if not filters.choose([step])], texts, problem)


def _text(sample: Attempt | None, *, score_reasoning: bool) -> str | None:
    if sample is None or sample.fault is not None:
        return None
    text = sample.text or (sample.reasoning if score_reasoning else "")
    return text if text.strip() else None


def _payloads(
    measure: Measure, answers: filters.Answers, problem: Problem, findings: Findings
) -> tuple[Payload | None, ...]:
    """Equal answers are judged once: the n samples of a problem often agree."""
    row = metric(measure.name)
    values = {answer: _score(row, measure, answer, problem, findings) for answer in dict.fromkeys(answers)}
    return tuple(values[answer] for answer in answers)


def _score(row: Metric, measure: Measure, answer: str | None, problem: Problem, findings: Findings) -> Payload | None:
    """Strict: no answer is never right; where there is no right and wrong, it is judged as an empty text."""
    if row.reads == "findings":
        return _settled(row, measure, answer, problem, findings)
    if answer is None and row.yes_or_no:
        return 0.0
    against = problem if row.reads == "answers in their problem" else problem.references
    return row.score(answer or "", against, **measure.args)


def _asks(row: Metric, measure: Measure, answer: str, problem: Problem) -> tuple[Ask, ...]:
    asked = row.asks(answer, problem, **measure.args) if row.asks else None
    return asked if isinstance(asked, tuple) else (asked,) if asked is not None else ()


def _settled(row: Metric, measure: Measure, answer: str | None, problem: Problem, findings: Findings) -> Payload | None:
    """Nobody is asked about an answer that was not found; of an ask without a finding nothing is known."""
    if answer is None:
        return 0.0
    found = [findings(ask) for ask in _asks(row, measure, answer, problem)]
    return None if not found or None in found else row.score(*found, problem=problem, **measure.args)


def _verdict(sample: Attempt | None, text: str | None, answer: str | None, payload: Payload | None) -> Verdict:
    cut = sample is not None and sample.fault is None and sample.finish_reason == "length"
    lost = _lost(sample) or (None if text else "empty") or (None if answer is not None else "not found")
    if lost:
        return Verdict(value=None, why=lost, cut=cut)
    if payload is None:
        return Verdict(value=None, answer=answer, why="unjudged", cut=cut)
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
    return float(payload) if isinstance(payload, Real) and not isnan(payload) else None


def _by_likelihood(problem: Problem, samples: Samples, pipeline: Pipeline) -> Marks:
    payloads = tuple(tuple(_weigh(measure, sample, problem) for sample in samples) for measure in pipeline.metrics)
    # Where the service cannot tell what the first metric is about, verdicts go by the first that it can.
    told = next((row for row in payloads if rungs.UNTOLD not in row), payloads[0])
    return Marks(tuple(_weighed(*pair, problem) for pair in zip(samples, told, strict=True)), payloads)


def _weigh(measure: Measure, sample: Attempt | None, problem: Problem) -> Payload | None:
    if sample is None or sample.fault is not None:
        return None
    if not rungs.tells(sample.rung, measure.name):
        return rungs.UNTOLD
    options = rungs.weighed(sample, problem)
    return metric(measure.name).score(options, problem, **measure.args) if options else None


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
    options = rungs.weighed(sample, problem)
    return problem.choices[likeliest(logprobs(options, problem))] if options and problem.choices else None
