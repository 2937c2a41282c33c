"""Settings + the table of tasks → RunPlan: every name resolved, every contradiction found before anything starts."""

import re
from collections.abc import Callable, Collection, Mapping
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from model_accuracy_eval.benchmarks import dataset_table
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.ports import API_KEYS
from model_accuracy_eval.records import ClientLimits, Gate, RunPlan, Sampling, Settings, Shard, TaskSpec
from model_accuracy_eval.records.plan import SPEED
from model_accuracy_eval.scoring.figures import groups
from model_accuracy_eval.scoring.figures.scorecard import figure_units
from model_accuracy_eval.scoring.metrics.metric_table import needs_judge, user_function_paths
from model_accuracy_eval.scoring.verdicts import gate_lines
from model_accuracy_eval.scoring.verdicts.gate_lines import Units
from model_accuracy_eval.tasks.importers import own_questions
from model_accuracy_eval.tasks.library import Library, NamedTasks

# The gates of a plan: lines as users write them, matched with the figures that a run will have, or has.


def parsed(settings: Settings) -> tuple[Gate, ...]:
    """The gates as they are written."""
    return tuple(gate for line in settings.gate for gate in gate_lines.parse(line))


def resolved_gates(settings: Settings, datasets: Units, groups: Mapping[str, Collection[str]]) -> tuple[Gate, ...]:
    """The gates, each for a figure of these datasets and groups; of groups the names are given, and datasets have their
    units."""
    unit_of = {name: unit for figures in datasets.values() for name, unit in figures.items()}
    of_groups = {group: {name: unit_of[name] for name in figures} for group, figures in groups.items()}
    own = {*datasets, *groups, SPEED}
    named = (replace(gate, dataset=dataset_table.NAMES.meant(gate.dataset, own)) for gate in parsed(settings))
    gates = gate_lines.resolve(named, datasets, of_groups)
    if settings.first and gates and settings.gate_on != "point":
        raise BadValue(
            f"The first {settings.first:,} problems are no sample, so they decide no gate: take --limit "
            f"{settings.first}, which draws as many, or --gate-on point for the figure of these alone."
        )
    if not settings.baseline and (relative := [gate for gate in gates if gate.from_baseline]):
        raise BadValue(f"The gate '{relative[0]}' speaks of a baseline: name that run with --baseline.")
    return gates


def understood(plan: RunPlan) -> str:
    """Which names of datasets and in gates were read as other spellings of the plan's own."""
    names = [*plan.settings.datasets, *(gate.dataset for gate in parsed(plan.settings))]
    return NamedTasks(plan.tasks, plan.groups).understood(names)


def gated(plan: RunPlan, settings: Settings, datasets: Units, groups: Mapping[str, Collection[str]]) -> RunPlan:
    """The plan of a run that has ended, with the gates of these settings."""
    gates = resolved_gates(settings, datasets, groups)
    if not gates:
        raise BadValue("There is no gate to decide: give one with --gate, such as 'gsm8k: avg@5 >= 60'.")
    return replace(plan, settings=settings, gates=gates)


_RESOURCE = re.compile(r"\s*(nodes\s*=\s*[1-9]\d*|(?!nodes\s*=)[A-Za-z][\w.:-]*\s*=\s*(?=[\d.]*[1-9])\d*\.?\d+)\s*")
_WHOLE_NPUS = re.compile(r"\s*NPU\s*=\s*[1-9]\d*\s*")


def resolve(settings: Settings, *, run_id: str, stamp: str, library: Library) -> RunPlan:
    """The plan of a run. `library` finds what the datasets' names stand for."""
    _check(settings)
    settings = replace(
        settings,
        endpoint=tuple(url.rstrip("/") for url in settings.endpoint),
        judge_endpoint=settings.judge_endpoint and settings.judge_endpoint.rstrip("/"),
        limit=settings.limit or None,
    )
    named = library.find_all(settings.datasets)
    tasks = tuple(with_strategy(task, settings.prompt_strategy) for task in named.tasks)
    tasks = own_questions.matched(tasks, settings.match)
    for task in tasks:  # before their metrics are looked up, because that runs a task's own Python
        check_judging(settings, task)
    return RunPlan(
        run_id=run_id,
        stamp=stamp,
        settings=settings,
        tasks=tasks,
        groups=named.groups,
        shard=_shard(settings.shard),
        sampling=sampling(settings),
        k=_k(settings),
        gates=_gates(settings, tasks, named),
        client_limits=msgspec.convert(settings, ClientLimits, from_attributes=True),
    )


