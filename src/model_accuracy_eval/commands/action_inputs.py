"""What can be given to the action, and how it arrives: one table for action.yml and the reusable workflows.

People see the inputs of `SHOWN`. Every other one is a line of YAML in the input `settings`, as are all settings. The
sinks have theirs beside them.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Annotated, Any, Literal

from msgspec import Meta

from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.github.runner import Runner
from model_accuracy_eval.records import Record
from model_accuracy_eval.run.setting_values import Given, yaml_values
from model_accuracy_eval.settings import Setting, about, table
from model_accuracy_eval.sinks import inputs as sink_inputs

SECRETS = {
    "token": "Token that reads the repository and writes check, status and comment.",
    "adapter-token": "Token that reads the adapter repository when that is another, private one.",
    "model-token": "Token of the hub that the weights come from.",
    "app-private-key": "Private key of that app, the whole .pem file; keep it in an environment of the default branch.",
}
"""They stand in no plan, and in no block of settings, which the job's log shows."""
SHOWN = (
    "adapter-repository", "adapter-ref", "adapter-path", "adapter-image", "endpoint", "model", "allowed-models",
    "weights-dir", "task-type", "datasets", "num-return-sequences", "k", "limit", "settings", "gate", "require-gate",
    "baseline", "hardware", "label", "artifact-name", "token", "adapter-token", "model-token", "app-id",
    "app-private-key",
)  # fmt: skip
"""The inputs of action.yml, in this order."""
OWN_MODES = ("admit", "command", "plan", "merge", "verdict")
"""Modes that no setting has: what the jobs of the reusable workflows do."""
_INPUTS = "the action's inputs"
_MAY_BE_EMPTY = "artifact-name"
"""Its empty value means something; any other input that is empty was not given."""


class ActionInputs(Record, frozen=True, kw_only=True):
    """The inputs that only the action has."""

    adapter_repository: Annotated[
        Annotated[str, Meta(pattern=r"^([\w-]+/(?!\.{1,2}\Z)[\w.-]+)?\Z")],
        about("Repository of the adapter, as owner/name; default: the workflow's own."),
    ] = ""
    adapter_ref: Annotated[
        str, about("Commit of the adapter; default: the pull request's head commit, otherwise the commit of the event.")
    ] = ""
    app_id: Annotated[
        str,
        about("Number or client id of a GitHub App that writes check, status and comment, instead of `token`."),
    ] = ""
    adapter_path: Annotated[str, about("Folder inside the adapter repository that contains deploy.sh.")] = "."
    adapter_submodules: Annotated[bool, about("Whether to check out the adapter's submodules.")] = False
    adapter_lfs: Annotated[bool, about("Whether to download the adapter's Git LFS files.")] = False
    hardware: Annotated[
        str, about("Hardware type that the repository's owners must have declared for it; `any` skips the check.")
    ] = "npu"
    allowed_models: Annotated[
        tuple[str, ...],
        about(
            "Patterns such as hf:org/*, one of which the input `model` must match, separated by commas; default: any."
        ),
    ] = ()
    allow_unsafe: Annotated[
        bool, about("Let deploy.sh run as the user of this program with `runtime: process`, who can read its tokens.")
    ] = False
    shards_path: Annotated[
        str,
        about(
            "Folder of downloaded artifacts: what `mode: merge` joins and `mode: verdict` judges, and where a shard "
            "that is run again finds what it had."
        ),
    ] = ""
    settings: Annotated[
        str,
        about(
            "Any setting or other input by its name, as lines of YAML, such as `stop-when-decided: true` or "
            "`comment: false`; inputs that are given win."
        ),
    ] = ""
    config: Annotated[
        str, about("YAML file in the workspace with settings that cannot turn a verdict; what the workflow gives wins.")
    ] = ""
    max_shards: Annotated[
        Annotated[int, Meta(ge=1, le=256)], about("How many shards there may be, each on a runner of its own.")
    ] = 4
    shard_minutes: Annotated[
        Annotated[float, Meta(gt=0)],
        about("How many minutes of asking a shard is for; the run in `baseline` gives the pace."),
    ] = 60.0
    evaluations: Annotated[str, about("With `mode: verdict`, the output of that name of the step that admitted.")] = ""
    language: Annotated[Literal["", "en", "zh"], about("Language of comment, page and log: en or zh; default: en.")] = (
        ""
    )
    allow_missing: Annotated[bool, about("Merge without shards that left nothing: their samples count as lost.")] = (
        False
    )


