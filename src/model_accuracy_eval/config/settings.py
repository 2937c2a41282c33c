"""The one table of settings: name, type, bounds, default and one sentence each.

`--help`, the YAML file and the reference page are made from it. A field `num_return_sequences` is the option
`--num-return-sequences` and the YAML key `num-return-sequences`.
"""

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
from msgspec import Meta

from model_accuracy_eval.records import JSONObject, Record

Count = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(gt=0)]


def about(sentence: str, group: str, short: str = "") -> Meta:
    return Meta(description=sentence, title=group, extra={"short": short})


_WHAT, _HOW, _VERDICT, _PATIENCE, _WHERE = (
    "What is evaluated",
    "How it is asked",
    "Verdict",
    "Patience",
    "Where things go",
)


class Settings(Record, frozen=True, kw_only=True):
    """Everything that a user can say about a run."""

    adapter: Annotated[str | None, about("Folder of the adapter, with its deploy.sh.", _WHAT)] = None
    model: Annotated[
        str | None,
        about("Weights: a path, hf:org/name[@rev] or ms:org/name[@rev]; deploy.sh gets it as MODEL_PATH.", _WHAT),
    ] = None
    max_weight_size: Annotated[str, about("Largest weights that are taken, such as 100GB or 90GiB.", _WHAT)] = "100GB"
    weights_dir: Annotated[
        str | None, about("Folder that keeps fetched weights between runs; default: in the user's cache.", _WHAT)
    ] = None
    runtime: Annotated[
        Literal["process", "container"], about("Run deploy.sh on this machine, or in a container beside it.", _WHAT)
    ] = "process"
    adapter_image: Annotated[str | None, about("Image of the adapter's container.", _WHAT)] = None
    devices: Annotated[
        str, about("NPUs that the adapter's container gets: auto, all, none, or numbers such as 0,1.", _WHAT)
    ] = "auto"
    endpoint: Annotated[
        str | None, about("Evaluate the service that already runs at this URL; nothing is deployed.", _WHAT)
    ] = None
    model_name: Annotated[
        str | None, about("Model name to send; default: the first id of /v1/models, else the weight path.", _WHAT)
    ] = None
    datasets: Annotated[
        tuple[str, ...],
        about(
            "Names from `tasks list` (or name@mcqa, name@cot), task files or data files, separated by commas.", _WHAT
        ),
    ] = ()
    tasks_path: Annotated[
        tuple[str, ...],
        about("Folders whose task files can be named as datasets, separated by commas; they come first.", _WHAT),
    ] = ()
    trust_python: Annotated[
        bool,
        about("Run the Python that task files refer to for rows and judging, in processes without secrets.", _WHAT),
    ] = False
    data_dir: Annotated[str | None, about("Folder that is searched for data files before any hub.", _WHAT)] = None
    limit: Annotated[Count | None, about("Ask only the first so many problems of each dataset.", _WHAT)] = None
    shard: Annotated[
        str | None,
        about("Ask only every W-th problem from place r on, as r/W: 0/3, 1/3, 2/3; `merge` joins them.", _WHAT),
    ] = None
    task_type: Annotated[
        Literal["text-generation", "image-text-to-text", "any-to-any"], about("Task code of the weights.", _WHAT)
    ] = "text-generation"
    mode: Annotated[
        Literal["all", "infer", "eval"], about("Do all, only ask (infer), or only judge kept replies (eval).", _WHAT)
    ] = "all"
    reuse: Annotated[
        str | None, about("Folder of a run to go on with; answered samples are not asked again.", _WHAT)
    ] = None

    preset: Annotated[
        Literal["greedy", "pass@1", "pass@10"] | None,
        about(
            "Protocol of code benchmarks: n, temperature, top_k and k under one word; what is said beside it wins.",
            _HOW,
        ),
    ] = None
    prompt_strategy: Annotated[
        Literal["standard", "scot", "few-shot", "cgo"],
        about("Manner in which code benchmarks put their question.", _HOW),
    ] = "standard"
    num_return_sequences: Annotated[Count, about("Samples asked of every problem: the n of avg@n.", _HOW, "-n")] = 5
    temperature: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        about("Sampling temperature, always sent; default: what the dataset says, else 1.", _HOW),
    ] = None
    top_p: Annotated[
        Annotated[float, Meta(gt=0, le=1)] | None,
        about("Nucleus sampling, always sent; default: what the dataset says, else 1.", _HOW),
    ] = None
    max_tokens: Annotated[Count | None, about("Longest answer; default: what the dataset says.", _HOW)] = None
    seed: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        about("Base of the seeds; every sample has its own. `none` sends no seed.", _HOW),
    ] = 0
    generation: Annotated[
        JSONObject,
        about("Further request fields as a JSON object, such as '{\"top_k\": 20}'; sent as they are.", _HOW),
    ] = {}  # noqa: RUF012 - msgspec copies it

    weigh: Annotated[
        Literal["auto", "echo", "prompt-logprobs", "top-logprobs", "constrained", "extracted"],
        about("How options are weighed; auto takes the most exact way that the service offers.", _HOW),
    ] = "auto"

    k: Annotated[
        tuple[Count, ...], about("Values of k for pass@k and cons@k, separated by commas; default: n.", _VERDICT)
    ] = ()
    gate: Annotated[
        tuple[str, ...],
        about("Line to reach, such as 'demo_arithmetic: avg@5 >= 60'; may be given several times.", _VERDICT),
    ] = ()
    baseline: Annotated[
        str | None,
        about("Run to compare with, a folder or a zip of it; a gate may then say '>= baseline - 1'.", _VERDICT),
    ] = None
    max_failed_requests: Annotated[
        Annotated[int, Meta(ge=0)], about("Failed samples up to which the run still is a verdict.", _VERDICT)
    ] = 0
    sandbox: Annotated[
        Literal["auto", "docker", "bwrap", "uid", "none"],
        about("Where programs that the model wrote run; auto takes docker, else bwrap, and nothing weaker.", _VERDICT),
    ] = "auto"
    sandbox_image: Annotated[
        str | None, about("Image that programs run in; default: python:3.11-slim-bookworm.", _VERDICT)
    ] = None
    judge_endpoint: Annotated[
        str | None, about("URL of the service that judges answers, for datasets that want a judge.", _VERDICT)
    ] = None
    judge_model: Annotated[str | None, about("Model name to send to the judge.", _VERDICT)] = None
    score_reasoning: Annotated[bool, about("Judge the reasoning text of replies that have nothing else.", _VERDICT)] = (
        False
    )

    concurrency: Annotated[Count, about("Requests in flight at once.", _PATIENCE)] = 32
    retries: Annotated[
        Annotated[int, Meta(ge=0)], about("Further tries of a request that failed on the way.", _PATIENCE)
    ] = 5
    ready_timeout: Annotated[Seconds, about("Seconds that deploy.sh has until the service answers.", _PATIENCE)] = (
        1800.0
    )
    connect_timeout: Annotated[Seconds, about("Seconds to open a connection.", _PATIENCE)] = 10.0
    first_token_timeout: Annotated[
        Seconds, about("Seconds to the first byte of an answer, the service's queue included.", _PATIENCE)
    ] = 600.0
    idle_timeout: Annotated[Seconds, about("Seconds of silence in the middle of an answer.", _PATIENCE)] = 120.0
    total_timeout: Annotated[Seconds, about("Seconds for one whole answer.", _PATIENCE)] = 3600.0

    out: Annotated[str, about("Folder under which the run's folder is made.", _WHERE)] = "outputs"
    label: Annotated[
        Annotated[str, Meta(pattern=r"^(?!\.)[\w.@+-]+\Z")],
        about("Name of the model's column and folders in the report.", _WHERE),
    ] = "vllm-api-stream-chat"
    port: Annotated[
        Annotated[int, Meta(ge=1, le=65535)], about("Port on which deploy.sh serves; it gets it as PORT.", _WHERE)
    ] = 8000
    debug: Annotated[bool, about("Step logs go to the terminal instead of logs/.", _WHERE)] = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """One row of the table, as help, YAML and docs want it."""

    field: str
    type: Any
    default: Any
    about: str
    group: str
    short: str

    @property
    def name(self) -> str:
        return self.field.replace("_", "-")

    @property
    def bare(self) -> Any:
        """The type without its bounds."""
        return self.type.__origin__ if hasattr(self.type, "__metadata__") else self.type

    @property
    def choices(self) -> tuple[str, ...]:
        """The allowed words, where only some are."""
        kinds = (self.bare, *get_args(self.bare))
        return next((get_args(kind) for kind in kinds if get_origin(kind) is Literal), ())


def table(kind: type[Record] = Settings) -> Iterator[Setting]:
    """The rows of a record of settings, in the order in which they are shown."""
    defaults = kind()
    for field in msgspec.structs.fields(kind):
        metas: tuple[Meta, ...] = field.type.__metadata__
        meta = next(meta for meta in metas if meta.description)
        bounds = [meta for meta in metas if not meta.description]
        bare = field.type.__origin__
        yield Setting(
            field=field.name,
            type=operator.getitem(Annotated, (bare, *bounds)) if bounds else bare,
            default=getattr(defaults, field.name),
            about=meta.description or "",
            group=meta.title or "",
            short=(meta.extra or {}).get("short", ""),
        )
