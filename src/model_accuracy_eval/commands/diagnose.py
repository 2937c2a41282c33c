"""`diagnose`: where and why a service answers otherwise than it should, seen from outside and without right answers."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, NamedTuple

import click
import msgspec

from model_accuracy_eval.client import service_metrics
from model_accuracy_eval.client.service_metrics import Metered
from model_accuracy_eval.commands.diagnose_bisect import bisect
from model_accuracy_eval.commands.diagnose_service import asked, serving
from model_accuracy_eval.commands.diagnose_variants import look_at_variants
from model_accuracy_eval.commands.options import given_settings, setting_options, write
from model_accuracy_eval.diagnosis import probes
from model_accuracy_eval.diagnosis import reference as traces
from model_accuracy_eval.diagnosis.probe import ProbeResult
from model_accuracy_eval.errors import AdapterFailed, BadData, UsageError
from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import Gate
from model_accuracy_eval.system.clock import SignalClock
from model_accuracy_eval.system.local_files import read_whole

_FAULT, _UNDECIDED = 1, 7
_EVERY = 0.25
"""Seconds between two looks at what the service counts."""
_WIDTH = max(map(len, probes.NAMES))
_REPLICAS = "replicas"
_UNKNOWN = ProbeResult("SKIP", "Not all show log-probabilities, so whether they differ is not known.")
_DEPLOYED = {"model", "model_name", "port", "runtime", "adapter_image", "devices", "ready_timeout"}


@click.command()
@click.argument("adapter", required=False)
@click.option("--endpoint", metavar="URL", multiple=True, help="Look at the service that runs at this URL; nothing is "
              "deployed. Given several times: at each of these replicas, and whether they answer alike.")  # fmt: skip
@click.option("--minutes", metavar="X", type=click.FloatRange(min=0, min_open=True), default=10.0, show_default=True,
              help="Begin no further probe after that time.")  # fmt: skip
@click.option("--only", metavar="PROBE", type=click.Choice([probe.name for probe in probes.PROBES]), multiple=True,
              help="Let this probe look, and none that is not named so (may be given several times).")  # fmt: skip
@click.option("--strict", is_flag=True, help="Let every greedy answer that changes be a fault, also one that rounding "
              "explains: for services that promise batch invariance.")  # fmt: skip
@click.option("--record", metavar="FILE", help="Write what this service answers into a file, as a reference.")
@click.option("--reference", metavar="FILE", help="Hold the service beside what a trusted one answered (--record).")
@click.option(
    "--gate",
    "gate",
    metavar="CONDITION",
    multiple=True,
    help="Most that it may differ from the reference: 'kl.p99 <= 0.05'; also kl.mean, kl.max, top1 (in %).",
)
@click.option(
    "--variants",
    is_flag=True,
    help="Deploy each variant of the adapter's variants.yaml, and tell which mends wrong answers.",
)
@click.option(
    "--bisect",
    "searched",
    metavar="GOOD..BAD",
    help="Find the first bad commit of the adapter's repository, or image of a list with commas.",
)
@click.option("--state", metavar="FILE", default="bisect.json", show_default=True,
              help="Keep the search of --bisect there, and continue it.")  # fmt: skip
@setting_options(_DEPLOYED)
def diagnose(
    adapter: str | None,
    *,
    endpoint: tuple[str, ...],
    minutes: float,
    only: tuple[str, ...],
    strict: bool,
    record: str | None,
    reference: str | None,
    gate: tuple[str, ...],
    variants: bool,
    searched: str | None,
    state: str,
    **values: Any,
) -> None:
    """Look for faults of an inference implementation that no benchmark shows: answers that depend on neighbours, cache,
    length or form, and tokens that are not drawn as asked. No right answers are needed; 1 when a fault is found."""
    if bool(adapter) == bool(endpoint):
        raise UsageError("diagnose needs an adapter's folder, or the address of a service: --endpoint URL.")
    if (variants or searched) and not adapter:
        raise UsageError("--variants and --bisect deploy an adapter: name its folder in place of --endpoint.")
    if gate and not reference:
        raise UsageError("--gate says how far the service may be from a reference: --reference FILE names one.")
    gates = traces.gates_of(gate)
    trace = traces.read(read_whole(reference), reference) if reference else None
    if record and len(endpoint) > 1:
        raise UsageError("--record writes what one service answers: name one --endpoint.")
    options = given_settings(values)
    given = {**options, "adapter": adapter}
    clock = SignalClock()
    with clock.listening():
        if adapter and searched:
            sys.exit(bisect(adapter, searched, state, given, clock))
        if adapter and variants:
            sys.exit(look_at_variants(adapter, given, clock, trace.answers if trace else None))
        targets: list[Mapping[str, Any]] = [{**options, "endpoint": (url,)} for url in dict.fromkeys(endpoint)] or [
            given
        ]
        if record:
            with serving(targets[0], clock) as service:
                found = asked(
                    service, clock, lambda subject: traces.calibrated(subject, service.model or "an unnamed model")
                )
            write(record, msgspec.json.encode(found))
            click.echo(f"{len(found.answers)} answers of {found.model} are in {record}. {traces.advised(found)}")
            return
        began = clock.elapsed()
        looks = [
            _Look(clock, began + 60 * minutes * number / len(targets), trace, only or probes.NAMES, gates, strict)
            for number in range(1, len(targets) + 1)
        ]
        if len(targets) > 1:
            findings = _at_replicas(looks, targets)
        else:
            with serving(targets[0], clock) as service:
                findings = asked(service, clock, looks[0].probed)
    faults = [name for name, finding in findings if finding.state == "FAIL"]
    skipped = sum(finding.state == "SKIP" for _, finding in findings)
    looked = f"{len(findings) - skipped} of {len(findings)} probes could look, in {clock.elapsed() - began:.0f} s"
    click.echo(f"\n{'Faults: ' + ', '.join(faults) if faults else 'No fault was found'}; {looked}.")
    undecided = bool(gates) and any(
        look.state == "SKIP" for name, look in findings if name.startswith(probes.REFERENCE)
    )
    sys.exit(_FAULT if faults else _UNDECIDED if undecided else 0)


def _tell(name: str, finding: ProbeResult, counted: str = "") -> None:
    click.echo(f"{finding.state}  {name.ljust(_WIDTH)}  {finding.sentence}")
    if counted:
        click.echo(f"{' ' * (_WIDTH + 8)}It counted: {counted}.")
    if finding.next_step:
        click.echo(f"{' ' * (_WIDTH + 8)}Next: {finding.next_step}.")


class _Look(NamedTuple):
    """How a service is looked at."""

    clock: SignalClock
    until: float
    trace: traces.Trace | None
    only: Collection[str]
    gates: Sequence[Gate]
    strict: bool

    async def probed(self, subject: Subject) -> "ProbeFindings":
        findings = []
        async with _metering(subject) as meter:
            async for name, finding in probes.diagnose(
                subject, self._left, self.trace, self.only, self.gates, strict=self.strict
            ):
                findings.append((name, finding))
                _tell(name, finding, await meter.counted())
        if findings[0][1].state == "SKIP":
            raise AdapterFailed(findings[0][1].sentence)
        return findings

    def _left(self) -> float:
        return self.until - self.clock.elapsed()


ProbeFindings = list[tuple[str, ProbeResult]]


def _at_replicas(looks: Sequence[_Look], targets: Sequence[Mapping[str, Any]]) -> ProbeFindings:
    """What is found in each, and in all of them beside each other."""
    findings: ProbeFindings = []
    answers: dict[str, traces.Trace] = {}
    for look, target in zip(looks, targets, strict=True):
        name = target["endpoint"][0].partition("://")[2]
        click.echo(f"{name}:")
        with serving(target, look.clock) as service:
            found = asked(service, look.clock, look.probed)
            findings += [(f"{probe} of {name}", finding) for probe, finding in found]
            with contextlib.suppress(BadData):
                answers[name] = asked(service, look.clock, partial(traces.record, model=name))
    click.echo("All of them:")
    alike = traces.alike(answers) if len(answers) == len(targets) else _UNKNOWN
    _tell(_REPLICAS, alike)
    return [*findings, (_REPLICAS, alike)]


class _Meter:
    """What the service counts, read now and then, since the last finding."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._metered = Metered({}, {})

    async def counted(self) -> str:
        """Empty where it tells nothing."""
        if self._metered.after:
            await self.read()
        shown, self._metered = self._metered.shown, Metered(self._metered.after, self._metered.after)
        return shown

    async def read(self) -> None:
        self._metered = self._metered.since_then(service_metrics.read(await self._subject.metrics()))

    async def go_on(self) -> None:
        """A service that told nothing is not asked again and again."""
        while self._metered.after:
            await asyncio.sleep(_EVERY)
            await self.read()


@asynccontextmanager
async def _metering(subject: Subject) -> AsyncIterator[_Meter]:
    meter = _Meter(subject)
    await meter.read()
    await meter.counted()  # since it was started, which is none of ours
    going = asyncio.ensure_future(meter.go_on())
    try:
        yield meter
    finally:
        going.cancel()
