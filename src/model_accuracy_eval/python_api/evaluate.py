"""Evaluates a service or an adapter."""

import contextlib
import os
import sys
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import msgspec

from model_accuracy_eval.ports import Sink
from model_accuracy_eval.python_api.progress import OnProgress, display_of
from model_accuracy_eval.records import Report, Settings
from model_accuracy_eval.run import engines, pipeline, plan_parts
from model_accuracy_eval.sinks import FILES
from model_accuracy_eval.system.clock import SignalClock


def evaluate(
    settings: Settings | Mapping[str, Any] | None = None,
    /,
    *,
    progress: OnProgress = None,
    environ: Mapping[str, str] | None = None,
    handle_signals: bool = False,
    sinks: Iterable[Sink] = (),
    **values: Any,
) -> Report:
    """Runs one evaluation as `model-accuracy-eval run` does, writes its run folder and returns its report.

    Settings are those of docs/reference/settings.md, given as a `Settings` record, as a mapping, or by keyword, which
    wins; `config` names a YAML file that lies under all of them. In a `Settings` record, fields left at their default
    count as not given.

    `progress`: called with a `ProgressEvent` for every change; "terminal" shows what the command shows; None is silent.
    `environ`: the environment variables to use instead of this process's (API keys, hub tokens, proxies).
    `handle_signals`: SIGINT, SIGTERM and SIGHUP end the run with a partial report, as in the command; main thread only.
    `sinks`: places of your own to publish the report to, after the files of the run folder.
    """
    environ = os.environ if environ is None else environ
    clock = SignalClock()
    with clock.listening() if handle_signals else contextlib.nullcontext():
        say = partial(print, file=sys.stderr) if progress == "terminal" else _ignore
        with clock.interruptible():
            plan = plan_parts.plan({**_given(settings), **values}, environ, check=clock.check, say=say)
        output = sys.stdout if plan.settings.debug else sys.stderr
        ports = engines.ports(plan, environ, clock, output, wrap_display=display_of(progress))
        try:
            return pipeline.run(plan, ports, [*FILES, *sinks])
        finally:
            ports.progress.close()


def _given(settings: Settings | Mapping[str, Any] | None) -> Mapping[str, Any]:
    if not isinstance(settings, Settings):
        return settings or {}
    defaults = msgspec.structs.asdict(Settings())
    return {name: value for name, value in msgspec.structs.asdict(settings).items() if value != defaults[name]}


def _ignore(*_: object) -> None:
    pass