def sampling(settings: Settings) -> Sampling:
    """The settings of the sampler. All but two have the same name in both records."""
    same = msgspec.convert(settings, Sampling, from_attributes=True)
    return replace(same, n=settings.num_return_sequences, extra=settings.generation)


def with_strategy(task: TaskSpec, strategy: str) -> TaskSpec:
    """The task with its question in another wording; `standard` is the one that it has."""
    if strategy == "standard":
        return task
    offered = task.prompt.strategies
    if strategy not in offered:
        has = f"it has {', '.join(offered)}" if offered else "it has the standard one alone"
        raise BadValue(f"The dataset '{task.name}' has no prompt strategy '{strategy}'; {has}.")
    return replace(task, prompt=replace(task.prompt, question=offered[strategy]))


def _k(settings: Settings) -> tuple[int, ...]:
    asked = settings.k or (settings.num_return_sequences,)
    named = gate_lines.sizes(gate.metric for gate in parsed(settings))
    k = tuple(sorted({*asked, *(size for size in named if size <= settings.num_return_sequences)}))
    if k[-1] > settings.num_return_sequences:
        raise BadValue(
            f"k = {k[-1]} needs at least {k[-1]} samples of every problem, "
            f"but num-return-sequences is {settings.num_return_sequences}: ask for {k[-1]}, or give a smaller --k."
        )
    return k


def _shard(text: str | None) -> Shard | None:
    """`r/W` as its two numbers."""
    if text is None:
        return None
    index, _, count = text.partition("/")
    if not (index.isdecimal() and count.isdecimal() and int(index) < int(count)):
        raise BadValue(f"The shard must be r/W with r from 0 up to below W, such as 0/4, but is '{text}'.")
    return Shard(index=int(index), count=int(count))


def _gates(settings: Settings, tasks: tuple[TaskSpec, ...], named: NamedTasks) -> tuple[Gate, ...]:
    """The gates, each for a metric that the run reports. A shard decides none: `merge` does."""
    units = {task.name: figure_units(task, sampling(settings).of(task).n, _k(settings)) for task in tasks}
    names = groups.metrics(named.groups, {name: list(figures) for name, figures in units.items()})
    resolved = resolved_gates(settings, units, names)
    return () if settings.shard else resolved


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:  # the port is not a number
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and port != 0


_Contradictions = tuple[tuple[Callable[[Settings], object], str], ...]

