"""Files of replies by their paths, with the further parts of those that OpenCompass has split."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count, takewhile
from pathlib import Path, PurePath

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.rescoring.shapes.reply_files import ShapedFile, open_replies
from model_accuracy_eval.rescoring.shapes.split_files import joined
from model_accuracy_eval.system.local_files import PackedFile

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
