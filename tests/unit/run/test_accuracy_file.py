"""accuracy.yaml: what it asks for, alone and together with what a form, a comment or a workflow gives."""

from typing import Any

import pytest

from model_accuracy_eval.commands.action_inputs import check_name
from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.run import accuracy_file
from model_accuracy_eval.run.setting_values import Given

TWO = """
hardware: npu
settings:
  datasets: gsm8k, mmlu_pro
  gate: "mmlu_pro: avg@5 >= 40"
  allowed-models: hf:org/*
models:
  small:
    model: hf:org/small
    baselines: {gsm8k: 78.2, "gsm8k: cons@5": 80}
    tolerance: 2
  large:
    tier: advisory
    model: hf:org/large
    gate: ["gsm8k: avg@5 >= 90", "*: drop <= 1 vs baseline"]
"""
LM_EVAL = """
model_name: "acme/Some-7B"
hardware: "Atlas A2 Series"
tasks:
- name: "gsm8k"
  metrics:
  - name: "exact_match,strict-match"
    value: 0.75
  - name: "exact_match,flexible-extract"
    value: 0.8
- name: "mmlu_pro"
  metrics:
  - name: "exact_match,custom-extract"
    value: 0.5
limit: 250
num_fewshot: 5
rtol: 0.1
"""
AISBENCH = """
_acc: &acc
  case_type: accuracy
  dataset_path: acme/gsm8k
  dataset_conf: gsm8k/gsm8k_gen_0_shot_cot_chat_prompt
  max_out_len: 4096
  batch_size: 64
  baseline: 95
  threshold: 5
test_cases:
- name: case-a
  model: acme/Some-7B
  benchmarks:
    perf: {case_type: performance, baseline: 1, threshold: 0.97}
    acc:
      <<: *acc
- name: case-b
  model: /weights/own
  benchmarks: {acc: {case_type: accuracy, dataset_conf: aime2025_gen, baseline: 0.5, threshold: 0.1}}
"""


def asked(text: str, files: dict[str, str] | None = None, **given: Any) -> dict[str, dict[str, Any]]:
    """Label or name → the settings of that run, with its tier."""
    found = accuracy_file.read(text, (files or {}).get, check_name)
    values = {name.replace("_", "-"): Given(value, "the form") for name, value in given.items()}
    return {
        one.name: {name: each.value for name, each in one.values.items()} | {"tier": one.tier}
        for one in found.evaluations(values)
    }


def test_every_model_is_asked_for_with_its_gates() -> None:
    """Settings of all and of each; committed figures are gates, lower by the tolerance."""
    runs = asked(TWO)
    assert runs["small"]["gate"] == [
        "mmlu_pro: avg@5 >= 40", "gsm8k: avg >= 76.2", "gsm8k: cons@5 >= 78",
    ]  # fmt: skip
    assert runs["large"]["gate"] == ["mmlu_pro: avg@5 >= 40", "gsm8k: avg@5 >= 90", "*: drop <= 1 vs baseline"]
    assert [(run["model"], run["label"], run["tier"]) for run in runs.values()] == [
        ("hf:org/small", "small", "required"), ("hf:org/large", "large", "advisory"),
    ]  # fmt: skip
    assert not {"baselines", "tolerance"} & set(runs["small"])


def test_a_baseline_of_nothing_is_a_figure() -> None:
    (run,) = asked("models: {a: {model: x, baselines: {gsm8k: 0}}}").values()
    assert run["gate"] == ["gsm8k: avg >= 0"]


def test_what_is_given_chooses_and_loosens_nothing() -> None:
    """Gates about what is not asked fall away, and such a part has a name of its own; a gate that is given comes on top."""
    runs = asked(
        TWO, datasets="GSM8K", model="small", gate="gsm8k: avg@5 >= 1", allowed_models="*", task_type="any-to-any"
    )
    (run,) = runs.values()
    assert run["gate"] == ["gsm8k: avg >= 76.2", "gsm8k: cons@5 >= 78", "gsm8k: avg@5 >= 1"]
    assert (run["label"], run["allowed-models"], run["model"]) == ("small-gsm8k", "hf:org/*", "hf:org/small")
    (other,) = asked(TWO, model="hf:org/other").values()
    assert (other["model"], other["gate"], "label" in other) == ("hf:org/other", ["mmlu_pro: avg@5 >= 40"], False)
    assert {run["label"] for run in asked(TWO, datasets="gsm8k,mmlu_pro,ifeval").values()} == {"small", "large"}


def test_a_choice_that_nobody_made_takes_nothing_away() -> None:
    """The first task type of a form is there even where nobody has looked at it."""
    text = "models: {a: {model: hf:o/m, task-type: image-text-to-text}}"
    assert asked(text, task_type="text-generation")["a"]["task-type"] == "image-text-to-text"
    assert asked(text, task_type="any-to-any")["a"]["task-type"] == "any-to-any"


