"""The samples of one problem → the value of each, by every metric of one pipeline."""

from collections.abc import Iterator, Sequence
from math import fsum, isnan
from numbers import Real
from typing import Any

import msgspec
from msgspec.structs import replace

from model_accuracy_eval.errors import BadData, BadValue
from model_accuracy_eval.records import (
    Attempt,
    EarlierReply,
    Message,
    MetricUse,
    Pipeline,
    Problem,
    TaskSpec,
    Verdict,
    VerdictReason,
)
from model_accuracy_eval.scoring.answers.reader import Doubtful
from model_accuracy_eval.scoring.figures.aggregations import aggregation
from model_accuracy_eval.scoring.figures.groups import GroupedValue
from model_accuracy_eval.scoring.figures.reductions import reduction
from model_accuracy_eval.scoring.filters import filters
from model_accuracy_eval.scoring.filters.filters import strip_thoughts
from model_accuracy_eval.scoring.metrics import metric_table, user_functions
from model_accuracy_eval.scoring.metrics.likelihoods import argmax, logprobs
from model_accuracy_eval.scoring.metrics.metric_table import METRICS, Metric, SampleValue, metric
from model_accuracy_eval.scoring.metrics.metric_type import Ask, AskResults, LostValue, counted, no_result

# Conversations of several turns: each turn as a problem with one reply, so that it is judged like any other.
#
# A turn's problem has the conversation up to it, its own right answer, the columns `turn_2_…` of the row under
# their names without this prefix, and for judges what was said so far: `question_1`, `answer_1`, …, and all before the
# turn as `earlier`.


def check_turns(task: TaskSpec, pipelines: Sequence[Pipeline]) -> None:
    """Refuses turns where they cannot be asked or judged."""
    if task.prompt.follow_ups is None:
        if turned := next((pipeline for pipeline in pipelines if pipeline.turn is not None), None):
            raise BadValue(f"{task.name}: the pipeline '{turned.name}' judges a turn, but there are no follow_ups.")
        return
    if task.kind != "generate" or task.mode != "chat" or task.tools or task.functions:
        raise BadValue(f"{task.name}: follow_ups are asked in chats that generate texts without tools.")
    if chooser := next((pipeline for pipeline in pipelines if filters.choose(pipeline.filters)), None):
        raise BadValue(
            f"{task.name}: the filters of the pipeline '{chooser.name}' choose among samples, and replies of several "
            "turns cannot be chosen apart from their conversations."
        )


def constant_sample(problem: Problem, text: str) -> Attempt:
    """A sample that says the same in every turn, to try how a task is judged."""
    earlier = tuple(EarlierReply(text=text, next=follow_up) for follow_up in problem.follow_ups)
    return Attempt(problem=problem.id, index=0, text=text, earlier=earlier)


def has_turn(problem: Problem, pipeline: Pipeline) -> bool:
    """Whether the conversation is long enough for the turn that the pipeline judges."""
    return not isinstance(pipeline.turn, int) or pipeline.turn <= len(problem.follow_ups) + 1


def unanswered_turn(problem: Problem, pipeline: Pipeline) -> Problem:
    """The turn that a pipeline judges, or the last one, of a conversation that nobody answered."""
    last = len(problem.follow_ups) + 1
    number = pipeline.turn if isinstance(pipeline.turn, int) else last
    extras = {**problem.extras, **_of_turn(problem, number)}
    return replace(problem, follow_ups=(), turn_references=(), extras=extras)


def turns_to_judge(problem: Problem, sample: Attempt, pipeline: Pipeline) -> list[tuple[Problem, Attempt]]:
    """The turns that a pipeline judges."""
    count = len(problem.follow_ups) + 1
    if len(sample.earlier) != count - 1:
        raise BadData(
            f"Problem {problem.id} has {count} turns, but its reply {sample.index} has {len(sample.earlier) + 1}."
        )
    if pipeline.turn == "each":
        return [_turn(problem, sample, number) for number in range(1, count + 1)]
    if pipeline.turn is not None and not 1 <= pipeline.turn <= count:
        raise BadValue(
            f"The pipeline '{pipeline.name}' judges turn {pipeline.turn}, but problem {problem.id} has {count} turns."
        )
    return [_turn(problem, sample, pipeline.turn or count)]


