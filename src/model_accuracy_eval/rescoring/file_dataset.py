"""How saved replies without a dataset are judged: as lm-eval's results file says, or by what the right answers are.

`samples_<task>_<stamp>.jsonl` names only the metrics; lm-eval writes `results_<stamp>.json` beside it, which holds the
whole task, with the settings of every metric, under `configs`.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from string import ascii_uppercase
from typing import Any

import msgspec
from msgspec.structs import replace

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import (
    Candidate,
    DataFile,
    MetricUse,
    Pipeline,
    PreparedDataset,
    Problem,
    Prompt,
    Record,
    TaskSpec,
)
from model_accuracy_eval.rescoring.saved_replies import ProblemName, SavedProblem, SavedReply
from model_accuracy_eval.scoring.answers.own_answers import KINDS, LETTERS, answer_kind
from model_accuracy_eval.scoring.metrics.metric_table import METRICS, metric, metric_uses, pipelines
from model_accuracy_eval.tasks.importers import lm_eval_metrics
from model_accuracy_eval.tasks.importers.lm_eval_files import ImportFindings
from model_accuracy_eval.tasks.prompts import after, positions

_SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<stamp>\d{4}-\d\d-\d\dT[\d.:-]+)")


class LmEvalResults(Record, frozen=True, kw_only=True):
    """How lm-eval judged one task, and its figures."""

    where: str
    pipelines: tuple[Pipeline, ...] = ()
    """One for each filter, without its steps: the samples hold the filtered answers."""
    reasons: tuple[str, ...] = ()
    """Why it cannot be judged in the same way here."""
    figures: dict[str, float] = {}  # noqa: RUF012 - msgspec copies it
    """`metric,filter` → figure, shares in per cent."""

    def figures_of(self, filter_name: str) -> dict[str, float]:
        """Metric → figure, of one filter."""
        ending = f",{filter_name}"
        return {name.removesuffix(ending): value for name, value in self.figures.items() if name.endswith(ending)}


class _ResultsFile(msgspec.Struct):
    configs: dict[str, dict[str, Any]]
    results: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)


def results_file(name: str) -> tuple[str, str] | None:
    """The task of a samples file, and the name of the results file that was written with it."""
    match = _SAMPLES.fullmatch(name)
    return (match["task"], f"results_{match['stamp']}.json") if match else None


def read_results(data: bytes, where: str, task: str) -> LmEvalResults | None:
    """None where the task's replies are log-likelihoods, whose metrics have no settings."""
    try:
        # By Python's own reader, because lm-eval writes NaN, which is not JSON.
        content = msgspec.convert(json.loads(data), _ResultsFile)
    except (msgspec.ValidationError, ValueError) as error:
        raise BadData(f"{where}: this is not a results file of lm-eval: {error}.") from error
    fields = content.configs.get(task)
    if fields is None:
        return LmEvalResults(where=where, reasons=(f"it says nothing of '{task}'",))
    if fields.get("output_type", "generate_until") != "generate_until":
        return None
    figures = dict(_figures(content.results.get(task, {})))
    if _has_python(fields):
        return LmEvalResults(where=where, reasons=("the task judges by Python of its own",), figures=figures)
    findings = ImportFindings(trusted=False)
    pipelines = lm_eval_metrics.pipelines(_without_steps(fields), "generate", findings)
    return LmEvalResults(where=where, pipelines=pipelines, reasons=tuple(findings.reasons), figures=figures)


def _has_python(fields: dict[str, Any]) -> bool:
    """lm-eval writes functions as their source, which does not say where they are defined."""
    metrics = fields.get("metric_list") or []
    own = [entry.get(key) for entry in metrics for key in ("metric", "aggregation")]
    values = [fields.get("process_results"), *own]
    return any(isinstance(value, str) and "\n" in value for value in values)


