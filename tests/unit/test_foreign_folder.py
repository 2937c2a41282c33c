"""What the folder of a run says that somebody else may have made: it starts no program and sends no key."""

from pathlib import Path
from typing import Any

import pytest

from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.records import RunPlan
from model_accuracy_eval.run import plan_parts
from model_accuracy_eval.run_folder import saved_plan

ENDPOINT = {"endpoint": "http://model:8000"}
ADAPTER = {"adapter": "./my adapter", "model": "/weights"}
JUDGED = {**ENDPOINT, "judge-endpoint": "http://judge:1", "judge-model": "wise"}
MODEL_KEY = {"MODEL_ACCURACY_EVAL_API_KEY": "marker-model-key"}
JUDGE_KEY = {"MODEL_ACCURACY_EVAL_JUDGE_KEY": "marker-judge-key"}
GENERAL_KEY = {"OPENAI_API_KEY": "marker-general-key"}

UNTOLD: dict[str, tuple[dict[str, Any], dict[str, str], str]] = {
    "deploy.sh": (ADAPTER, {}, "'./my adapter'"),
    "its image": (
        {**ADAPTER, "adapter": "mine", "runtime": "container", "adapter-image": "x/y"},
        {},
        "mine --adapter-image x/y",
    ),
    "Python": ({**ENDPOINT, "trust-python": True}, {}, "--trust-python"),
    "no sandbox": ({**ENDPOINT, "sandbox": "none"}, {}, "--sandbox none"),
    "a weak sandbox": ({**ENDPOINT, "sandbox": "uid"}, {}, "--sandbox uid"),
    "who gets the model's key": (ENDPOINT, MODEL_KEY, "--endpoint http://model:8000"),
    "who gets the general key": (
        {"endpoint": "http://a:1,http://b:1"},
        GENERAL_KEY,
        "--endpoint http://a:1,http://b:1",
    ),
    "who gets the judge's key": (JUDGED, JUDGE_KEY, "--judge-endpoint http://judge:1"),
    "which judge gets the general key": (JUDGED, GENERAL_KEY, "--judge-endpoint http://judge:1"),
    "all of it": (
        {**ADAPTER, "adapter": "mine", "trust-python": True, "sandbox": "none"},
        MODEL_KEY,
        "mine --trust-python --sandbox none",
    ),
}
"""What the folder names → its settings, the environment of who goes on with it, and the words that are missing."""


def folder_of(values: dict[str, Any], place: Path) -> str:
    plan = planned(values)
    configs = place / plan.run_id / "configs"
    configs.mkdir(parents=True)
    (configs / "20260101_000000_1.py").write_text(saved_plan.dump(plan))
    return str(configs.parent)


def planned(values: dict[str, Any], environment: dict[str, str] | None = None) -> RunPlan:
    return plan_parts.plan({"datasets": "demo_gsm8k", **values}, environment or {})


@pytest.mark.parametrize("what", UNTOLD)
def test_it_is_typed_again(what: str, tmp_path: Path) -> None:
    """The sentence has the words, with which the run goes on."""
    values, environment, words = UNTOLD[what]
    run = folder_of(values, tmp_path)
    with pytest.raises(BadReuse) as refusal:
        plan_parts.plan({"reuse": run}, environment)
    assert refusal.value.sentence == (
        "What starts programs or gets a key is never taken from the folder of a run, which may be anybody's. If you "
        f"trust what it names, type it again: {words}."
    )
    again = plan_parts.plan({"reuse": run, **values}, environment)
    assert again.settings.reuse == run


@pytest.mark.parametrize(
    ("values", "environment"),
    [
        (ADAPTER, {}),
        (ENDPOINT, MODEL_KEY),
        (ENDPOINT, GENERAL_KEY),
        ({**ENDPOINT, "sandbox": "bwrap"}, MODEL_KEY),
    ],
)
def test_judging_needs_no_word_for_what_only_asking_starts(
    values: dict[str, Any], environment: dict[str, str], tmp_path: Path
) -> None:
    """Nothing is deployed, and the model's service gets no key."""
    run = folder_of(values, tmp_path)
    assert plan_parts.plan({"reuse": run, "mode": "eval"}, environment).settings.mode == "eval"


def test_without_a_key_the_service_is_that_of_the_run(tmp_path: Path) -> None:
    """Nothing of the user's is sent there."""
    assert plan_parts.plan({"reuse": folder_of(ENDPOINT, tmp_path)}, {}).settings.endpoint == ("http://model:8000",)