def _turn(problem: Problem, sample: Attempt, number: int) -> tuple[Problem, Attempt]:
    questions = [problem.messages[-1].content, *problem.follow_ups]
    replies: list[Attempt | EarlierReply] = [*sample.earlier, sample]
    messages = list(problem.messages)
    extras = {**problem.extras, "earlier": ""}
    for place in range(number):
        said = strip_thoughts(replies[place].text, problem) or ""
        extras |= {f"question_{place + 1}": questions[place], f"answer_{place + 1}": said}
        if place + 1 < number:
            extras["earlier"] += f"User: {questions[place]}\n\nAssistant: {said}\n\n"
            messages += [
                Message(role="assistant", content=said),
                Message(role="user", content=questions[place + 1]),
            ]
    extras |= _of_turn(problem, number)
    extras |= {f"reference_{place}": text for place, text in enumerate(problem.turn_references, start=1)}
    reply = replies[number - 1]
    return (
        replace(
            problem,
            messages=tuple(messages),
            follow_ups=(),
            references=problem.turn_references[number - 1 : number] or problem.references,
            turn_references=(),
            extras=extras,
        ),
        replace(sample, **{name: getattr(reply, name) for name in _OF_A_TURN}, earlier=()),
    )


_OF_A_TURN = ("text", "reasoning", "finish_reason", "spoken")


def _of_turn(problem: Problem, number: int) -> dict[str, Any]:
    """Its own columns of the row, without the prefix."""
    prefix = f"turn_{number}_"
    return {name.removeprefix(prefix): value for name, value in problem.extras.items() if name.startswith(prefix)}


Samples = Sequence[Attempt | None]
"""The n samples of a problem; None for a sample that is missing."""


class JudgedSamples(msgspec.Struct, frozen=True):
    """`verdicts`: one for each sample, by the first metric. `values`: for every metric, one for each answer; of lost
    samples a `LostValue`."""

    verdicts: tuple[Verdict, ...]
    values: tuple[tuple[SampleValue | None, ...], ...]


def check(pipeline: Pipeline) -> None:
    """Refuses unknown names and arguments before the run starts."""
    for step in pipeline.filters:
        filters.check(step)
    for use in pipeline.metrics:
        metric_table.check(use)
        aggregation(use.aggregation or metric(use.name).aggregation)
        if use.reduction:
            reduction(use.reduction)
    kinds = {metric(use.name).reads == "likelihoods" for use in pipeline.metrics}
    if len(kinds) > 1:
        names = ", ".join(use.name for use in pipeline.metrics)
        raise BadValue(f"The pipeline '{pipeline.name}' mixes metrics of texts and of log-likelihoods: {names}.")


def judge(
    problem: Problem,
    samples: Samples,
    pipeline: Pipeline,
    *,
    ask_results: AskResults = no_result,
) -> JudgedSamples:
    """Judges all samples of a problem together, because some filters choose among them."""
    if problem.follow_ups:
        judged = [_judge_turns(problem, sample, pipeline, ask_results=ask_results) for sample in samples]
        by_metric = zip(*(sample.values for sample in judged), strict=True)
        return JudgedSamples(
            tuple(sample.verdicts[0] for sample in judged),
            tuple(tuple(value for (value,) in of_metric) for of_metric in by_metric),
        )
    if metric(pipeline.metrics[0].name).reads == "likelihoods":
        return _judge_likelihoods(problem, samples, pipeline)
    texts = [_text(sample, pipeline) for sample in samples]
    answers = answers_by_sample = _answers_by_sample(problem, texts, pipeline)
    lost = [_lost(sample) is not None for sample in samples]
    first, *others = pipeline.metrics
    of_first = _values(first, answers_by_sample, problem, ask_results)
    verdicts = tuple(map(_verdict, samples, texts, answers_by_sample, of_first))
    if filters.choose(pipeline.filters):
        answers = filters.run(pipeline.filters, texts, problem)
        lost = filters.lost(pipeline.filters, texts, lost, problem)
        of_first = _values(first, answers, problem, ask_results)
    values = [of_first, *(_values(use, answers, problem, ask_results) for use in others)]
    return JudgedSamples(
        verdicts,
        tuple(
            tuple(_or_lost(use, value, problem, is_lost=flag) for value, flag in zip(of_metric, lost, strict=True))
            for use, of_metric in zip(pipeline.metrics, values, strict=True)
        ),
    )


