"""The task files that the how-to pages show, saved as the pages say and run."""

import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import pytest
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


@pytest.mark.parametrize(
    ("task", "right", "wrong", "half"),
    [
        ("city-sums", "", "def total():\n    return 7", None),
        (
            "temperatures",
            "print(round(float(input()) * 1.8 + 32.001, 3))",
            "print(round(float(input())) * 1.8 + 32)",
            50.0,
        ),
    ],
)
def test_a_code_task_of_the_page(
    task: str, right: str, wrong: str, half: float | None, sandbox: str, tmp_path: Path
) -> None:
    """The page's own solution passes, reading a file and importing another; so does one within the tolerance of cases.

    A wrong one fails, and has the share of its cases.
    """
    files = saved("code-benchmarks.md")
    for name in (f"{task}.yaml", f"{task}.jsonl"):
        (tmp_path / name).write_text(files[name], encoding="utf-8")
    solution = right or json.loads(files[f"{task}.jsonl"])["solution"]
    for name, reply, expected in [("right", solution, 100.0), ("wrong", wrong, 0.0)]:
        out = tmp_path / name
        with FaultServer(partial(fenced, reply)) as server:
            done = command.run(
                "run", "--endpoint", server.url, "--datasets", tmp_path / f"{task}.yaml", "--data-dir", tmp_path,
                "--sandbox", sandbox, "--out", out, "-n", 1,
            )  # fmt: skip
        assert done.code == 0, done.err
        dataset = task.replace("-", "_")
        found = results(out, dataset)
        assert found["accuracy"] == expected
        assert found.get("cases passed") == (half and (half if name == "wrong" else 100.0))
        (ran,) = found["ran"]
        assert (ran["integrity"], ran["programs"]) == ("split", 1)
        assert command.facts(command.only_run(out))["datasets"][dataset]["ran"] == found["ran"]


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
