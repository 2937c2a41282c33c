"""Task files of our own, with what only lm-eval 0.5 has: scorers, pipelines with metrics of their own, reductions."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.parity import next_manner, sides
from tests.parity.comparing import (
    Compared,
    both,
    check_directions,
    check_errors,
    check_prompts,
    check_scores,
    judged,
    unlike,
)
from tests.parity.conftest import Oracle

from model_accuracy_eval.records import Counts, DatasetResult, SummaryRow
from model_accuracy_eval.scoring.figures import groups
from model_accuracy_eval.scoring.figures.reductions import reduction
from model_accuracy_eval.system.local_files import TaskFiles
from model_accuracy_eval.tasks.importers.lm_eval_tasks import from_file

OWN = Path(__file__).parent / "own"
FILES = sorted({path.stem for path in OWN.glob("*.yaml")} - {"group"} - next_manner.STOPS_AT_OUR_OWN.keys())
DRAWS = 1000


@pytest.fixture(scope="module")
def compared(next_oracle: Oracle, tmp_path_factory: pytest.TempPathFactory) -> Compared:
    data = tmp_path_factory.mktemp("rows")
    found = sides.task_fields(OWN, FILES)
    for _, fields in found.values():
        sides.write_rows(data, fields)
    job = sides.Job(dict.fromkeys([*found, "own_group"], OWN), data, limit=sides.ROWS_A_SPLIT, draws=DRAWS)
    return both(next_oracle, {name: fields for name, (_, fields) in found.items()}, job)


def test_requests_are_the_same_to_the_byte(compared: Compared) -> None:
    """L36, L41: templates with the words that 0.5 adds, contexts that are listed, several right answers."""
    check_prompts(compared)


def test_figures_are_the_same(compared: Compared) -> None:
    """L1 to L7, L10, L14 to L19, L21 to L25, L30, L33: pipeline by pipeline, metric by metric, k by k."""
    check_scores(compared)


def test_l34_standard_errors_and_directions_are_the_same(compared: Compared) -> None:
    """The formula for means, and for everything else the same random draws."""
    check_errors(compared)
    check_directions(compared)


def test_no_other_file_is_unlike(compared: Compared) -> None:
    """Each file that 0.5.0.dev1 asks or judges otherwise than this package is written down."""
    assert set(unlike(compared)) == next_manner.UNLIKE_OF_OUR_OWN.keys()


def _group_rows(compared: Compared) -> dict[str, dict[str, SummaryRow]]:
    found = from_file(TaskFiles(), str(OWN / "group.yaml"))
    dataset_results = [_dataset_result(compared, one.task.name) for one in found.tasks]
    rows = groups.all_rows(found.groups, dataset_results)
    return {name: {row.metric: row for row in rows if row.dataset == name} for name in {row.dataset for row in rows}}


def _dataset_result(compared: Compared, name: str) -> DatasetResult:
    prepared = compared.plain[name]
    rows = judged(prepared, compared).rows(prepared.version)
    problem_results = tuple(judged(prepared, compared).judge(problem, [None]) for problem in prepared.problems)
    return DatasetResult(
        dataset=name, version=prepared.version, rows=rows, problem_results=problem_results, counts=Counts()
    )


def test_l35_groups_are_the_same(compared: Compared) -> None:
    """Means by size and plain ones, and the pooled error of the former; members are of different sizes."""
    ours, theirs = (
        _group_rows(compared),
        {name: compared.theirs[name]["scores"] for name in ("own_group", "own_group::own_inner")},
    )
    whole = ours["own_group"]["acc"]
    assert (whole.value, whole.stderr) == pytest.approx(
        (100 * theirs["own_group"]["acc,none"], 100 * theirs["own_group"]["acc_stderr,none"]), abs=1e-9
    )
    inner = theirs["own_group::own_inner"]["acc,none"]
    assert ours["own_group::own_inner"]["acc"].value == pytest.approx(100 * inner, abs=1e-9)


def test_a_group_of_which_a_member_lacks_the_figure_is_unlike(compared: Compared) -> None:
    """lm-eval averages the members that have it; here the group's figure is unknown."""
    assert "acc_norm,none" not in compared.theirs["own_two"]["scores"]
    assert compared.theirs["own_group"]["scores"]["acc_norm,none"] > 0
    assert _group_rows(compared)["own_group"]["acc_norm"].value is None


def test_l18_pass_at_k_is_the_same_for_every_count(next_oracle: Oracle) -> None:
    """Every number of right samples among up to nine, and every k among them, one at a time and as a list."""
    cases = [
        ([1] * c + [0] * (n - c), k) for n in range(1, 10) for c in range(n + 1) for k in (1, n, list(range(1, n + 1)))
    ]
    script = Path(__file__).with_name("oracle_reduction.py")
    told = subprocess.run(
        [next_oracle.python, script], input=json.dumps(cases), capture_output=True, text=True, check=True
    )
    for (values, k), theirs in zip(cases, json.loads(told.stdout), strict=True):
        assert reduction("pass@k")(values, k if isinstance(k, list) else [k]) == pytest.approx(theirs, abs=1e-12)


def test_files_that_follow_its_documentation_stop_there(next_oracle: Oracle, tmp_path: Path) -> None:
    """What its page says and its code cannot do, and this package can: k, mean, arguments of scorers, blanks to part."""
    found = sides.task_fields(OWN, next_manner.STOPS_AT_OUR_OWN)
    for _, fields in found.values():
        sides.write_rows(tmp_path, fields)
    datasets = [sides.ours(fields, tmp_path, trusted=False, limit=sides.LIMIT) for _, fields in found.values()]
    assert all(prepared.problems for prepared in datasets)
    stopped = sides.ask_lm_eval(next_oracle.python, sides.Job(dict.fromkeys(found, OWN), tmp_path, alone=True))
    for sentence, why in zip(next_manner.STOPS_AT_OUR_OWN.values(), stopped.values(), strict=True):
        assert sentence in why
