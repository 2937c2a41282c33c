"""Files of replies by their paths, with further parts of those that OpenCompass has split, and AISBench's failures."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count, takewhile
from pathlib import Path, PurePath

from msgspec.structs import replace

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.rescoring.saved_replies import ProblemName, SavedReply, name_of
from model_accuracy_eval.rescoring.shapes.reply_files import ShapedFile, open_replies
from model_accuracy_eval.system.local_files import PackedFile


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


def joined(parts: Sequence[ShapedFile]) -> Iterator[SavedReply]:
    """The replies of all parts, with the problems counted through, as OpenCompass counts them."""
    start = 0
    for part in parts:
        numbers = set[int]()
        for reply in part.replies():
            if not reply.problem.isdecimal():
                raise BadData(f"{part.name} is a part of a dataset, but its problem '{reply.problem}' is no number.")
            numbers.add(int(reply.problem))
            yield replace(reply, problem=str(start + int(reply.problem)))
        if numbers != set(range(len(numbers))):
            raise BadData(
                f"{part.name} is a part of a dataset, but it lacks some of the problems from 0 to {max(numbers):,}, so "
                "the numbers of the problems in the next part are not known."
            )
        start += len(numbers)


_PART = re.compile(r"(?P<root>.+)_(?P<number>\d+)(?P<ending>\.json(?:\.gz)?)")


def replies(path: str, fields: Mapping[str, str]) -> tuple[str, Callable[[], Iterator[SavedReply]]]:
    """The name of what the file holds, and how its replies are read."""
    file = _open(path, fields)
    if not (file.shape and file.shape.in_parts) or not (match := _PART.fullmatch(path)):
        return _stem(path), file.replies
    others = [_part(match, number) for number in takewhile(lambda number: _is_part(match, number), count())]
    if Path(match["root"] + match["ending"]).is_file() or len(others) < max(2, int(match["number"]) + 1):
        return _stem(path), file.replies
    if int(match["number"]):
        raise BadData(f"{path} is a part of {len(others)}: give {others[0]}, with which all of them are read.")
    return _stem(match["root"]), partial(joined, [file, *(_open(other, fields) for other in others[1:])])


def without_later_parts(paths: Sequence[str]) -> list[str]:
    """Without the parts whose first one is there too."""
    matches = [(path, _PART.fullmatch(path)) for path in paths]
    return [path for path, match in matches if not match or not int(match["number"]) or _part(match, 0) not in paths]


def _open(path: str, fields: Mapping[str, str]) -> ShapedFile:
    return open_replies(PackedFile(Path(path), path), fields)


def _part(match: re.Match[str], number: int) -> str:
    return f"{match['root']}_{number}{match['ending']}"


def _is_part(match: re.Match[str], number: int) -> bool:
    return Path(_part(match, number)).is_file()


def _stem(path: str) -> str:
    return PurePath(path.removesuffix(".gz")).stem
