"""`diagnose`: where and why a service answers otherwise than it should, seen from outside and without right answers."""

import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any

import click
import msgspec

from model_accuracy_eval.client.service_client import ServiceClient
from model_accuracy_eval.client.subject import ServiceSubject
from model_accuracy_eval.client.transport import proxy_for
from model_accuracy_eval.commands.options import given_settings, setting_options, write
from model_accuracy_eval.diagnosis import probes
from model_accuracy_eval.diagnosis import reference as traces
from model_accuracy_eval.diagnosis.probe import ProbeResult
from model_accuracy_eval.errors import AdapterFailed, UsageError
from model_accuracy_eval.records import ClientLimits, Service
from model_accuracy_eval.run import deploy, plan_parts
from model_accuracy_eval.run.build import ApiKeys, local_ports
from model_accuracy_eval.run_folder.run_folder import RunFolder
from model_accuracy_eval.system.clock import SignalClock, run
from model_accuracy_eval.system.local_files import read_whole

_FAULT = 1
_WIDTH = max(map(len, probes.NAMES))
_DEPLOYED = {"model", "model_name", "port", "runtime", "adapter_image", "devices", "ready_timeout"}
_LIMITS = ClientLimits(retries=1, gone_after=5.0, concurrency=64)


@click.command()
@click.argument("adapter", required=False)
@click.option("--endpoint", metavar="URL", help="Look at the service that runs at this URL; nothing is deployed.")
@click.option("--minutes", metavar="X", type=click.FloatRange(min=0, min_open=True), default=10.0, show_default=True,
              help="Begin no further probe after that time.")  # fmt: skip
@click.option("--record", metavar="FILE", help="Write what this service answers into a file, as a reference.")
@click.option("--reference", metavar="FILE", help="Hold the service beside what a trusted one answered (--record).")
@setting_options(_DEPLOYED)
def diagnose(
    adapter: str | None,
    *,
    endpoint: str | None,
    minutes: float,
    record: str | None,
    reference: str | None,
    **values: Any,
) -> None:
    """Look for faults of an inference implementation that no benchmark shows: answers that depend on neighbours, cache,
    length or form, and tokens that are not drawn as asked. No right answers are needed; 1 when a fault is found."""
    if bool(adapter) == bool(endpoint):
        raise UsageError("diagnose needs an adapter's folder, or the address of a service: --endpoint URL.")
    trace = traces.read(read_whole(reference), reference) if reference else None
    clock = SignalClock()
    with clock.listening(), _service(adapter, endpoint, given_settings(values), clock) as service:
        if record:
            found = run(_recorded(service))
            write(record, msgspec.json.encode(found))
            click.echo(f"{len(found.answers)} answers of {found.model} are in {record}.")
            return
        began = clock.elapsed()
        findings = run(_probed(service, lambda: 60 * minutes - (clock.elapsed() - began), clock, trace))
    faults = [name for name, finding in findings if finding.state == "FAIL"]
    skipped = sum(finding.state == "SKIP" for _, finding in findings)
    looked = f"{len(findings) - skipped} of {len(findings)} probes could look, in {clock.elapsed() - began:.0f} s"
    click.echo(f"\n{'Faults: ' + ', '.join(faults) if faults else 'No fault was found'}; {looked}.")
    sys.exit(_FAULT if faults else 0)


@contextmanager
def _service(
    adapter: str | None, endpoint: str | None, given: Mapping[str, Any], clock: SignalClock
) -> Iterator[Service]:
    """The one at the address, or the one that deploy.sh starts here for as long."""
    # A plan has datasets; nothing of this one is asked.
    place = {"adapter": adapter} if adapter else {"endpoint": (endpoint,)}
    say = partial(click.echo, err=True)
    plan = plan_parts.plan({**given, **place, "datasets": "demo_arithmetic"}, os.environ, check=clock.check, say=say)
    ports = local_ports(plan, os.environ, clock, sys.stderr)
    with tempfile.TemporaryDirectory(prefix="diagnose-") as folder:
        weights = ""
        if adapter:
            if objection := ports.launcher.objection(adapter):
                raise objection
            ports.weights_source.measure(plan.settings.model or "", plan.settings.max_weight_size)
            weights = ports.weights_source.fetch(plan.settings.model or "")
        try:
            with deploy.service(plan, weights, RunFolder(folder), ports) as live:
                yield live.service
        except AdapterFailed as failed:
            failed.next_step = ""  # it names `run`, and the datasets of this plan
            raise


@asynccontextmanager
async def _subject(service: Service) -> AsyncIterator[ServiceSubject]:
    key, proxy = ApiKeys(os.environ, "model").of("model"), proxy_for(service.base_url, os.environ)
    client = ServiceClient(service, _LIMITS, api_key=key.reveal(), key_name=key.name, proxy=proxy)
    subject = ServiceSubject(client)
    try:
        yield subject
    finally:
        await subject.close()


async def _recorded(service: Service) -> traces.Trace:
    async with _subject(service) as subject:
        return await traces.record(subject, service.model or "an unnamed model")


async def _probed(
    service: Service, left: Callable[[], float], clock: SignalClock, trace: traces.Trace | None
) -> list[tuple[str, ProbeResult]]:
    findings = []
    async with _subject(service) as subject:
        async for name, finding in probes.diagnose(subject, left, trace):
            clock.check()
            findings.append((name, finding))
            click.echo(f"{finding.state}  {name.ljust(_WIDTH)}  {finding.sentence}")
            if finding.next_step:
                click.echo(f"{' ' * (_WIDTH + 8)}Next: {finding.next_step}.")
    if findings[0][1].state == "SKIP":
        raise AdapterFailed(findings[0][1].sentence)
    return findings
