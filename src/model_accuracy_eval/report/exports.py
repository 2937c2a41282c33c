"""A run for other programs: JUnit and entries of a chart; and what exports are made of."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import msgspec

from model_accuracy_eval.errors import BadReuse, BadValue
from model_accuracy_eval.ports import Archive
from model_accuracy_eval.records import Attempt, DatasetResult, GateResult, ProblemResult, Report, SummaryRow
from model_accuracy_eval.records.report import is_verdict
from model_accuracy_eval.report import endings, figures
from model_accuracy_eval.run_folder import journal
from model_accuracy_eval.scoring.figures import intervals

JSON = dict[str, Any]
NamedFile = tuple[str, bytes]


class AskedProblem(NamedTuple):
    """One problem as it was asked, with what came back."""

    result: ProblemResult
    prompt: str
    """All messages, as lines of roles and texts; one message alone is its text."""
    gold: str
    replies: Sequence[Attempt | None]
    """One for each sample; None: it has none."""


class ExportedRun(NamedTuple):
    """A run that has ended."""

    report: Report
    asked: Callable[[DatasetResult], list[AskedProblem]]

    @property
    def stamp(self) -> str:
        """The time of the run, as file names have it."""
        return self.report.finished[:19].replace(":", "-")

    @property
    def next_step(self) -> str:
        """The command that completes the run."""
        return endings.go_on_command(self.report.plan.settings, self.report.outcome.folder)

    @property
    def model(self) -> str:
        return (self.report.service.model if self.report.service else None) or self.report.plan.settings.label


def exported_run(report: Report, archive: Archive) -> ExportedRun:
    """The run in an archive, whose report was read from it."""
    label = report.plan.settings.label

    def asked(result: DatasetResult) -> list[AskedProblem]:
        name = journal.file(label, result.dataset)
        answers: dict[tuple[int, int], Attempt] = {}
        shown: dict[int, journal.ShownProblem] = {}
        for place, line in enumerate(archive.lines(name), start=1):
            try:
                attempt = journal.attempt(line)
                shown.setdefault(attempt.problem, journal.whole_prompt(line))
            except BadReuse as error:
                raise BadReuse(f"'{archive.root}/{name}', line {place} cannot be read: {error.__cause__}.") from error
            answers[attempt.problem, max(attempt.index, 0)] = attempt
        for line in archive.lines(journal.failures_file(label, result.dataset)):
            shown.setdefault(journal.key(line)[0], journal.whole_prompt(line))
        nothing = journal.ShownProblem("", "")
        return [
            AskedProblem(
                result=problem,
                prompt=shown.get(problem.problem, nothing).question,
                gold=problem.references[0] if problem.references else "",
                replies=[answers.get((problem.problem, index)) for index in range(problem.n)],
            )
            for problem in result.problem_results
        ]

    return ExportedRun(report, asked)


def refuse_parts(run: ExportedRun, where: str) -> None:
    """Where a figure stands as that of the whole dataset, one that is an estimate of a part of it cannot."""
    for result in run.report.dataset_results:
        if result.part is not None and result.part.estimated:
            raise BadValue(
                f"{result.dataset} was asked no further than its gates needed ({result.part.share} of the requests), "
                f"so its figures cannot stand {where}: ask for the rest.",
                next_step=run.next_step,
            )


def file_name(text: str) -> str:
    """A name as a part of a path: no folder of its own, and not hidden."""
    return "".join(letter if letter.isalnum() or letter in "._-@+" else "_" for letter in text).lstrip(".") or "_"


def plain_metric(name: str) -> str:
    """The name without AISBench's remark on how many runs it is averaged over."""
    return name.partition(" (")[0]


# JUnit XML, as CI servers show tests: a case for each gate and each dataset, and one for a run without verdict.


_FILE = "junit.xml"