def _judge_turns(
    problem: Problem, sample: Attempt | None, pipeline: Pipeline, *, ask_results: AskResults
) -> JudgedSamples:
    """Judges one conversation: the turn that the pipeline names, or each, and the mean of these."""
    if sample is None or sample.fault is not None:
        return judge(unanswered_turn(problem, pipeline), [sample], pipeline)
    judged = [
        judge(turn, [reply], pipeline, ask_results=ask_results)
        for turn, reply in turns_to_judge(problem, sample, pipeline)
    ]
    if len(judged) == 1:
        return judged[0]
    values = [
        (_or_lost(use, _mean([turn.values[place][0] for turn in judged]), problem, is_lost=False),)
        for place, use in enumerate(pipeline.metrics)
    ]
    return JudgedSamples((_verdict_of_turns([turn.verdicts[0] for turn in judged]),), tuple(values))


def _mean(values: Sequence[SampleValue | None]) -> SampleValue | None:
    """The mean of numbers, or of numbers under the same names; unknown if one is."""
    known = [value for value in values if value is not None and not isinstance(value, LostValue)]
    if len(known) < len(values):
        return None
    if all(isinstance(value, dict) for value in known):
        return {name: _mean([value[name] for value in known]) for name in known[0]}
    if not all(isinstance(value, Real) for value in known):
        raise BadValue("Only metrics that give numbers can be judged in each turn; name one turn in the pipeline.")
    return fsum(float(value) for value in known) / len(known)


def _verdict_of_turns(verdicts: Sequence[Verdict]) -> Verdict:
    """The last turn's answer, with what is so of all turns. An empty or unreadable reply in some of them is wrong."""
    last, cut = verdicts[-1], any(verdict.cut for verdict in verdicts)
    reasons = {verdict.why for verdict in verdicts}
    if "unjudged" in reasons:
        return Verdict(value=None, answer=last.answer, why="unjudged", cut=cut)
    if len(reasons) == 1 and last.value is None:
        return replace(last, cut=cut)
    value = fsum(verdict.value or 0.0 for verdict in verdicts) / len(verdicts)
    return Verdict(value=value, answer=last.answer, why=_right_or_wrong(value), cut=cut)


def _or_lost(use: MetricUse, value: SampleValue | None, problem: Problem, *, is_lost: bool) -> SampleValue | None:
    """Also an answer that could not be judged has a lost value; a user's function may leave samples out by design."""
    if is_lost or (value is None and use.name in METRICS):
        return metric(use.name).lost_value(problem, counted=value)
    return value


def asks(problem: Problem, samples: Samples, pipeline: Pipeline) -> Iterator[Ask]:
    """Everything that has to be asked before these samples can be judged."""
    asking = [use for use in pipeline.metrics if metric(use.name).asks]
    if not asking:
        return
    if problem.follow_ups:
        for sample in samples:
            if sample is not None and sample.fault is None:
                for turn, reply in turns_to_judge(problem, sample, pipeline):
                    yield from asks(turn, [reply], pipeline)
        return
    texts = [_text(sample, pipeline) for sample in samples]
    for answer in dict.fromkeys(_answers_by_sample(problem, texts, pipeline)):
        for use in asking:
            if answer is not None:
                yield from _asks(metric(use.name), use, answer, problem)


def _answers_by_sample(problem: Problem, texts: filters.FilteredAnswers, pipeline: Pipeline) -> filters.FilteredAnswers:
    """The answer of each sample by itself: filters that choose among samples are left out."""
    return filters.run([step for step in pipeline.filters if not filters.choose([step])], texts, problem)


def _text(sample: Attempt | None, pipeline: Pipeline) -> str | None:
    if sample is None or sample.fault is not None or (sample.spoken and not pipeline.spoken):
        return None
    text = sample.text
    return text if text.strip() else None


def _values(
    use: MetricUse, answers: filters.FilteredAnswers, problem: Problem, ask_results: AskResults
) -> tuple[SampleValue | None, ...]:
    """Equal answers are judged once: the samples of a problem often agree."""
    row = metric(use.name)
    values = {answer: _value(row, use, answer, problem, ask_results) for answer in dict.fromkeys(answers)}
    return tuple(values[answer] for answer in answers)


def _value(
    row: Metric, use: MetricUse, answer: str | None, problem: Problem, ask_results: AskResults
) -> SampleValue | None:
    """A missing answer is wrong; a metric that knows no right and wrong judges it as an empty text."""
    if row.reads == "findings":
        return _value_of_results(row, use, answer, problem, ask_results)
    if answer is None and row.yes_or_no:
        return 0.0
    against = problem if row.reads == "answers in their problem" else problem.references
    value = row.score(answer or "", against, **use.args)
    if user_functions.is_path(use.name):
        _check_own_value(row, use, value)
    return value


