"""The real ports of a run: clients, launcher, sandbox, hubs, run folder, clock."""

import contextlib
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from model_accuracy_eval import __version__
from model_accuracy_eval.adapter.adapter_container import ContainerLauncher, ContainerOptions
from model_accuracy_eval.adapter.adapter_process import ProcessLauncher
from model_accuracy_eval.client.chat import StreamingChat, connect
from model_accuracy_eval.client.service_client import ServiceClient
from model_accuracy_eval.client.subject import ServiceSubject
from model_accuracy_eval.client.transport import proxy_for
from model_accuracy_eval.errors import BadValue, Refused
from model_accuracy_eval.hubs.data_fetch import DataFetch
from model_accuracy_eval.hubs.file_hub import FileHub, cache_folder
from model_accuracy_eval.hubs.hub_weights import HubWeights
from model_accuracy_eval.ports import (
    API_KEYS,
    Launcher,
    Ports,
    ProgressDisplay,
    ServiceRole,
)
from model_accuracy_eval.records import ClientLimits, JSONObject, Recipe, RunPlan, Service, Settings
from model_accuracy_eval.run_folder import run_folder
from model_accuracy_eval.run_folder.run_archive import open_archive
from model_accuracy_eval.run_folder.run_folder import RunFolder
from model_accuracy_eval.sandbox.backends import open_sandbox
from model_accuracy_eval.scoring.figures import groups
from model_accuracy_eval.system import process_environment
from model_accuracy_eval.system.clock import SignalClock
from model_accuracy_eval.system.docker_engine import Labels, sweep_orphans
from model_accuracy_eval.system.process_environment import Secret
from model_accuracy_eval.system.progress_display import progress_display
from model_accuracy_eval.system.unprivileged_user import UnprivilegedUser
from model_accuracy_eval.trusted_python.trusted_functions import TrustedRows

# Which key each service gets. No service sees the key of another role, and an adapter never sees a user's own.


GENERAL = "OPENAI_API_KEY"
"""The variable that other programs read. At most one role gets it, and only at an address that the user named."""


class ApiKeys:
    """The keys of one environment; `general_for` is the role that gets the general one if it has none of its own."""

    def __init__(self, environment: Mapping[str, str], general_for: ServiceRole | None = None) -> None:
        self._environment = environment
        self._general_for = general_for

    def of(self, role: ServiceRole) -> Secret:
        """The key, named by its variable; empty if there is none."""
        name = GENERAL if self._takes_general(role) else API_KEYS[role]
        return Secret(self._environment.get(name, ""), name)

    def word(self, url: str | None) -> str:
        """What is said where the general key is taken; empty where it is not. `url`: who gets it."""
        role = self._general_for
        if role is None or not self._takes_general(role):
            return ""
        return f"The key in {GENERAL} is sent to {url}, because {API_KEYS[role]} is not set."

    def _takes_general(self, role: ServiceRole) -> bool:
        own, general = self._environment.get(API_KEYS[role]), self._environment.get(GENERAL)
        return role == self._general_for and not own and bool(general)


def of_run(settings: Settings, environment: Mapping[str, str]) -> tuple[ApiKeys, str]:
    """The keys of a run, and what is to be said about them.

    Where a judge is named, the general key is meant for it. What deploy.sh serves is a stranger's program.
    """
    url = settings.judge_endpoint or ", ".join(settings.endpoint)
    role: ServiceRole = "judge" if settings.judge_endpoint else "model"
    keys = ApiKeys(environment, role if url else None)
    return keys, keys.word(url)


def hub(
    environment: Mapping[str, str],
    *,
    fetch: DataFetch | None = None,
    adapter_user: UnprivilegedUser | None = None,
    update: bool = False,
    keep_lock: bool = True,
) -> FileHub:
    """Where data files come from; refuses proxies that cannot work, and files that the adapter's user could read."""
    process_environment.check(environment)
    guard = adapter_user.refuse_answers if adapter_user else None
    return FileHub(environment, fetch=fetch, guard=guard, update=update, keep_lock=keep_lock)


def fetching_hub(environment: Mapping[str, str], say: Callable[[str], object], *, update: bool = False) -> FileHub:
    """The hub of a command that fetches data and does nothing else."""
    return hub(environment, fetch=DataFetch(environment, say=say), update=update)


def _refuse_python(recipe: Recipe, rows: object, read: object) -> list[JSONObject]:
    """What a run's folder has as a task need not come from a task file, which is refused when it is read."""
    raise BadValue(
        f"Rows are made by Python in {recipe.folder}, which runs only where the user trusts it: --trust-python."
    )


def connect_service(
    environment: Mapping[str, str],
    service: Service,
    limits: ClientLimits,
    *,
    role: ServiceRole = "model",
    keys: ApiKeys | None = None,
) -> StreamingChat:
    """A client with the key of its role and the proxy of its address. `keys`: None: those of the roles' variables."""
    return connect(service, limits, **_access(environment, service, keys or ApiKeys(environment), role))


def open_subject(
    environment: Mapping[str, str], service: Service, limits: ClientLimits, *, keys: ApiKeys
) -> ServiceSubject:
    """What probes of faults ask the service with."""
    return ServiceSubject(ServiceClient(service, limits, **_access(environment, service, keys, "model")))


