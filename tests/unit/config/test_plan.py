"""Settings → plan: every name resolved, every contradiction found before anything starts."""

from typing import Any

import msgspec
import pytest

from model_accuracy_eval.config.plan import resolve
from model_accuracy_eval.config.settings import Settings
from model_accuracy_eval.errors import BadData, BadValue, EvalError, UnknownName
from model_accuracy_eval.records import Patience, RunPlan
from model_accuracy_eval.tasks.library import Library
from model_accuracy_eval.testing import MemoryTaskFiles

FILES = {
    "a/own.jsonl": b'{"question": "1+1", "answer": "2"}\n',
    "b/own.csv": b"question,A,B,answer\n1+1?,1,2,B\n",
    "gsm8k.jsonl": b'{"question": "1+1", "answer": "2"}\n',
}
TARGET = {"adapter": "./adapter", "model": "/weights", "datasets": ("demo_gsm8k",)}


def plan(**settings: Any) -> RunPlan:
    library = Library(FILES.__getitem__, MemoryTaskFiles())
    return resolve(Settings(**(TARGET | settings)), run_id="0" * 32, stamp="20260326_151326", library=library)


def refusal(**settings: Any) -> str:
    with pytest.raises(EvalError) as error:
        plan(**settings)
    assert error.value.exit_code == 2
    return error.value.sentence


def test_defaults_are_those_of_the_mission() -> None:
    """Five samples a problem, k = n, the known label and port."""
    found = plan()
    assert (found.sampling.n, found.k, found.label, found.port) == (5, (5,), "vllm-api-stream-chat", 8000)
    assert (found.run_id, found.stamp, found.mode) == ("0" * 32, "20260326_151326", "all")
    assert found.patience == Patience()
    assert [task.name for task in found.tasks] == ["demo_gsm8k"]


def test_every_setting_reaches_the_plan() -> None:
    """Under its own name or in its group."""
    found = plan(
        num_return_sequences=8, temperature=0.5, top_p=0.9, max_tokens=64, seed=None, generation={"top_k": 1},
        concurrency=3, retries=2, ready_timeout=1.0, connect_timeout=2.0, first_token_timeout=3.0, idle_timeout=4.0,
        total_timeout=5.0, limit=7, data_dir="d", out="o", label="l", port=9, debug=True, score_reasoning=True,
        max_failed_requests=6, task_type="any-to-any", model_name="m", mode="infer",
    )  # fmt: skip
    assert msgspec.to_builtins(found.sampling) == {
        "n": 8, "temperature": 0.5, "top_p": 0.9, "max_tokens": 64, "seed": None, "extra": {"top_k": 1},
    }  # fmt: skip
    patience = found.patience
    assert (patience.concurrency, patience.retries, patience.ready_timeout, patience.connect_timeout) == (3, 2, 1, 2)
    assert (patience.first_token_timeout, patience.idle_timeout, patience.total_timeout) == (3, 4, 5)
    assert (found.limit, found.data_dir, found.out, found.label, found.port, found.debug) == (7, "d", "o", "l", 9, True)
    assert (found.score_reasoning, found.max_failed_requests, found.task_type) == (True, 6, "any-to-any")
    assert (found.model_name, found.mode) == ("m", "infer")


def test_k_is_sorted_and_each_value_stands_once() -> None:
    """And is n when nothing is said."""
    assert plan(k=(5, 1, 1, 3)).k == (1, 3, 5)
    assert plan(num_return_sequences=3).k == (3,)


def test_gates_are_read_and_checked() -> None:
    """Against the datasets and the metrics of this run."""
    found = plan(gate=("demo_gsm8k: pass@1 >= 50 # comment", "demo_gsm8k: accuracy (5 runs average) > 1"), k=(1, 5))
    assert [gate.metric for gate in found.gates] == ["pass@1", "accuracy (5 runs average)"]
    assert "no metric called 'pass@2' in the gate" in refusal(gate=("demo_gsm8k: pass@2 > 1",))
    assert "no metric called 'avg@5' in the gate" in refusal(gate=("demo_gsm8k: avg@5 > 1",), num_return_sequences=1)
    assert "no dataset called 'gsm8k' in the gate" in refusal(gate=("gsm8k: avg@5 > 1",))
    assert "is no gate" in refusal(gate=("nonsense",))


