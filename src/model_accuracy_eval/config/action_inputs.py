"""The inputs of the action that are not settings of a run: the adapter to check out, and where to publish the result.

They are described like settings. Tokens are not among them: they are read as secrets and stand in no table.
"""

from typing import Annotated, Literal

from msgspec import Meta

from model_accuracy_eval.records import Record
from model_accuracy_eval.settings import about

SECRETS = ("token", "adapter-token", "model-token")


class ActionInputs(Record, frozen=True, kw_only=True):
    """The inputs that only the action has."""

    adapter_repository: Annotated[str, about("Repository of the adapter, as owner/name.")] = ""
    adapter_ref: Annotated[
        str, about("Commit of the adapter; default: the pull request's head commit, otherwise the commit of the event.")
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
    admit_only: Annotated[
        bool, about("Only decide whether the run may start, and give its commit as an output; nothing is evaluated.")
    ] = False
    allow_unsafe: Annotated[
        bool, about("Let deploy.sh run as the user of this program with `runtime: process`, who can read its tokens.")
    ] = False
    shards_path: Annotated[
        str,
        about(
            "Folder of downloaded artifacts of shards: what `mode: merge` joins, and where a shard that is run again "
            "finds what it had."
        ),
    ] = ""
    max_shards: Annotated[
        Annotated[int, Meta(ge=1, le=256)], about("With `mode: plan`, how many shards there may be.")
    ] = 4
    shard_minutes: Annotated[
        Annotated[float, Meta(gt=0)],
        about("With `mode: plan`, how many minutes of asking a shard is for; the run in `baseline` gives the pace."),
    ] = 60.0
    allow_missing: Annotated[bool, about("With `mode: merge`, count the samples of missing shards as lost.")] = False
    comment: Annotated[bool, about("Whether to comment on the pull request; later runs update the comment.")] = True
    check: Annotated[bool, about("Whether to create a check run for the commit.")] = True
    status: Annotated[
        Literal["auto", "true", "false"],
        about("Whether to set a commit status: `true`, `false` or `auto` (only if no check run could be created)."),
    ] = "auto"
    artifact_name: Annotated[
        str, about("Name of the artifact that contains the run's folder; empty uploads nothing.")
    ] = "model-accuracy-eval"
    retention_days: Annotated[
        Annotated[int, Meta(ge=1, le=400)] | None,
        about("Days to keep the artifact; default: the repository's setting."),
    ] = None
    history_file: Annotated[
        str,
        about(
            "History file (.jsonl) that the run is added to: a path in the workspace, or on the branch that "
            "`history-branch` names; default there: accuracy-history.jsonl. Runs of pull requests are not added."
        ),
    ] = ""
    history_branch: Annotated[
        str,
        about(
            "Branch of the repository with the history file, made if need be; the job needs the permission "
            "`contents: write`."
        ),
    ] = ""
