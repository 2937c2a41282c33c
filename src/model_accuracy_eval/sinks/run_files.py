"""The sink that writes the files of the run folder, `run.json` and the manifest last."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial

from model_accuracy_eval.errors import BadData, Defect, EvalError, NoHonestScore
from model_accuracy_eval.ports import Published, Store
from model_accuracy_eval.records import Media, Outcome, PreparedDataset, Report, RunPlan
from model_accuracy_eval.report import comparison, figures, page, page_replies, tables
from model_accuracy_eval.report.page import Questions
from model_accuracy_eval.report.page_replies import PackedReplies
from model_accuracy_eval.report.remarks import service_notes
from model_accuracy_eval.run_folder import journal, manifest, predictions, results, runfile
from model_accuracy_eval.run_folder.manifest import MANIFEST
from model_accuracy_eval.run_folder.runfile import RUN_FILE
from model_accuracy_eval.system.media_files import MediaFiles

MadeFile = tuple[str, Callable[[], bytes | Iterable[bytes] | None]]
"""A name, and how its content is made, in parts where it may be large; None: the file is left as it is."""


class RunFiles:
    """Implements `ports.Sink`: all that readers and other programs open. Journals and logs are there already."""

    name = "files"

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        """A file that cannot be made or written keeps none of the others back. The manifest has all that were written:
        without it, nobody could say later that the replies are those that the run got."""
        if not isinstance(result, Report) or folder is None:
            return published
        failures = {
            name: failure for name, make in _files(result, folder) if (failure := _write(name, make, result, folder))
        }
        if RUN_FILE not in failures:  # else the run has not come to its end
            names = [name for name in folder.names() if name not in failures]
            failures[MANIFEST] = _write(MANIFEST, lambda: manifest.as_text(names, folder.parts), result, folder)
        sentences = [*filter(None, failures.values())]
        if sentences:
            sentences.append(
                "All other files of the run are there; for a whole report, type "
                f"model-accuracy-eval run --mode eval --reuse {folder.root}."
            )
        return published.with_failures(self.name, *sentences)


def _files(report: Report, store: Store) -> Iterator[MadeFile]:
    """Every file, in the order in which they are made."""
    plan = report.plan
    label = plan.settings.label
    judged = {result.dataset: result.counts for result in report.dataset_results if result.problem_results}
    for prepared in report.datasets:
        yield predictions.view_file(label, prepared.task.name), partial(_view, prepared, plan, store)
        if prepared.task.name in judged:
            spoken = journal.file(label, prepared.task.name) if judged[prepared.task.name].with_media else ""
            yield predictions.pictures_file(label, prepared.task.name), partial(_pictures, prepared, spoken, store)
    for dataset_result in report.dataset_results:
        yield results.file(label, dataset_result.dataset), partial(results.as_json, dataset_result, plan)
    questions = {
        prepared.task.name: {problem.id: problem.messages[-1].shown for problem in prepared.problems}
        for prepared in report.datasets
    }
    yield from _pages(report, questions, store)
    notes = service_notes(plan, report.service, report.replicas)
    yield RUN_FILE, partial(runfile.finished, report, notes)


def _view(prepared: PreparedDataset, plan: RunPlan, store: Store) -> Iterator[bytes] | None:
    """None for a journal that somebody changed, which is kept as it is; the outcome says so."""
    name = journal.file(plan.settings.label, prepared.task.name)
    with contextlib.suppress(NoHonestScore):
        places = predictions.places_by_problem(store.lines(name))
        return predictions.as_view(store.lines_at(name, places), plan.sampling.of(prepared.task).n)
    return None


def _pictures(prepared: PreparedDataset, spoken: str, store: Store) -> bytes | None:
    """None where there are no small ones. Files that are gone since the run began cost their pictures alone.

    `spoken`: the journal, if replies have sounds or pictures.
    """
    files = MediaFiles()
    answers = map(journal.answer_of, store.lines(spoken) if spoken else ())
    replies = (media for answer in answers for media in answer.media)

    def read(media: Media) -> bytes:
        return files.read(media) if media.place else store.read(media.name) or b""

    with contextlib.suppress(BadData, NoHonestScore):
        return b"".join(predictions.lines(prepared.problems, replies, read)) or None
    return None


def _write(name: str, make: Callable[[], bytes | Iterable[bytes] | None], report: Report, folder: Store) -> str:
    """Makes and writes a file; returns a sentence if that fails, so that the others are made."""
    try:
        content = make()
        if content is not None:
            folder.write(name, content)
    except EvalError as error:
        return error.sentence
    except Exception as error:  # noqa: BLE001 - whatever it is
        detail, log = Defect.from_exception(error).detail, f"logs/defects_{report.plan.stamp}.out"
        with contextlib.suppress(EvalError):
            folder.append(log, f"{name}\n{detail}\n".encode())
        return (
            f"{name} could not be made ({detail.splitlines()[-1]}), which is a defect of model-accuracy-eval: please "
            f"report {folder.path(log)}."
        )
    return ""


def rewrite(
    report: Report, questions: Questions, store: Store, stated: bytes | None, written: Iterable[str] = ()
) -> list[str]:
    """Writes the files for people again; returns their names.

    `stated`: the manifest. It gets the hashes of these files and of those that were `written` before them, and no
    others: what somebody changed does not become what the run left.
    """
    made = {name: make() for name, make in _pages(report, questions, store)}
    pages = {name: content for name, content in made.items() if content is not None}
    for name, content in pages.items():
        store.write(name, content)
    if stated is not None:
        store.write(MANIFEST, manifest.as_text([*written, *pages], store.parts, manifest.parse(stated)))
    return list(pages)


def _pages(report: Report, questions: Questions, store: Store) -> Iterator[MadeFile]:
    plan = report.plan
    if report.dataset_results:
        yield f"summary/summary_{plan.stamp}.csv", lambda: tables.as_csv(_cells(report)).encode()
        yield f"summary/summary_{plan.stamp}.md", lambda: _markdown(report).encode()
        yield f"summary/summary_{plan.stamp}.txt", lambda: tables.summary_as_text(report).encode()
    packed = cache(lambda: _replies(report, store))
    yield page.PAGE, lambda: page.as_html(report, questions, packed())
    yield page.REPLIES_PAGE, lambda: page.replies_page(report, questions, packed())


_REPLY_FILES = (journal.file, journal.failures_file, predictions.findings_file, predictions.pictures_file)


def _replies(report: Report, store: Store) -> dict[str, PackedReplies]:
    """None of datasets whose journal somebody changed; the outcome says so."""
    label, packed = report.plan.settings.label, {}
    for result in report.dataset_results:
        files = (file(label, result.dataset) for file in _REPLY_FILES)
        with contextlib.suppress(NoHonestScore):
            packed[result.dataset] = page_replies.pack(result, *map(store.lines, files))
    return packed


def _cells(report: Report) -> Sequence[Sequence[str]]:
    return figures.table(figures.all_rows(report), report.plan.settings.label)


def _markdown(report: Report) -> str:
    """The summary's table, and below it the comparison with the baseline."""
    table = tables.as_markdown(_cells(report))
    return f"{table}\n{comparison.as_markdown(report.comparison)}" if report.comparison else table
