"""`compare --html`: the page of two runs, from their folders or zips; nothing is asked, judged or written to either."""

from collections.abc import Iterator

from model_accuracy_eval import rerender
from model_accuracy_eval.ports import Archive
from model_accuracy_eval.records import Comparison, DatasetResult, Report
from model_accuracy_eval.report import comparison_page, page_replies
from model_accuracy_eval.report.page_charts import Timeline
from model_accuracy_eval.report.page_replies import PackedReplies, ProblemDocument
from model_accuracy_eval.run_folder import journal, predictions


def as_html(base: Archive, new: Archive, compared: Comparison) -> bytes:
    old_report, new_report = rerender.kept_report(base), rerender.kept_report(new)
    states = comparison_page.states(compared, old_report, new_report)
    old_results = {result.dataset: result for result in old_report.dataset_results}
    replies: dict[str, PackedReplies] = {}
    questions: dict[str, dict[int, str]] = {}
    for result in new_report.dataset_results:
        if result.dataset in states:
            changed = states[result.dataset]
            before = comparison_page.changed_only(old_results[result.dataset], changed)
            after = comparison_page.changed_only(result, changed)
            replies[result.dataset] = page_replies.pack_documents(
                _side_by_side(_documents(base, old_report, before), _documents(new, new_report, after))
            )
            questions[result.dataset] = journal.questions(new.lines, new_report.plan.settings.label, result.dataset)
    return comparison_page.as_html(compared, old_report, new_report, questions, replies)


def _side_by_side(old: Iterator[ProblemDocument], new: Iterator[ProblemDocument]) -> Iterator[ProblemDocument]:
    before = {document.id: document for document in old}
    for document in new:
        document.old = before[document.id].samples
        yield document


def _documents(archive: Archive, report: Report, result: DatasetResult) -> Iterator[ProblemDocument]:
    answers, failures, found, pictures = _lines(archive, report, result.dataset)
    documents = page_replies.documents(result, answers, failures, found, Timeline())
    return page_replies.illustrated(documents, predictions.addresses(pictures))


def _lines(archive: Archive, report: Report, dataset: str) -> list[Iterator[bytes]]:
    label = report.plan.settings.label
    files = (journal.file, journal.failures_file, predictions.findings_file, predictions.pictures_file)
    return [archive.lines(file(label, dataset)) for file in files]