def _check_own_value(row: Metric, use: MetricUse, value: SampleValue | None) -> None:
    """Whether the user's function returned what the rest of the judging can count."""
    if (use.aggregation or row.aggregation) != "mean" or use.reduction:
        return
    parts = [part for part in (value.values() if isinstance(value, dict) else [value]) if part is not None]
    if not all(isinstance(part, Real) for part in parts):
        raise BadData(
            f"The metric {use.name} returned {str(value)[:80]!r} for a reply: its mean is wanted, so let it return a "
            "number, a mapping of names to numbers, or None for a reply that is not to count."
        )
    if row.yes_or_no and any(part not in (0, 1) for part in parts):
        raise BadData(f"The metric {use.name} returned {value} for a reply, and as yes_or_no it may return 0 and 1.")


def _asks(row: Metric, use: MetricUse, answer: str, problem: Problem) -> tuple[Ask, ...]:
    needed = row.asks(str(answer), problem, **use.args) if row.asks else None
    return needed if isinstance(needed, tuple) else (needed,) if needed is not None else ()


def _value_of_results(
    row: Metric, use: MetricUse, answer: str | None, problem: Problem, ask_results: AskResults
) -> SampleValue | None:
    """Nothing is asked about a missing answer; the value is unknown while an ask has no result."""
    if answer is None:
        return row.unanswered
    results = [ask_results(ask) for ask in _asks(row, use, answer, problem)]
    if not results or None in results:
        return None
    return row.score(*results, problem=problem, **use.args)


def _verdict(sample: Attempt | None, text: str | None, answer: str | None, value: SampleValue | None) -> Verdict:
    cut = sample is not None and sample.fault is None and sample.finish_reason == "length"
    nothing: VerdictReason = "not found" if sample is not None and sample.media else "empty"
    lost = _lost(sample) or (None if text else nothing) or (None if answer is not None else "not found")
    if lost:
        return Verdict(value=None, why=lost, cut=cut)
    if value is None:
        return Verdict(value=None, answer=str(answer), why="unjudged", cut=cut)
    number, doubtful = headline(value), isinstance(answer, Doubtful)
    return Verdict(value=number, answer=str(answer), why=_right_or_wrong(number), cut=cut, doubtful=doubtful)


def _right_or_wrong(number: float | None) -> VerdictReason:
    return "right" if number is not None and number >= 1.0 else "wrong"


def _lost(sample: Attempt | None) -> VerdictReason | None:
    if sample is None:
        return "missing"
    if sample.fault is None:
        return None
    return "rejected" if sample.fault.kind == "rejected" else "failed"


def headline(value: SampleValue | None) -> float | None:
    """The number that stands for a sample: the first one of several; None for anything that is not a number."""
    if isinstance(value, dict):
        value = next(iter(value.values()), None)
    if isinstance(value, GroupedValue):
        value = value.right
    return float(value) if isinstance(value, Real) and not isnan(value) else None


def _judge_likelihoods(problem: Problem, samples: Samples, pipeline: Pipeline) -> JudgedSamples:
    values = tuple(tuple(_likelihood_value(use, sample, problem) for sample in samples) for use in pipeline.metrics)
    # If the service cannot provide the first metric, verdicts go by the first metric that it can provide.
    first = counted(next((row for row in values if metric_table.UNAVAILABLE not in row), values[0]))
    return JudgedSamples(
        tuple(_likelihood_verdict(*pair, problem) for pair in zip(samples, first, strict=True)), values
    )


def _likelihood_value(use: MetricUse, sample: Attempt | None, problem: Problem) -> SampleValue | None:
    row = metric(use.name)
    if sample is None or sample.fault is not None:
        return row.lost_value(problem)
    if not metric_table.supports(sample.method, use.name):
        return metric_table.UNAVAILABLE
    options = metric_table.option_loglikelihoods(sample, problem)
    if not options:  # no option was named: that is wrong, but how wrong, nobody knows
        return None if row.is_mean_share(use) else row.lost_value(problem)
    return _or_lost(use, row.score(options, problem, **use.args), problem, is_lost=False)


def _likelihood_verdict(sample: Attempt | None, value: SampleValue | None, problem: Problem) -> Verdict:
    """Its answer is the text of the most likely option."""
    lost = _lost(sample) or (None if value is not None else "not found")
    if sample is None or lost:
        return Verdict(value=None, why=lost or "missing")
    number, options = headline(value), metric_table.option_loglikelihoods(sample, problem)
    chosen = problem.choices[argmax(logprobs(options, problem))] if options and problem.choices else None
    return Verdict(value=number, answer=chosen, why=_right_or_wrong(number))
