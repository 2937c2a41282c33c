"""Two real runs of the example adapter, compared, gated on one another, and rendered again."""

import json
import shutil
from pathlib import Path

import pytest
from tests.e2e import command
from tests.waiting import free_port

RESULTS = f"results/{command.LABEL}/demo_arithmetic.json"


def evaluate(out: Path, *more: object) -> command.Done:
    arguments = ["--model", command.WEIGHTS, "--datasets", "demo_arithmetic", "--out", out, "--port", free_port()]
    return command.run("run", command.ADAPTER, *arguments, *more)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run, and one that is warmer and so less often right."""
    folders = []
    for name, more in (("base", ()), ("new", ("--temperature", 1.5, "--seed", 7))):
        out = tmp_path_factory.mktemp(name)
        done = evaluate(out, *more)
        assert done.code == 0, done.err
        folders.append(command.only_run(out))
    return folders[0], folders[1]


def rights(folder: Path) -> dict[int, int]:
    """Right samples of every problem, counted in the results file."""
    details = json.loads((folder / RESULTS).read_bytes())["details"]
    return {one["id"]: sum(one["correct"]) for one in details}


def test_two_runs_are_compared_problem_by_problem(runs: tuple[Path, Path]) -> None:
    """Differences and flips are those that counting in the two folders gives; exit code 0 although it got worse."""
    done = command.run("compare", *runs, "--json")
    assert done.code == 0, done.err
    (change,) = json.loads(done.out)["changes"]
    old, new = map(rights, runs)
    moved = {name: new[name] - old[name] for name in old}
    assert change["problems"] == 100
    assert change["flips"]["gained"] == sum(by > 0 for by in moved.values())
    assert change["flips"]["lost"] == sum(by < 0 for by in moved.values())
    (average,) = [one for one in change["differences"] if one["metric"] == "avg@5"]
    assert average["points"] == pytest.approx(sum(moved.values()) / 5)
    assert average["interval"]["low"] < average["points"] < average["interval"]["high"] < 0


def test_a_baseline_from_a_zip_decides_a_gate(runs: tuple[Path, Path], tmp_path: Path) -> None:
    """A run that was promised to gain twenty points fails: exit code 1, and every report shows old and new."""
    packed = shutil.make_archive(str(tmp_path / "base"), "zip", runs[0])
    gate = "demo_arithmetic: avg@5 >= baseline + 20 and drop <= 10 vs baseline"
    done = evaluate(tmp_path / "out", "--seed", 7, "--baseline", packed, "--gate", gate)
    assert done.code == 1, done.err
    decisions = [gate["decision"] for gate in command.facts(command.only_run(tmp_path / "out"))["gates"]]
    assert decisions == ["failed", "passed"]
    assert "Against the baseline" in done.out
    folder = command.only_run(tmp_path / "out")
    assert command.facts(folder)["comparison"]["base"] == runs[0].name
    assert "Against the baseline" in (folder / "report.html").read_text()
    (page,) = folder.glob("summary/*.md")
    assert f"Old: run `{runs[0].name}`" in page.read_text()


def test_a_baseline_that_was_drawn_otherwise_decides_nothing(runs: tuple[Path, Path], tmp_path: Path) -> None:
    """Refused before anything is deployed, with the difference: a cooler model is right more often, and no better."""
    gate = "*: drop <= 1 vs baseline"
    done = evaluate(tmp_path / "out", "--baseline", runs[1], "--gate", gate)
    assert done.code == 2
    assert "was run with temperature 1.5, and this run has None" in done.err
    done = evaluate(tmp_path / "out", "--baseline", runs[0], "--gate", gate, "-n", 3)
    assert "was run with n 5, and this run has 3" in done.err


def test_a_report_is_rendered_again_byte_by_byte(runs: tuple[Path, Path], tmp_path: Path) -> None:
    """Lost pages are back as they were."""
    folder = Path(shutil.copytree(runs[0], tmp_path / runs[0].name))
    command.run("report", folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    (folder / "report.html").unlink()
    done = command.run("report", folder)
    assert done.code == 0, done.err
    assert str(folder / "report.html") in done.out.splitlines()
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_kept_runs_are_gated(runs: tuple[Path, Path], tmp_path: Path) -> None:
    """`compare` holds the new run against the old one and writes nothing; `report` makes the verdict the run's own."""
    before = {path: path.read_bytes() for path in runs[0].rglob("*") if path.is_file()}
    done = command.run("compare", *runs, "--gate", "*: drop <= 90 vs baseline")
    assert "was run with temperature None, and this run has 1.5" in done.err
    same = (runs[0], runs[0])
    for gate, code in (("drop <= 9 vs baseline", 0), ("avg@5 > baseline + 9", 1), ("avg@5 > 2 and pass@5 > 98", 7)):
        done = command.run("compare", *same, "--gate", f"demo_arithmetic: {gate}")
        assert done.code == code, done.err
        assert f"(exit code {code})" in done.out
    told = json.loads(command.run("compare", *same, "--json", "--gate", "*: avg >= baseline + 9").out)
    assert (told["exit_code"], told["gates"][0]["decision"]) == (1, "failed")
    assert {path: path.read_bytes() for path in runs[0].rglob("*") if path.is_file()} == before
    folder = Path(shutil.copytree(runs[0], tmp_path / runs[0].name))
    done = command.run("report", folder, "--gate", "demo_arithmetic: avg@5 >= 99")
    assert done.code == 1, done.err
    assert command.facts(folder)["status"] == "failed"
    assert command.run("verify", folder).code == 0
    assert command.run("report", folder).code == 0
    assert command.facts(folder)["status"] == "failed"
