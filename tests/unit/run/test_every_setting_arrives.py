"""A setting that is given as text on the command line, in the YAML file or as an input of the action is in the plan."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.run.spellings import SPELLINGS

from model_accuracy_eval.commands.action import ActionStep
from model_accuracy_eval.commands.run import run
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import RunPlan
from model_accuracy_eval.run import plan_parts
from model_accuracy_eval.run_folder import saved_plan
from model_accuracy_eval.scoring.metrics.user_functions import LOADER
from model_accuracy_eval.settings import table
from model_accuracy_eval.system.clock import SignalClock

HERE = str(Path(__file__).parent)

DEFAULTS = {setting.name: setting.default for setting in table()}
GIVEN: dict[str, tuple[str, Any]] = {
    **{name: (text, meaning) for name, text, _, meaning in SPELLINGS if meaning != DEFAULTS[name]},
    # What a plan is resolved from has to exist.
    "datasets": ("demo_gsm8k,demo_arithmetic", ("demo_gsm8k", "demo_arithmetic")),
    "tasks-path": (HERE, (HERE,)),
    "data-dir": (HERE, HERE),
    "prompt-strategy": ("cgo", "cgo"),
    "k": ("1,2", (1, 2)),
    "gate": ("demo_gsm8k: avg@5 >= 60", ("demo_gsm8k: avg@5 >= 60",)),
}
"""Setting → a text other than its default, and what it means."""
del GIVEN["reuse"]  # continuing a run has a test of its own
del GIVEN["columns"]  # so have the columns of own questions, which other datasets refuse
BESIDE: dict[str, dict[str, str]] = {
    "adapter": {"model": "/weights"},
    "model": {"adapter": "./adapter"},
    "runtime": {"adapter-image": "ascend/vllm"},
    "prompt-strategy": {"datasets": "humaneval"},
    "replicas": {"adapter": "./adapter", "model": "/weights"},
    "engine": {"adapter": "./adapter", "model": "/weights"},
    "resources": {"adapter": "./adapter", "model": "/weights", "engine": "ray"},
    "require-gate": {"gate": "demo_gsm8k: avg@5 >= 60"},
    "stop-when-decided": {"gate": "demo_gsm8k: avg@5 >= 60"},
}
"""What has to be given with a setting so that it makes sense; otherwise an endpoint and a dataset."""


@pytest.fixture(scope="module", autouse=True)
def loader_stays() -> Iterator[None]:
    """Plans that trust Python set how functions of tasks are loaded; the tests of other modules keep what they had."""
    loader = LOADER.get()
    yield
    LOADER.set(loader)


def texts_for(*names: str) -> dict[str, str]:
    """Settings as texts: those that are named, and what a plan needs besides."""
    texts = {"datasets": "demo_gsm8k"}
    for name in names:
        texts |= BESIDE.get(name, {}) | {name: GIVEN[name][0]}
    return texts if "adapter" in texts else {"endpoint": "http://localhost:8000", **texts}


def by_command_line(texts: dict[str, str], file: str | None = None) -> RunPlan:
    adapter = [texts["adapter"]] if "adapter" in texts else []
    flags = {setting.name for setting in table() if setting.type is bool}
    options = [
        part
        for name, text in texts.items()
        if name != "adapter"
        for part in ([f"--{name}"] if name in flags else [f"--{name}", text])
    ]
    context = run.make_context("run", [*adapter, *options, *(["--config", file] if file else [])])
    return plan_parts.plan({name: value for name, value in context.params.items() if value not in (None, ())}, {})


def by_file(texts: dict[str, str], folder: Path) -> RunPlan:
    """The values as YAML spells them, not the texts."""
    file = folder / "accuracy.yml"
    file.write_text(yaml.safe_dump({name: yaml.safe_load(text) for name, text in texts.items() if name != "gate"}))
    if "gate" in texts:
        file.write_text(f"{file.read_text()}gate:\n  - {texts['gate']}\n")
    return by_command_line({}, str(file))


def by_action(texts: dict[str, str]) -> RunPlan:
    """The adapter is no input: the action checks it out and hands over its folder; by default it runs in a container."""
    runtime = {"INPUT_RUNTIME": "process"} if "adapter" in texts else {}
    inputs = runtime | {f"INPUT_{name.upper()}": text for name, text in texts.items() if name != "adapter"}
    environment = {"GITHUB_REPOSITORY": "octo/eval", "GITHUB_TRIGGERING_ACTOR": "alice", **inputs}
    environment["RUNNER_TEMP"] = tempfile.gettempdir()
    with ActionStep(environment, SignalClock()).parts() as ports:
        plan = ports.plan("adapter" in texts)
    return plan.with_settings(adapter=texts.get("adapter"))


def test_every_setting_is_given() -> None:
    """With a value that it would not have by itself."""
    assert {*GIVEN, "reuse", "columns"} == set(DEFAULTS)
    assert all(meaning != DEFAULTS[name] for name, (_, meaning) in GIVEN.items())


@pytest.mark.parametrize("name", GIVEN)
def test_it_arrives_by_every_way(name: str, tmp_path: Path) -> None:
    """With its meaning, whichever way it came; and it is still there when the saved plan is read again."""
    texts = texts_for(name)
    for plan in (by_command_line(texts), by_file(texts, tmp_path), by_action(texts)):
        assert getattr(plan.settings, name.replace("-", "_")) == GIVEN[name][1]
        assert saved_plan.load(saved_plan.dump(plan), "here") == plan


ANEW = {"adapter", "adapter-image", "trust-python"}
"""What a run's folder is not believed, because it starts programs."""