def _without_steps(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields about judging, with every filter's name and metrics but without its steps."""
    entries = fields.get("filter_list") or [{"name": "none"}]
    filters = [{"name": entry.get("name"), "metric_list": entry.get("metric_list")} for entry in entries]
    judging = {name: fields[name] for name in ("metric_list", "unsafe_code") if fields.get(name)}
    return {**judging, "filter_list": filters}


def _figures(results: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Those of metrics in our table, because their scale is known."""
    values = [(key, key.partition(",")[0], value) for key, value in results.items() if isinstance(value, int | float)]
    return [
        (key, value * (100 if METRICS[name].share else 1))
        for key, name, value in values
        if name in METRICS and isfinite(value)
    ]


def right_answers(gold: Sequence[str]) -> tuple[str, ...]:
    """The right answers; in solutions in GSM8K's format, what follows the last ####."""
    return tuple(after(text, "####") if "####" in text else text.strip() for text in gold)


def guess(
    name: str, replies: Sequence[SavedReply], results: LmEvalResults | None = None, named: str = ""
) -> tuple[TaskSpec, str]:
    """The scoring of an unknown dataset that its right answers leave no doubt about, and its description. `named`: the
    kind of answers that the user says; without it texts are refused, which tools judge in a hundred ways."""
    if replies and replies[0].loglikelihoods:
        metrics = _known_metrics(replies[0]) or (MetricUse(name="acc"), MetricUse(name="acc_norm"))
        return replace(_task(name, Pipeline(metrics=metrics)), kind="choice"), "the likeliest option"
    if replies and replies[0].metrics:
        return _filtered_task(name, replies[0], results)
    gold = [answer for reply in replies for answer in right_answers(reply.gold) if answer]
    letters = bool(gold) and all(len(answer) == 1 and answer in ascii_uppercase for answer in gold)
    kind = KINDS[named] if named else LETTERS if letters else answer_kind(gold)
    if kind.name == "text" and not named:
        shown = f"its right answers are texts, such as {gold[0][:60]!r}" if gold else "it has no right answers"
        raise BadData(
            f"{name} does not say which dataset was asked, and {shown}: name the dataset with --task, such as --task "
            "ifeval; --task text judges by whether a reply states the right text."
        )
    return _task(name, Pipeline(filters=(kind.filter,), metrics=(kind.metric,))), kind.reading


def _filtered_task(name: str, reply: SavedReply, results: LmEvalResults | None) -> tuple[TaskSpec, str]:
    """The file holds the filtered answers, so the pipeline has no filters."""
    description = f"{', '.join(reply.metrics)} of the filtered answers"
    why = "there is no results file"
    if results:
        reasons = results.reasons or (f"it has no filter '{reply.filter}'",)
        why = f"{results.where} cannot be followed: {'; '.join(reasons)}"
        if pipeline := next(
            (one for one in results.pipelines if one.name == reply.filter and not results.reasons), None
        ):
            return _task(name, pipeline), f"{description}, as {results.where} sets them"
    metrics = _known_metrics(reply)
    if not metrics:
        raise BadData(
            f"{name} is judged by {', '.join(reply.metrics)}, which is not known here: name the task's file with "
            "--task, and allow its Python with --trust-python."
        )
    return _task(name, Pipeline(name=reply.filter, metrics=metrics)), f"{description}, without settings ({why})"


def _known_metrics(reply: SavedReply) -> tuple[MetricUse, ...]:
    return tuple(MetricUse(name=metric) for metric in reply.metrics if metric in METRICS)


def _task(name: str, pipeline: Pipeline) -> TaskSpec:
    return TaskSpec(
        name=name,
        about="Saved replies.",
        data=DataFile(name=name),
        fields=(),
        prompt=Prompt(question=""),
        reference="",
        pipelines=(pipeline,),
    )


# A dataset made of what a file of replies says itself: its right answers and, for letters, its options.
#
# It serves where there is no other: for questions that nobody here knows, and for a known dataset whose rows are not on
# this machine.


VERSION = "-"
"""In place of a hash: nothing is known of the prompts."""
_MOST_LETTERS = 10
"""How many letters count where options are not known."""


def suits(task: TaskSpec) -> bool:
    """Whether the right answers of a file are all that judging needs."""
    return not task.parts and not task.extras and not any(metric(use.name).asks for use in metric_uses(task))


def prepared(
    name: str, saved: Mapping[ProblemName, SavedProblem], task: TaskSpec
) -> tuple[PreparedDataset, dict[ProblemName, Problem], dict[ProblemName, str]]:
    """The dataset of the file `name`, its problems by their names in the file, and why some cannot be judged."""
    task = _with_known_parts(task, saved.values())
    problems: dict[ProblemName, Problem] = {}
    strangers: dict[ProblemName, str] = {}
    for key, problem in sorted(saved.items(), key=lambda item: _natural_order(item[1])):
        why = problem.odd or ("" if problem.gold else "it has no right answer")
        try:
            problems[key] = _problem(len(problems), problem, task)
        except BadData as error:
            why = why or error.sentence
        if why:
            problems.pop(key, None)
            strangers[key] = f"problem {problem.title}: {why}"
    if not problems:
        raise BadData(
            f"{name}: {next(iter(strangers.values()))}, and so it is with all of its {len(saved):,} problems: name the "
            "dataset that was asked with --task."
        )
    dataset = PreparedDataset(task=task, problems=tuple(problems.values()), version=VERSION, questions=VERSION)
    return dataset, problems, strangers


def assumptions(task: TaskSpec, problems: Iterable[SavedProblem]) -> tuple[str, ...]:
    """What a reader has to know about letters of options that are in no file."""
    if not _reads_letters(task) or all(problem.options for problem in problems):
        return ()
    last = ascii_uppercase[_MOST_LETTERS - 1]
    sentence = (
        f"The file does not list its options: a reply counts by a letter from A to {last} that it marks as "
        "its answer, never by an option's words."
    )
    return (sentence,)


def _problem(number: int, saved: SavedProblem, task: TaskSpec) -> Problem:
    problem = Problem(
        id=number,
        messages=(),
        references=saved.gold,
        choices=saved.options,
        category=saved.part or None,
    )
    if task.kind != "generate":
        return _of_loglikelihoods(saved, problem)
    if any(pipeline.filters for pipeline in pipelines(task)):  # else another program read the answers, in its own way
        problem = replace(problem, references=right_answers(saved.gold))
    return replace(problem, references=_letters(saved)) if _reads_letters(task) else problem


def _of_loglikelihoods(saved: SavedProblem, problem: Problem) -> Problem:
    """A single text has no options: what counts is its likelihood, and whether greedy decoding gives it."""
    if len(saved.options) < 2:
        texts = saved.options or saved.gold
        return replace(
            problem, choices=(), candidates=tuple(Candidate(context="", continuation=text) for text in texts)
        )
    places = [positions(text, saved.options) for text in saved.gold]
    known = [place for found in places if found for place in found if 0 <= place < len(saved.options)]
    if len(known) < len(saved.gold):
        raise BadData(f"the right answer {' / '.join(saved.gold)!r} is none of its {len(saved.options)} options")
    return replace(problem, gold=tuple(known))


def _letters(saved: SavedProblem) -> tuple[str, ...]:
    """The right answers as letters; with known options, a text of one may stand for its letter."""
    offered = ascii_uppercase[: len(saved.options) or _MOST_LETTERS]
    letters = tuple(
        offered[saved.options.index(text)] if text in saved.options else text.strip("()").upper()
        for text in map(str.strip, saved.gold)
    )
    if all(letter and letter in offered for letter in letters):
        return letters
    options = f"its {len(saved.options)} options" if saved.options else f"the letters A to {offered[-1]}"
    raise BadData(f"the right answer {' / '.join(saved.gold)!r} is none of {options}")


def _reads_letters(task: TaskSpec) -> bool:
    return any(step.name == "choice_letter" for pipeline in pipelines(task) for step in pipeline.filters)


def _with_known_parts(task: TaskSpec, saved: Iterable[SavedProblem]) -> TaskSpec:
    """Without its parts if the file does not name one for each problem."""
    grouping = task.grouping
    if grouping is None:
        return task
    areas = grouping.areas
    known = grouping.by == "category" and all(one.part and (not areas or one.part in areas) for one in saved)
    return task if known else replace(task, grouping=None)


def _natural_order(saved: SavedProblem) -> tuple[str, list[tuple[int, str]]]:
    """By part, then by id with numbers as numbers: q2 before q10."""
    pieces = re.findall(r"\d+|\D+", saved.id or saved.question)
    return saved.part, [(int(piece), "") if piece.isdecimal() else (-1, piece) for piece in pieces]
