"""The plan of a run: its settings, what was resolved from them, and what its verdict is about."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Literal, NamedTuple

import msgspec

from model_accuracy_eval.records.base import JSONObject, Record
from model_accuracy_eval.records.task import TaskGroup, TaskSpec
from model_accuracy_eval.settings import Settings


class Identity(Record, frozen=True, kw_only=True):
    """What a verdict is about: everything that is published is known by it.

    Empty fields are unknown, or there is no such thing: a service that runs already has no image.
    """

    repository: str = ""
    """Of the adapter, as owner/name."""
    commit: str = ""
    path: str = "."
    """Of the adapter's folder in it."""
    image: str = ""
    """That deploy.sh runs in: its name and digest when it is resolved, until then as it was asked for."""
    weights: str = ""
    """Their reference and commit, or a hash of files of this machine; until they are measured, as asked for."""
    label: str = ""

    @property
    def line(self) -> str:
        """All of it in one line; empty if nothing but the label is known."""
        place = f"{self.repository}@{self.commit}" if self.repository else ""
        if self.path not in {"", "."}:
            place = f"{place}:{self.path}" if place else self.path
        parts = (place, f"image {self.image}" * bool(self.image), f"weights {self.weights}" * bool(self.weights))
        return " · ".join(filter(None, (*parts, self.label))) if any(parts) else ""

    @property
    def series(self) -> tuple[str, str, str]:
        """What stays the same when a commit, an image or weights become newer: those a verdict is held against."""
        return self.repository.lower(), self.path, self.label

    @property
    def key(self) -> str:
        """A short hash of all of it."""
        return _hash(self.repository.lower(), self.commit, self.path, self.image, self.weights, self.label)

    @property
    def subject(self) -> str:
        """A short hash of what two checks of one commit may not differ in if they have one name."""
        return _hash(*self.series, self.weights)

    def name(self, home: str = "") -> str:
        """What tells it from others of the repository `home`, for people to choose by: the names of checks have it."""
        elsewhere = "" if self.repository.lower() == home.lower() else self.repository
        return ", ".join(filter(None, (self.label, elsewhere, "" if self.path == "." else self.path)))


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:16]


def changes(old: Identity, new: Identity) -> list[str]:
    """A sentence for the image and for the weights, if both runs know theirs and these differ."""
    pairs = (("image has", old.image, new.image), ("weights have", old.weights, new.weights))
    return [f"The {name} changed: {was} then, {now} now." for name, was, now in pairs if was and now and was != now]


# The stack on which answers are made: engine, packages, driver, chips, each by its name.


UNKNOWN_PART = "unknown"
"""What is told of the engine and the chips if nobody says which."""
_NAMELESS = {"engine", "chips", "dtype"}
_LONG = {"serves with", "chat template"}


def stack_line(stack: Mapping[str, str]) -> str:
    """The stack without what is long; empty where nothing is known."""
    known = {name: value for name, value in stack.items() if value != UNKNOWN_PART and name not in _LONG}
    return ", ".join(value if name in _NAMELESS else f"{name} {value}" for name, value in known.items())


