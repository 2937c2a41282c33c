"""How code benchmarks are asked: four manners, each as its golden file says, and the protocols of sampling."""

import os
from pathlib import Path

import pytest

from model_accuracy_eval.benchmarks import dataset_table as tasks
from model_accuracy_eval.benchmarks.prompt_parts import STRATEGIES
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.run import setting_values
from model_accuracy_eval.run.resolve import with_strategy
from model_accuracy_eval.run.setting_values import PROTOCOLS
from model_accuracy_eval.tasks import preparation

GOLDEN = Path(__file__).parents[2] / "golden/code_prompts"
ROWS = [
    {
        "task_id": number,
        "text": "Write a function to find the shared elements of two lists. ",
        "code": "def shared(a, b): …",
        "test_list": ["assert set(shared([1, 2], [2])) == {2}", "assert set(shared([], [2])) == set()"],
        "test_setup_code": "",
    }
    for number in range(1, 13)
]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a6_each_manner_of_asking_is_as_its_golden_file(strategy: str) -> None:
    """MBPP with two asserts: the function's name is told (A7), and the asserts stand under Examples (A8)."""
    task = with_strategy(tasks.find("mbpp"), strategy)
    (problem,) = preparation.build(task, ROWS, [], 1).problems
    (message,) = problem.messages
    file = GOLDEN / f"{strategy}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(message.content, encoding="utf-8")
    assert message.content == file.read_text(encoding="utf-8")
    assert "called `shared`" in message.content
    assert "Examples:\nassert set(shared([1, 2], [2])) == {2}\nassert set" in message.content


def test_a6_a_manner_that_a_dataset_does_not_have_is_refused() -> None:
    """It is never answered with the standard one in silence."""
    with pytest.raises(BadValue, match="'gsm8k' has no prompt strategy 'scot'"):
        with_strategy(tasks.find("gsm8k"), "scot")
    with pytest.raises(BadValue, match=r"expected one of standard, scot, few-shot, cgo"):
        setting_values.read({"prompt-strategy": "reflexion"}, "the command line")


@pytest.mark.parametrize(
    ("protocol", "n", "temperature", "top_k", "k"),
    [("greedy", 1, 0.0, None, (1,)), ("pass@1", 10, 0.8, 40, (1,)), ("pass@10", 100, 0.8, 40, (1, 10))],
)
def test_a14_protocols(protocol: str, n: int, temperature: float, top_k: int | None, k: tuple[int, ...]) -> None:
    """Samples, temperature, top_k and k of the three recommended protocols; sampling is never greedy's."""
    settings = setting_values.merge(setting_values.read({"sampling": protocol}, "a test"))
    assert (settings.num_return_sequences, settings.temperature, settings.k) == (n, temperature, k)
    assert settings.generation.get("top_k") == top_k


def test_a14_what_is_said_beside_a_protocol_wins() -> None:
    """Ten samples may become twenty, and everything else stays as the protocol has it."""
    settings = setting_values.merge(setting_values.read({"sampling": "pass@1", "num-return-sequences": "20"}, "a test"))
    assert (settings.num_return_sequences, settings.temperature, settings.k) == (20, 0.8, (1,))
    assert set(PROTOCOLS) == {"greedy", "pass@1", "pass@10"}
