"""Of two attempts of a shard's job the one that has more is merged, and gone on with."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.unit.run_folder.test_shard_folders import TASKS, whole_plan

from model_accuracy_eval.records import Shard
from model_accuracy_eval.run_folder import saved_plan, shard_folders

LABEL = "vllm-api-stream-chat"


def attempt(folder: Path, stamp: str, answers: int) -> Path:
    plan = replace(whole_plan(next(iter(TASKS))), stamp=stamp, shard=Shard(index=1, count=3))
    files = {
        f"configs/{stamp}_1.py": saved_plan.dump(plan),
        "run.json": "{}",
        f"predictions/{LABEL}/sums.jsonl": "{}\n" * answers,
        f"predictions/{LABEL}/sums_failed.jsonl": "{}\n" * 9,
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


@pytest.mark.parametrize("clock", ["20260301_120000", "20260301_040000"], ids=["goes on", "of another time zone"])
def test_the_second_attempt_counts_whatever_its_clock_says(clock: str, tmp_path: Path) -> None:
    """Stamps are local times, and a shard may run again on another machine."""
    attempt(tmp_path / "shard-1-of-3", "20260301_110000", 4)
    second = attempt(tmp_path / "shard-1-of-3-attempt-2", clock, 5)
    assert shard_folders.newest(str(tmp_path)) == {"1/3": second}
