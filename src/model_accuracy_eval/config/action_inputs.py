"""What the action takes beyond the settings of a run: whose adapter, who may start it, and where its verdict goes.

The rows are of the same kind as those of `settings`. Tokens are no rows: they travel as secrets, in no table.
"""

from typing import Annotated, Literal

from msgspec import Meta

from model_accuracy_eval.config.settings import about
from model_accuracy_eval.records import Record

_WHOSE, _WHERE = "Whose adapter", "Where the verdict goes"

SECRETS = ("token", "adapter-token", "model-token")


class ActionInputs(Record, frozen=True, kw_only=True):
    """Everything that only the action asks for."""

    adapter_repository: Annotated[str, about("Repository of the adapter, as owner/name.", _WHOSE)] = ""
    adapter_ref: Annotated[
        str,
        about(
            "Commit of the adapter; empty means the pull request's head commit, else the commit of the event.", _WHOSE
        ),
    ] = ""
    adapter_path: Annotated[str, about("Folder with deploy.sh inside the adapter repository.", _WHOSE)] = "."
    adapter_submodules: Annotated[bool, about("Whether the adapter's submodules are checked out too.", _WHOSE)] = False
    adapter_lfs: Annotated[bool, about("Whether the adapter's LFS files are fetched too.", _WHOSE)] = False
    hardware: Annotated[
        str,
        about("Hardware type that the repository must have been given by its owners; `any` checks nothing.", _WHOSE),
    ] = "npu"
    comment: Annotated[
        bool, about("Whether the pull request gets a comment, which later runs keep up to date.", _WHERE)
    ] = True
    check: Annotated[bool, about("Whether the commit gets a check run.", _WHERE)] = True
    status: Annotated[
        Literal["auto", "true", "false"],
        about(
            "Whether the commit gets a status, as `true`, `false` or `auto` (only where no check run could be made).",
            _WHERE,
        ),
    ] = "auto"
    artifact_name: Annotated[
        str, about("Name of the artifact that holds the run's folder; empty uploads nothing.", _WHERE)
    ] = "model-accuracy-eval"
    retention_days: Annotated[
        Annotated[int, Meta(ge=1, le=400)] | None,
        about("Days that the artifact is kept; empty means as long as the repository says.", _WHERE),
    ] = None
