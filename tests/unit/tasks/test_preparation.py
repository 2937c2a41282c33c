"""Task + rows → an exam: which problems are asked, and what their hashes identify."""

import re
from collections import Counter
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.small_task import small_task

from model_accuracy_eval.errors import BadData, BadValue, UnknownName
from model_accuracy_eval.records import (
    DataFile,
    FewShot,
    Grouping,
    MetricUse,
    Pipeline,
    PreparedDataset,
    Prompt,
    Shard,
    Slice,
    Step,
    TaskSpec,
)
from model_accuracy_eval.tasks import preparation

ROWS = [{"q": f"{number}+1", "a": str(number + 1)} for number in range(10)]
PIPELINE = Pipeline(filters=(Step(name="last_number"),), metrics=(MetricUse(name="number", label="accuracy"),))
TASK = small_task("sums", "{{ q }}=", "{{ a }}", fields=("q", "a"), pipelines=(PIPELINE,))


def but(task: TaskSpec = TASK, **changes: Any) -> TaskSpec:
    return replace(task, **changes)


def build(
    task: TaskSpec = TASK, rows: list[dict[str, Any]] = ROWS, limit: int | None = None, first: int | None = None
) -> PreparedDataset:
    return preparation.build(task, rows, [], limit, first=first)


@given(st.permutations(["q", "a", "note", "source"]))
def test_the_same_question_has_the_same_version(order: list[str]) -> None:
    """Six hex digits that depend neither on the order of the columns nor on columns that are not asked about."""
    extended = [{**row, "note": "n", "source": "s"} for row in ROWS]
    shuffled = [{column: row[column] for column in order} for row in extended]
    assert build(rows=shuffled).version == build().version
    assert re.fullmatch("[0-9a-f]{6}", build().version)


def test_what_the_question_is_not_made_of_leaves_the_version_alone() -> None:
    """Name, licence, description and where the file lies."""
    changed = but(name="other", about="x", licence="MIT", home="y", data=DataFile(name="/elsewhere/sums.csv"))
    assert build(changed).version == build().version


SHARED: list[dict[str, Any]] = [
    {**row, "passage": passage}
    for row, passage in zip(ROWS, [*"aabbc", "", None, " ", {"x": 1}, {"x": 1}], strict=True)
]


@pytest.mark.parametrize("cluster", ["passage", "{{ passage or '' }}"])
def test_what_shares_a_passage_is_a_cluster(cluster: str) -> None:
    """By column or by template; without a passage a question stands alone. Neither a limit nor the version knows it."""
    task = but(cluster=cluster)
    found = [problem.cluster for problem in build(task, SHARED).problems]
    assert [found.index(name) if name else None for name in found] == [0, 0, 2, 2, 4, None, None, None, 8, 8]
    assert [problem.cluster for problem in build(task, SHARED, first=3).problems] == found[:3]
    assert build(task, SHARED).version == build(TASK, SHARED).version


def test_a_cluster_that_no_row_has_is_a_slip() -> None:
    """It is refused with the columns that there are."""
    with pytest.raises(
        BadData, match=r"row 1: there is no column 'pasage', which 'cluster' names; there are: q, a, pa"
    ):
        build(but(cluster="pasage"), SHARED)


def test_how_many_rounds_are_allowed_is_not_part_of_the_question() -> None:
    """It is a limit, as the length of a reply is."""
    offered = but(tools=("calculator",))
    assert build(but(offered, tool_rounds=3)).version == build(offered).version


def test_tools_that_cannot_be_offered_are_refused_before_anything_is_asked() -> None:
    """Texts that are continued have no turns in which a tool could be called."""
    with pytest.raises(BadValue, match="sums: tools and functions are offered in chats .* mode 'text'"):
        build(but(tools=("calculator",), mode="text"))


