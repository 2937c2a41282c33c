"""The table of settings: name, type, bounds, default and one sentence each.

`--help`, the YAML file, `action.yml` and the reference page are made from it or checked against it. The field
`num_return_sequences` is the option `--num-return-sequences` and the YAML key `num-return-sequences`.
"""

import operator
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin

import msgspec
from msgspec import Meta

Count = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(gt=0)]
SamplingSetting = Literal["server", "plain", "greedy", "pass@1", "pass@10"]
LoglikelihoodSetting = Literal["auto", "echo", "prompt-logprobs", "top-logprobs", "extracted"]


def about(
    sentence: str, short: str = "", *, identifies: bool = False, workflow_only: bool = False, common: bool = False
) -> Meta:
    """Describes a setting.

    `identifies`: it decides what the model is asked, so replies from a run with another value cannot be reused.
    `workflow_only`: it could turn a verdict or send a key elsewhere, so in the action only the workflow's inputs set
    it: the author of the evaluated tree may also be the author of a configuration file in it.
    `common`: most first runs need it, so `run --help` shows it; `--help-all` shows all.
    """
    extra = {"short": short, "identifies": identifies, "workflow_only": workflow_only, "common": common}
    return Meta(description=sentence, extra=extra)


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that a user can configure about a run."""

    HEADINGS: ClassVar[Mapping[str, str]] = {
        "adapter": "What is evaluated",
        "prompt_strategy": "Prompts and sampling",
        "k": "Scoring and gates",
        "concurrency": "Concurrency and timeouts",
        "out": "Output",
    }
    """Headings in help and documentation, each by the first setting under it."""

    adapter: Annotated[str | None, about("Folder of the adapter that contains deploy.sh.", identifies=True)] = None
    model: Annotated[
        str | None,
        about(
            "Weights: a path, hf:org/name[@rev] or ms:org/name[@rev]; passed to deploy.sh as MODEL_PATH.",
            identifies=True,
            common=True,
        ),
    ] = None
    max_weight_size: Annotated[
        str, about("Maximum size of the weights, such as 100GB or 90GiB.", workflow_only=True)
    ] = "100GB"
    weights_dir: Annotated[
        str | None,
        about(
            "Folder where downloaded weights are kept between runs; default: in the user's cache.", workflow_only=True
        ),
    ] = None
    runtime: Annotated[
        Literal["process", "container"],
        about(
            "Run deploy.sh as a process on this machine or in a container; in the action, in a container unless said.",
            workflow_only=True,
        ),
    ] = "process"
    adapter_image: Annotated[str | None, about("Container image that deploy.sh runs in.", workflow_only=True)] = None
    devices: Annotated[
        str,
        about("NPUs that the adapter's container gets: auto, all, none, or numbers such as 0,1.", workflow_only=True),
    ] = "auto"
    port: Annotated[
        Annotated[int, Meta(ge=1, le=65535)],
        about("Port on which the adapter serves; passed to deploy.sh as PORT.", workflow_only=True),
    ] = 8000
    replicas: Annotated[
        Count,
        about(
            "How often deploy.sh is started, on this machine with PORT, PORT + 1 and so on, or on a cluster; all "
            "answer one run.",
            workflow_only=True,
        ),
    ] = 1
    engine: Annotated[
        Literal["local", "ray"],
        about(
            "Where deploy.sh is started, and programs that the model wrote are run: local on this machine, ray on the "
            "nodes of the Ray cluster at RAY_ADDRESS.",
            workflow_only=True,
        ),
    ] = "local"
    resources: Annotated[
        tuple[str, ...],
        about(
            "What each replica takes of a node, such as NPU=2 or, on a Ray cluster, NPU=2,CPU=8; deploy.sh gets its "
            "own NPUs in ASCEND_RT_VISIBLE_DEVICES. nodes=2,NPU=8: of each of two nodes, on both of which it is "
            "started.",
            workflow_only=True,
        ),
    ] = ()
    endpoint: Annotated[
        tuple[str, ...],
        about(
            "Evaluate the service that runs at this URL; nothing is deployed. Several URLs: replicas of one service.",
            workflow_only=True,
            common=True,
        ),
    ] = ()
    model_name: Annotated[
        str | None,
        about(
            "Model name sent in requests; default: the first id in /v1/models, otherwise the path of the weights.",
            identifies=True,
            common=True,
        ),
    ] = None
    datasets: Annotated[
        tuple[str, ...],
        about(
            "Names from `tasks list` (name@tiny, name@mcqa), task files, data files, hf:org/name or URLs, separated "
            "by commas.",
            workflow_only=True,
            common=True,
        ),
    ] = ()
    columns: Annotated[
        tuple[str, ...],
        about(
            "What the columns of own questions and of a hub's dataset are, as role=name: "
            "question=problem,answer=solution; default: by their names.",
            workflow_only=True,
        ),
    ] = ()
    tasks_path: Annotated[
        tuple[str, ...],
        about(
            "Folders of task files that can be named as datasets, separated by commas; they are searched first.",
            workflow_only=True,
        ),
    ] = ()
    trust_python: Annotated[
        bool,
        about(
            "Run the Python code that task files refer to, in separate processes without secrets.", workflow_only=True
        ),
    ] = False
    data_dir: Annotated[
        str | None, about("Folder that is searched for data files before any hub.", workflow_only=True)
    ] = None
    offline: Annotated[
        bool, about("Fetch no data files; by default, those that this machine lacks are fetched.", workflow_only=True)
    ] = False
    limit: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        about(
            "Evaluate a sample of N problems of each dataset, drawn by its parts (subject, language); 0: all.",
            identifies=True,
            workflow_only=True,
            common=True,
        ),
    ] = None
    first: Annotated[
        Count | None,
        about(
            "Evaluate the first N problems of each dataset, to try something out: they say nothing of the others.",
            identifies=True,
            workflow_only=True,
        ),
    ] = None
    shard: Annotated[
        str | None,
        about(
            "Evaluate one of W equal parts of each dataset, as r/W: 0/3, 1/3, 2/3; `merge` joins the parts.",
            identifies=True,
            workflow_only=True,
        ),
    ] = None
    task_type: Annotated[
        Literal["text-generation", "image-text-to-text", "any-to-any"], about("Task type of the model.", common=True)
    ] = "text-generation"
    mode: Annotated[
        Literal["all", "infer", "eval"],
        about(
            "Do everything (all), only collect replies (infer), or only score saved replies (eval); the action also "
            "splits a run into shards (plan) and joins them (merge).",
            workflow_only=True,
        ),
    ] = "all"
    reuse: Annotated[
        str | None,
        about(
            "Folder of a run to continue; answered samples are not requested again.", workflow_only=True, common=True
        ),
    ] = None

    prompt_strategy: Annotated[
        Literal["standard", "scot", "few-shot", "cgo"], about("Prompt style of code benchmarks.")
    ] = "standard"
    num_return_sequences: Annotated[
        Count, about("Samples per problem: the n of avg@n.", "-n", identifies=True, common=True)
    ] = 5
    temperature: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        about("Sampling temperature, always sent; default: the dataset's, otherwise 1.", identifies=True, common=True),
    ] = None
    top_p: Annotated[
        Annotated[float, Meta(gt=0, le=1)] | None,
        about("Nucleus sampling, always sent; default: the dataset's, otherwise 1.", identifies=True),
    ] = None
    sampling: Annotated[
        SamplingSetting,
        about(
            "Samplers beside temperature and top_p, such as min_p and penalties: server leaves them to the service, "
            "plain sends neutral values of all that it accepts; --generation wins. The others are protocols of code "
            "benchmarks, n, temperature, top_k and k at once; settings given as well win.",
            identifies=True,
        ),
    ] = "server"
    max_tokens: Annotated[
        Count | None,
        about(
            "Maximum number of tokens in an answer, thoughts included; default: the dataset's, and with thinking on at "
            "least 16384, with a budget as many more.",
            identifies=True,
            common=True,
        ),
    ] = None
    thinking: Annotated[
        Annotated[str, Meta(pattern=r"^(?:server|on|off|budget=[1-9]\d*)$")],
        about(
            "Whether the model thinks before it answers: on, off, or budget=N for at most N tokens of thought, by the "
            "fields that the service understands; server leaves it to the service.",
            identifies=True,
        ),
    ] = "server"
    seed: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        about("Base seed; each sample gets its own seed from it. `none` sends no seed.", identifies=True),
    ] = 0
    generation: Annotated[
        dict[str, Any],
        about(
            "Additional request fields as a JSON object, such as '{\"top_k\": 20}'; sent unchanged.", identifies=True
        ),
    ] = {}

    loglikelihood: Annotated[
        LoglikelihoodSetting,
        about(
            "How log-likelihoods of options are obtained; auto uses the most exact method that the service supports.",
            identifies=True,
        ),
    ] = "auto"

    k: Annotated[tuple[Count, ...], about("Values of k for pass@k and cons@k, separated by commas; default: n.")] = ()
    gate: Annotated[
        tuple[str, ...],
        about(
            "Condition that the results must meet, such as 'demo_arithmetic: avg@5 >= 60'; can be repeated.",
            workflow_only=True,
            common=True,
        ),
    ] = ()
    gate_on: Annotated[
        Literal["reruns", "problems", "point"],
        about(
            "What a gate allows for: reruns asks whether the figure would reach the line if the same problems were "
            "asked again, problems whether it would on other problems of the kind, point for nothing.",
            workflow_only=True,
        ),
    ] = "reruns"
    confidence: Annotated[
        Annotated[float, Meta(gt=50, lt=100)],
        about("How sure a gate has to be of its verdict, in per cent, one-sided.", workflow_only=True),
    ] = 95.0
    on_undecided: Annotated[
        Literal["block", "fail", "pass"],
        about(
            "What an undecided gate does: block ends with exit code 7, fail with 1, pass lets the other gates decide.",
            workflow_only=True,
        ),
    ] = "block"
    stop_when_decided: Annotated[
        bool,
        about(
            "Ask in random order, and no further once every gate is decided; --reuse asks for the rest.",
            workflow_only=True,
        ),
    ] = False
    require_gate: Annotated[
        bool,
        about(
            "Refuse to run without a gate, so that no run can end without a verdict; in the action, `digest` also "
            "refuses an adapter-image that is not named by its digest.",
            workflow_only=True,
        ),
    ] = False
    baseline: Annotated[
        str | None,
        about(
            "Run to compare with: its folder or a zip of it; in the action also an artifact, as "
            "branch:main (the newest one of that branch) or sha256:DIGEST. A gate can then say '>= baseline - 1'.",
            workflow_only=True,
            common=True,
        ),
    ] = None
    max_failed_requests: Annotated[
        Annotated[int, Meta(ge=0)],
        about("Failed samples that a run may have; with more of them it gives no verdict.", workflow_only=True),
    ] = 0
    sandbox: Annotated[
        Literal["auto", "docker", "bwrap", "uid", "none"],
        about(
            "Isolation of programs that the model wrote; auto uses docker, otherwise bwrap, and nothing weaker.",
            workflow_only=True,
            common=True,
        ),
    ] = "auto"
    sandbox_image: Annotated[
        str | None,
        about("Container image that these programs run in; default: python:3.11-slim-bookworm.", workflow_only=True),
    ] = None
    judge_endpoint: Annotated[
        str | None,
        about("URL of the judge model's service, for datasets that are scored by a judge.", workflow_only=True),
    ] = None
    judge_model: Annotated[str | None, about("Model name sent to the judge's service.", workflow_only=True)] = None
    match: Annotated[
        Literal["auto", "contains", "exact", "regex"],
        about(
            "In own questions: what makes a reply right. auto: the same number, formula or text; contains: a right "
            "text as whole words; exact: letter by letter; regex: the right answer is a pattern.",
            workflow_only=True,
        ),
    ] = "auto"

    concurrency: Annotated[Count, about("Maximum number of requests at the same time.", common=True)] = 32
    retries: Annotated[Annotated[int, Meta(ge=0)], about("How often a failed request is tried again.")] = 5
    ready_timeout: Annotated[
        Seconds | None,
        about(
            "Seconds to wait for the service to answer; default: 1800 for what deploy.sh starts and for a server that "
            "says it is loading (503), but an --endpoint where nobody listens is told at once."
        ),
    ] = None

    out: Annotated[str, about("Folder in which the run's folder is created.", workflow_only=True, common=True)] = (
        "outputs"
    )
    label: Annotated[
        Annotated[str, Meta(pattern=r"^(?!\.)[\w.@+-]+\Z")],
        about("Name of the model's column and folders in the report.", identifies=True, workflow_only=True),
    ] = "vllm-api-stream-chat"
    debug: Annotated[bool, about("Write step logs to the terminal instead of logs/.")] = False

    @property
    def replica_count(self) -> int:
        """How many there may be."""
        return max(self.replicas, len(self.endpoint))

    @property
    def npus_per_replica(self) -> int | None:
        """None: deploy.sh sees the NPUs that this process sees."""
        amounts = self.node_amounts
        return int(amounts["NPU"]) if "NPU" in amounts and self.engine == "local" else None

    @property
    def node_amounts(self) -> dict[str, float]:
        """What a replica takes of each of its nodes."""
        return {name: number for name, number in self._amounts.items() if name != "nodes"}

    @property
    def nodes_per_replica(self) -> int:
        return int(self._amounts.get("nodes", 1))

    @property
    def _amounts(self) -> dict[str, float]:
        pairs = (each.partition("=") for each in self.resources)
        return {name.strip(): float(number) for name, _, number in pairs}


VERDICT_SETTINGS = (
    "gate",
    "gate_on",
    "confidence",
    "on_undecided",
    "require_gate",
    "baseline",
    "max_failed_requests",
)
"""What becomes of figures that are there: none of them changes a figure."""
SCORING_SETTINGS = ("k", "judge_endpoint", "judge_model", "match")
"""What decides a figure, but not what the model is asked."""


# The table of settings as rows, for the command line, the YAML file, the action and the documentation.


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One setting, as help, YAML, the action and the documentation need it."""

    field: str
    type: Any
    default: Any
    about: str
    group: str
    short: str
    workflow_only: bool
    common: bool

    @property
    def name(self) -> str:
        return self.field.replace("_", "-")

    @property
    def bare(self) -> Any:
        """The type without its bounds."""
        return self.type.__origin__ if hasattr(self.type, "__metadata__") else self.type

    @property
    def choices(self) -> tuple[str, ...]:
        """The allowed values, if they are a list of words."""
        kinds = (self.bare, *get_args(self.bare))
        return next((get_args(kind) for kind in kinds if get_origin(kind) is Literal), ())


def table(kind: type[msgspec.Struct] = Settings) -> Iterator[Setting]:
    """Yields the settings of a record, in the order in which they are shown."""
    defaults, heading = kind(), ""
    for field in msgspec.structs.fields(kind):
        metas: tuple[Meta, ...] = field.type.__metadata__
        meta = next(meta for meta in metas if meta.description)
        bounds = [meta for meta in metas if not meta.description]
        bare = field.type.__origin__
        heading = Settings.HEADINGS.get(field.name, heading)
        yield Setting(
            field=field.name,
            type=operator.getitem(Annotated, (bare, *bounds)) if bounds else bare,
            default=getattr(defaults, field.name),
            about=meta.description or "",
            group=heading,
            **{name: value for name, value in (meta.extra or {}).items() if name != "identifies"},
        )
