"""Who asks, and for what hardware: what forbids a run, to be told with all else that does."""

from model_accuracy_eval.ports.action import Forge, Job, Site
from model_accuracy_eval.records import RunPlan


def findings(job: Job, forge: Forge) -> list[str]:
    """What stands against the run, as sentences; none: it may start."""
    return [*_permission(job, forge), *_hardware(job, forge)]


def devices(job: Job, plan: RunPlan, site: Site) -> list[str]:
    """What is wrong with the place where deploy.sh would run: a CPU's accuracy says little about an NPU's."""
    lack = site.lacks_npus(plan) if job.hardware.lower() == "npu" else ""
    if not lack:
        return []
    cure = "use a runner that has some, or set `devices: none` if deploy.sh needs none."
    return [f"{lack} {job.adapter_repository} is for NPUs; {cure}"]


def _permission(job: Job, forge: Forge) -> list[str]:
    repository, login = job.adapter_repository, job.actor.login
    permission = forge.permission(repository, login)
    if permission.admin:
        return []
    role = permission.role_name or permission.level
    finding = (
        f"{login} has the role '{role}' in {repository}, but only an admin of the adapter's repository can start "
        "an accuracy evaluation; ask one to run this workflow."
    )
    return [finding]


def _hardware(job: Job, forge: Forge) -> list[str]:
    if not job.hardware:
        return []
    hardware = forge.hardware(job.adapter_repository)
    if hardware.has(job.hardware):
        return []
    wanted = job.hardware.upper()
    if not hardware.types:
        looked = f" ({' '.join(hardware.notes)})" if hardware.notes else ""
        cure = f"an admin sets the repository's property 'hardware' to {wanted}."
        return [f"{job.adapter_repository} does not say that its hardware type is {wanted}{looked}; {cure}"]
    return [f"The hardware type of {job.adapter_repository} is {', '.join(hardware.types)}, not {wanted}."]
