"""The history file: a JSON line for each dataset of a run, which any program may append to."""

from collections.abc import Iterable
from math import fsum

import msgspec

from model_accuracy_eval.reporting import history_lines
from model_accuracy_eval.reporting.history_lines import HistoryLine, PastFigure


def encode(line: HistoryLine) -> bytes:
    return msgspec.json.encode(line) + b"\n"


def new_lines(before: bytes, lines: Iterable[HistoryLine]) -> bytes:
    """What a history file with this content lacks, ready to be appended; the oldest runs first.

    A run that was judged again has finished anew, so it gets another line, and the newest line of a run counts.
    """
    known = {(line.run_id, line.dataset, line.finished) for line in decode(before, "").lines}
    fresh = {(line.run_id, line.dataset, line.finished): line for line in lines}
    ordered = sorted(fresh.items(), key=lambda item: (history_lines.instant(item[1].finished), item[0]))
    return b"".join(encode(line) for key, line in ordered if key not in known)


class HistoryFile(msgspec.Struct, frozen=True, kw_only=True):
    """The lines of a history file that could be read, and a sentence about each of the others."""

    lines: tuple[HistoryLine, ...]
    damaged: tuple[str, ...] = ()


def decode(source: bytes, where: str) -> HistoryFile:
    """Reads a history file. A line that a crash or a merge has damaged hides no other."""
    lines, damaged = [], []
    for number, text in enumerate(source.split(b"\n"), start=1):
        if not text.strip():
            continue
        try:
            line = _decoder.decode(text)
            _check(line)
        except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
            damaged.append(f"{where}, line {number} cannot be read and is left out: {error}.")
        else:
            lines.append(line)
    return HistoryFile(lines=tuple(lines), damaged=tuple(damaged))


_decoder = msgspec.json.Decoder(HistoryLine)


def _check(line: HistoryLine) -> None:
    """That the parts of a line fit together: a hand that edited it may have changed one of them."""
    history_lines.instant(line.finished)
    if line.ids and (len(line.ids) != line.problems or sorted(set(line.ids)) != list(line.ids)):
        raise ValueError(f"it has {line.problems} problems and {len(set(line.ids))} ids")
    if line.right and (len(line.right) != line.problems or not all(0 <= c <= line.n for c in line.right)):
        raise ValueError(f"it has {line.problems} problems of {line.n} samples, and other counts of right ones")
    for figure in line.figures:
        if figure.paired and len(figure.values or line.right) != line.problems:
            raise ValueError(f"its {figure.metric} has {len(figure.values)} values for {line.problems} problems")
        if figure.paired and not line.lost and abs(_mean(line, figure) - figure.value) > 1e-6:
            raise ValueError(f"its {figure.metric} is {figure.value}, and its problems say {_mean(line, figure)}")


def _mean(line: HistoryLine, figure: PastFigure) -> float:
    known = [value for value in history_lines.values(line, figure) if value is not None]
    return 100 * fsum(known) / len(known) if known else 0.0