def test_a_gate_on_a_baseline_needs_one() -> None:
    """Said before anything starts; with a baseline it is a gate like any other."""
    line = "demo_gsm8k: avg@5 >= baseline - 1"
    assert f"The gate '{line}' speaks of a baseline: name that run with --baseline." in refusal(gate=(line,))
    found = plan(gate=(line,), baseline="outputs/x")
    assert (found.baseline, [str(gate) for gate in found.gates]) == ("outputs/x", [line])


def test_own_files_are_datasets() -> None:
    """Their name is the file's, their shape what their columns say."""
    found = plan(datasets=("demo_gsm8k", "b/own.csv"))
    assert [task.name for task in found.tasks] == ["demo_gsm8k", "own"]
    assert found.tasks[1].pipelines[0].filters[-1].name == "choice_letter"


def test_a_dataset_that_is_named_twice_is_asked_once() -> None:
    """Two different ones of one name are refused."""
    assert len(plan(datasets=("demo_gsm8k", "demo_gsm8k")).tasks) == 1
    sentence = "Two of the datasets are called 'own', and their reports would overwrite each other."
    assert refusal(datasets=("a/own.jsonl", "b/own.csv")) == sentence
    assert "'gsm8k'" in refusal(datasets=("gsm8k", "gsm8k.jsonl"))


def test_a_closing_slash_of_the_endpoint_is_dropped() -> None:
    """Both spellings are one service."""
    found = plan(adapter=None, model=None, endpoint="http://localhost:8000/")
    assert found.endpoint == "http://localhost:8000"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"datasets": ()}, "No dataset was chosen: give --datasets"),
        ({"endpoint": "http://x"}, "Give an adapter folder or --endpoint, not both"),
        ({"adapter": None}, "Nothing to evaluate: give an adapter folder, or --endpoint URL"),
        ({"model": None}, "deploy.sh needs weights: give their path with --model."),
        ({"num_return_sequences": 5, "k": (1, 10)}, "k = 10 needs at least 10 samples of every problem, but"),
        (
            {"adapter": None, "endpoint": "localhost:8000"},
            "must be an http:// or https:// URL, but is 'localhost:8000'",
        ),
        ({"adapter": None, "endpoint": "ftp://x"}, "must be an http:// or https:// URL, but is 'ftp://x'"),
        ({"datasets": ("gsm9k",)}, "There is no dataset called 'gsm9k'; did you mean gsm8k"),
    ],
)
def test_contradictions_are_refused(settings: dict[str, Any], sentence: str) -> None:
    """Each with a sentence that says what to give."""
    assert sentence in refusal(**settings)


def test_judging_kept_replies_needs_no_target() -> None:
    """--mode eval asks nobody, but it needs a dataset and the run that holds the replies."""
    assert plan(mode="eval", adapter=None, model=None, reuse="outputs/x").mode == "eval"
    assert "No dataset" in refusal(mode="eval", datasets=(), reuse="outputs/x")
    assert "name their run with --reuse" in refusal(mode="eval", adapter=None, model=None)


def test_the_kinds_of_refusal_are_told_apart() -> None:
    """Names, values and data are three classes."""
    for settings, kind in (
        ({"datasets": ("x",)}, UnknownName),
        ({"k": (6,)}, BadValue),
    ):
        with pytest.raises(kind):
            plan(**settings)
    with pytest.raises(BadData, match=r"own\.jsonl"):
        resolve(
            Settings(endpoint="http://x", datasets=("a/own.jsonl",)),
            run_id="0",
            stamp="0",
            library=Library(lambda _: b"{", MemoryTaskFiles()),
        )