CHANGES: dict[str, PreparedDataset] = {
    "prompt": build(but(prompt=Prompt(question="{{ q }} = "))),
    "system": build(but(prompt=Prompt(question="{{ q }}=", system="Add."))),
    "data": build(rows=[*ROWS[:9], {"q": "9+2", "a": "10"}]),
    "fewer rows": build(rows=ROWS[:9]),
    "order of rows": build(rows=ROWS[::-1]),
    "limit": build(limit=5),
    "first": build(first=5),
    "slice": build(but(slice=Slice(start=1))),
    "tools": build(but(tools=("calculator",))),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_sent_makes_version_and_questions(change: str) -> None:
    """Another prompt, other rows, another choice of them: another question."""
    assert CHANGES[change].version != build().version
    assert CHANGES[change].questions != build().questions


JUDGED: dict[str, PreparedDataset] = {
    "gold": build(rows=[*ROWS[:9], {"q": "9+1", "a": "11"}]),
    "metric": build(but(pipelines=(replace(PIPELINE, metrics=(MetricUse(name="exact", label="accuracy"),)),))),
    "extraction": build(but(pipelines=(replace(PIPELINE, filters=(Step(name="stripped"),)),))),
    "arguments": build(
        but(pipelines=(replace(PIPELINE, metrics=(MetricUse(name="exact", args={"ignore_case": True}),)),))
    ),
    "choices": build(but(choices='["x"]')),
}


@pytest.mark.parametrize("change", JUDGED)
def test_how_replies_are_judged_makes_the_version_alone(change: str) -> None:
    """Better scoring can be run over old replies, because the questions stay the same."""
    assert JUDGED[change].version != build().version
    assert JUDGED[change].questions == build().questions


def test_another_function_is_another_version_wherever_it_lies(tmp_path: Path) -> None:
    """Its file counts by what it holds: the same in another folder is the same, a change is none that is compared."""
    versions = []
    for folder, source in (("a", "return 1"), ("b", "return 1"), ("c", "return 0")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "own.py").write_text(f"def one(answer, right_answers):\n    {source}\n")
        use = MetricUse(name=f"{tmp_path}/{folder}/own.py:one", label="one")
        versions.append(build(but(pipelines=(Pipeline(metrics=(use,)),))).version)
    assert versions[0] == versions[1] != versions[2]


def test_all_these_versions_are_different() -> None:
    """No two of the changes above are taken for one."""
    versions = [each.version for each in (build(), *CHANGES.values(), *JUDGED.values())]
    assert len(set(versions)) == len(versions)


@given(st.integers(0, 12), st.one_of(st.none(), st.integers(0, 12)), st.integers(1, 4), st.integers(1, 12))
def test_slices_and_limits_never_rename_a_problem(start: int, stop: int | None, step: int, limit: int) -> None:
    """A problem's id is the position of its row in the file."""
    wanted = list(range(10))[start:stop:step][:limit]
    task = but(slice=Slice(start=start, stop=stop, step=step))
    if not wanted:
        with pytest.raises(BadValue, match=f"sums: the slice {start}:{'' if stop is None else stop}:{step} "):
            build(task, first=limit)
        return
    problems = build(task, first=limit).problems
    assert [problem.id for problem in problems] == wanted
    assert [problem.messages[-1].content for problem in problems] == [f"{place}+1=" for place in wanted]


def test_a_category_is_kept_as_text() -> None:
    """For rows that say which kind they are."""
    rows = [{**row, "level": 3} for row in ROWS]
    assert build(but(category="level"), rows).problems[0].category == "3"
    assert build().problems[0].category is None


def test_too_few_examples_are_refused() -> None:
    """The sentence says how many there are and how many are shown."""
    shots = FewShot(data=DataFile(name="train.jsonl"), count=4)
    task = but(prompt=Prompt(question="{{ q }}", answer="{{ a }}", fewshot=shots))
    with pytest.raises(BadData, match="sums shows 4 solved examples, but its file of examples has 3 rows"):
        preparation.build(task, ROWS, ROWS[:3], None)
    assert len(preparation.build(task, ROWS, ROWS[:4], 1).problems[0].messages) == 9


def test_a_step_that_does_not_exist_is_refused() -> None:
    """Before anything is asked."""
    with pytest.raises(UnknownName, match="did you mean last_number"):
        build(but(pipelines=(replace(PIPELINE, filters=(Step(name="last_nmber"),)),)))


def test_the_row_that_cannot_be_asked_is_named() -> None:
    """By its file and place, counted from 1."""
    with pytest.raises(BadData, match=r"sums\.jsonl, row 3: "):
        build(rows=[*ROWS[:2], {"q": "x"}])


def test_a_field_that_a_release_adds_changes_no_version() -> None:
    """What a task does not use is not hashed; what it says is."""
    said = preparation._without_defaults(PIPELINE)
    assert set(said) == {"filters", "metrics"}
    assert said["filters"] == [{"name": "last_number"}]
    spelled_out = replace(PIPELINE, name=Pipeline().name)
    assert build(but(pipelines=(spelled_out,))).version == build().version


# A limit is a sample; the first problems are none.


LEVELS = [
    {**row, "level": level} for row, level in zip(ROWS * 5, ["easy"] * 30 + ["hard"] * 15 + ["odd"] * 5, strict=True)
]
LEVELLED = but(category="level")


@pytest.mark.parametrize(("limit", "sizes"), [(10, (6, 3, 1)), (20, (12, 6, 2)), (30, (18, 9, 3))])
def test_a_limit_draws_every_part_in_proportion(limit: int, sizes: tuple[int, ...]) -> None:
    """Each problem keeps its number, and what is drawn is said; a smaller sample is part of a larger one."""
    paper = build(LEVELLED, LEVELS, limit=limit)
    found = Counter(problem.category for problem in paper.problems)
    assert (found["easy"], found["hard"], found["odd"]) == sizes
    assert str(paper.draw) == f"{limit} of 50, drawn by level"
    ids = [problem.id for problem in paper.problems]
    assert ids == sorted(ids)
    assert {*ids} < {problem.id for problem in build(LEVELLED, LEVELS, limit=limit + 7).problems}
    whole_paper = {problem.id: problem for problem in build(LEVELLED, LEVELS).problems}
    assert all(whole_paper[problem.id] == problem for problem in paper.problems)


def test_by_what_is_drawn_is_what_the_report_is_grouped_by() -> None:
    """A column of its own, the category, or nothing."""
    own = but(extras=("level",), grouping=Grouping(by="level"))
    assert str(build(own, LEVELS, limit=10).draw) == "10 of 50, drawn by level"
    assert str(build(rows=LEVELS, limit=10).draw) == "10 of 50, drawn at random"
    assert str(build(LEVELLED, LEVELS[:30], limit=10).draw) == "10 of 30, drawn at random"


def test_the_first_problems_are_said_to_be_no_sample() -> None:
    """Of the whole, neither a sample nor a beginning is left to speak of."""
    paper = build(LEVELLED, LEVELS, first=10)
    assert (str(paper.draw), [problem.id for problem in paper.problems]) == ("the first 10 of 50", [*range(10)])
    assert build(LEVELLED, LEVELS, first=50) == build(LEVELLED, LEVELS, limit=99) == build(LEVELLED, LEVELS)


def test_a_sample_has_a_version_of_its_own() -> None:
    """It claims to stand for the whole, which as many problems that are the whole do not."""
    sample = build(LEVELLED, LEVELS, limit=10)
    same = replace(LEVELLED, views=(Step(name="only", args={"field": "a", "values": []}),))
    alone = preparation._prepared(same, sample.problems, [PIPELINE], None, None)
    assert alone.questions == sample.questions
    assert alone.version != sample.version


@given(st.integers(1, 49), st.integers(1, 6))
def test_shards_split_a_sample(limit: int, count: int) -> None:
    """Each problem of it is in one of them, and they have its version."""
    sample = build(LEVELLED, LEVELS, limit=limit)
    shards = [preparation.build(LEVELLED, LEVELS, [], limit, Shard(index=at, count=count)) for at in range(count)]
    assert sorted(problem.id for shard in shards for problem in shard.problems) == [one.id for one in sample.problems]
    assert all(
        (one.version, one.questions, one.draw) == (sample.version, sample.questions, sample.draw) for one in shards
    )


def test_rows_that_count_together_are_drawn_together() -> None:
    """Three rotations of a question say nothing one by one."""
    groups = [{**row, "group": {"name": str(at % 10), "rows": 5}} for at, row in enumerate(ROWS * 5)]
    together = but(pipelines=(Pipeline(metrics=(MetricUse(name="whole_group", label="all"),)),), extras=("group",))
    found = Counter(problem.extras["group"]["name"] for problem in build(together, groups, limit=20).problems)
    assert [*found.values()] == [5] * 4
    assert len(Counter(problem.id % 10 for problem in build(rows=groups, limit=20).problems)) > 4


# Tasks in parts: one after the other, or mixed; each part asked and judged in its own way.


LETTER = Pipeline(filters=(Step(name="stripped"),), metrics=(MetricUse(name="exact", label="accuracy"),))


def part(name: str, pipeline: Pipeline = PIPELINE, **more: Any) -> TaskSpec:
    return small_task(name, f"{name}{{{{ n }}}}", "{{ n }}", fields=("n",), pipelines=(pipeline,), **more)


def whole(
    *parts: TaskSpec, arrangement: Literal["sequence", "mixture"] = "sequence", view: Slice | None = None
) -> TaskSpec:
    return small_task("whole", "", data=DataFile(name=""), slice=view or Slice(), parts=parts, arrangement=arrangement)


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


@pytest.mark.parametrize("arrangement", ["sequence", "mixture"])
def test_parts_are_drawn_in_proportion(arrangement: Any) -> None:
    """However they are arranged; the sample is that of the whole."""
    sizes = {"x": 30, "y": 10}
    task = whole(part("x"), part("y"), arrangement=arrangement)
    paper, every = built(task, sizes, limit=8), built(task, sizes)
    assert Counter(problem.category for problem in paper.problems) == {"x": 6, "y": 2}
    assert str(paper.draw) == "8 of 40, drawn by part"
    assert all(every.problems[problem.id] == problem for problem in paper.problems)


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