def junit(run: ExportedRun) -> Iterator[NamedFile]:
    report = run.report
    suite = Element("testsuite", name=_clean(f"model accuracy ({report.plan.settings.label})"))
    properties = SubElement(suite, "properties")
    stack = report.service.stack if report.service else {}
    for name, value in {"run": report.plan.run_id, "model": run.model, **report.environment, **stack}.items():
        SubElement(properties, "property", name=_clean(name), value=_clean(value))
    for result in report.dataset_results:
        _dataset(suite, result)
    for gate in report.gates:
        _gate(suite, gate, report.plan.settings.on_undecided)
    _ending(suite, run)
    counts = {"tests": len(suite.findall("testcase"))}
    for name, tag in {"failures": "failure", "errors": "error", "skipped": "skipped"}.items():
        counts[name] = len(suite.findall(f"testcase/{tag}"))
    totals = {name: str(count) for name, count in counts.items()} | {"time": f"{sum(report.seconds.values()):.3f}"}
    suite.attrib.update(totals, timestamp=report.started[:19])
    root = Element("testsuites", name="model-accuracy-eval")
    root.attrib.update({name: total for name, total in totals.items() if name != "skipped"})
    root.append(suite)
    ElementTree.indent(root)
    yield _FILE, ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def _dataset(suite: Element, result: DatasetResult) -> None:
    """What went missing, and the figures; a dataset without any figure is an error."""
    case = SubElement(suite, "testcase", classname=_clean(result.dataset), name="figures", time="0")
    if not any(row.value is not None for row in result.rows):
        SubElement(case, "error", message="It has no figure.", type="no figure")
    lines = []
    for row in result.rows:
        more = ", ".join(column.text(row) for column in figures.columns([row], "export"))
        lines.append(f"{row.metric}: {figures.number(row.value)} ({more})")
    notes = [*figures.count_remarks(result.counts), *result.notes]
    SubElement(case, "system-out").text = _clean("\n".join([*lines, *notes]))


def _gate(suite: Element, gate: GateResult, on_undecided: str) -> None:
    """A gate that is undecided is red, unless the settings let it pass: then it was not tested."""
    name = _clean(str(gate.gate).partition(f"{gate.gate.dataset}: ")[2] or str(gate.gate))
    case = SubElement(suite, "testcase", classname=_clean(gate.gate.dataset), name=name, time="0")
    sentence = _clean(gate.sentence)
    if gate.decision == "undecided" and on_undecided == "pass":
        SubElement(case, "skipped", message=sentence)
    elif gate.decision != "passed":
        SubElement(case, "failure", message=sentence, type=gate.decision).text = sentence
    if gate.decision == "passed":
        SubElement(case, "system-out").text = sentence


def _ending(suite: Element, run: ExportedRun) -> None:
    """A run that was broken or stopped must not be green."""
    outcome = run.report.outcome
    if not is_verdict(outcome.conclusion):
        case = SubElement(suite, "testcase", classname="run", name=outcome.stage, time="0")
        error = SubElement(case, "error", message=_clean(outcome.sentence), type=outcome.conclusion)
        error.text = _clean(f"{outcome.sentence}\n{outcome.detail}".strip())


_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Control characters and lone surrogates, not even escaped."""


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", text)


# What github-action-benchmark reads: `customBiggerIsBetter`, and `customSmallerIsBetter` for what should be low.


def benchmark_entries(run: ExportedRun) -> Iterator[NamedFile]:
    """That action fails on an empty list, so a file without entries is not written."""
    refuse_parts(run, "in a chart beside those of whole runs")
    rows = [row for row in figures.all_rows(run.report) if row.value is not None]
    for name, chosen in {
        "custom-bigger-is-better.json": [row for row in rows if row.higher_is_better],
        "custom-smaller-is-better.json": [row for row in rows if not row.higher_is_better],
    }.items():
        if chosen:
            yield name, msgspec.json.format(msgspec.json.encode(list(_entries(chosen, run))), indent=2) + b"\n"


def _entries(rows: Iterable[SummaryRow], run: ExportedRun) -> Iterator[JSON]:
    """The label belongs to the name, so that two models are two lines of the chart; a version begins a new one."""
    for row in rows:
        entry: JSON = {
            "name": f"{row.dataset} {row.metric} [{run.report.plan.settings.label}, {row.version}]",
            "unit": "%" if row.share else row.metric,
            "value": row.value,
        }
        limits = intervals.asked_again(row.certainty)
        if limits and row.value is not None:
            entry["range"] = f"± {max(row.value - limits.low, limits.high - row.value):.2f}"
        remarks = [f"model {run.model}", f"run {run.report.plan.run_id}", run.report.outcome.sentence]
        if row.bounds:
            remarks.append(f"{row.bounds.samples} samples have no verdict: {figures.range_of(row.bounds)}")
        remarks += [f"Unverified: {doubt}." for doubt in run.report.plan.unverified]
        yield entry | {"extra": "\n".join(remarks)}
