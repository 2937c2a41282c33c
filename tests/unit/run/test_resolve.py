"""Settings → plan: every name resolved, every contradiction found before anything starts."""

from typing import Any

import msgspec
import pytest
from tests.fake_ports import MemoryTaskFiles

from model_accuracy_eval.errors import BadValue, EvalError
from model_accuracy_eval.records import ClientLimits, Prompt, RunPlan, Settings, Shard
from model_accuracy_eval.run.resolve import resolve, understood, with_strategy
from model_accuracy_eval.tasks.library import Library

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
    assert (found.sampling.n, found.k, found.settings.label, found.settings.port) == (
        5,
        (5,),
        "vllm-api-stream-chat",
        8000,
    )
    assert (found.run_id, found.stamp, found.settings.mode) == ("0" * 32, "20260326_151326", "all")
    assert found.client_limits == ClientLimits()
    assert [task.name for task in found.tasks] == ["demo_gsm8k"]


def test_k_is_sorted_and_each_value_stands_once() -> None:
    """And is n when nothing is said."""
    assert plan(k=(5, 1, 1, 3)).k == (1, 3, 5)
    assert plan(num_return_sequences=3).k == (3,)


def test_gates_are_read_and_checked() -> None:
    """Against the datasets and the metrics of this run."""
    found = plan(gate=("demo_gsm8k: pass@1 >= 50 # comment", "demo_gsm8k: accuracy > 2"), k=(1, 5))
    assert [gate.metric for gate in found.gates] == ["pass@1", "accuracy (5 runs average)"]
    assert "no metric called 'pass@9' in the gate" in refusal(gate=("demo_gsm8k: pass@9 > 2",))
    assert "no metric called 'avg@5' in the gate" in refusal(gate=("demo_gsm8k: avg@5 > 2",), num_return_sequences=1)
    assert "no dataset called 'gsm8k' in the gate" in refusal(gate=("gsm8k: avg@5 > 2",))
    assert "can be read in two ways" in refusal(gate=("demo_gsm8k: avg@5 > 0.75",))
    assert "is not a gate" in refusal(gate=("nonsense",))
    assert "no run has: diagnose --reference FILE --gate 'kl.p99 <= 0.05'" in refusal(gate=("kl.p99 <= 0.05",))


def test_a_gate_has_the_figure_that_it_needs_computed() -> None:
    """pass@2 of five samples, although only pass@5 was asked for."""
    assert plan(gate=("demo_gsm8k: pass@2 >= 50",)).k == (2, 5)
    assert plan(gate=("demo_gsm8k: cons@3 >= 50",), k=(1,)).k == (1, 3)
    assert plan(gate=("demo_gsm8k: pass@5 >= 50",), k=(1,)).k == (1, 5)


def test_a_gate_on_a_baseline_needs_one() -> None:
    """Said before anything starts; with a baseline it is a gate like any other."""
    line = "demo_gsm8k: avg@5 >= baseline - 1"
    assert f"The gate '{line}' speaks of a baseline: name that run with --baseline." in refusal(gate=(line,))
    found = plan(gate=(line,), baseline="outputs/x")
    assert (found.settings.baseline, [str(gate) for gate in found.gates]) == ("outputs/x", [line])


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
    found = plan(adapter=None, model=None, endpoint=("http://localhost:8000/",))
    assert found.settings.endpoint == ("http://localhost:8000",)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"datasets": ()}, "No dataset was chosen: give --datasets"),
        ({"endpoint": ("http://x",)}, "Give an adapter folder or --endpoint, not both"),
        (
            {"engine": "ray", "runtime": "container", "adapter_image": "ascend/vllm"},
            "On a Ray cluster deploy.sh runs as a process of its node",
        ),
        ({"resources": ("CPU=8",)}, "for CPU=8 add --engine ray."),
        (
            {"resources": ("nodes=2", "NPU=8")},
            "A replica spans nodes of a Ray cluster (nodes=2, NPU=8): give --engine ray",
        ),
        ({"resources": ("nodes=2",), "engine": "ray"}, "give --engine ray, and what it takes of each."),
        *(
            ({"engine": "ray", "resources": ("CPU=1", text)}, f"but one of these is not: CPU=1, {text}.")
            for text in ("NPU", "NPU=0", "=2", "nodes=0", "nodes=1.5", "nodes=")
        ),
        ({"adapter": None}, "Nothing to evaluate: give an adapter folder, or --endpoint URL"),
        (
            {"judge_endpoint": "http://me:secret@x"},
            "An endpoint must hold no password, as reports show it: keys are read from MODEL_ACCURACY_EVAL_API_KEY and",
        ),
        ({"model": None}, "deploy.sh needs weights: give their path with --model."),
        ({"num_return_sequences": 5, "k": (1, 10)}, "k = 10 needs at least 10 samples of every problem, but"),
        (
            {"adapter": None, "endpoint": ("http://x:port",)},
            "must be an http:// or https:// URL, but is 'http://x:port'",
        ),
        ({"runtime": "container"}, "deploy.sh runs in a container, and its image is not known: give adapter-image"),
        ({"judge_endpoint": "b"}, "The judge's endpoint must be an http:// or https:// URL, but is 'b'."),
        ({"shard": "4/4"}, "The shard must be r/W with r from 0 up to below W, such as 0/4, but is '4/4'."),
        ({"shard": "1/x"}, "but is '1/x'."),
        (
            {"prompt_strategy": "scot"},
            "The dataset 'demo_gsm8k' has no prompt strategy 'scot'; it has the standard one alone.",
        ),
        ({"adapter": None, "endpoint": ("ftp://x",)}, "must be an http:// or https:// URL, but is 'ftp://x'"),
        ({"datasets": ("gsm8kk",)}, "There is no dataset called 'gsm8kk'; did you mean gsm8k"),
        ({"stop_when_decided": True}, "none is given: add --gate 'gsm8k: avg@5 >= 60'"),
        (
            {"stop_when_decided": True, "gate": ("demo_gsm8k: avg@5 >= 60",), "shard": "0/2"},
            "--stop-when-decided and --shard 0/2 exclude each other",
        ),
        ({"limit": 3, "first": 5}, "--limit 3 draws problems and --first 5 takes the first ones: give one of them."),
        (
            {"first": 5, "gate": ("demo_gsm8k: avg@5 >= 60",)},
            "no sample, so they decide no gate: take --limit 5, which draws as many, or --gate-on point",
        ),
        (
            {"stop_when_decided": True, "gate": ("demo_gsm8k: avg@5 >= 60",), "mode": "infer"},
            "--mode infer judges none",
        ),
    ],
)
def test_contradictions_are_refused(settings: dict[str, Any], sentence: str) -> None:
    """Each with a sentence that says what to give."""
    assert sentence in refusal(**settings)