class WorkflowInputs(Record, frozen=True, kw_only=True):
    """What the reusable workflows take for themselves, and hand on with the others; a step passes over these."""

    runs_on: Annotated[str, about("Labels of the NPU runners, as a JSON list.")] = '["self-hosted", "npu"]'
    environment: Annotated[
        str, about("Environment whose reviewers have to approve before an NPU runner starts; default: none.")
    ] = ""
    attest: Annotated[
        bool,
        about(
            "Sign the verdict as an attestation of the report; the calling job also needs id-token: write and "
            "attestations: write."
        ),
    ] = False
    verdict_environment: Annotated[
        str, about("Environment that has the app's key as the secret APP_PRIVATE_KEY, for the default branch alone.")
    ] = ""


ROWS: Mapping[str, Setting] = {row.field: row for row in (*table(), *table(ActionInputs), *sink_inputs())}
"""Everything that can be given and is no secret."""
_NAMES = {row.name for row in ROWS.values()}
_OF_WORKFLOWS = {row.name for row in table(WorkflowInputs)} | {"app-id"}


def given_inputs(step: Runner, noted: AbstractContextManager[None]) -> dict[str, Given]:
    """All that was given, by its name, not yet typed: an input's own value before a line of `settings`. What is wrong
    with that block is a problem that `noted` takes."""
    found: dict[str, Given] = {}
    with noted:
        found = dict(_lines(step.input("settings"), "the input `settings`"))
    for name in sorted(_NAMES - {"settings"}):
        text = step.input(name)
        if not text and not (name == _MAY_BE_EMPTY and step.is_set(name)):
            continue
        if not (name in found and _is_default(name, text)):
            found[name] = Given(text, _INPUTS)
    return found


def _is_default(name: str, text: str) -> bool:
    """Whether the runner took it from action.yml: of a label, what the job's matrix varies."""
    return text.startswith(("{", "null")) if name == "label" else text == ROWS[name.replace("-", "_")].default


def _lines(block: str, source: str) -> Iterator[tuple[str, Given]]:
    """The lines of a block; those of a reusable workflow begin with its inputs, as `inputs: ${{ toJSON(inputs) }}`."""
    lines = yaml_values(block, source)
    inputs: Any = lines["inputs"].value if "inputs" in lines else {}
    if not isinstance(inputs, dict):
        place = lines["inputs"].place
        raise BadValue(f"In {place}, `inputs` is `${{{{ toJSON(inputs) }}}}` of a reusable workflow, and nothing else.")
    if settings := inputs.pop("settings", ""):
        yield from _lines(settings, source)
    for name, value in inputs.items():
        if name not in _OF_WORKFLOWS and (value not in ("", None) or name == _MAY_BE_EMPTY):
            yield name, Given(value, "the workflow's inputs")
    for name, line in lines.items():
        if name != "inputs":
            check_name(name, line.place)
            yield name, line


def check_name(name: str, place: str) -> None:
    """Refuses what is no setting and no input, and secrets."""
    if name in SECRETS or name == "app-id":
        raise BadValue(f"'{name}' cannot stand in {place}, which others can read: give it under `with:`.")
    if name not in _NAMES - {"settings"}:
        raise UnknownName("setting", name, _NAMES, where=f" in {place}")


def older_inputs(step: Runner) -> list[str]:
    """Those that action.yml had once and are lines of `settings` now, which were given as inputs all the same."""
    return sorted(name for name in _NAMES - set(SHOWN) if step.input(name))
