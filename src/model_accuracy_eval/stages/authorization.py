"""Who may start a run, and on what hardware. Objections are collected, so that a refusal names all of them."""

from model_accuracy_eval.ports.action_ports import ActionContext, ActionPorts, GitHubApi
from model_accuracy_eval.records import RunPlan


def objections(context: ActionContext, github: GitHubApi) -> list[str]:
    """Returns why the run may not start, as sentences; none: it may."""
    return [*_permission(context, github), *_hardware(context, github)]


def devices(context: ActionContext, plan: RunPlan, ports: ActionPorts) -> list[str]:
    """Objects to a place without NPUs for an adapter that is for NPUs: accuracy on a CPU says little about an NPU."""
    lack = ports.lacks_npus(plan) if context.hardware.lower() == "npu" else ""
    if not lack:
        return []
    cure = "use a runner that has some, or set `devices: none` if deploy.sh needs none."
    return [f"{lack} {context.adapter_repository} is for NPUs; {cure}"]


def _permission(context: ActionContext, github: GitHubApi) -> list[str]:
    repository, login = context.adapter_repository, context.actor.login
    permission = github.permission(repository, login)
    if permission.admin:
        return []
    role = permission.role_name or permission.level
    objection = (
        f"{login} has the role '{role}' in {repository}, but only an admin of the adapter's repository can start "
        "an accuracy evaluation; ask one to run this workflow."
    )
    return [objection]


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
