"""A promise about a number, and how it is put to the test."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.records import Problem


@dataclass(frozen=True, slots=True)
class Case:
    """An input and the expected result."""

    input: str
    """What the function gets, for people to read."""
    run: Callable[[], Any]
    expected: Any
    """A value, or the class of the error that must be raised."""

    @property
    def shown(self) -> str:
        return f"a refusal ({self.expected.__name__})" if isinstance(self.expected, type) else repr(self.expected)


@dataclass(frozen=True, slots=True)
class Contract:
    """`example` shows the rule; in `falsification` a likely mistake would give another result."""

    id: str
    rule: str
    example: Case
    falsification: Case


@dataclass(frozen=True, kw_only=True, slots=True)
class Breach:
    """A case of a contract with an unexpected result."""

    contract: Contract
    case: Case
    result: str


CaseValues = tuple[Any, ...]
"""A case as the arguments of the function that makes it: the input, the expected result, and perhaps settings."""


def breaches(contracts: Sequence[Contract]) -> list[Breach]:
    """Every case of every contract that does not hold."""
    return [
        Breach(contract=contract, case=case, result=result)
        for contract in contracts
        for case in (contract.example, contract.falsification)
        if (result := _unexpected(case))
    ]


def listing(found: Sequence[Breach], contracts: Sequence[Contract]) -> str:
    """One line for each contract, and below them the cases that do not hold."""
    broken = {breach.contract.id for breach in found}
    width = max(len(contract.id) for contract in contracts)
    lines = [
        f"{'BROKEN' if contract.id in broken else 'holds '}  {contract.id.ljust(width)}  {contract.rule}"
        for contract in contracts
    ]
    details = [f"{one.contract.id}: {one.case.input} gives {one.result}, not {one.case.shown}." for one in found]
    return "\n".join([*lines, "", *details, f"{len(contracts) - len(broken)} of {len(contracts)} contracts hold."])


def _unexpected(case: Case) -> str:
    """The result if it is not the expected one; else empty."""
    refused = isinstance(case.expected, type)
    try:
        value = case.run()
    except EvalError as refusal:
        return "" if refused and isinstance(refusal, case.expected) else f"a refusal ({refusal.sentence})"
    except Exception as error:  # noqa: BLE001 - any error is something that the contract did not promise
        return f"{type(error).__name__}: {error}"
    return "" if not refused and same(value, case.expected) else repr(value)


def same(value: Any, expected: Any) -> bool:
    """Equal, numbers to six places."""
    if isinstance(value, Mapping) and isinstance(expected, Mapping):
        return value.keys() == expected.keys() and all(same(value[name], expected[name]) for name in value)
    if isinstance(value, tuple) and isinstance(expected, tuple):
        return len(value) == len(expected) and all(map(same, value, expected))
    if isinstance(value, int | float) and isinstance(expected, int | float):
        return isclose(value, expected, rel_tol=1e-6, abs_tol=1e-6)
    return bool(value == expected)


def problem(*references: str, choices: Sequence[str] = (), gold: Sequence[int] = (), **extras: Any) -> Problem:
    """A problem with nothing but its right answer."""
    return Problem(
        id=0, messages=(), references=references or ("",), choices=tuple(choices), gold=tuple(gold), extras=extras
    )
