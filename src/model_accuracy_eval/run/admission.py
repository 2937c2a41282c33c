"""Whether a run may start: what started it, who asked for it, and for what hardware.

This comes before anything of the adapter or of the workspace is fetched, read or run.
"""

from fnmatch import fnmatchcase

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.ports.action_ports import ActionContext, ActionPorts, GitHubApi, is_commit
from model_accuracy_eval.records import RunPlan

_PRIVILEGED_EVENTS = ("issue_comment", "pull_request_target", "workflow_run")
"""They run with the rights of the default branch, whatever code they evaluate."""


def check(context: ActionContext, github: GitHubApi) -> None:
    """Raises one refusal with all objections."""
    objections = [
        *context.objections,
        *_event(context),
        *_permission(context, github),
        *_hardware(context, github),
        *_model(context),
    ]
    if objections:
        raise Refused(" ".join(objections))


def devices(context: ActionContext, plan: RunPlan, ports: ActionPorts) -> list[str]:
    """Objects to a place without NPUs for an adapter that is for NPUs: accuracy on a CPU says little about an NPU."""
    lack = ports.lacks_npus(plan) if context.hardware.lower() == "npu" else ""
    if not lack:
        return []
    cure = "use a runner that has some, or set `devices: none` if deploy.sh needs none."
    return [f"{lack} {context.adapter_repository} is for NPUs; {cure}"]


def _event(context: ActionContext) -> list[str]:
    """A branch can move between an admin's look at it and this step; a full commit cannot."""
    if context.event not in _PRIVILEGED_EVENTS or is_commit(context.adapter_ref):
        return []
    value = f"it is '{context.adapter_ref}'" if context.adapter_ref else "it is empty"
    objection = (
        f"A workflow that is started by {context.event} has the rights of the default branch, so adapter-ref has to be "
        f"the full commit that an admin has read, and {value}."
    )
    return [objection]


def _permission(context: ActionContext, github: GitHubApi) -> list[str]:
    repository, login = context.adapter_repository, context.actor.login
    if login.endswith("[bot]"):
        objection = (
            f"{login} is a bot, and only an admin of {repository} can start an accuracy evaluation; one of them can "
            "re-run this job, or comment /evaluate."
        )
        return [objection]
    permission = github.permission(repository, login)
    if permission.admin:
        return []
    role = permission.role_name or permission.level
    objection = (
        f"{login} has the role '{role}' in {repository}, but only an admin of the adapter's repository can start "
        "an accuracy evaluation; ask one to run this workflow."
    )
    return [objection]


def _model(context: ActionContext) -> list[str]:
    """Who may choose the weights in a comment or a form chooses among those that the workflow allows."""
    allowed = context.allowed_models
    if not allowed or any(_matches(context.model, pattern) for pattern in allowed):
        return []
    return [f"The model '{context.model}' is none that this workflow allows: {', '.join(allowed)}."]


def _matches(model: str, pattern: str) -> bool:
    """Part by part, so that `*` ends at a slash and no `..` leads out of the folder that a pattern names."""
    parts, patterns = model.split("/"), pattern.split("/")
    leads_out = any(part in (".", "..") for part in parts)
    return not leads_out and len(parts) == len(patterns) and all(map(fnmatchcase, parts, patterns))


def _hardware(context: ActionContext, github: GitHubApi) -> list[str]:
    if not context.hardware:
        return []
    hardware = github.hardware(context.adapter_repository)
    if hardware.has(context.hardware):
        return []
    required = context.hardware.upper()
    if not hardware.types:
        notes = f" ({' '.join(hardware.notes)})" if hardware.notes else ""
        cure = f"an admin sets the repository's property 'hardware' to {required}."
        return [f"{context.adapter_repository} does not say that its hardware type is {required}{notes}; {cure}"]
    return [f"The hardware type of {context.adapter_repository} is {', '.join(hardware.types)}, not {required}."]
