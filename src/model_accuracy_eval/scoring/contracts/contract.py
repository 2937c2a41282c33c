"""A promise about a number, and how it is put to the test."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.records import Likelihood, Problem


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """Something given, and what has to come of it."""

    given: str
    """For people."""
    run: Callable[[], Any]
    expected: Any
    """A value; or the class of the error with which it has to be refused."""

    @property
    def shown(self) -> str:
        return f"a refusal ({self.expected.__name__})" if isinstance(self.expected, type) else repr(self.expected)


@dataclass(frozen=True, kw_only=True, slots=True)
class Contract:
    """`example` says what is predicted; in `falsification` a likely mistake would give something else."""

    id: str
    rule: str
    example: Case
    falsification: Case
    if_fails: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Breach:
    """A case of a contract that came out otherwise."""

    contract: Contract
    case: Case
    found: str


def breaches(contracts: Sequence[Contract]) -> list[Breach]:
    """Every case of every contract that does not hold."""
    return [breach for contract in contracts for breach in _of(contract)]


def _of(contract: Contract) -> Iterator[Breach]:
    for case in (contract.example, contract.falsification):
        found = _otherwise(case)
        if found:
            yield Breach(contract=contract, case=case, found=found)


def _otherwise(case: Case) -> str:
    """What came instead of what is expected; empty where nothing else did."""
    refused = isinstance(case.expected, type)
    try:
        value = case.run()
    except EvalError as refusal:
        return "" if refused and isinstance(refusal, case.expected) else f"a refusal ({refusal.sentence})"
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what the contract did not promise
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
    """A problem that is nothing but its key."""
    return Problem(
        id=0, messages=(), references=references or ("",), choices=tuple(choices), gold=tuple(gold), extras=extras
    )


def weighed(*logprobs: float, tokens: int | None = None, greedy: bool | None = None) -> tuple[Likelihood, ...]:
    return tuple(Likelihood(logprob=logprob, tokens=tokens, greedy=greedy) for logprob in logprobs)
