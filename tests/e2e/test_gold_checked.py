"""A file whose right answers are wrong: told with their rows before anything is asked, refused where all are."""

import html
import json
from pathlib import Path

from tests.e2e import command
from tests.servers.fault_server import FaultServer

TASK = """name: sums
data: sums.jsonl
prompt: {question: "{{ q }}"}
reference: "{{ a }}"
pipelines: [{filters: [number_answer], metrics: [{name: number, label: accuracy}]}]
"""
TOLD = (
    "sums: 2 of 10 right answers would themselves be judged wrong (rows 3, 7), so that no reply to them can be right: "
    "in row 3 nothing is read of a reply 'about six'."
)


def test_faulty_rows_are_told_before_anything_is_asked_and_in_the_report(tmp_path: Path) -> None:
    """With the rows' numbers and an example; of nothing but such rows, no question is sent and no folder left."""
    answers = [str(2 * number) for number in range(1, 11)]
    answers[2], answers[6] = "about six", "fourteen"
    (tmp_path / "sums.yaml").write_text(TASK)
    flags = ["--datasets", tmp_path / "sums.yaml", "--data-dir", tmp_path, "--out", tmp_path / "out", "-n", 1]

    def written(texts: list[str]) -> None:
        rows = ({"q": f"{place} + {place}?", "a": text} for place, text in enumerate(texts, start=1))
        (tmp_path / "sums.jsonl").write_text("\n".join(map(json.dumps, rows)))

    with FaultServer(lambda _request: ["2"]) as server:
        written(["word", "another"])
        refused = command.run("run", "--endpoint", server.url, *flags)
        assert (refused.code, server.requests, (tmp_path / "out").exists()) == (3, [], False), refused.err
        assert "sums: all 2 right answers would themselves be judged wrong, so that no reply to them" in refused.err
        assert f"Next: model-accuracy-eval tasks check {tmp_path / 'sums.yaml'} --data-dir" in refused.err
        written(answers)
        done = command.run("run", "--endpoint", server.url, *flags)
        assert done.code == 0, done.err
    assert TOLD in done.err.splitlines()[0]
    assert TOLD in html.unescape((command.only_run(tmp_path / "out") / "report.html").read_text())
    checked = command.run("tasks", "check", tmp_path / "sums.yaml", "--data-dir", tmp_path)
    assert (checked.code, checked.out.partition("; ")[2]) == (0, "not every right answer would be judged right.\n")
