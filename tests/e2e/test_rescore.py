"""`rescore` as people call it, on the files that tools leave behind."""

import gzip
import json
from pathlib import Path

from tests.e2e import command

GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "rescore.md"


def run_folder(folder: Path) -> Path:
    """A run of AISBench's: four problems, three equal samples each, two of them solved, and its own figures."""
    kept = folder / "predictions" / "vllm-api-stream-chat" / "sums.jsonl"
    kept.parent.mkdir(parents=True)
    gold = [5, 8, 11, 14]
    rows = [
        {"data_abbr": "sums", "id": problem, "success": True, "uuid": "0" * 32, "origin_prompt": [],
         "prediction": f"It is {gold[problem] if problem % 2 == 0 else 99}.", "gold": str(gold[problem])}
        for problem in range(4) for _ in range(3)
    ]  # fmt: skip
    kept.write_text("".join(json.dumps(row) + "\n" for row in rows))
    claimed = folder / "results" / "vllm-api-stream-chat" / "sums.json"
    claimed.parent.mkdir(parents=True)
    claimed.write_text('{"accuracy (3 runs average)": 50.0, "avg@3": 50.0, "pass@3": 100.0, "cons@3": 50.0}')
    return kept


def test_the_guide_shows_what_is_printed(tmp_path: Path) -> None:
    """The example of the wrong pairing, word by word."""
    done = command.run("rescore", str(run_folder(tmp_path)))
    assert (done.code, done.err) == (0, "")
    assert done.out in GUIDE.read_text()


def test_packed_files_and_json(tmp_path: Path) -> None:
    """`.gz` is read as it is; programs get every figure unrounded."""
    kept = run_folder(tmp_path)
    packed = tmp_path / "elsewhere.jsonl.gz"
    packed.write_bytes(gzip.compress(kept.read_bytes()))
    (told,) = json.loads(command.run("rescore", "--json", "--k", "1,2", str(packed)).out)
    ours = {figure["metric"]: figure["ours"] for figure in told["figures"]}
    assert ours == {
        "accuracy (3 runs average)": 50.0, "avg@3": 50.0, "pass@1": 50.0, "pass@2": 50.0, "cons@1": 50.0, "cons@2": 50.0,
    }  # fmt: skip


def test_what_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    """Exit code 2, the file and the reason."""
    done = command.run("rescore", str(tmp_path / "none.jsonl"))
    assert (done.code, done.out) == (2, "")
    assert "none.jsonl cannot be read" in done.err
    done = command.run("rescore", "--k", "two", str(run_folder(tmp_path)))
    assert (done.code, done.out) == (2, "")
    assert "The setting 'k' cannot be 'two'" in done.err


def test_a_task_that_nobody_can_judge_here_is_refused(tmp_path: Path) -> None:
    """Exit code 2, and how it is to be judged instead."""
    kept = tmp_path / "plain.jsonl"
    kept.write_text('{"id": 1, "prediction": "x", "gold": "x"}\n')
    done = command.run("rescore", "--task", "humaneval", str(kept))
    assert (done.code, done.out) == (2, "")
    assert "The rows of 'humaneval/HumanEval.jsonl' are not on this machine" in done.err
    done = command.run("rescore", "--task", "core", str(kept))
    assert (done.code, done.out) == (2, "")
    assert "'core' stands for 22 datasets, and plain is called like none of them" in done.err
