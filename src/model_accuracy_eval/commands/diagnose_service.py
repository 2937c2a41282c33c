"""The services that `diagnose` looks at: one at an address, or one that deploy.sh starts for as long as it is asked."""

import os
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import click

from model_accuracy_eval.diagnosis import probes
from model_accuracy_eval.errors import AdapterFailed, EvalError
from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import Service
from model_accuracy_eval.run import deploy, plan_parts
from model_accuracy_eval.run.build import ApiKeys, local_ports, open_subject
from model_accuracy_eval.run_folder.run_folder import RunFolder
from model_accuracy_eval.system.clock import SignalClock, run, run_checked

T = TypeVar("T")


@contextmanager
def serving(given: Mapping[str, Any], clock: SignalClock, more: Mapping[str, str] | None = None) -> Iterator[Service]:
    """What the settings name, an adapter or an endpoint. `more`: variables that deploy.sh gets besides."""
    environment = {**os.environ, **(more or {})}
    # A plan has datasets; nothing of this one is asked.
    plan = plan_parts.plan(
        {**given, "datasets": "demo_arithmetic"}, environment, check=clock.check, say=partial(click.echo, err=True)
    )
    ports = local_ports(plan, environment, clock, sys.stderr)
    with tempfile.TemporaryDirectory(prefix="diagnose-") as folder:
        weights = ""
        if plan.settings.adapter:
            if objection := ports.launcher.objection(plan.settings.adapter):
                raise objection
            ports.weights_source.measure(plan.settings.model or "", plan.settings.max_weight_size)
            weights = ports.weights_source.fetch(plan.settings.model or "")
        try:
            with deploy.service(plan, weights, RunFolder(folder), ports) as live:
                yield live.service
        except AdapterFailed as failed:
            failed.next_step = ""  # it names `run`, and the datasets of this plan
            raise


def asked(service: Service, clock: SignalClock, look: Callable[[Subject], Coroutine[Any, Any, T]]) -> T:
    """What is seen of it; a stop ends the looking."""

    async def looked() -> T:
        subject = open_subject(os.environ, service, probes.LIMITS, keys=ApiKeys(os.environ, "model"))
        try:
            return await look(subject)
        finally:
            await subject.close()

    return run(run_checked(looked(), clock.check, clock))


def reason(failed: EvalError) -> str:
    """Why it did not start, with the last that it printed."""
    last = failed.detail.strip().rpartition("\n")[2].strip()
    return f"{failed.sentence.rstrip('.')}{f': {last}' if last else '.'}"
