"""Failures in a file of their own, as AISBench writes them beside the replies: `<dataset>_failed.jsonl`."""

from collections import Counter
from collections.abc import Iterable, Iterator

from model_accuracy_eval.rescoring.saved_problems import ProblemName, name_of
from model_accuracy_eval.rescoring.saved_replies import SavedReply


def with_failures(answers: Iterable[SavedReply], failures: Iterable[SavedReply]) -> Iterator[SavedReply]:
    """The replies, then the failures that no later reply has made up for.

    A failure without a number counts where its problem has fewer replies than others have.
    """
    sizes: Counter[ProblemName] = Counter()
    numbered: set[tuple[ProblemName, int]] = set()
    for reply in answers:
        yield reply
        name = name_of(reply)
        sizes[name] += 1
        if reply.index is not None:
            numbered.add((name, reply.index))
    most = max(sizes.values(), default=1)
    for failure in failures:
        name = name_of(failure)
        made_up = sizes[name] >= most if failure.index is None else (name, failure.index) in numbered
        if not made_up:
            sizes[name] += 1
            yield failure
