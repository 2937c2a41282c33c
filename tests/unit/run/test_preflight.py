"""What is found wrong before anything is started."""

from pathlib import Path

import pytest
from tests.fake_ports import FakeLauncher, FakeWeightsSource, MemoryHub, fake_ports

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.records import WeightsInfo
from model_accuracy_eval.run import plan_parts, preflight
from model_accuracy_eval.settings import table

ROWS = MemoryHub({"demo_gsm8k.jsonl": b'{"question": "1 + 1?", "answer": "#### 2"}\n'})
KINDS = ("text-generation", "image-text-to-text", "any-to-any")


class TypedWarehouse(FakeWeightsSource):
    """Weights of a hub that says what they are made for."""

    def __init__(self, *task_types: str) -> None:
        super().__init__()
        self.task_types = task_types

    def measure(self, reference: str, limit: str) -> WeightsInfo:
        return WeightsInfo(reference=reference, size=1, shown="1 byte", task_types=self.task_types)


def clear(folder: Path, asked: str, *told: str) -> None:
    (folder / "deploy.sh").write_text("exit 0\n")
    values = {"adapter": str(folder), "model": "hf:org/name", "datasets": "demo_gsm8k", "task-type": asked}
    plan = plan_parts.plan(values, {})
    preflight.check(plan, fake_ports(hub=ROWS, weights_source=TypedWarehouse(*told)))


@pytest.mark.parametrize("asked", KINDS)
@pytest.mark.parametrize("told", KINDS)
def test_a_model_answers_the_requests_of_simpler_kinds(tmp_path: Path, asked: str, told: str) -> None:
    """Models that see answer text too; a text model asked about images is refused, with both words in the sentence."""
    if KINDS.index(asked) <= KINDS.index(told):
        clear(tmp_path, asked, told)
        return
    with pytest.raises(Refused) as refused:
        clear(tmp_path, asked, told)
    assert refused.value.sentence == (
        f"The task-type is {asked}, but the hub says that hf:org/name is made for {told}; "
        f"set task-type to {told}, or take other weights."
    )


class SomePortsTaken(FakeLauncher):
    """Other programs listen at these ports."""

    def port_owner(self, port: int) -> str | None:
        return "python3, pid 4711" if port in {8001, 8003, 8007, 65535} else None


@pytest.mark.parametrize(
    ("replicas", "port", "taken", "step"),
    [
        (1, 8001, 8001, " Give --port 8002, which is free."),
        (3, 8000, 8001, " Give --port 8004, from which on 3 ports are free."),
        (1, 65535, 65535, ""),
    ],
)
def test_a_refused_port_comes_with_one_that_would_do(
    tmp_path: Path, replicas: int, port: int, taken: int, step: str
) -> None:
    """For several replicas, one behind which enough are free."""
    (tmp_path / "deploy.sh").write_text("exec serve --port $PORT\n")
    values = {"adapter": str(tmp_path), "model": "m", "datasets": "demo_gsm8k", "port": port, "replicas": replicas}
    with pytest.raises(Refused) as refused:
        preflight.check(plan_parts.plan(values, {}), fake_ports(hub=ROWS, launcher=SomePortsTaken()))
    assert refused.value.sentence == (
        f"Port {taken} is already in use by python3, pid 4711, so the adapter could not serve on it.{step}"
    )


@pytest.mark.parametrize(
    ("given", "variable"), [({"replicas": 2}, "PORT"), ({"resources": "nodes=2,NPU=8"}, "NODE_RANK")]
)
def test_an_adapter_reads_what_tells_its_copies_apart(tmp_path: Path, given: dict[str, object], variable: str) -> None:
    """Otherwise two would take one port, or each node of a replica would serve alone."""
    values = {"adapter": str(tmp_path), "model": "m", "datasets": "demo_gsm8k", "engine": "ray", **given}
    for script, refused in (("exec serve\n", True), (f"exec serve --it ${variable}\n", False)):
        (tmp_path / "deploy.sh").write_text(script)
        objection = preflight._adapter_files(plan_parts.plan(values, {}), fake_ports())
        assert (objection is not None and f"reads {variable}" in objection.sentence) == refused
        assert objection is None or objection.about == ("deploy.sh", 1)


@pytest.mark.parametrize("told", [(), ("feature-extraction",), ("chat", "any-to-any")])
def test_what_the_hub_does_not_say_is_no_finding(tmp_path: Path, told: tuple[str, ...]) -> None:
    """No word, a word of another kind, and several words of which one will do."""
    clear(tmp_path, "any-to-any", *told)


def test_the_kinds_are_those_of_the_plan() -> None:
    """A task type that is added to the settings has to be given its place in the order."""
    task_type = next(setting for setting in table() if setting.field == "task_type")
    assert set(task_type.choices) == set(KINDS) == set(preflight._TASK_TYPES)
