"""The journal of a run of this program → its saved replies, with everything that figures and counts depend on."""

from collections.abc import Iterable, Iterator

from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.run_folder import journal


def replies(answers: Iterable[bytes], failures: Iterable[bytes]) -> Iterator[SavedReply]:
    """The samples in the lines of both files. A failure that a later sample replaced is none."""
    answered: set[tuple[int, int]] = set()
    for line in answers:
        attempt, shown = journal.attempt(line), journal.shown(line)
        answered.add((attempt.problem, attempt.index))
        yield SavedReply(
            problem=str(attempt.problem),
            index=attempt.index,
            text=attempt.text,
            reasoning=attempt.reasoning,
            finish_reason=attempt.finish_reason,
            rounds=attempt.rounds,
            earlier=attempt.earlier,
            method=attempt.method,
            loglikelihoods=attempt.loglikelihoods,
            question=shown.question,
            gold=(shown.gold,) if shown.gold else (),
        )
    for line in failures:
        failed, shown = journal.failure(line), journal.shown(line)
        if failed.fault is not None and (failed.problem, failed.index) not in answered:
            yield SavedReply(
                problem=str(failed.problem),
                index=failed.index,
                failure=failed.fault.sentence,
                rejected=failed.fault.kind == "rejected",
                question=shown.question,
            )
