"""`diagnose`: where and why a service answers otherwise than it should, seen from outside and without right answers."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Any

import click
import msgspec

from model_accuracy_eval.commands.diagnose_bisect import bisect
from model_accuracy_eval.commands.diagnose_service import asked, serving
from model_accuracy_eval.commands.diagnose_variants import look_at_variants
from model_accuracy_eval.commands.options import given_settings, setting_options, write
from model_accuracy_eval.diagnosis import probes, service_metrics
from model_accuracy_eval.diagnosis import reference as traces
from model_accuracy_eval.diagnosis.probe import ProbeResult
from model_accuracy_eval.diagnosis.service_metrics import Metered
from model_accuracy_eval.errors import AdapterFailed, UsageError
from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import Gate
from model_accuracy_eval.system.clock import SignalClock
from model_accuracy_eval.system.local_files import read_whole

_FAULT, _UNDECIDED = 1, 7
_EVERY = 0.25
"""Seconds between two looks at what the service counts."""
_WIDTH = max(map(len, probes.NAMES))
_DEPLOYED = {"model", "model_name", "port", "runtime", "adapter_image", "devices", "ready_timeout"}


@click.command()
@click.argument("adapter", required=False)
@click.option("--endpoint", metavar="URL", help="Look at the service that runs at this URL; nothing is deployed.")
@click.option("--minutes", metavar="X", type=click.FloatRange(min=0, min_open=True), default=10.0, show_default=True,
              help="Begin no further probe after that time.")  # fmt: skip
@click.option("--only", metavar="PROBE", type=click.Choice([probe.name for probe in probes.PROBES]), multiple=True,
              help="Let this probe look, and none that is not named so (may be given several times).")  # fmt: skip
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
    endpoint: str | None,
    minutes: float,
    only: tuple[str, ...],
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
    given = {**given_settings(values), **({"adapter": adapter} if adapter else {"endpoint": (endpoint,)})}
    clock = SignalClock()
    with clock.listening():
        if adapter and searched:
            sys.exit(bisect(adapter, searched, state, given, clock))
        if adapter and variants:
            sys.exit(look_at_variants(adapter, given, clock, trace.answers if trace else None))
        with serving(given, clock) as service:
            if record:
                found = asked(
                    service, clock, lambda subject: traces.calibrated(subject, service.model or "an unnamed model")
                )
                write(record, msgspec.json.encode(found))
                click.echo(f"{len(found.answers)} answers of {found.model} are in {record}. {traces.advised(found)}")
                return
            began = clock.elapsed()

            def left() -> float:
                return 60 * minutes - (clock.elapsed() - began)

            findings = asked(service, clock, lambda subject: _probed(subject, left, trace, only or probes.NAMES, gates))
    faults = [name for name, finding in findings if finding.state == "FAIL"]
    skipped = sum(finding.state == "SKIP" for _, finding in findings)
    looked = f"{len(findings) - skipped} of {len(findings)} probes could look, in {clock.elapsed() - began:.0f} s"
    click.echo(f"\n{'Faults: ' + ', '.join(faults) if faults else 'No fault was found'}; {looked}.")
    undecided = bool(gates) and (probes.REFERENCE, "SKIP") in [(name, finding.state) for name, finding in findings]
    sys.exit(_FAULT if faults else _UNDECIDED if undecided else 0)


async def _probed(
    subject: Subject,
    left: Callable[[], float],
    trace: traces.Trace | None,
    only: Collection[str],
    gates: Sequence[Gate],
) -> list[tuple[str, ProbeResult]]:
    findings = []
    async with _metering(subject) as meter:
        async for name, finding in probes.diagnose(subject, left, trace, only, gates):
            findings.append((name, finding))
            click.echo(f"{finding.state}  {name.ljust(_WIDTH)}  {finding.sentence}")
            if counted := await meter.counted():
                click.echo(f"{' ' * (_WIDTH + 8)}It counted: {counted}.")
            if finding.next_step:
                click.echo(f"{' ' * (_WIDTH + 8)}Next: {finding.next_step}.")
    if findings[0][1].state == "SKIP":
        raise AdapterFailed(findings[0][1].sentence)
    return findings


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