@pytest.mark.parametrize("name", GIVEN)
def test_going_on_with_a_run_keeps_it(name: str, tmp_path: Path) -> None:
    """The plan is the same again, but for its stamp, its folder, its mode and the name of the run that it goes on; what
    starts programs is typed again."""
    texts = texts_for(name)
    plan = by_command_line(texts)
    configs = tmp_path / plan.run_id / "configs"
    configs.mkdir(parents=True)
    (configs / f"{plan.stamp}_1.py").write_text(saved_plan.dump(plan))
    anew = {each: text for each, text in texts.items() if each in ANEW}
    again = by_command_line({"reuse": str(configs.parent), **anew})
    assert again.settings.reuse == str(configs.parent)
    assert again.settings.mode == "all"
    assert again.settings.out == str(tmp_path)
    own = {"reuse": None, "out": plan.settings.out, "mode": plan.settings.mode}
    assert msgspec.structs.replace(again.with_settings(**own), stamp=plan.stamp) == plan


ALONE = {"endpoint", "datasets", "first", "gate", "num-return-sequences"}
COMPATIBLE = sorted(set(GIVEN) - set(BESIDE) - ALONE)
"""Settings that make sense in any company."""


@given(st.sets(st.sampled_from(COMPATIBLE)), st.sets(st.sampled_from(COMPATIBLE)))
def test_any_of_them_arrive_together(by_flag: set[str], by_file: set[str]) -> None:
    """Some as flags, others in the file; what neither says has its default."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "accuracy.yml"
        file.write_text(yaml.safe_dump({name: yaml.safe_load(GIVEN[name][0]) for name in by_file}))
        settings = by_command_line(texts_for(*by_flag), str(file)).settings
    for setting in table():
        given_anywhere = setting.name in by_flag | by_file
        if setting.name in COMPATIBLE:
            assert getattr(settings, setting.field) == (GIVEN[setting.name][1] if given_anywhere else setting.default)


def test_columns_arrive_with_own_questions_and_are_refused_without(tmp_path: Path) -> None:
    """Who names the columns of a known dataset would believe that they count."""
    own = tmp_path / "own.jsonl"
    own.write_text('{"q": "2+2?", "a": "4", "answer": "no"}\n')
    given = {"endpoint": "http://localhost:8000", "columns": "question=q,answer=a"}
    plan = by_command_line({**given, "datasets": str(own)})
    assert plan.settings.columns == ("question=q", "answer=a")
    assert "right answer from 'a'" in plan.tasks[0].about
    with pytest.raises(BadValue, match="demo_gsm8k has its own prompt and answers: leave it out"):
        by_command_line({**given, "datasets": "demo_gsm8k"})
