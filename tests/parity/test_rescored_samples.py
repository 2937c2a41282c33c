"""Files that the real lm-eval keeps with `--log_samples`, judged anew: its own figures to nine digits, sample by sample."""

from pathlib import Path

import pytest
from tests.parity import next_manner, sides
from tests.parity.conftest import Oracle

from model_accuracy_eval import rescore
from model_accuracy_eval.benchmarks.mmlu import AREAS
from model_accuracy_eval.rescoring.rescoring_result import Rescored
from model_accuracy_eval.system.local_files import TaskFiles
from model_accuracy_eval.tasks.importers.lm_eval_files import load

TASKS = {
    "gsm8k": ("gsm8k/gsm8k", {"exact_match,strict-match", "exact_match,flexible-extract"}),
    "arc_easy": ("arc/arc_easy", {"acc,none", "acc_norm,none"}),
    "openbookqa": ("openbookqa/openbookqa", {"acc,none", "acc_norm,none"}),
    "nq_open": ("nq_open/nq_open", {"exact_match,remove_whitespace"}),
    "triviaqa": ("triviaqa/default", {"exact_match,remove_whitespace"}),
}
"""Two filters; options that are weighed; several right answers."""


@pytest.fixture(scope="module")
def kept(oracle: Oracle, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, dict[str, float]]]:
    """The folder of samples, and the figures of every task."""
    data, keep = tmp_path_factory.mktemp("rows"), tmp_path_factory.mktemp("kept")
    found = sides.task_fields(oracle.folder, [file for file, _ in TASKS.values()])
    for _, fields in found.values():
        sides.write_rows(data, fields)
    datasets = [sides.ours(fields, data, trusted=False, limit=sides.ROWS_A_SPLIT) for _, fields in found.values()]
    told = {prompt: texts for prepared in datasets for prompt, texts in sides.replies(prepared, prepared).items()}
    files = {name: path.parent for name, (path, _) in found.items()}
    theirs = sides.ask_lm_eval(oracle.python, sides.Job(files, data, told, limit=sides.ROWS_A_SPLIT, keep=keep))
    return keep, {name: one["scores"] for name, one in theirs.items()}


def _rescored(keep: Path, name: str, task: str | None) -> list[Rescored]:
    (file,) = keep.rglob(f"samples_{name}_*.jsonl")
    return rescore(file, task=task)


@pytest.mark.parametrize("name", TASKS)
def test_a_task_file_gives_the_samples_their_figures(
    name: str, oracle: Oracle, kept: tuple[Path, dict[str, dict[str, float]]]
) -> None:
    """`rescore --task FILE.yaml`: every filter, every metric; what stands in the samples and in the results is ours."""
    keep, scores = kept
    file, metrics = TASKS[name]
    if oracle.is_next and name in next_manner.UNLIKE:
        assert any(result.differing for result in _rescored(keep, name, str(oracle.folder / f"{file}.yaml")))
        return
    found = {}
    for result in _rescored(keep, name, str(oracle.folder / f"{file}.yaml")):
        assert (result.differing, result.counts.missing, result.problems) == (0, 0, sides.ROWS_A_SPLIT)
        for figure in result.figures:
            assert figure.ours == pytest.approx(figure.claimed, abs=1e-9), figure.metric
            found[figure.metric if "," in figure.metric else f"{figure.metric},none"] = figure.ours
    wanted = {metric: 100 * scores[name][metric] for metric in metrics}
    assert found == pytest.approx(wanted, abs=1e-9)
    assert 0 < min(wanted.values()) < 100


@pytest.mark.parametrize("name", ["arc_easy", "openbookqa"])
def test_weighed_options_need_no_task(name: str, kept: tuple[Path, dict[str, dict[str, float]]]) -> None:
    """The file itself says what was weighed, and by which metrics."""
    keep, scores = kept
    (result,) = _rescored(keep, name, None)
    assert result.differing == 0
    assert {figure.metric: figure.ours for figure in result.figures} == pytest.approx(
        {metric: 100 * scores[name][f"{metric},none"] for metric in ("acc", "acc_norm")}, abs=1e-9
    )


def test_areas_of_mmlu_are_the_harness_s(oracle: Oracle) -> None:
    """Each subject's file is tagged with its area."""
    tags = {}
    for path in (oracle.folder / "mmlu" / "default").glob("mmlu_*.yaml"):
        tags[path.stem.removeprefix("mmlu_")] = (
            load(TaskFiles(), str(path))["tag"].removeprefix("mmlu_").removesuffix("_tasks")
        )
    assert tags == {subject: area.lower().replace(" ", "_") for subject, area in AREAS.items()}