_ALWAYS: _Contradictions = (
    (lambda settings: not settings.datasets, "No dataset was chosen: give --datasets, such as --datasets demo_gsm8k."),
    (
        lambda settings: settings.limit and settings.first,
        "--limit {limit} draws problems and --first {first} takes the first ones: give one of them.",
    ),
    (
        lambda settings: settings.mode == "eval" and not settings.reuse,
        "--mode eval judges the replies of an earlier run: name that run with --reuse.",
    ),
    (
        lambda settings: any(
            "@" in url.partition("://")[2].partition("/")[0]
            for url in (*settings.endpoint, settings.judge_endpoint or "")
        ),
        f"An endpoint must hold no password, as reports show it: keys are read from {' and '.join(API_KEYS.values())}.",
    ),
    (
        lambda settings: settings.judge_endpoint and not _is_url(settings.judge_endpoint),
        "The judge's endpoint must be an http:// or https:// URL, but is '{judge_endpoint}'.",
    ),
    (
        lambda settings: settings.require_gate and not parsed(settings),
        "A gate is required (require-gate), and none is given: write one, such as 'gsm8k: avg@5 >= 60'.",
    ),
)
_WHEN_ASKING: _Contradictions = (
    (
        lambda settings: settings.stop_when_decided and not parsed(settings),
        "--stop-when-decided asks until gates are decided, and none is given: add --gate 'gsm8k: avg@5 >= 60'.",
    ),
    (
        lambda settings: settings.stop_when_decided and settings.shard,
        "A shard decides no gate, so --stop-when-decided and --shard {shard} exclude each other.",
    ),
    (
        lambda settings: settings.stop_when_decided and settings.mode == "infer",
        "--stop-when-decided judges replies as they come, and --mode infer judges none: leave out one of them.",
    ),
    (
        lambda settings: settings.endpoint and settings.adapter,
        "Give an adapter folder or --endpoint, not both: one is deployed, the other already runs.",
    ),
    (
        lambda settings: not settings.endpoint and not settings.adapter,
        "Nothing to evaluate: give an adapter folder, or --endpoint URL of a service that runs.",
    ),
    (
        lambda settings: settings.adapter and not settings.model,
        "deploy.sh needs weights: give their path with --model.",
    ),
    (
        lambda settings: settings.adapter and settings.runtime == "container" and not settings.adapter_image,
        "deploy.sh runs in a container, and its image is not known: give adapter-image, or take the runtime 'process'.",
    ),
    (
        lambda settings: not all(map(_is_url, settings.endpoint)),
        "The endpoint must be an http:// or https:// URL, but is '{endpoint}'.",
    ),
    (
        lambda settings: settings.endpoint and settings.replicas > 1,
        "--replicas starts deploy.sh several times; of services that run already, name each with --endpoint.",
    ),
    (
        lambda settings: settings.engine == "ray" and settings.runtime == "container",
        "On a Ray cluster deploy.sh runs as a process of its node (of its pod, on KubeRay): take --runtime process.",
    ),
    (
        lambda settings: not all(map(_RESOURCE.fullmatch, settings.resources)),
        "Resources are written as NAME=NUMBER, such as NPU=2,CPU=8, but one of these is not: {resources}.",
    ),
    (
        lambda settings: settings.nodes_per_replica > 1 and (settings.engine != "ray" or not settings.node_amounts),
        "A replica spans nodes of a Ray cluster ({resources}): give --engine ray, and what it takes of each.",
    ),
    (
        lambda settings: settings.engine == "local" and not all(map(_WHOLE_NPUS.fullmatch, settings.resources)),
        "On this machine a replica takes whole NPUs, such as NPU=2: for {resources} add --engine ray.",
    ),
    (
        lambda settings: settings.port + settings.replicas > 65536,
        "{replicas} replicas from port {port} on need ports above 65535: give a smaller --port.",
    ),
    (
        lambda settings: (
            settings.replicas > 1
            and settings.devices[:1].isdigit()
            and len(settings.devices.split(",")) < settings.replicas * (settings.npus_per_replica or 0)
        ),
        "{replicas} replicas with {resources} each need more than the devices {devices}.",
    ),
    (
        lambda settings: len({url.rstrip("/") for url in settings.endpoint}) < len(settings.endpoint),
        "An endpoint is named twice: {endpoint}. Each replica is to be named once.",
    ),
)
"""What cannot be meant together, and the sentence that says so."""


def _check(settings: Settings) -> None:
    for contradicts, sentence in _ALWAYS if settings.mode == "eval" else _ALWAYS + _WHEN_ASKING:
        if contradicts(settings):
            values = msgspec.structs.asdict(settings)
            lists = {name: ", ".join(values[name]) for name in ("endpoint", "resources")}
            raise BadValue(sentence.format_map({**values, **lists}))


def check_judging(settings: Settings, task: TaskSpec) -> None:
    """Refuses a task that is judged by Python of its own or by a model, unless the settings allow or name it."""
    functions = user_function_paths(task)
    if functions and not settings.trust_python:
        raise BadValue(f"{task.name} is judged by Python of its own ({functions[0]}): allow it with --trust-python.")
    judged = needs_judge(task) and settings.mode != "infer"
    if judged and not (settings.judge_endpoint and settings.judge_model):
        raise BadValue(f"{task.name} is judged by a model: name it with --judge-endpoint and --judge-model.")
