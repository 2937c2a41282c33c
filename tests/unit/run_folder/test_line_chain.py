"""Whatever another program does to a journal, the line is named and there is no verdict."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.errors import NoHonestScore
from model_accuracy_eval.run_folder.run_folder import RunFolder

LINES = [b'{"id": %d, "prediction": "WRONG", "gold": "42"}\n' % number for number in range(5)]
NAME = "predictions/label/data.jsonl"


@pytest.fixture
def store(tmp_path: Path) -> RunFolder:
    folder = RunFolder(str(tmp_path / "run"))
    for line in LINES:
        folder.append(NAME, line)
    return folder


def forge(number: int) -> Callable[[list[bytes]], list[bytes]]:
    return lambda lines: [line.replace(b"WRONG", b"42") if at == number else line for at, line in enumerate(lines)]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (forge(0), "line 1 is not what this run wrote"),
        (forge(3), "line 4 is not what this run wrote"),
        (lambda lines: lines[1:], "line 1 is not what this run wrote"),
        (lambda lines: lines[:-2], "3 of the 5 lines that this run wrote are left"),
        (lambda lines: [*lines, lines[0]], "line 6 is not what this run wrote"),
        (lambda lines: [lines[1], lines[0], *lines[2:]], "line 1 is not what this run wrote"),
        (lambda _: [], "0 of the 5 lines"),
    ],
)
def test_every_change_is_named(store: RunFolder, change: Callable[[list[bytes]], list[bytes]], sentence: str) -> None:
    """A line that was changed, removed, added or moved: exit code 5 and its number."""
    Path(store.path(NAME)).write_bytes(b"".join(change(LINES)))
    with pytest.raises(NoHonestScore, match=sentence) as caught:
        list(store.lines(NAME))
    assert caught.value.exit_code == 5


def test_a_file_that_is_gone_or_replaced_is_named_too(store: RunFolder) -> None:
    """Appending goes on in the old file, but what is read is the new one."""
    path = Path(store.path(NAME))
    path.rename(path.with_suffix(".old"))
    store.append(NAME, LINES[0])
    with pytest.raises(NoHonestScore, match="0 of the 6 lines"):
        list(store.lines(NAME))


@given(
    st.lists(
        st.lists(st.binary(max_size=20).map(lambda data: data.replace(b"\n", b"") + b"\n"), max_size=4), max_size=5
    )
)
def test_what_nobody_changed_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, appends: list[list[bytes]]
) -> None:
    """However the lines were grouped, and after the folder was opened again or the file written anew."""
    folder = str(tmp_path_factory.mktemp("run"))
    store = RunFolder(folder)
    for lines in appends:
        store.append("a", b"".join(lines))
    written = [line for lines in appends for line in lines]
    assert list(store.lines("a")) == written
    store.write("a", b"".join(written[::2]))
    assert list(store.lines("a")) == written[::2]
    store.append("a", b"last\n")
    assert list(store.lines("a")) == [*written[::2], b"last\n"]
    store.close()
    store = RunFolder(folder)
    store.append("a", b"again\n")
    assert list(store.lines("a")) == [*written[::2], b"last\n", b"again\n"]
    store.close()
