"""A run for other programs: JUnit and entries of a chart; and what exports are made of."""

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


def values_of_problem(problem: ProblemResult, first: str) -> dict[str, float]:
    """Its metrics, 0..1, by the names of the summary; `first` is what the mean of its samples is called."""
    figures = {plain_metric(name): value / 100 for name, value in problem.figures.items() if value is not None}
    return {first: sum(problem.values) / problem.n, **figures} if problem.n else figures


def first_metric(result: DatasetResult) -> str:
    return plain_metric(result.rows[0].metric) if result.rows else "accuracy"


# JUnit XML, as CI servers show tests: a case for each gate and each dataset, and one for a run without verdict.


_FILE = "junit.xml"


def junit(run: ExportedRun) -> Iterator[NamedFile]:
    suite = Element("testsuite", name=_clean(f"model accuracy ({run.report.plan.settings.label})"))
    _properties(suite, run)
    for result in run.report.dataset_results:
        _dataset(suite, result)
    for gate in run.report.gates:
        _gate(suite, gate, run.report.plan.settings.on_undecided)
    _ending(suite, run)
    _count(suite, run)
    root = Element("testsuites", name="model-accuracy-eval")
    for name in ("tests", "failures", "errors", "time"):
        root.set(name, suite.get(name, "0"))
    root.append(suite)
    ElementTree.indent(root)
    yield _FILE, ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def _properties(suite: Element, run: ExportedRun) -> None:
    properties = SubElement(suite, "properties")
    stack = run.report.service.stack if run.report.service else {}
    facts = {"run": run.report.plan.run_id, "model": run.model, **run.report.environment, **stack}
    for name, value in facts.items():
        SubElement(properties, "property", name=_clean(name), value=_clean(value))


def _dataset(suite: Element, result: DatasetResult) -> None:
    """What went missing, and the figures; a dataset without any figure is an error."""
    case = SubElement(suite, "testcase", classname=_clean(result.dataset), name="figures", time="0")
    if not any(row.value is not None for row in result.rows):
        SubElement(case, "error", message="It has no figure.", type="no figure")
    lines = [f"{row.metric}: {figures.number(row.value)} ({_more(row)})" for row in result.rows]
    notes = [*figures.count_remarks(result.counts), *result.notes]
    SubElement(case, "system-out").text = _clean("\n".join([*lines, *notes]))


def _more(row: SummaryRow) -> str:
    return ", ".join(column.text(row) for column in figures.columns([row], "export"))


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


def _count(suite: Element, run: ExportedRun) -> None:
    numbers = {name: len(suite.findall(f"testcase/{tag}")) for name, tag in _TAGS.items()}
    suite.set("tests", str(len(suite.findall("testcase"))))
    for name, number in numbers.items():
        suite.set(name, str(number))
    suite.set("time", f"{sum(run.report.seconds.values()):.3f}")
    suite.set("timestamp", run.report.started[:19])


_TAGS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def _clean(text: str) -> str:
    """XML has no place for control characters and lone surrogates, not even escaped."""
    return "".join(letter if _is_allowed(ord(letter)) else "\ufffd" for letter in text)


def _is_allowed(point: int) -> bool:
    return (
        point in {0x9, 0xA, 0xD} or 0x20 <= point <= 0xD7FF or 0xE000 <= point <= 0xFFFD or 0x10000 <= point <= 0x10FFFF
    )


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
