"""A user's own files through the real command: told, judged, refused with the row, and written down as a task file."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

from tests.e2e import command
from tests.servers.fault_server import FaultServer
from tests.unit.tasks.test_spreadsheets import book, row

ROWS = [
    {"id": "n-7", "question": "2+2?", "answer": ["4", "four"], "topic": "sums"},
    {"id": "t-1", "question": "Capital of France?", "answer": "Paris", "topic": "places"},
    {"id": "c-1", "question": "Which is red?", "choices": ["sky", "blood"], "answer": "blood", "topic": "colours"},
    {"id": "c-2", "question": "Which is blue?", "choices": ["sky", "blood", "leaf"], "answer": "a", "topic": "colours"},
]
ANSWERS = {
    "2+2?": "Four",
    "Capital of France?": "I like Paris.",
    "Which is red?": "ANSWER: B",
    "Which is blue?": "ANSWER: C",
}


def model(request: dict[str, Any]) -> list[str]:
    """Right about the sum and the red one, wordy about France, wrong about the blue one."""
    question = request["messages"][-1]["content"].partition("\n")[0]
    return [ANSWERS.get(question, "2")]


def asked(server: FaultServer, folder: Path, *more: object) -> command.Done:
    return command.run("run", "--endpoint", server.url, "--out", folder / "out", "-n", "1", *more)


def summary(folder: Path) -> list[str]:
    (table,) = folder.glob("out/[0-9a-f]*/summary/*.csv")
    return sorted(table.read_text().splitlines())


def test_a_file_is_told_judged_by_the_kinds_of_its_rows_and_written_down(tmp_path: Path) -> None:
    """What was understood and three judgements come first, and are on the page; the task file that `tasks init` writes
    gives the same questions, judging and version."""
    mine = tmp_path / "mine.jsonl"
    mine.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    with FaultServer(model) as server:
        done = asked(server, tmp_path, "--datasets", mine)
        assert done.code == 0, done.err
        told = " ".join(done.err.split())
        assert "Judged: 2 rows by the text, 2 rows by the letter." in told
        assert "1 row with several right answers, any of which counts: row 1 takes '4' or 'four'." in told
        assert "Row 2 is sent" not in told  # which is of the same kind as row 1
        assert "Row 1 is sent as | 2+2? | | Think it through" in told
        assert "and judged by the text: '4' is right; 'The answer is 4.' is right; 'I do not know.' is wrong." in told
        assert "Row 3 is sent as | Which is red? | | A. sky | B. blood | | Think it through" in told
        assert "and judged by the letter: 'ANSWER: B' is right; 'blood' is right; 'ANSWER: A' is wrong." in told
        assert "50.00" in done.out
        page = next(tmp_path.glob("out/[0-9a-f]*/report.html")).read_text()
        assert "row 1 takes" in page
        first = summary(tmp_path)
        written = command.run("tasks", "init", mine)
        assert written.code == 0, written.err
        assert command.run("tasks", "init", mine).code == 2
        text = (tmp_path / "mine.yaml").read_text()
        assert "# What each column is." in text
        assert "data: mine.jsonl" in text
        (tmp_path / "again").mkdir()
        again = asked(server, tmp_path / "again", "--datasets", tmp_path / "mine.yaml")
        assert again.code == 0, again.err
        assert summary(tmp_path / "again") == first
        (tmp_path / "loose").mkdir()
        loose = asked(server, tmp_path / "loose", "--datasets", mine, "--match", "contains")
        assert (loose.code, "75.00" in loose.out) == (0, True), loose.out
        near = re.search(r"1 of 1 replies judged wrong contain the right answer: 'I like Paris\.' \(row 2; .*again: "
                         r"model-accuracy-eval (.*) --match contains", done.out)  # fmt: skip
        assert near, done.out
        judged = command.run(*shlex.split(near[1]), "--match", "contains")
        assert (judged.code, "75.00" in judged.out) == (0, True), judged.err
        (tmp_path / "all").mkdir()
        whole = asked(server, tmp_path / "all", "--datasets", mine, "--limit", "0")
        assert (whole.code, "4 of 4 samples answered" in whole.out) == (0, True), whole.out


def test_data_is_looked_for_beside_the_task_file_first(tmp_path: Path) -> None:
    """Whatever the working directory is, and whatever lies under --data-dir."""
    folder, other = tmp_path / "tasks", tmp_path / "data"
    folder.mkdir()
    other.mkdir()
    (folder / "t.yaml").write_text('name: t\ndata: rows.jsonl\nprompt: {question: "{{ q }}"}\nreference: "{{ r }}"\n'
                                   "pipelines: [{filters: [stripped], metrics: [exact]}]\n")  # fmt: skip
    (folder / "rows.jsonl").write_text('{"q": "one", "r": "2"}\n')
    (other / "rows.jsonl").write_text('{"q": "two", "r": "3"}\n')
    shown = command.run("tasks", "show", folder / "t.yaml", "--data-dir", other)
    assert (shown.code, "── user ──\none" in shown.out) == (0, True), shown.err + shown.out


def test_the_files_of_parts_are_prepared(tmp_path: Path) -> None:
    """Each once."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text('{"q": "one", "r": "2"}\n')
    part = '{name: NAME, data: NAME.jsonl, prompt: {question: "{{ q }}"}, reference: "{{ r }}"}'
    parts = "".join(f"  - {part.replace('NAME', name)}\n" for name in ("a", "b"))
    (tmp_path / "both.yaml").write_text(f"name: both\nparts:\n{parts}")
    done = command.run("tasks", "prepare", tmp_path / "both.yaml")
    assert done.code == 0, done.err
    assert [line.rpartition(" ")[2] for line in done.out.splitlines()] == [
        str(tmp_path / "a.jsonl"),
        str(tmp_path / "b.jsonl"),
    ]


def test_a_sheet_of_a_workbook_is_found_and_shown(tmp_path: Path) -> None:
    """By its name behind the file's, in the folder of the command and under --data-dir."""
    cells = book(row('<c r="B3"><v>2</v></c>'), second="")
    (tmp_path / "a.xlsx").write_bytes(cells)
    for name, more in {tmp_path / "a.xlsx#Main": (), "a.xlsx": ("--data-dir", tmp_path)}.items():
        shown = command.run("tasks", "show", name, *more)
        assert (shown.code, "  | 1+1?\n" in shown.out, "by the number: '2' is right" in shown.out) == (0, True, True)
