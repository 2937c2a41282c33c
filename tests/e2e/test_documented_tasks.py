"""The task files that the how-to pages show, saved as the pages say and run."""

import json
import math
from functools import partial
from pathlib import Path
from typing import Any

from tests.e2e import command, documented
from tests.servers.fault_server import FaultServer
from tests.waiting import free_port

JSON = dict[str, Any]
PAGES = command.ROOT / "docs/how-to"


def saved(page: str) -> dict[str, str]:
    """The files that a page has its reader save, by name."""
    return dict(documented.saved_files((PAGES / page).read_text(encoding="utf-8")))


def fenced(code: str, _request: JSON) -> str:
    return f"Here:\n```python\n{code}\n```"


def results(out: Path, dataset: str) -> JSON:
    found: JSON = json.loads((command.only_run(out) / f"results/{command.LABEL}/{dataset}.json").read_bytes())
    return found


def test_a_code_task_with_files_beside_the_program(sandbox: str, tmp_path: Path) -> None:
    """The page's own solution passes, reading one file and importing the other; one that does neither fails."""
    files = saved("code-benchmarks.md")
    row = files["city-sums.jsonl"]
    (tmp_path / "city-sums.yaml").write_text(files["city-sums.yaml"], encoding="utf-8")
    (tmp_path / "city-sums.jsonl").write_text(row, encoding="utf-8")
    for name, reply, expected in [
        ("right", json.loads(row)["solution"], 100.0),
        ("wrong", "def total():\n    return 7", 0.0),
    ]:
        out = tmp_path / name
        with FaultServer(partial(fenced, reply)) as server:
            done = command.run(
                "run", "--endpoint", server.url, "--datasets", tmp_path / "city-sums.yaml", "--data-dir", tmp_path,
                "--sandbox", sandbox, "--out", out, "-n", 1,
            )  # fmt: skip
        assert done.code == 0, done.err
        found = results(out, "city_sums")
        assert found["accuracy"] == expected
        (ran,) = found["ran"]
        assert (ran["integrity"], ran["programs"]) == ("split", 1)
        assert command.facts(command.only_run(out))["datasets"]["city_sums"]["ran"] == found["ran"]


def test_a_code_task_that_reads_its_input(sandbox: str, tmp_path: Path) -> None:
    """The page's own solution passes both cases, within the tolerance; one without the tolerance's share passes one."""
    files = saved("code-benchmarks.md")
    for name in ("temperatures.yaml", "temperatures.jsonl"):
        (tmp_path / name).write_text(files[name], encoding="utf-8")
    for name, reply, expected in [
        ("right", "print(round(float(input()) * 1.8 + 32.001, 3))", (100.0, 100.0)),
        ("wrong", "print(round(float(input())) * 1.8 + 32)", (0.0, 50.0)),
    ]:
        with FaultServer(partial(fenced, reply)) as server:
            done = command.run(
                "run", "--endpoint", server.url, "--datasets", tmp_path / "temperatures.yaml", "--data-dir", tmp_path,
                "--sandbox", sandbox, "--out", tmp_path / name, "-n", 1,
            )  # fmt: skip
        assert done.code == 0, done.err
        found = results(tmp_path / name, "temperatures")
        assert (found["accuracy"], found["cases passed"]) == expected


def test_a21_perplexity_of_two_runs(tmp_path: Path) -> None:
    """A second run of the example adapter gives the same figures to the last digit, so that any difference says something."""
    files = saved("own-tasks.md")
    for name in ("own-texts.yaml", "own-texts.txt"):
        (tmp_path / name).write_text(files[name], encoding="utf-8")
    figures: list[JSON] = []
    more: list[object] = []
    for name in ("base", "new"):
        out = tmp_path / name
        done = command.run(
            "run", command.ADAPTER, "--model", command.WEIGHTS, "--datasets", tmp_path / "own-texts.yaml",
            "--data-dir", tmp_path, "--port", free_port(), "--out", out, *more,
        )  # fmt: skip
        assert done.code == 0, done.err
        figures.append(results(out, "own_texts"))
        more = ["--baseline", command.only_run(out)]
    base, new = figures
    assert 1 < base["byte_perplexity"] < base["word_perplexity"]
    assert math.isclose(2 ** base["bits_per_byte"], base["byte_perplexity"], rel_tol=1e-6)
    assert {name: base[name] for name in ("word_perplexity", "byte_perplexity", "bits_per_byte")} == {
        name: new[name] for name in ("word_perplexity", "byte_perplexity", "bits_per_byte")
    }
    (change,) = command.facts(command.only_run(tmp_path / "new"))["comparison"]["changes"]
    assert {one["points"] for one in change["differences"]} == {0.0}