def _access(environment: Mapping[str, str], service: Service, keys: ApiKeys, role: ServiceRole) -> dict[str, Any]:
    key = keys.of(role)
    return {
        "api_key": key.reveal(),
        "key_name": key.name,
        "proxy": proxy_for(service.base_url, environment),
    }


def local_ports(
    plan: RunPlan,
    environment: Mapping[str, str],
    clock: SignalClock,
    progress: TextIO = sys.stderr,
    *,
    facts: Mapping[str, str] | None = None,
    adapter_user: UnprivilegedUser | None = None,
    private_folder: bool = False,
    model_token: Secret | None = None,
    labels: Labels | None = None,
    wrap_display: Callable[[ProgressDisplay], ProgressDisplay] = lambda display: display,
) -> Ports:
    """The real ports. Progress is written to `progress`; `wrap_display` may put a display of its own before it.

    `facts`: what the report shall say about the surroundings besides this machine. `adapter_user`: whom deploy.sh runs
    as on this machine; None: as we do. `private_folder`: others use the same home: nobody else may look into the run's
    folder, which holds the right answers, and a lock file in the cache is not believed.
    """
    settings, group = plan.settings, groups.of_all(plan.groups, [task.name for task in plan.tasks])
    display = wrap_display(progress_display(progress, clock.elapsed, group=group))
    # The variable that the hub's own tools read.
    hub_token = "MODELSCOPE_API_TOKEN" if (settings.model or "").startswith("ms:") else "HF_TOKEN"
    keys, word = of_run(settings, environment)
    if word and settings.mode != "eval":
        display.say(word)
    return Ports(
        connect=partial(connect_service, environment, keys=keys),
        open_subject=partial(open_subject, environment, keys=keys),
        launcher=_launcher(plan, environment, clock, labels, adapter_user, say=display.say),
        hub=hub(
            environment,
            fetch=None if settings.offline else DataFetch(environment, check=clock.check, say=display.say),
            adapter_user=adapter_user,
            keep_lock=not private_folder,
        ),
        make_rows=TrustedRows(environment) if settings.trust_python else _refuse_python,
        open_sandbox=partial(
            open_sandbox,
            settings.sandbox,
            environment,
            image=settings.sandbox_image or None,
            labels=labels,
            say=display.say,
            check=clock.check,
        ),
        weights_source=HubWeights(
            environment,
            settings.weights_dir or str(cache_folder(environment) / "weights"),
            token=model_token or Secret(environment.get(hub_token, ""), hub_token),
            check=clock.check,
            say=display.say,
        ),
        open_store=partial(_open_store, private=private_folder),
        open_archive=open_archive,
        clock=clock,
        progress=display,
        facts={**_facts(), **(facts or {})},
    )


def _open_store(folder: str, *, private: bool) -> RunFolder:
    """The action's folder is private, and nobody looks for its name."""
    store = RunFolder(folder, private=private)
    if not private:
        run_folder.point_to(store.root)
    return store


def _launcher(
    plan: RunPlan,
    environment: Mapping[str, str],
    clock: SignalClock,
    labels: Labels | None,
    adapter_user: UnprivilegedUser | None,
    *,
    say: Callable[[str], None],
) -> Launcher:
    if plan.settings.runtime == "process":
        return ProcessLauncher(environment, check=clock.check, user=adapter_user)
    # One that a killed run left behind would hold the port. Without an engine, the launcher itself objects.
    with contextlib.suppress(Refused):
        sweep_orphans(labels or Labels(repository=""), environment)
    return _container_launcher(plan, environment, clock, labels, say)


def _container_launcher(
    plan: RunPlan,
    environment: Mapping[str, str],
    clock: SignalClock,
    labels: Labels | None,
    say: Callable[[str], None] = lambda sentence: None,
) -> ContainerLauncher:
    options = ContainerOptions(
        image=plan.settings.adapter_image or "",
        devices=plan.settings.devices,
        labels=labels or Labels(repository="", run_id=plan.run_id),
    )
    return ContainerLauncher(environment, options, check=clock.check, say=say)


def _npus() -> list[str]:
    """The NPUs that this process can see, by their device nodes."""
    return sorted(path.name for path in Path("/dev").glob("davinci[0-9]*"))


def lacks_npus(plan: RunPlan, environment: Mapping[str, str], clock: SignalClock, labels: Labels) -> str:
    """Why deploy.sh would see no NPU; empty when it would, and when it needs none."""
    if plan.settings.adapter is None or plan.settings.devices == "none" or plan.settings.mode == "eval":
        return ""
    if plan.settings.runtime == "container":
        return _container_launcher(plan, environment, clock, labels).lacks_npus()
    return "" if _npus() else "This container has no /dev/davinci<N>."


def _facts() -> dict[str, str]:
    machine = os.uname()
    return {
        "model-accuracy-eval": __version__,
        "python": sys.version.split()[0],
        "NPUs": ", ".join(_npus()) or "none seen",
        "system": f"{machine.sysname} {machine.release} {machine.machine}",
        "pid": str(os.getpid()),
    }
