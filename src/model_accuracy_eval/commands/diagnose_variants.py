"""`diagnose --variants`: which part of an adapter causes its wrong answers, by serving without one part at a time."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec

from model_accuracy_eval.adapter.adapter_files import is_secret
from model_accuracy_eval.commands.diagnose_service import asked, reason, serving
from model_accuracy_eval.diagnosis.discriminating import (
    Apart,
    Case,
    WrongAnswers,
    cases,
    judge,
    told_apart,
    wrong,
    wrong_answers,
)
from model_accuracy_eval.errors import AdapterFailed, BadData, Refused
from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import ScoredReply
from model_accuracy_eval.scoring.figures.quantiles import share_limits
from model_accuracy_eval.system.clock import SignalClock
from model_accuracy_eval.system.local_files import read_whole

FILE = "variants.yaml"
_ERROR = 0.05
"""How often any of all variants is judged falsely."""
_SURE = 0.95

Variants = Mapping[str, Mapping[str, str]]


def declared(adapter: str) -> Variants:
    """Name of a variant → the variables that deploy.sh gets for it."""
    file = str(Path(adapter) / FILE)
    if not Path(file).is_file():
        raise BadData(
            f"There is no {FILE} in {adapter}, which says how deploy.sh serves without one part at a time: "
            "a line such as 'eager: {EXTRA_ARGS: --enforce-eager}' for each."
        )
    try:
        read = msgspec.yaml.decode(read_whole(file), type=dict[str, dict[str, str | int | float]])
    except msgspec.DecodeError as error:
        raise BadData(f"{file} has to name variables and their texts for each variant: {error}.") from error
    variants = {name: {key: str(value) for key, value in each.items()} for name, each in read.items()}
    for name, variables in variants.items():
        for key, value in variables.items():
            if is_secret(key, value):
                raise BadData(f"{file}: deploy.sh never gets {key} ('{name}'), as it is named like a secret.")
    return variants


class DefaultLook(NamedTuple):
    """How the adapter answers as it is."""

    everything: tuple[Case, ...]
    apart: Apart


class VariantFinding(NamedTuple):
    """How a variant answers."""

    state: str
    sentence: str
    mended: float = 0.0
    """The share of the wrong answers that are right."""


def look_at_variants(
    adapter: str, given: Mapping[str, Any], clock: SignalClock, trusted: Mapping[str, ScoredReply] | None
) -> int:
    """Tells what each variant mends, and returns the exit code. `trusted`: what a reference answers."""
    variants = declared(adapter)
    width = max(map(len, ("default", *variants)))

    def tell(state: str, name: str, sentence: str) -> None:
        click.echo(f"{state}  {name.ljust(width)}  {sentence}")

    async def as_it_is(subject: Subject) -> DefaultLook:
        everything = await cases(subject, is_right=False, trusted=trusted)
        return DefaultLook(everything, await told_apart(subject, everything, None))

    with serving(given, clock) as service:
        default = asked(service, clock, as_it_is)
    seen = default.apart.seen
    if not seen.asked:
        raise AdapterFailed("The service answers none of the questions twice alike, so variants cannot be compared.")
    is_fault = seen.is_fault
    if is_fault:
        tell("FAIL", "default", f"{seen.shown}.")
    else:
        tell("PASS", "default", f"{seen.asked} answers are the same in all situations.")
    findings: dict[str, VariantFinding] = {}
    for name, variables in variants.items():
        try:
            with serving(given, clock, variables) as service:
                look = _Variant(default, is_fault, _ERROR / len(variants), trusted is not None)
                findings[name] = asked(service, clock, look.finding)
        except (AdapterFailed, Refused) as failed:
            findings[name] = VariantFinding("SKIP", f"It does not start: {reason(failed)}")
        tell(findings[name].state, name, findings[name].sentence)
    click.echo(f"\n{_conclusion(findings, variants, is_fault, len(seen.wrong))}")
    return int(is_fault or any(finding.state == "FAIL" for finding in findings.values()))


class _Variant(NamedTuple):
    default: DefaultLook
    is_fault: bool
    error: float
    has_reference: bool

    async def finding(self, subject: Subject) -> VariantFinding:
        apart = self.default.apart
        told = {(case.situation, case.known.text) for case in apart.cases}
        others = [
            case
            for case in self.default.everything
            if not self.is_fault or (case.situation == "alone" and (case.situation, case.known.text) not in told)
        ]
        unlike = wrong_answers(others, await wrong(subject, others))
        if unlike.is_fault and not self.has_reference:
            return VariantFinding("FAIL", f"Otherwise than the default{_alone(self.is_fault)}: {unlike.shown}.")
        if not self.is_fault:
            if unlike.is_fault:
                return VariantFinding("FAIL", f"{unlike.shown}.")
            return VariantFinding("PASS", f"{unlike.asked} answers are those of the default.")
        judged = await judge(subject, apart, self.error, whole=True)
        return _finding(judged.is_wrong, judged.answers, self.error, unlike)


def _alone(is_fault: bool) -> str:
    return " even alone, so it is not known which one is right" if is_fault else ""


def _finding(is_wrong: bool | None, answers: WrongAnswers, error: float, unlike: WrongAnswers) -> VariantFinding:
    count, mended = answers.asked, answers.asked - len(answers.wrong)
    worse = f" {unlike.shown} that the default has right." if unlike.is_fault else ""
    if is_wrong is None:
        return VariantFinding("SKIP", f"It answered only {count} questions.")
    if is_wrong:
        says = f"{count - mended} of {count} answers to these questions are wrong as before.{worse}"
        return VariantFinding("FAIL", says)
    least = share_limits(mended, count, _SURE)[0]
    says = f"{mended} of {count} answers to these questions are right (at least {100 * least:.0f} %)"
    return VariantFinding("PASS", f"{says}, with an error of {100 * error:.2g} % at most.{worse}", mended / count)


def _conclusion(findings: Mapping[str, VariantFinding], variants: Variants, is_fault: bool, count: int) -> str:
    if not is_fault:
        other = [name for name, finding in findings.items() if finding.state == "FAIL"]
        if not other:
            return "No variant answers otherwise, and the default agrees with itself."
        return (
            f"What {_both(other)} change{'s' * (len(other) == 1)} decides answers, and which are right is not known.\n"
            "Next: hold the default beside a trusted service (--record, --reference)."
        )
    causes = {name: each.mended for name, each in findings.items() if each.mended}
    if not causes:
        return "No variant mends them.\nNext: declare variants of the other parts, or look for the commit: --bisect."
    best = max(causes, key=lambda name: causes[name])
    words = " ".join(f"{key}={shlex.quote(value)}" for key, value in variants[best].items())
    together = "" if len(causes) == 1 else " Each of them mends it alone: the fault needs both."
    return (
        f"What {_both([*causes])} change{'s' * (len(causes) == 1)} causes {round(causes[best] * count)} of {count} "
        f"wrong answers.{together}\nNext: serve with {words} until it is mended."
    )


def _both(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
