"""Every method of obtaining log-likelihoods: whether a service supports it, why not, and what runs lose without it."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.ports import Chat
from model_accuracy_eval.records import DoctorFinding
from model_accuracy_eval.scoring.metrics import metric_table

_Method = Literal["echo", "prompt-logprobs", "top-logprobs", "constrained", "extracted"]
_METHODS: tuple[_Method, ...] = ("echo", "prompt-logprobs", "top-logprobs", "constrained", "extracted")
"""From the most exact one down, as runs try them."""
_FEW = 5


class _Trial(NamedTuple):
    method: _Method
    works: bool
    reason: str


async def loglikelihoods(chat: Chat) -> tuple[DoctorFinding, ...]:
    """What a run would use, then a finding for each method."""
    trials = [await _try_method(chat, method) for method in _METHODS]
    used = next((trial.method for trial in trials if trial.works), None)
    if used is None:
        return (DoctorFinding(name="likelihoods", state="WARN", sentence=trials[0].reason),)
    return (_summary(used), *(_finding(trial, used) for trial in trials))


async def _try_method(chat: Chat, method: _Method) -> _Trial:
    try:
        client = await chat.loglikelihood_client(method, {})
    except EvalError as error:
        _, _, reason = error.sentence.partition(f"; {method}: ")
        return _Trial(method, False, reason or error.sentence)
    return _Trial(method, True, client.findings[-1].removeprefix(f"{method}: "))


def _summary(used: _Method) -> DoctorFinding:
    lost = metric_table.unsupported_metrics(used)
    if not lost:
        return DoctorFinding(
            name="likelihoods", state="PASS", sentence=f"Runs use {used}: every metric of log-likelihoods is known."
        )
    sentence = f"Runs use {used}, which compares the letters of options; unknown are {', '.join(lost)}."
    return DoctorFinding(name="likelihoods", state="WARN", sentence=sentence)


def _finding(trial: _Trial, used: _Method) -> DoctorFinding:
    """A method that does not work is a warning only if a run would have taken it."""
    if trial.works:
        return DoctorFinding(name=trial.method, state="PASS", sentence=_as_sentence(trial.reason))
    without = set(metric_table.unsupported_metrics(used))
    lost = sorted(without.difference(metric_table.unsupported_metrics(trial.method)))
    more_exact = _METHODS.index(trial.method) < _METHODS.index(used)
    cost = f"Without it {used} is used"
    if not more_exact:
        cost = f"Nothing is lost: {used} is more exact"
    elif lost:
        cost += f", and {_counted(lost)} are unknown"
    else:
        cost += ", which gives the same metrics"
    sentence = f"{_as_sentence(trial.reason)} {cost}."
    return DoctorFinding(name=trial.method, state="WARN" if lost else "SKIP", sentence=sentence)


def _counted(names: Sequence[str]) -> str:
    """A few names; many are in the first line."""
    return ", ".join(names) if len(names) <= _FEW else f"{len(names)} metrics (see likelihoods)"


def _as_sentence(reason: str) -> str:
    """With a capital, unless it begins with the name of a field."""
    first = reason.split(maxsplit=1)[0] if reason else ""
    return (reason if "_" in first else reason[:1].upper() + reason[1:]).rstrip(".") + "."
