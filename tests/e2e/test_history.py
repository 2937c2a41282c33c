"""`history`, as a command of its own over real run folders, zips and history files."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.e2e import command
from tests.fake_ports import seal

from model_accuracy_eval.run_folder import history_file

PROBLEMS = 40


def run(folder: Path, number: int, counts: Mapping[int, int], n: int = 5, **more: Any) -> Path:
    """The folder of a run with the count of right samples of each problem."""
    share = 100 * sum(counts.values()) / (n * len(counts))
    row = {"dataset": "humaneval", "version": "abc123", "metric": f"avg@{n}", "mode": "gen", "value": share,
           "interval": {"low": 0, "high": 100}}  # fmt: skip
    details = [
        {"example_abbr": f"humaneval_{problem}", "id": problem, "n": n, "c": count, "pred": [""] * n, "answer": [""] * n,
         "correct": [sample < count for sample in range(n)],
         "why": ["right" if sample < count else "wrong" for sample in range(n)]}
        for problem, count in counts.items()
    ]  # fmt: skip
    head = {"intervals": {}, "version": "abc123", "counts": {}, "notes": [], "speed": {}, "rows": [row]}
    dataset = {"version": "abc123", "questions": "q", "problems": len(counts), "metrics": {f"avg@{n}": share}}
    day = f"2026-01-{number:02d}T08:00:00+0000"
    whole = {"status": "passed", "run_id": f"{number:032x}", "label": "m", "model": "/weights", "started": day,
             "finished": day, "n": n, "datasets": {"humaneval": dataset}, **more}  # fmt: skip
    place = folder / f"{number:032x}"
    (place / "results/m").mkdir(parents=True)
    (place / "run.json").write_text(json.dumps(whole))
    (place / "results/m/humaneval.json").write_text(json.dumps({**head, "details": details}))
    seal(place)
    return place


def shares(counts: Sequence[int]) -> dict[int, int]:
    return dict(enumerate(counts))


def told(*arguments: object) -> Any:
    done = command.run("history", *arguments, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_a18_history_tells_changes_and_the_best_so_far(tmp_path: Path) -> None:
    """Each run beside the one before it, wherever it lies; a broken run is in no series, and its reason is told."""
    run(tmp_path, 1, shares([5, 0]))
    run(tmp_path / "deep/er", 2, shares([5, 5]))
    zipped = run(tmp_path / "zips", 4, shares([5, 2]), status="failed")
    shutil.make_archive(str(tmp_path / "zips" / "four"), "zip", zipped)
    shutil.rmtree(zipped)
    run(tmp_path, 3, shares([0, 0]), status="broken", sentence="The service was gone.")
    run(tmp_path, 5, shares([1, 1]), model="/other")
    (tmp_path / "latest").symlink_to(tmp_path / "deep")
    found = told(tmp_path)
    points = {each["model"]: [(p["value"], p["change"], p["best"]) for p in each["points"]] for each in found["series"]}
    assert points == {"/weights": [(50, None, 50), (100, 50, 100), (70, -30, 100)], "/other": [(20, None, 20)]}
    assert [each["reason"] for each in found["left_out"]] == ["it was broken: The service was gone."]
    shown = command.run("history", tmp_path, "--model", "/weights").out.splitlines()
    assert ["*" in line for line in shown[3:6]] == [True, True, False]
    assert shown[-3].endswith("it was broken: The service was gone.")
    assert command.run("history", tmp_path / "nothing").code == 2


def test_a_regression_fails_where_that_is_asked_for(tmp_path: Path) -> None:
    """Exit code 1 while it stands, 0 without the option and for a quiet history, 7 where one run has no other."""
    for day in range(1, 15):
        run(
            tmp_path,
            day,
            {number: 5 * (number < 30) - 5 * (10 < number < 18 and day > 9) for number in range(PROBLEMS)},
        )
    done = command.run("history", tmp_path, "--fail-on-regression")
    assert done.code == 1, done.out + done.err
    assert "REGRESSED between 00000000 (2026-01-09) and 00000000 (2026-01-10)" in done.out
    assert "these 7 problems: 11, 12, 13, 14, 15, 16, 17" in done.out
    assert command.run("history", tmp_path).code == 0
    assert command.run("history", tmp_path, "--since", "2026-01-10", "--fail-on-regression").code == 0
    assert command.run("history", tmp_path, "--since", "2026-01-14", "--fail-on-regression").code == 7


def test_a_history_outlives_the_folders(tmp_path: Path) -> None:
    """Appended once however often, read without the folders, with the same trend; a damaged line is told."""
    file = tmp_path / "kept" / "history.jsonl"
    folder = run(tmp_path / "runs", 1, shares([5, 0])).parent
    for _ in range(2):
        assert command.run("history", folder, "--append", file).code == 0
    shutil.rmtree(folder)
    run(folder, 2, shares([5, 5]))
    assert "+50.00" in command.run("history", folder, "--append", file).out
    assert len(file.read_bytes().splitlines()) == 2
    with file.open("ab") as stream:
        stream.write(b'{"half')
    shutil.rmtree(folder)
    done = command.run("history", file)
    assert (done.code, "+50.00" in done.out) == (0, True)
    assert "line 3 cannot be read and is left out" in done.err


def test_several_commands_append_at_once(tmp_path: Path) -> None:
    """All runs are there, each once."""
    file = tmp_path / "history.jsonl"
    folders = [run(tmp_path / str(day), day, shares([5] * 300)).parent for day in range(1, 5)]
    every = [command.start("history", folder, "--append", file) for folder in folders + folders]
    done = [command.finish(process) for process in every]
    assert [each.code for each in done] == [0] * 8, done
    lines = history_file.decode(file.read_bytes(), "h").lines
    assert sorted(int(line.run_id, 16) for line in lines) == [1, 2, 3, 4]
