"""`tasks check`: what a run finds out about its datasets before it asks anything, without a model."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from model_accuracy_eval.records import ClientLimits, PreparedDataset, RunPlan
from model_accuracy_eval.run import build, inputs, plan_parts, preflight
from model_accuracy_eval.run.resolve import sampling
from model_accuracy_eval.run.shared_sandbox import check_sandbox, one_sandbox
from model_accuracy_eval.scoring.code.code_task_trials import has_trials, runs_programs
from model_accuracy_eval.system.clock import SignalClock


def check(names: tuple[str, ...], values: Mapping[str, Any], environment: Mapping[str, str]) -> Iterator[str]:
    """One line for each dataset that can be judged here; what is wrong is raised, as a run would raise it."""
    settings = inputs.merge(inputs.read({**values, "datasets": names}, "the arguments"))
    library = plan_parts.library_of(settings, environment)
    tasks = tuple(task for name in names for task in library.find(name).tasks)
    plan = RunPlan(
        run_id="",
        stamp="",
        settings=settings,
        tasks=tasks,
        k=tuple(sorted(set(settings.k))),
        sampling=sampling(settings),
        client_limits=msgspec.convert(settings, ClientLimits, from_attributes=True),
    )
    with (clock := SignalClock()).listening():
        ports = build.local_ports(plan, environment, clock)
        with one_sandbox(ports) as ports_with_sandbox:
            for task in tasks:
                prepared = preflight.prepared(task, plan, ports_with_sandbox)
                check_sandbox(plan, (prepared,), ports_with_sandbox)
                yield f"{task.name}: {_found(prepared)}"


def _found(prepared: PreparedDataset) -> str:
    count = f"{len(prepared.problems):,} {'problem' if len(prepared.problems) == 1 else 'problems'}"
    if has_trials(prepared):
        return f"{count}; what must pass passes, and what must fail fails."
    if runs_programs(prepared):
        return f"{count}; the first one's solution passes here, and nothing that the others name is missing."
    return f"{count}, and every prompt could be made; its answers are no programs."
