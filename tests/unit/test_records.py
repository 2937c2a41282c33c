"""The nouns: frozen, equal by value, and the same again after a way through JSON."""

from typing import Any

import msgspec
import pytest
from tests.unit.report.fixed_report import datasets, many, single

from model_accuracy_eval import records
from model_accuracy_eval.benchmarks.dataset_table import TASKS, find
from model_accuracy_eval.records import Gate, Record

SAMPLES: list[Record] = [many(), single(), *datasets(), *(find(name) for name in TASKS)]


def test_a_noun_survives_json() -> None:
    """Written and read, it is equal, with all that is in it."""
    for noun in SAMPLES:
        assert msgspec.json.decode(msgspec.json.encode(noun), type=type(noun)) == noun
        assert msgspec.convert(msgspec.to_builtins(noun), type(noun)) == noun


def nouns() -> list[Any]:
    return [kind for kind in vars(records).values() if isinstance(kind, type) and issubclass(kind, Record)]


@pytest.mark.parametrize("kind", nouns())
def test_every_noun_is_frozen_and_strict(kind: Any) -> None:
    """No field can be set later, none is positional, and unknown ones are refused."""
    config = kind.__struct_config__
    assert config.frozen
    assert config.forbid_unknown_fields or kind is Record
    assert all(field.name.isidentifier() for field in msgspec.structs.fields(kind))


def test_a_gate_reads_as_it_is_written() -> None:
    """Without a decimal point that nobody wrote."""
    gate = Gate(dataset="demo_arithmetic", metric="avg@5", comparison=">=", threshold=60.0)
    assert str(gate) == "demo_arithmetic: avg@5 >= 60"
    assert str(msgspec.structs.replace(gate, threshold=62.5)) == "demo_arithmetic: avg@5 >= 62.5"
