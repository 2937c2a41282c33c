"""Report → the files of the run folder, `run.json` and the manifest last."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence

from model_accuracy_eval.ports import Store
from model_accuracy_eval.records import Exam, Report
from model_accuracy_eval.reporting import compared, journal, page, predictions, results, runfile, summary

RUN_FILE = "run.json"
MANIFEST = "manifest.sha256"

Questions = Mapping[str, Mapping[int, str]]
"""What was asked, by dataset and problem."""


def write(report: Report, exams: tuple[Exam, ...], store: Store) -> None:
    """Everything that readers and other programs open; journals and logs are there already."""
    for name, data in _files(report, exams, store):
        store.write(name, data)
    store.write(MANIFEST, _manifest(store))


def _files(report: Report, exams: tuple[Exam, ...], store: Store) -> Iterator[tuple[str, bytes]]:
    plan = report.plan
    for exam in exams:
        lines = store.lines(journal.file(plan.label, exam.task.name))
        view = b"".join(predictions.as_json(lines, plan.sampling.of(exam.task).n))
        yield f"predictions/{plan.label}/{exam.task.name}.json", view
    for sheet in report.sheets:
        yield results.file(plan.label, sheet.dataset), results.as_json(sheet, plan)
    questions = {
        exam.task.name: {problem.id: problem.messages[-1].content for problem in exam.problems} for exam in exams
    }
    yield from _pages(report, questions)
    yield RUN_FILE, runfile.finished(report, exams)


def rewrite(report: Report, questions: Questions, store: Store) -> list[str]:
    """The files for people alone, anew, and the manifest that holds their hashes; returns their names."""
    pages = dict(_pages(report, questions))
    for name, data in pages.items():
        store.write(name, data)
    store.write(MANIFEST, _manifest(store))
    return list(pages)


def _pages(report: Report, questions: Questions) -> Iterator[tuple[str, bytes]]:
    plan = report.plan
    if report.sheets:
        cells = summary.table(summary.all_rows(report), plan.label)
        yield f"summary/summary_{plan.stamp}.csv", summary.as_csv(cells).encode()
        yield f"summary/summary_{plan.stamp}.md", _markdown(cells, report).encode()
        yield f"summary/summary_{plan.stamp}.txt", summary.as_text(report).encode()
    yield "report.html", page.as_html(report, questions)


def _markdown(cells: Sequence[Sequence[str]], report: Report) -> str:
    """The summary's table, and the baseline's beside it."""
    table = summary.as_markdown(cells)
    return f"{table}\n{compared.as_markdown(report.comparison)}" if report.comparison else table


def _manifest(store: Store) -> bytes:
    """As `sha256sum --check` reads it."""
    lines = [
        f"{hashlib.sha256(store.read(name) or b'').hexdigest()}  {name}\n" for name in store.names() if name != MANIFEST
    ]
    return "".join(lines).encode()