def test_the_first_problems_have_figures_of_their_own() -> None:
    """A gate on these alone claims nothing."""
    assert len(plan(first=5, gate=("demo_gsm8k: avg@5 >= 60",), gate_on="point").gates) == 1


def test_a_shard_is_a_part_and_decides_no_gates() -> None:
    """Its gates are read and checked all the same."""
    shard = plan(shard="1/4", gate=("demo_gsm8k: avg@5 > 2",))
    assert (shard.shard, shard.gates) == (Shard(index=1, count=4), ())
    assert plan().shard is None
    assert "is not a gate" in refusal(shard="1/4", gate=("nonsense",))


def test_the_groups_of_datasets_are_in_the_plan() -> None:
    """With their members, and gates may name them."""
    found = plan(datasets=("chat_core",), num_return_sequences=1)
    assert [group.name for group in found.groups] == ["chat_core"]
    assert set(found.groups[0].members) == {task.name for task in found.tasks}
    (mean,) = found.groups[0].means
    assert plan(datasets=("chat_core",), gate=(f"chat_core: {mean.metric} > 1",)).gates[0].dataset == "chat_core"


def test_a_prompt_strategy_changes_the_question_alone() -> None:
    """One that the dataset does not offer is refused with those that it does."""
    standard, other = (plan(datasets=("humaneval",), prompt_strategy=name).tasks[0] for name in ("standard", "cgo"))
    assert other.prompt.question == standard.prompt.strategies["cgo"] != standard.prompt.question
    assert msgspec.structs.replace(other, prompt=standard.prompt) == standard
    few = msgspec.structs.replace(standard, prompt=Prompt(question="q", strategies={"scot": "s", "few-shot": "f"}))
    with pytest.raises(BadValue, match="'humaneval' has no prompt strategy 'cgo'; it has scot, few-shot."):
        with_strategy(few, "cgo")


def test_judging_kept_replies_needs_no_target() -> None:
    """--mode eval asks nobody, but it needs a dataset and the run that holds the replies."""
    assert plan(mode="eval", adapter=None, model=None, reuse="outputs/x").settings.mode == "eval"
    assert "No dataset" in refusal(mode="eval", datasets=(), reuse="outputs/x")
    assert "name that run with --reuse" in refusal(mode="eval", adapter=None, model=None)


def test_other_names_of_datasets_hold_in_gates_too() -> None:
    """The plan, and so the report, has the table's own name."""
    found = plan(datasets=("GSM8K", "ARC-Easy"), gate=("GSM8K: avg@5 >= 50", "arc-easy: avg@5 >= 50"))
    assert [task.name for task in found.tasks] == ["gsm8k", "arc_easy"]
    assert [gate.dataset for gate in found.gates] == ["gsm8k", "arc_easy"]
    assert understood(found) == "GSM8K → gsm8k, ARC-Easy → arc_easy, arc-easy → arc_easy"
    assert understood(plan(datasets=("gsm8k", "a/own.jsonl"), gate=("own: avg@5 >= 50",))) == ""
    in_format = plan(datasets=("ARC-Easy-Choice@generate",), gate=("arc easy choice@generate: avg@5 >= 50",))
    assert understood(in_format).endswith("arc easy choice@generate → arc_easy_choice@generate")
    plus = plan(datasets=("HumanEval+",), gate=("HumanEval+: pass@1 >= 90",), k=(1,))
    assert [gate.dataset for gate in plus.gates] == ["humaneval_plus"]
    assert "There is no dataset called 'SVAMP'" in refusal(datasets=("gsm8k",), gate=("SVAMP: avg@5 >= 50",))
