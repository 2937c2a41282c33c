"""Tasks in parts: one after the other, or mixed; each part asked and judged in its own way."""

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import (
    Attempt,
    DataFile,
    MetricUse,
    Pipeline,
    PreparedDataset,
    Prompt,
    Slice,
    Step,
    TaskSpec,
)
from model_accuracy_eval.scoring.figures.scorecard import Scorecard, metric_names
from model_accuracy_eval.tasks import preparation

NUMBER = Pipeline(filters=(Step(name="last_number"),), metrics=(MetricUse(name="number", label="accuracy"),))
LETTER = Pipeline(filters=(Step(name="stripped"),), metrics=(MetricUse(name="exact", label="accuracy"),))


def part(name: str, pipeline: Pipeline = NUMBER, **more: Any) -> TaskSpec:
    return TaskSpec(
        name=name,
        about="…",
        data=DataFile(name=f"{name}.jsonl"),
        fields=("n",),
        prompt=Prompt(question=f"{name}{{{{ n }}}}"),
        reference="{{ n }}",
        pipelines=(pipeline,),
        **more,
    )


def whole(
    *parts: TaskSpec, arrangement: Literal["sequence", "mixture"] = "sequence", view: Slice | None = None
) -> TaskSpec:
    return TaskSpec(
        name="whole",
        about="…",
        data=DataFile(name=""),
        slice=view or Slice(),
        fields=(),
        prompt=Prompt(question=""),
        reference="",
        parts=parts,
        arrangement=arrangement,
    )


def built(task: TaskSpec, sizes: dict[str, int], limit: int | None = None) -> PreparedDataset:
    def read(file: DataFile, _: tuple[str, ...]) -> list[dict[str, Any]]:
        return [{"n": number} for number in range(sizes[file.name.removesuffix(".jsonl")])]

    return preparation.assemble(task, read, limit)


def asked(paper: PreparedDataset) -> list[str]:
    return [problem.messages[-1].content for problem in paper.problems]


SIZES = {"x": 3, "y": 2}


def test_n2_a_mixture_is_shuffled_always_in_the_same_way() -> None:
    """Three of x and two of y, in the order of seed 42."""
    paper = built(whole(part("x"), part("y"), arrangement="mixture"), SIZES)
    assert asked(paper) == ["y0", "x1", "x2", "y1", "x0"]
    assert [problem.id for problem in paper.problems] == [0, 1, 2, 3, 4]
    assert [problem.category for problem in paper.problems] == ["y", "x", "x", "y", "x"]


@given(st.integers(0, 4), st.integers(0, 9), st.integers(1, 3), st.sampled_from(["sequence", "mixture"]))
def test_n1_a_mixture_is_sliced_as_a_task_is(start: int, more: int, step: int, arrangement: Any) -> None:
    """A slice takes what the same slice of the whole list would be, with the numbers of the whole."""
    all_of_it = built(whole(part("x"), part("y"), arrangement=arrangement), SIZES)
    view = Slice(start=start, stop=start + more, step=step)
    expected = asked(all_of_it)[start : start + more : step]
    task = whole(part("x"), part("y"), arrangement=arrangement, view=view)
    if not expected:
        with pytest.raises(BadValue, match="is empty"):
            built(task, SIZES)
        return
    paper = built(task, SIZES)
    assert asked(paper) == expected
    assert [problem.id for problem in paper.problems] == list(range(5))[start : start + more : step]


def test_parts_may_be_made_of_parts() -> None:
    """And a slice of a part stays one."""
    inner = whole(part("x", slice=Slice(start=1)), part("y"))
    paper = built(whole(part("y"), inner), SIZES)
    assert asked(paper) == ["y0", "y1", "x1", "x2", "y0", "y1"]
    assert [paper.task.of(problem).name for problem in paper.problems] == ["y", "y", "x", "x", "y", "y"]


def test_every_problem_is_judged_as_its_own_part_judges() -> None:
    """A reply with a unit is right where a number is read, and wrong where the whole text counts."""
    paper = built(whole(part("x"), part("y", LETTER)), SIZES)
    card = Scorecard(paper.task, 1, (1,))
    problem_results = [
        card.judge(problem, [Attempt(problem=problem.id, index=0, text=f"{problem.references[0]} km")])
        for problem in paper.problems
    ]
    assert [problem_result.c for problem_result in problem_results] == [1, 1, 1, 0, 0]
    rows = {row.metric: row.value for row in card.rows("v")}
    assert rows == {"accuracy": 60.0}
    assert list(rows) == metric_names(paper.task, 1, (1,))


def test_a_whole_has_a_version_of_its_own() -> None:
    """Another order, another part or another way to judge is another question."""
    tasks = [
        whole(part("x"), part("y")),
        whole(part("y"), part("x")),
        whole(part("x"), part("y"), arrangement="mixture"),
        whole(part("x"), part("y", LETTER)),
    ]
    assert len({built(task, SIZES).version for task in tasks}) == len(tasks)
    assert built(tasks[0], SIZES) == built(tasks[0], SIZES)


def test_parts_that_are_asked_differently_are_refused() -> None:
    """A run of requests weighs or writes, not both."""
    with pytest.raises(BadValue, match="x by generate and chat, y by target and chat"):
        built(whole(part("x"), part("y", kind="target")), SIZES)
