"""The only place where the outside world is put together: real ports, and the plan of what the user wrote."""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TextIO

from model_accuracy_eval import __version__
from model_accuracy_eval.config import inputs, kept
from model_accuracy_eval.config import plan as planning
from model_accuracy_eval.config.settings import Settings
from model_accuracy_eval.errors import BadReuse, BadValue, Refused
from model_accuracy_eval.ports import Chat, Launcher, MakeRows, Ports, Screen
from model_accuracy_eval.ports.sandbox import Sandbox
from model_accuracy_eval.records import DataFile, Patience, RunPlan, Service
from model_accuracy_eval.rim import proxies
from model_accuracy_eval.rim.adapter.process import ProcessLauncher
from model_accuracy_eval.rim.archive import open_archive
from model_accuracy_eval.rim.clock import SignalClock
from model_accuracy_eval.rim.containers.container import ContainerLauncher, ContainerOptions
from model_accuracy_eval.rim.containers.sweeping import Labels, sweep_orphans
from model_accuracy_eval.rim.hubs.hub import FileHub, cache_folder
from model_accuracy_eval.rim.hubs.warehouse import HubWarehouse
from model_accuracy_eval.rim.loop import run
from model_accuracy_eval.rim.python_tasks.functions import TrustedFunctions
from model_accuracy_eval.rim.python_tasks.rows import TrustedPython
from model_accuracy_eval.rim.screen import screen
from model_accuracy_eval.rim.secret import Secret
from model_accuracy_eval.rim.service.chat import connect
from model_accuracy_eval.rim.service.proxy import proxy_for
from model_accuracy_eval.rim.store import FolderStore
from model_accuracy_eval.rim.task_files import TaskFiles
from model_accuracy_eval.scoring.paths import LOADER
from model_accuracy_eval.tasks.library import Library

API_KEY = "MODEL_ACCURACY_EVAL_API_KEY"
JUDGE_KEY = "MODEL_ACCURACY_EVAL_JUDGE_KEY"


def plan(values: Mapping[str, Any], environment: Mapping[str, str]) -> tuple[RunPlan, str]:
    """What the command line says (`config` names a YAML file under it) → the plan, and the file that keeps it."""
    flags = {name: value for name, value in values.items() if name != "config"}
    given = {**file_layer(values.get("config")), **inputs.read(flags, "the command line")}
    old = _kept_run(given["reuse"]) if given.get("reuse") else None
    settings = inputs.merge(old[2] if old else {}, given)
    resolved = planning.resolve(
        settings,
        run_id=old[0].name if old else os.urandom(16).hex(),
        stamp=time.strftime("%Y%m%d_%H%M%S"),
        library=library(environment, settings.data_dir, settings.tasks_path, trusted=settings.trust_python),
    )
    if old:
        kept.check_same_questions(old[1], resolved)
    return resolved, kept.dump(settings, resolved)


def library(
    environment: Mapping[str, str], data_dir: str | None, folders: tuple[str, ...], *, trusted: bool
) -> Library:
    """All tasks that can be named. Functions of tasks that are trusted are loaded into processes of their own."""
    if trusted:
        LOADER.set(TrustedFunctions(environment))
    data = hub(environment)
    return Library(lambda path: data.read(DataFile(name=path), data_dir)[1], TaskFiles(), folders, trusted)


def trusted_python(environment: Mapping[str, str]) -> MakeRows:
    return TrustedPython(
        environment, {"UltraEval.tasks.postprocess": "model_accuracy_eval.tasks.ultraeval.postprocess"}
    )


def file_layer(path: str | None) -> dict[str, Any]:
    if not path:
        return {}
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadValue(f"The configuration file {path} cannot be read: {error}.") from error
    return inputs.read(inputs.yaml_values(text, path), path)


def _kept_run(folder: str) -> tuple[Path, RunPlan, dict[str, Any]]:
    """Folder, plan and settings of the run to go on with; the newest of its configs files counts."""
    run_folder = Path(folder).resolve()
    settings, plan = kept_plan(folder)
    # A run that went on is a run of its own kind only while it lasts: its mode and its reuse are not inherited.
    fields = {name: getattr(settings, name) for name in settings.__struct_fields__ if name not in {"mode", "reuse"}}
    return run_folder, plan, {**fields, "out": str(run_folder.parent)}


