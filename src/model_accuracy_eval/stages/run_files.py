"""The sink that writes the files of the run folder, `run.json` and the manifest last."""

from collections.abc import Iterator, Mapping, Sequence

from model_accuracy_eval.errors import NoHonestScore
from model_accuracy_eval.ports import Store
from model_accuracy_eval.ports.sink import Published, Sink
from model_accuracy_eval.records import Outcome, Report
from model_accuracy_eval.reporting import comparison, journal, manifest, page, results, runfile, summary
from model_accuracy_eval.reporting.manifest import MANIFEST
from model_accuracy_eval.reporting.runfile import RUN_FILE

Questions = Mapping[str, Mapping[int, str]]
"""The questions of a run: dataset → problem → text."""


class RunFiles:
    """Implements `ports.sink.Sink`: all that readers and other programs open. Journals and logs are there already."""

    name = "files"

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        if isinstance(result, Report) and folder is not None:
            for name, content in _files(result, folder):
                folder.write(name, content)
            folder.write(MANIFEST, manifest.as_text(folder.names(), folder.read))
        return published


FILES: tuple[Sink, ...] = (RunFiles(),)
"""The sinks of a run that publishes to its folder alone."""


def _files(report: Report, store: Store) -> Iterator[tuple[str, bytes]]:
    plan = report.plan
    for prepared in report.datasets:
        lines = store.lines(journal.file(plan.settings.label, prepared.task.name))
        try:
            view = b"".join(journal.as_view(lines, plan.sampling.of(prepared.task).n))
        except NoHonestScore:
            continue  # a journal that somebody changed is kept as it is; the outcome says so
        yield journal.view_file(plan.settings.label, prepared.task.name), view
    for dataset_result in report.dataset_results:
        yield results.file(plan.settings.label, dataset_result.dataset), results.as_json(dataset_result, plan)
    questions = {
        prepared.task.name: {problem.id: problem.messages[-1].content for problem in prepared.problems}
        for prepared in report.datasets
    }
    yield from _pages(report, questions)
    yield RUN_FILE, runfile.finished(report)


def rewrite(report: Report, questions: Questions, store: Store) -> list[str]:
    """Writes the files for people again, and the manifest that holds their hashes; returns their names."""
    pages = dict(_pages(report, questions))
    for name, content in pages.items():
        store.write(name, content)
    store.write(MANIFEST, manifest.as_text(store.names(), store.read))
    return list(pages)


def _pages(report: Report, questions: Questions) -> Iterator[tuple[str, bytes]]:
    plan = report.plan
    if report.dataset_results:
        cells = summary.table(summary.all_rows(report), plan.settings.label)
        yield f"summary/summary_{plan.stamp}.csv", summary.as_csv(cells).encode()
        yield f"summary/summary_{plan.stamp}.md", _markdown(cells, report).encode()
        yield f"summary/summary_{plan.stamp}.txt", summary.as_text(report).encode()
    yield "report.html", page.as_html(report, questions)


def _markdown(cells: Sequence[Sequence[str]], report: Report) -> str:
    """The summary's table, and below it the comparison with the baseline."""
    table = summary.as_markdown(cells)
    return f"{table}\n{comparison.as_markdown(report.comparison)}" if report.comparison else table
