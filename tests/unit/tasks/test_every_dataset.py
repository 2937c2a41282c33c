"""All datasets of the table over made-up rows in their files' own columns: what is asked, and what is right."""

from collections import Counter

import pytest
from tests import dataset_fixtures, golden_files
from tests.one_of_each import one_of_each

from model_accuracy_eval.benchmarks.dataset_table import SECTIONS, TASKS, find
from model_accuracy_eval.tasks import preparation

ELSEWHERE = {
    **dict.fromkeys((task.name for task in SECTIONS["Code"]), "tests/e2e"),
    **dict.fromkeys((task.name for task in SECTIONS["Base models (CORE)"]), "tests/unit/tasks/test_benchmarks.py"),
    **dict.fromkeys((task.name for task in SECTIONS["Long texts made here"]), "tests/unit/tasks/test_long_contexts.py"),
}
"""Datasets that other tests serve, because programs are to be run or many examples are drawn."""
OF_THE_WHOLE = {"chrF", "chrF++", "BLEU"}
"""Figures of all answers together, which are no share of them and end at 100 all the same."""
HERE = [name for name in TASKS if name not in ELSEWHERE]


def test_every_dataset_is_served() -> None:
    """A new one comes with its rows; none is served twice."""
    assert {name: str(path) for name in HERE if not (path := dataset_fixtures.place(TASKS[name].data)).is_file()} == {}
    assert all((dataset_fixtures.FOLDER.parents[3] / other).exists() for other in ELSEWHERE.values())


@pytest.mark.parametrize("name", one_of_each(HERE))
def test_what_is_asked(name: str) -> None:
    """The first problem to the letter; where rows are left out, as many problems as the fixture says."""
    ready = dataset_fixtures.prepared(find(name))
    fixture = dataset_fixtures.fixture(dataset_fixtures.place(find(name).data))
    assert len(fixture["rows"]) >= 5
    assert len(ready.problems) == fixture.get("asked", len(ready.problems))
    golden_files.check(f"prompts/{name}.txt", dataset_fixtures.shown(ready.problems[0]))


SHARE = (
    "drop", "race_high", "race_middle_choice", "squad", "squad_v2", "tydiqa_goldp", "boolq", "boolq_choice", "siqa",
    "musr_object_placements", "longbench_qasper", "longbench_v2", "agieval_lsat_rc", "mmmu", "mmmu_pro_vision", "docvqa",
    "infovqa", "textvqa", "chartqa", "ai2d", "mathvista", "mmstar", "mmbench", "mmbench@circular", "realworldqa", "pope",
    "hallusionbench", "ocrbench", "mmau", "wmt24pp_en_de",
)  # fmt: skip
"""Datasets with a passage, story, document or picture for every question, which several questions may be about."""


@pytest.mark.parametrize("name", SHARE)
def test_questions_about_one_thing_belong_together(name: str) -> None:
    """A second question about the same passage or picture is in its cluster; those without one stand alone."""
    task = find(name)
    rows = dataset_fixtures.read(task.data, task.fields)
    once, twice = (preparation.build(task, each, [], None).problems for each in (rows, [*rows, *rows]))
    assert any(problem.cluster for problem in once)
    assert Counter(each.cluster for each in twice) == {
        name: 2 * times for name, times in Counter(each.cluster for each in once).items()
    }


def test_libraries_are_no_passages() -> None:
    """Programs that use the same library are as independent as any."""
    assert not [name for name, task in TASKS.items() if task.cluster and task in SECTIONS["Code"]]


@pytest.mark.parametrize("name", one_of_each(HERE))
def test_right_answers_reach_everything(name: str) -> None:
    """100 in every figure that is a share and counts upwards."""
    task = find(name)
    full = dataset_fixtures.fixture(dataset_fixtures.place(task.data)).get("full", 100)
    rows = dataset_fixtures.figures(task, "right")
    shares = [row for row in rows if (row.share or row.metric in OF_THE_WHOLE) and row.higher_is_better]
    assert rows[0] in shares
    assert {row.metric: row.value for row in shares if row.value != pytest.approx(full, abs=0.01)} == {}


@pytest.mark.parametrize("name", one_of_each(HERE))
def test_wrong_answers_reach_nothing(name: str) -> None:
    """0 in the headline, and in every other way to read the replies."""
    task = find(name)
    rows = dataset_fixtures.figures(task, "wrong")
    assert rows[0].value == pytest.approx(0, abs=0.01)
    named = {
        row.metric: row.value for row in rows if row.share and row.higher_is_better and "centred" not in row.metric
    }
    assert {name: value for name, value in named.items() if value and value > 0.01} == {}