def kept_plan(folder: str) -> tuple[Settings, RunPlan]:
    """What the run in the folder was to do."""
    configs = sorted(Path(folder).resolve().glob("configs/*.py"))
    if not configs:
        raise BadReuse(f"'{folder}' is no run that could be reused: it has no configs/*.py.")
    return kept.load(configs[-1].read_text(encoding="utf-8"), str(configs[-1]))


def kept_store(folder: str) -> FolderStore:
    """The folder of a run that is there."""
    if not (Path(folder) / "run.json").is_file():
        raise BadReuse(f"'{folder}' is no folder of a run: it has no run.json.")
    return FolderStore(folder)


def hub(environment: Mapping[str, str]) -> FileHub:
    proxies.check(environment)
    return FileHub(environment)


def ports(
    plan: RunPlan,
    environment: Mapping[str, str],
    clock: SignalClock,
    progress: TextIO = sys.stderr,
    *,
    model_token: Secret | None = None,
    labels: Labels | None = None,
    watched: Callable[[Screen], Screen] = lambda teller: teller,
) -> Ports:
    """Everything real; `progress` is where people are told how far things are, `watched` may put a screen before it."""
    teller = watched(screen(progress, clock.elapsed))

    def connect_with_key(service: Service, patience: Patience) -> Chat:
        # Neither of the two services gets to see the other's key.
        key = environment.get(JUDGE_KEY if service.base_url == plan.judge_endpoint else API_KEY)
        return connect(service, patience, api_key=key, proxy=proxy_for(service.base_url, environment))

    return Ports(
        connect=connect_with_key,
        launcher=_launcher(plan, environment, clock, labels),
        hub=hub(environment),
        make_rows=trusted_python(environment),
        open_sandbox=lambda: _open_sandbox(plan, environment, labels),
        warehouse=HubWarehouse(
            environment,
            plan.weights_dir or str(cache_folder(environment) / "weights"),
            token=model_token or _hub_token(plan, environment),
            check=clock.check,
            say=teller.say,
        ),
        open_store=FolderStore,
        open_archive=open_archive,
        run_async=run,
        clock=clock,
        screen=teller,
        facts=_facts(),
    )


def _open_sandbox(plan: RunPlan, environment: Mapping[str, str], labels: Labels | None) -> Sandbox:
    from model_accuracy_eval.rim.sandbox.opening import IMAGE, open_sandbox  # noqa: PLC0415 - most runs judge no code

    return open_sandbox(plan.sandbox, environment, image=plan.sandbox_image or IMAGE, labels=labels)


def _launcher(plan: RunPlan, environment: Mapping[str, str], clock: SignalClock, labels: Labels | None) -> Launcher:
    if plan.runtime == "process":
        return ProcessLauncher(environment, check=clock.check)
    # One that a killed run left behind would hold the port. Without an engine, the launcher itself objects.
    with contextlib.suppress(Refused):
        sweep_orphans(labels or Labels(repository=""), environment)
    return _container_launcher(plan, environment, clock, labels)


def _container_launcher(
    plan: RunPlan, environment: Mapping[str, str], clock: SignalClock, labels: Labels | None
) -> ContainerLauncher:
    options = ContainerOptions(
        image=plan.adapter_image or "", devices=plan.devices, labels=labels or Labels(repository="", run_id=plan.run_id)
    )
    return ContainerLauncher(environment, options, check=clock.check)


def _hub_token(plan: RunPlan, environment: Mapping[str, str]) -> Secret:
    """The variable that the hub's own tools read."""
    name = "MODELSCOPE_API_TOKEN" if (plan.model or "").startswith("ms:") else "HF_TOKEN"
    return Secret(environment.get(name, ""), name)


def _npus() -> list[str]:
    """The NPUs that this process can see, by their device nodes."""
    return sorted(path.name for path in Path("/dev").glob("davinci[0-9]*"))


def lacks_npus(plan: RunPlan, environment: Mapping[str, str], clock: SignalClock, labels: Labels) -> str:
    """Why deploy.sh would see no NPU; empty when it would, and when it needs none."""
    if plan.adapter is None or plan.devices == "none":
        return ""
    if plan.runtime == "container":
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


def example_adapter() -> Path:
    """The bundled adapter: inside the package when it is installed from a wheel, beside it in a checkout."""
    package = Path(__file__).parent.parent
    places = [package / "example_adapter", package.parent.parent / "example-adapter"]
    for place in places:
        if (place / "deploy.sh").is_file():
            return place
    raise BadValue(f"The example adapter is not installed; looked at {' and '.join(map(str, places))}.")
