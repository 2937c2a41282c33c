"""JUnit XML, as CI servers show tests: a case for each gate and each dataset, and one for a run without verdict."""

from collections.abc import Iterator
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from model_accuracy_eval.records import DatasetResult, GateResult, SummaryRow
from model_accuracy_eval.records.report import is_verdict
from model_accuracy_eval.report import figures
from model_accuracy_eval.report.exports.exported_run import ExportedRun, NamedFile

_FILE = "junit.xml"


def files(run: ExportedRun) -> Iterator[NamedFile]:
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
    facts = {"run": run.report.plan.run_id, "model": run.model, **run.report.environment}
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
