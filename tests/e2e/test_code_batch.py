"""`batch` and `history`, as commands of their own over a real server and real run folders."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import command
from tests.servers.fault_server import FaultServer

FIELDS = {"task_id", "text", "tokens_generated", "tok_per_sec", "inference_ms", "used_gpu", "error"}


def echo(request: dict[str, Any]) -> Sequence[str]:
    return [f"{request['messages'][-1]['content']}!{request['max_tokens']}"]


def results(file: Path) -> dict[object, dict[str, Any]]:
    return {row["task_id"]: row for row in map(json.loads, file.read_text().splitlines())}


def test_a15_every_prompt_has_its_line(tmp_path: Path) -> None:
    """One line a prompt with the fields of the format, each asked with its own longest answer, else with the common one."""
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    rows = [{"prompt": f"p{number}", "task_id": number, "max_tokens": 7} for number in range(5)]
    rows.append({"prompt": "plain", "task_id": "x", "solution": "unused"})
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with FaultServer(echo) as server:
        done = command.run("batch", source, target, "--endpoint", server.url, "--max-tokens", 9)
        found = results(target)
        again = command.run("batch", source, target, "--endpoint", server.url)
    assert (done.code, again.code) == (0, 0), done.err + again.err
    expected: dict[object, str] = {number: f"p{number}!7" for number in range(5)}
    assert {key: row["text"] for key, row in found.items()} == expected | {"x": "plain!9"}
    assert all(set(row) == FIELDS and row["error"] is None and row["inference_ms"] > 0 for row in found.values())
    assert "6 of them answered before" in again.out
    assert len(target.read_text().splitlines()) == 6


def test_a15_what_failed_is_told_and_asked_again(tmp_path: Path) -> None:
    """A prompt that the service rejects leaves a line with its error and exit code 5; the next call asks it alone."""
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"prompt": "good", "task_id": 1}\n{"prompt": "bad", "task_id": 2}\n')
    refusing = FaultServer(
        echo, plan=lambda _n, request: "status_401" if "bad" in str(request.get("messages")) else None
    )
    with refusing as server:
        done = command.run("batch", source, target, "--endpoint", server.url)
    assert done.code == 5
    assert "1 of 2 prompts have no answer" in done.err
    assert results(target)[2]["error"]
    with FaultServer(echo) as server:
        again = command.run("batch", source, target, "--endpoint", server.url)
    assert again.code == 0, again.err
    assert results(target)[2]["text"].startswith("bad!")


def test_a_batch_that_cannot_be_read_is_refused_with_its_line(tmp_path: Path) -> None:
    """A line without a prompt, and an id that is there twice, are told before anything is asked."""
    source = tmp_path / "in.jsonl"
    for text, said in [
        ('{"prompt": "a"}', "line 1"),
        ('{"prompt":"a","task_id":1}\n{"prompt":"b","task_id":1}', "line 2"),
    ]:
        source.write_text(text)
        done = command.run("batch", source, tmp_path / "out.jsonl", "--endpoint", "http://127.0.0.1:9")
        assert (done.code, said in done.err) == (2, True), done.err


def past(folder: Path, number: int, value: float, status: str = "passed", version: str = "abc123") -> None:
    run = folder / f"{number:032x}"
    run.mkdir(parents=True)
    metrics = {"accuracy": value, "pass@5": 99.0}
    dataset = {"version": version, "questions": "q", "problems": 3, "metrics": metrics}
    whole = {
        "status": status,
        "run_id": run.name,
        "label": "m",
        "started": f"2026-01-0{number}",
        "finished": f"2026-01-0{number}",
        "datasets": {"humaneval": dataset},
    }
    (run / "run.json").write_text(json.dumps(whole))


def test_a18_history_tells_changes_and_the_best_so_far(tmp_path: Path) -> None:
    """Each run beside the one before it with the same version; a broken run is no verdict and is passed over."""
    past(tmp_path, 1, 70.0)
    past(tmp_path, 2, 75.5)
    past(tmp_path, 3, 10.0, status="broken")
    past(tmp_path, 4, 74.0, status="failed")
    past(tmp_path, 5, 20.0, version="other1")
    done = command.run("history", tmp_path, "--json")
    told = [(row["value"], row["change"], row["best"]) for row in json.loads(done.out)]
    assert told == [(70.0, None, 70.0), (75.5, 5.5, 75.5), (74.0, -1.5, 75.5), (20.0, None, 20.0)]
    shown = command.run("history", tmp_path, "--dataset", "humaneval").out.splitlines()
    assert ["75.50*" in line for line in shown] == [False, False, True, False, False]
    assert command.run("history", tmp_path / "nothing").code == 2


@pytest.mark.parametrize("problems", [(), ("--problems",)], ids=["figures", "problems"])
def test_runs_of_another_format_do_not_hide_the_others(tmp_path: Path, problems: tuple[str, ...]) -> None:
    """They are left out with a sentence that names them; the beginning that a crash left is left out in silence."""
    judged(tmp_path, 1, {0: 5})
    for name, text in {"foreign": '{"status": "passed"}', "crashed": '{"status": "pas'}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(text)
    done = command.run("history", tmp_path, *problems)
    assert done.code == 0, done.err
    assert "humaneval" in done.out
    assert done.err.startswith("Left out: ")
    assert "foreign/run.json" in done.err
    assert "crashed" not in done.err


def judged(folder: Path, number: int, counts: dict[int, int], **more: str) -> None:
    """A run with the count of right samples of five for each problem."""
    past(folder, number, 50.0, **more)
    run = folder / f"{number:032x}"
    dataset = json.loads((run / "run.json").read_bytes())["datasets"]["humaneval"]
    head = {"intervals": {}, "version": dataset["version"], "counts": {}, "notes": [], "speed": {}, "rows": []}
    details = [{"id": problem, "n": 5, "c": count} for problem, count in counts.items()]
    (run / "results/m").mkdir(parents=True)
    (run / "results/m/humaneval.json").write_text(json.dumps({**head, "details": details}))


def test_a18_history_tells_which_problems_any_run_solves(tmp_path: Path) -> None:
    """In every run, in some, in none, and what the best run for each problem would bring; a broken run does not count."""
    judged(tmp_path, 1, {0: 5, 1: 3, 2: 0, 3: 2})
    judged(tmp_path, 2, {0: 4, 1: 0, 2: 1, 3: 2})
    judged(tmp_path, 3, {0: 0, 1: 0, 2: 5, 3: 5}, status="broken")
    done = command.run("history", tmp_path, "--problems", "--json")
    (told,) = json.loads(done.out)
    assert (told["runs"], told["every"], told["sometimes"], told["never"]) == (2, 1, [1], [2, 3]), done.err
    shown = command.run("history", tmp_path, "--problems").out.splitlines()
    assert shown[1].split() == ["humaneval", "abc123", "server", "2", "4", "1", "1", "2", "50.00"]
    assert command.run("history", tmp_path, "--problems", "--label", "other").code == 2
