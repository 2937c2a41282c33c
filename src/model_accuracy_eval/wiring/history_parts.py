"""Reads the runs and history files of `history`, and appends to one."""

from collections.abc import Callable, Iterable
from pathlib import Path

from model_accuracy_eval import wiring
from model_accuracy_eval.errors import BadReuse, BadValue
from model_accuracy_eval.run_folder import history_file
from model_accuracy_eval.run_folder.history_file import HistoryFile, HistoryLine, LeftOut, RunHistory
from model_accuracy_eval.run_folder.run_folder import find_runs
from model_accuracy_eval.system import local_files
from model_accuracy_eval.system.local_files import append_lines

HISTORY_SUFFIX = ".jsonl"


def read(places: Iterable[str], tell: Callable[[str], object]) -> RunHistory:
    """The lines of all runs and history files; `tell` gets a sentence about each that cannot be read."""
    lines: list[HistoryLine] = []
    left_out: list[LeftOut] = []
    for place in places:
        if place.endswith(HISTORY_SUFFIX) and Path(place).is_file():
            lines += _told(history_file.decode(local_files.read_whole(place), place), tell)
            continue
        for path in find_runs(place):
            try:
                found = history_file.of_run(wiring.run_archive(path))
            except BadReuse as error:
                tell(f"Left out: {error.sentence}")
                continue
            lines += found.lines
            left_out += found.left_out
    return RunHistory(lines=tuple(lines), left_out=tuple(left_out))


def append(path: str, lines: Iterable[HistoryLine], tell: Callable[[str], object]) -> tuple[HistoryLine, ...]:
    """Appends the lines that the file does not have; returns all of its lines."""
    content = append_lines(path, lambda before: history_file.new_lines(before, lines))
    return tuple(_told(history_file.decode(content, path), tell))


def write(path: str, content: bytes) -> None:
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise BadValue(f"{path} cannot be written: {error.strerror or error}.") from error


def _told(file: HistoryFile, tell: Callable[[str], object]) -> tuple[HistoryLine, ...]:
    for sentence in file.damaged:
        tell(sentence)
    return file.lines