def stack_changes(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """A sentence on each part that both runs know, if it is not the same."""
    return [
        f"The stack changed: {name} was {old[name]} then, {new[name]} now."
        for name in old
        if UNKNOWN_PART not in {old[name], new.get(name, UNKNOWN_PART)} and old[name] != new[name]
    ]


class WeightsInfo(Record, frozen=True, kw_only=True):
    """Weights whose size was checked: what they are, at which commit, and how large."""

    reference: str
    commit: str | None = None
    digest: str = ""
    """Of weights of this machine, which have no commit: a hash of their names, sizes and of blocks of each file."""
    size: int
    shown: str
    """The size as it is shown to users."""
    task_types: tuple[str, ...] = ()
    """Task types that the hub gives for them; empty: unknown."""

    @property
    def name(self) -> str:
        """What no other weights are called."""
        if self.commit:
            return f"{self.reference.partition('@')[0]}@{self.commit}"
        return f"{PurePath(self.reference).name} {self.digest}".strip()


class Sampling(Record, frozen=True, kw_only=True):
    """Sampling parameters of every request, and `n`, the number of samples per problem."""

    n: int = 5
    temperature: float | None = None
    """None, also below: the task's value, otherwise 1."""
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = 0
    thinking: str = "server"
    neutral: dict[str, float] = {}
    """Samplers that are sent with neutral values; the task's fields and the user's win over them."""
    thinking_fields: JSONObject = {}
    """What asks the service to think as `thinking` says; the task's fields and the user's win over them, too."""
    extra: JSONObject = {}
    """Fields that OpenAI's API does not have. They are sent only if given, because some servers reject them."""

    def of(self, task: TaskSpec) -> "Sampling":
        """Returns the parameters for one task: the user's, otherwise the task's. Log-likelihoods take one sample."""

        def first(*values: float | None) -> float | None:
            return next((value for value in values if value is not None), None)

        return msgspec.structs.replace(
            self,
            n=task.repeats or self.n if task.kind == "generate" else 1,
            temperature=first(self.temperature, task.temperature, 1.0),
            top_p=first(self.top_p, task.top_p, 1.0),
            max_tokens=self.max_tokens or self._room(task),
            extra=self.fields(task),
        )

    def fields(self, task: TaskSpec | None = None) -> JSONObject:
        """All that is sent beside the parameters of OpenAI's API."""
        if task is None:
            return _joined(self.neutral, self.thinking_fields, self.extra)
        has_template = task.mode == "chat"  # which is what asks for thoughts
        return _joined(self.neutral, self.thinking_fields if has_template else {}, task.generation, self.extra)

    def _room(self, task: TaskSpec) -> int:
        """For an answer of the task's length and the thought before it."""
        if task.kind != "generate" or task.mode == "text":
            return task.max_tokens
        if self.thinking == "on":
            return max(task.max_tokens, THINKING_ROOM)
        return task.max_tokens + (thinking_budget(self.thinking) or 0)


def _joined(*layers: JSONObject) -> JSONObject:
    """Later layers win, also inside of objects: `chat_template_kwargs` may hold what two of them say."""
    fields: JSONObject = {}
    for layer in layers:
        for name, value in layer.items():
            known = fields.get(name)
            fields[name] = {**known, **value} if isinstance(known, dict) and isinstance(value, dict) else value
    return fields


class ClientLimits(Record, frozen=True, kw_only=True):
    """Concurrency, retries and time limits of the client. The seconds from `connect_timeout` on are no settings."""

    concurrency: int = 32
    retries: int = 5
    silent_retries: int | None = None
    """Of these, those after a try that got no answer in time; None: all of them."""
    ready_timeout: float | None = None
    """None: as long as makes sense."""
    connect_timeout: float = 10.0
    first_token_timeout: float = 600.0
    """To the first byte of an answer, including the time in the service's queue."""
    idle_timeout: float = 120.0
    """Between bytes within an answer."""
    total_timeout: float = 3600.0
    gone_after: float = 20.0
    """Of refused connections, as in a restart, after which the service is considered gone."""


SPEED = "speed"
"""The name under which gates find how fast the service was."""


def speed_unit(metric: str) -> str:
    """Of a figure of speed: milliseconds, of which fewer are better; empty of a rate, of which more is."""
    return "" if metric.endswith("_per_s") else "ms"


_SPECIAL = re.compile(r"""[:<>=#"']|\s+and\s+|^\s|\s$""")
"""What gates cannot have in a name without quotes."""


class Gate(Record, frozen=True, kw_only=True):
    """A condition on a score: `demo_arithmetic: avg@5 >= 60`."""

    dataset: str
    metric: str
    comparison: Literal[">=", ">", "<=", "<", "=="]
    threshold: float
    from_baseline: bool = False
    """Whether the threshold is relative to the baseline's score: `demo_arithmetic: avg@5 >= baseline - 1` has -1."""
    drop: bool = False
    """Whether it is written as the most that a figure may lose, before it is known which way is worse."""
    percent: bool = False
    """Whether the threshold is written with `%`: then 0.75 is no share of 1."""

    @property
    def unit(self) -> str:
        """Of the threshold: how fast a service is, is a time or a rate, and a change of that is one in per cent."""
        if self.dataset != SPEED:
            return ""
        return "%" if self.from_baseline else speed_unit(self.metric)

    def __str__(self) -> str:
        line = f"{self.threshold:.12g}{'%' if self.percent else self.unit}"
        if self.from_baseline:
            sign = "-" if self.threshold < 0 else "+"
            line = f"baseline {sign} {abs(self.threshold):.12g}{self.unit}" if self.threshold else "baseline"
        return f"{_quoted(self.dataset)}: {_quoted(self.metric)} {self.comparison} {line}"


def _quoted(name: str) -> str:
    if not _SPECIAL.search(name):
        return name
    return f"'{name}'" if '"' in name else f'"{name}"'


class Shard(Record, frozen=True, kw_only=True):
    """One of `count` equal parts of every dataset: the problems at positions index, index + count, …"""

    index: int
    count: int

    def place(self, at: int) -> int:
        """Returns the position of the shard's `at`-th problem in the whole dataset."""
        return self.index + at * self.count

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


class RunPlan(Record, frozen=True, kw_only=True):
    """Everything that a run will do, resolved and without secrets. Given back to the program, it repeats the run."""

    run_id: str
    stamp: str
    settings: Settings = Settings()
    """The user's settings and the defaults; the other fields are resolved from them."""
    identity: Identity = Identity()
    """What the verdict will be about, as far as it is known before anything is measured."""
    tasks: tuple[TaskSpec, ...]
    adapter_tree: str = ""
    """git's hash of the adapter's files, where they were checked out: their folder is another one each time."""
    groups: tuple[TaskGroup, ...] = ()
    shard: Shard | None = None
    absent_shards: tuple[str, ...] = ()
    """Shards that a run was merged without, or that had not come to their end: what they lack counts as lost."""
    unverified: tuple[str, ...] = ()
    """Why nobody can say that the replies are those that a run left: whoever read them was told, and went on."""
    sampling: Sampling = Sampling()
    k: tuple[int, ...] = (5,)
    gates: tuple[Gate, ...] = ()
    client_limits: ClientLimits = ClientLimits()

    @property
    def is_of_saved_replies(self) -> bool:
        """Whether another program asked, so that nothing is known of its requests."""
        return not self.run_id

    def with_settings(self, **changes: Any) -> "RunPlan":
        """Returns the plan with other values of settings that need no resolving."""
        return msgspec.structs.replace(self, settings=msgspec.structs.replace(self.settings, **changes))


# What a run can be held against that is no path: how artifacts of earlier runs of the action are named.


ARTIFACT_BRANCH, ARTIFACT_DIGEST = "branch:", "sha256:"


def is_artifact(place: str) -> bool:
    """Whether a baseline is no path: `branch:main`, `sha256:…`."""
    return place.startswith((ARTIFACT_BRANCH, ARTIFACT_DIGEST))


# Thoughts before an answer: what the setting `thinking` says, and which request fields may ask a server for it.


THINKING_ROOM = 16_384
"""Tokens that an answer with a thought gets at least. A model that thinks takes some hundreds to some thousands of them
for a question of gsm8k, and more than ten thousand for a hard one; a context of 20,480 has room for both."""


def thinking_budget(thinking: str) -> int | None:
    """The most tokens that a thought may have, as the setting says; None: it does not."""
    number = thinking.partition("budget=")[2]
    return int(number) if number else None


class ThinkingForm(NamedTuple):
    """Fields that ask a model to think before it answers, or not to."""

    servers: str
    on: JSONObject
    off: JSONObject
    budget: tuple[str, ...] = ()
    """The place of the most tokens that a thought may have; empty: there is none."""


_TEMPLATE_ON: JSONObject = {"chat_template_kwargs": {"enable_thinking": True, "thinking": True}}
_TEMPLATE_OFF: JSONObject = {"chat_template_kwargs": {"enable_thinking": False, "thinking": False}}
"""Templates read one of the two names: `thinking` DeepSeek, Kimi and Granite, `enable_thinking` Qwen, GLM and ERNIE."""
THINKING_FORMS = (
    # vLLM refuses the number unless it was started with a --reasoning-config.
    ThinkingForm("vLLM", _TEMPLATE_ON, _TEMPLATE_OFF, ("thinking_token_budget",)),
    ThinkingForm("SGLang", _TEMPLATE_ON, _TEMPLATE_OFF, ("custom_params", "thinking_budget")),
    ThinkingForm("llama.cpp", _TEMPLATE_ON, _TEMPLATE_OFF, ("thinking_budget_tokens",)),
    ThinkingForm("MindIE, LMDeploy", _TEMPLATE_ON, _TEMPLATE_OFF, ("chat_template_kwargs", "thinking_budget")),
    ThinkingForm(
        "DeepSeek, Zhipu, Moonshot, Volcengine",
        {"thinking": {"type": "enabled"}},
        {"thinking": {"type": "disabled"}},
        ("thinking", "budget_tokens"),
    ),
    ThinkingForm("OpenAI, gpt-oss on any server", {"reasoning_effort": "medium"}, {"reasoning_effort": "none"}),
    ThinkingForm(
        "Alibaba's Model Studio, SiliconFlow",
        {"enable_thinking": True},
        {"enable_thinking": False},
        ("thinking_budget",),
    ),
)
"""No server says which one it understands, and most ignore what they do not know: they are tried in this order."""


def thinking_fields(thinking: str, server: str) -> list[JSONObject]:
    """What may ask for it as the setting says: the fields of the named server first, and none at all as the last."""
    budget = thinking_budget(thinking)
    forms = sorted(THINKING_FORMS, key=lambda form: not server or server not in form.servers)
    if budget is None:
        found = [form.off if thinking == "off" else form.on for form in forms]
    else:
        found = [_with_number(form, budget) for form in forms if form.budget]
    return [each for at, each in enumerate(found) if each not in found[:at]] + [{}]


def _with_number(form: ThinkingForm, number: int) -> JSONObject:
    *path, name = form.budget
    if not path:
        return {**form.on, name: number}
    return {**form.on, path[0]: {**form.on.get(path[0], {}), name: number}}
