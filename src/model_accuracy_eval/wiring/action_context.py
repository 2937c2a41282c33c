"""The context of the action's step, from its inputs, the event and what GitHub says in the environment."""

from collections.abc import Mapping
from typing import Any

from model_accuracy_eval.config.action_inputs import ActionInputs
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.github import facts
from model_accuracy_eval.ports.action_ports import ActionContext
from model_accuracy_eval.system import process_environment
from model_accuracy_eval.wiring.adapter_checkout import GITHUB, Commits
from model_accuracy_eval.wiring.history_parts import HISTORY_SUFFIX

_HISTORY_FILE = "accuracy-history.jsonl"


def action_context(
    action_inputs: ActionInputs,
    adapter_repository: str,
    commits: Commits,
    event: Mapping[str, Any],
    environment: Mapping[str, str],
    *,
    label: str,
    model: str,
) -> ActionContext:
    """What is known of the step before anything is checked out."""
    repository = environment.get("GITHUB_REPOSITORY", "")
    if not repository:
        raise BadValue("GITHUB_REPOSITORY is not set: `action` and `admit` run as a step of a workflow.")
    server = environment.get("GITHUB_SERVER_URL", GITHUB)
    run = environment.get("GITHUB_RUN_ID", "0")
    attempt = environment.get("GITHUB_RUN_ATTEMPT", "1")
    return ActionContext(
        repository=repository,
        actor=facts.actor(environment, event),
        event=environment.get("GITHUB_EVENT_NAME", ""),
        pull=commits.pull,
        commit=commits.reported,
        adapter_repository=adapter_repository,
        adapter_ref=action_inputs.adapter_ref,
        adapter_commit=commits.adapter,
        objections=(*process_environment.objections(environment), *commits.objections),
        adapter_path=action_inputs.adapter_path,
        hardware="" if action_inputs.hardware == "any" else action_inputs.hardware,
        model=model,
        allowed_models=action_inputs.allowed_models,
        admit_only=action_inputs.admit_only,
        label=label,
        key=f"{run}-{attempt}-{environment.get('GITHUB_JOB', '')}-{label}",
        run_url=f"{server}/{repository}/actions/runs/{run}",
        comment=action_inputs.comment,
        check=action_inputs.check,
        status=action_inputs.status,
        artifact_name=action_inputs.artifact_name,
        retention_days=action_inputs.retention_days,
        history_file=_history_file(action_inputs),
        history_branch=action_inputs.history_branch,
        workspace=environment.get("GITHUB_WORKSPACE", ""),
    )


def _history_file(action_inputs: ActionInputs) -> str:
    path = action_inputs.history_file or (_HISTORY_FILE if action_inputs.history_branch else "")
    if path and (not path.endswith(HISTORY_SUFFIX) or ".." in path.split("/") or path.startswith("/")):
        raise BadValue(
            f"The input 'history-file' is '{path}': give a path below the workspace, or on the branch, that ends with "
            f"{HISTORY_SUFFIX}, such as {_HISTORY_FILE}."
        )
    return path
