"""The configs file: plain literals, there and back; and what a run that goes on may not change."""

import ast
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.one_of_each import one_of_each

from model_accuracy_eval.benchmarks.dataset_table import TASKS, find
from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.records import (
    ClientLimits,
    DataFile,
    Gate,
    MetricUse,
    Pipeline,
    Prompt,
    RunPlan,
    Sampling,
    Settings,
    Slice,
    Step,
    TaskSpec,
)
from model_accuracy_eval.run_folder import saved_plan

TASK = find("demo_gsm8k")
SETTINGS = Settings(adapter="./adapter", model="/weights", datasets=("demo_gsm8k",))
PLAN = RunPlan(run_id="a" * 32, stamp="20260326_151326", settings=SETTINGS, tasks=(TASK,))

TEXTS = st.text() | st.sampled_from(
    ["'''", '"""', "\\", "\n# x\nplan = 1", "{0}", "a" * 300, "é中😀\u2028\x00\x7f", "%s"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
)


@given(TEXTS, TEXTS, st.dictionaries(TEXTS, JSON, max_size=4), st.floats(0, 2), st.none() | st.integers(0))
def test_what_was_kept_comes_back(
    model: str, question: str, extra: dict[str, Any], temperature: float, seed: int | None
) -> None:
    """Odd strings, nested fields and exact floats included; the file is literals and nothing else."""
    task = replace(TASK, prompt=Prompt(question=question, system=question))
    sampling = Sampling(temperature=temperature, seed=seed, extra=extra)
    plan = settings(but(tasks=(task,), sampling=sampling), model=model, generation=extra)
    source = saved_plan.dump(plan)
    assert saved_plan.load(source, "here") == plan
    for node in ast.parse(source).body:
        assert isinstance(node, ast.Assign)
        ast.literal_eval(node.value)


@pytest.mark.parametrize("name", one_of_each(TASKS))
def test_every_task_of_the_table_can_be_kept(name: str) -> None:
    """With its prompts, examples and pipelines."""
    plan = replace(PLAN, tasks=(find(name),))
    assert saved_plan.load(saved_plan.dump(plan), "here") == plan


@pytest.mark.parametrize(
    "source",
    [
        "",
        "settings = {}",
        "settings = {}\nplan = {",
        "settings = {}\nplan = {}",
        "settings = {}\nplan = 1",
        "settings = open('x')\nplan = {}",
        "settings = {[]: 1}\nplan = {}",
        "\x00",
        "%PDF-1.4",
    ],
)
def test_what_is_no_plan_is_refused(source: str) -> None:
    """With the file's name, and without running a line of it."""
    with pytest.raises(BadReuse, match="configs/x.py cannot be read as the plan of a run: "):
        saved_plan.load(source, "configs/x.py")


def but(plan: RunPlan = PLAN, **changes: Any) -> RunPlan:
    return replace(plan, **changes)


def settings(plan: RunPlan = PLAN, **changes: Any) -> RunPlan:
    return plan.with_settings(**changes)


def task(**changes: Any) -> RunPlan:
    return but(tasks=(replace(TASK, **changes),))


CHANGES: list[tuple[RunPlan, str]] = [
    (settings(num_return_sequences=3), "num-return-sequences was 5, is 3"),
    (settings(temperature=0.0), "temperature was not there, is 0.0"),
    (settings(top_p=0.5), "top-p was not there, is 0.5"),
    (settings(max_tokens=9), "max-tokens was not there, is 9"),
    (settings(seed=None), "seed was 0, is not there"),
    (settings(generation={"top_k": 20}), "generation.top_k was not there, is 20"),
    (settings(loglikelihood="echo"), "loglikelihood was 'auto', is 'echo'"),
    (settings(model="/other"), "model was '/weights', is '/other'"),
    (settings(adapter="./b"), "adapter was './adapter', is './b'"),
    (settings(model_name="x"), "model-name was not there, is 'x'"),
    (settings(limit=5), "limit was not there, is 5"),
    (settings(first=5), "first was not there, is 5"),
    (settings(shard="0/2"), "shard was not there, is '0/2'"),
    (settings(label="x"), "label was 'vllm-api-stream-chat', is 'x'"),
    (settings(sampling="plain"), "sampling was 'server', is 'plain'"),
    (but(tasks=(find("gsm8k"),)), "datasets.demo_gsm8k was there, is not there"),
    (but(tasks=(TASK, find("gsm8k"))), "datasets.gsm8k was not there, is there"),
    (task(max_tokens=9), "datasets.demo_gsm8k.max_tokens was 1024, is 9"),
    (task(slice=Slice(stop=5)), "datasets.demo_gsm8k.slice.stop was not there, is 5"),
    (task(prompt=Prompt(question="x")), "datasets.demo_gsm8k.prompt.question was '"),
    (task(stop=("x",)), "datasets.demo_gsm8k.stop was "),
    (task(parts=(TASK,)), "datasets.demo_gsm8k.parts was "),
]


@pytest.mark.parametrize(("new", "change"), CHANGES)
def test_another_question_is_refused_and_shown(new: RunPlan, change: str) -> None:
    """What was and what is, at the leaf that differs."""
    with pytest.raises(BadReuse) as error:
        saved_plan.check_same_questions(PLAN, new)
    assert f"The run {'a' * 32} asked something else, so its replies cannot be reused: " in error.value.sentence
    assert change in error.value.sentence
    assert error.value.exit_code == 2


FREE: list[RunPlan] = [
    but(run_id="b" * 32, stamp="20270101_000000"),
    settings(mode="eval"),
    settings(endpoint=("http://x",), port=1),
    settings(but(k=(1, 5)), k=(1, 5)),
    settings(judge_endpoint="http://judge", judge_model="wise"),
    settings(match="contains"),
    but(gates=(Gate(dataset="demo_gsm8k", metric="avg@5", comparison=">", threshold=1),)),
    settings(but(client_limits=ClientLimits(concurrency=1)), concurrency=1, max_failed_requests=5),
    settings(data_dir="d", out="o", debug=True, task_type="any-to-any"),
    task(about="x", home="y", licence="z", data=DataFile(name="elsewhere.jsonl")),
    task(
        pipelines=(Pipeline(filters=(Step(name="stripped"),), metrics=(MetricUse(name="exact", label="accuracy"),)),),
        reference="x",
        references="[]",
        choices="[]",
        scorer=Step(name="x"),
        extras=("x",),
        baseline=0.5,
    ),
]


@pytest.mark.parametrize("new", FREE)
def test_the_rest_may_change(new: RunPlan) -> None:
    """Where things lie, how long one waits, and how replies are judged."""
    saved_plan.check_same_questions(PLAN, new)


def test_the_order_of_datasets_is_free() -> None:
    """They are compared by name."""
    tasks: tuple[TaskSpec, ...] = (TASK, find("gsm8k"))
    saved_plan.check_same_questions(but(tasks=tasks), but(tasks=tasks[::-1]))


def test_parts_of_a_dataset_are_compared_like_datasets() -> None:
    """Their scoring may change, their prompts may not."""
    old = task(parts=(TASK,))
    saved_plan.check_same_questions(old, task(parts=(replace(TASK, reference="x", pipelines=()),)))
    with pytest.raises(BadReuse, match=r"datasets\.demo_gsm8k\.parts was "):
        saved_plan.check_same_questions(old, task(parts=(replace(TASK, max_tokens=9),)))


def test_all_differences_are_shown_and_long_ones_are_cut() -> None:
    """One sentence, however much differs."""
    new = settings(num_return_sequences=3, seed=7, model="m" * 500)
    with pytest.raises(BadReuse) as error:
        saved_plan.check_same_questions(PLAN, new)
    for change in ("num-return-sequences was 5, is 3", "seed was 0, is 7", "model was '/weights', is 'mmm"):
        assert change in error.value.sentence
    assert "…" in error.value.sentence
    assert len(error.value.sentence) < 400


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (saved_plan.dump(PLAN).replace("'slice': {", "'slice': {'shuffle': 7, ", 1), "unknown field `shuffle`"),
        (re.sub(r"'run_id': '\w+',", "", saved_plan.dump(PLAN)), "missing required field `run_id`"),
        ("settings = {}\nplan = {'tasks': 3}", "cannot be read as the plan of a run"),
    ],
)
def test_what_this_version_does_not_write_is_not_guessed(source: str, sentence: str) -> None:
    """A field that is not known may have decided what was asked."""
    with pytest.raises(BadReuse, match=sentence):
        saved_plan.load(source, "here")