def test_a_gate_about_what_the_file_does_not_ask_is_kept() -> None:
    """So that the run refuses it: it would be no gate."""
    (run,) = asked("models: {a: {model: hf:o/m, datasets: gsm8k, gate: ['ifeval: avg@5 >= 1']}}").values()
    assert run["gate"] == ["ifeval: avg@5 >= 1"]


def test_a_file_may_name_no_model() -> None:
    """Then the workflow does, and the file's gates hold; one that says the hardware alone asks for nothing."""
    (run,) = asked("settings: {datasets: gsm8k, gate: 'gsm8k: avg >= 70'}", model="hf:o/m").values()
    assert (run["model"], run["gate"], "label" in run) == ("hf:o/m", ["gsm8k: avg >= 70"], False)
    (run,) = asked("hardware: npu", model="hf:o/m", gate="gsm8k: avg >= 1").values()
    assert run == {"model": "hf:o/m", "gate": ["gsm8k: avg >= 1"], "tier": "required"}


def test_files_of_other_projects_are_read_as_they_are() -> None:
    """vLLM's with lm-eval tasks and vllm-ascend's with AISBench cases: greedy, with their lines as gates."""
    (run,) = asked(LM_EVAL).values()
    assert (run["model"], run["datasets"], run["limit"]) == ("hf:acme/Some-7B", ["gsm8k", "mmlu_pro"], 250)
    assert run["gate"] == ["gsm8k: avg >= 67.5", "mmlu_pro: avg >= 45"]
    assert (run["num-return-sequences"], run["temperature"], run["label"]) == (1, 0, "Some-7B")
    first, second = asked(AISBENCH).values()
    assert (first["datasets"], first["max-tokens"], first["concurrency"]) == (
        ["gsm8k_gen_0_shot_cot_chat_prompt"],
        4096,
        64,
    )
    assert first["gate"] == ["gsm8k_gen_0_shot_cot_chat_prompt: avg >= 90"]
    assert (second["model"], second["gate"]) == ("/weights/own", ["aime2025_gen: avg >= 40"])
    seeing = 'model_name: a/VL\nmodel: vllm-vlm\ntasks: [{name: mmmu_val, metrics: [{name: "acc,none", value: 0.5}]}]'
    (looks,) = asked(seeing).values()
    assert (looks["label"], looks["task-type"], looks["gate"]) == ("VL", "image-text-to-text", ["mmmu_val: avg >= 46"])
    assert "task-type" not in first
    listed = asked("models: [a.yaml, b.yaml]", {"a.yaml": LM_EVAL, "b.yaml": AISBENCH})
    assert list(listed) == ["Some-7B", "case-a", "case-b"]
    assert asked("models: {own: a.yaml}", {"a.yaml": LM_EVAL})["own"]["gate"] == run["gate"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("settings:\n  limit: 3\n  gaet: x", "no setting called 'gaet' in accuracy.yaml, line 3; did you mean gate"),
        ("modles:\n  a: {}", "no key called 'modles' in accuracy.yaml, line 1; did you mean models"),
        ("models:\n  a: {model: x}\n  b: {model: y}\n  a: {model: z}", "'a' is there twice: accuracy.yaml, line 2, and accuracy.yaml, line 4"),
        ("models: {a: {model-token: t}}", "'model-token' cannot stand in accuracy.yaml, line 1"),
        ("models: {a: {model: x, tier: optional}}", "no tier called 'optional' in accuracy.yaml, line 1"),
        ("models: {a: {model: x, baselines: 70}}", "baselines is 70 (accuracy.yaml, line 1): give a figure for each"),
        ("models: {a: {model: x, baselines: {gsm8k: 0.7}}}", "write 70, in per cent"),
        ("models: {a: {model: x, baselines: {gsm8k: high}}}", "give a number in per cent"),
        ("models: {a: {model: x, baselines: {gsm8k: 70}, tolerance: -3}}", "tolerance is -3"),
        ("models: {a: {model: x, gate: ['gsm8k: avg@5 => 3']}}", "gsm8k: avg@5 => 3"),
        ("models: {a: gone.yaml}", "accuracy.yaml, line 1 names gone.yaml, which the default branch does not have"),
        ("models: [x.yaml]", "x.yaml (accuracy.yaml, line 1) has neither `tasks` nor `benchmarks`"),
        ("model_name: m\ntasks: [{name: gsm8k}]", "accuracy.yaml looks like a file of vLLM's tests, and lacks or misspells 'metrics'"),
        ("models:\n  a: {model: x, gate: [1}", "accuracy.yaml, line 2, is not YAML"),
        ("settings: {generation: {top_k: 1, top_k: 2}}", "accuracy.yaml, line 1, is not YAML: 'top_k' is there twice"),
        ("- a", "accuracy.yaml must hold settings as 'name: value' lines"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_sentence(text: str, told: str) -> None:
    """With the line where the file has it."""
    with pytest.raises(EvalError) as error:
        asked(text, {"x.yaml": "a: 1"})
    assert told in error.value.sentence
    assert "\n" not in error.value.sentence
