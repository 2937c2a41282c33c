"""Right answers through their own pipelines: a row whose right answer is not judged right can never be answered right.

A reply with the right answer is written in one form after the other until one is judged right. Where filters read none
of the forms, the metric alone judges the right answer: a task may ask for a form that nobody here can guess.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from model_accuracy_eval.records import (
    Attempt,
    EarlierReply,
    Loglikelihood,
    Pipeline,
    PreparedDataset,
    Problem,
    Verdict,
)
from model_accuracy_eval.scoring import maths
from model_accuracy_eval.scoring.figures import judging
from model_accuracy_eval.scoring.filters import filters
from model_accuracy_eval.scoring.metrics import user_functions
from model_accuracy_eval.scoring.metrics.metric_table import metric, pipelines

_FORMS = (
    *("{}", "The answer is {}.", "Answer: {}", "ANSWER: {}", "#### {}", "({})", "\\boxed{{{}}}", "<answer>{}</answer>"),
    *("The best answer is {}.", "【答案】{}<eoa>", "[ANSWER]{}[/ANSWER]"),
)
"""How replies give an answer."""
_SHOWN, _ROWS_SHOWN = 60, 5


class RightAnswers:
    """Looks at the right answers of one dataset."""

    def __init__(self, prepared: PreparedDataset) -> None:
        self._prepared = prepared
        self._pipelines: dict[tuple[int, ...], list[Pipeline]] = {}
        self._forms: dict[str, list[str]] = {}
        """Pipeline → forms of replies, the one that was read last first."""

    def objection(self, problem: Problem) -> str:
        """Why no reply to the problem could be right, with the reply that was tried; empty if one can."""
        task = self._prepared.task.of(problem)
        if problem.part not in self._pipelines:
            first_of_turns = {pipeline.turn: pipeline for pipeline in reversed(pipelines(task))}
            self._pipelines[problem.part] = [*map(_alone, first_of_turns.values())]
        for pipeline in self._pipelines[problem.part]:
            if not judging.has_turn(problem, pipeline):
                continue
            reads = metric(pipeline.metrics[0].name).reads
            if reads == "likelihoods":
                found = _of_options(problem, pipeline) if task.kind in {"choice", "schema"} else ""
            else:
                found = "" if reads == "findings" else self._of_text(problem, pipeline)
            if found:
                return found
        return ""

    def _of_text(self, problem: Problem, pipeline: Pipeline) -> str:
        use = pipeline.metrics[0]
        answers = metric(use.name).right(problem, **use.args)
        if user_functions.is_path(use.name):  # it may need none
            answers = [*filter(str.strip, answers)]
        if not answers:
            return ""
        if not any(map(str.strip, (*answers, *problem.turn_references))):
            return "it is empty, and an empty reply is none"
        answers = [*answers, *_ends(answers)]
        forms = self._forms.setdefault(pipeline.name, [*_FORMS, *_by_patterns(pipeline)])
        tried: list[tuple[str, Verdict]] = []
        for place, form in enumerate(forms):
            for answer in answers:
                sample = _sample(problem, form, answer)
                verdict = judging.judge(problem, [sample], pipeline).verdicts[0]
                if _is_right(verdict, pipeline):
                    forms.insert(0, forms.pop(place))
                    return ""
                tried.append((sample.text, verdict))
        text, verdict = next((one for one in tried if one[1].answer is not None), tried[0])
        if verdict.answer is None and not _by_patterns(pipeline):
            bare = replace(pipeline, filters=())
            judged = [judging.judge(problem, [_sample(problem, "{}", one)], bare).verdicts[0] for one in answers]
            if any(_is_right(one, bare) for one in judged):
                return ""
        if verdict.answer is None:
            return f"nothing is read of a reply '{_short(text)}'"
        return f"a reply '{_short(text)}' is read as '{_short(verdict.answer)}', and right is '{_short(answers[0])}'"


def _alone(pipeline: Pipeline) -> Pipeline:
    """Its first metric and the filters that read single replies."""
    steps = tuple(step for step in pipeline.filters if not filters.choose([step]))
    return replace(pipeline, filters=steps, metrics=pipeline.metrics[:1])


def _is_right(verdict: Verdict, pipeline: Pipeline) -> bool:
    """A figure that is no number, or that no row has by itself, says nothing against it; a share may be small."""
    use = pipeline.metrics[0]
    row = metric(use.name)
    if verdict.why != "wrong" or row.yes_or_no:
        return verdict.why in {"right", "unjudged"}
    return verdict.value is None or verdict.value > 0 or not row.rises(use)


def _ends(answers: Sequence[str]) -> Iterator[str]:
    """What solutions end with: the answer behind their mark, in their box, or on their last line."""
    for answer in answers:
        if "####" in answer:
            yield answer.rpartition("####")[2].strip()
        yield from maths.last_boxes(answer)
        if "\n" in answer.strip():
            yield answer.strip().rpartition("\n")[2].strip()


def _sample(problem: Problem, form: str, answer: str) -> Attempt:
    """A reply in this form; in several turns each with its own right answer, where they have them."""
    turns = problem.turn_references or (answer,) * (len(problem.follow_ups) + 1)
    *texts, last = [form.format(turn or answer) for turn in turns]
    earlier = tuple(EarlierReply(text=text, next=asked) for text, asked in zip(texts, problem.follow_ups, strict=True))
    return Attempt(problem=problem.id, index=0, text=last, earlier=earlier)


def _by_patterns(pipeline: Pipeline) -> list[str]:
    """The forms that patterns of the pipeline look for, where all around their one group is plain text."""
    patterns = (str(step.args.get("regex_pattern", "")) for step in pipeline.filters)
    return [form for pattern in patterns if (form := _form(pattern))]


_GROUP = re.compile(r"(?<!\\)\((?!\?)(?:\\.|\[(?:\\.|[^\]])*\]|[^()\\])*\)")
_NO_TEXT = re.compile(r"\\\w|(?<!\\)[\[\](){}|.*+?^$]")


def _form(pattern: str) -> str:
    parts = _GROUP.split(re.sub(r"^\(\?[a-z]+\)|^\^|\$$", "", pattern))
    around = [re.sub(r"\\s[*+]?| [*+?]", " ", part) for part in parts]
    if len(around) != 2 or any(map(_NO_TEXT.search, around)):
        return ""
    return "{}".join(re.sub(r"\\(\W)", r"\1", part).replace("{", "{{").replace("}", "}}") for part in around)


def _of_options(problem: Problem, pipeline: Pipeline) -> str:
    """The right options as the likeliest, and with them those that are the same text."""
    right = {problem.candidates[place] for place in problem.gold if place < len(problem.candidates)}
    values = tuple(
        Loglikelihood(logprob=-0.001 if one in right else -1000.0, tokens=2, greedy=one in right)
        for one in problem.candidates
    )
    sample = Attempt(problem=problem.id, index=0, method="echo", loglikelihoods=values)
    verdict = judging.judge(problem, [sample], pipeline).verdicts[0]
    if _is_right(verdict, pipeline):
        return ""
    texts = " or ".join(f"'{_short(text)}'" for text in problem.right)
    return f"the option {texts} is not judged right where it is the likeliest, but '{_short(verdict.answer or '')}' is"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
