"""What the user gave, to a command, a function or the action → the plan of a run."""

import os
import shlex
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from model_accuracy_eval.benchmarks import dataset_table
from model_accuracy_eval.errors import BadReuse, BadValue
from model_accuracy_eval.hubs.data_fetch import DataFetch
from model_accuracy_eval.ports import DataHub
from model_accuracy_eval.records import DataFile, DataRow, JSONObject, RunPlan, Settings
from model_accuracy_eval.report import endings
from model_accuracy_eval.run import build
from model_accuracy_eval.run.build import hub
from model_accuracy_eval.run.resolve import resolve, understood
from model_accuracy_eval.run.setting_values import merge, read, read_given, refuse_workflow_settings, yaml_values
from model_accuracy_eval.run_folder import kept_run, runfile, saved_plan
from model_accuracy_eval.run_folder.run_archive import FolderArchive, check_is_there
from model_accuracy_eval.run_folder.runfile import RUN_FILE
from model_accuracy_eval.scoring.metrics.user_functions import LOADER
from model_accuracy_eval.system.local_files import TaskFiles
from model_accuracy_eval.tasks import rows
from model_accuracy_eval.tasks.library import Library, columns_by_role
from model_accuracy_eval.trusted_python.trusted_functions import TrustedFunctions


def _ignore(*_: object) -> None:
    pass


def plan(
    values: Mapping[str, Any],
    environment: Mapping[str, str],
    source: str = "the arguments",
    *,
    trust_file: bool = True,
    adapter_tree: str = "",
    check: Callable[[], object] = _ignore,
    say: Callable[[str], object] = _ignore,
    previous: RunPlan | None = None,
) -> RunPlan:
    """The plan for settings by name; `config` names a YAML file, and all other values win over what it says.

    `source` is what errors call the place where the values were given. `trust_file`: whether the YAML file may decide
    everything, as it may for the user who names a file of their own. `adapter_tree`: hash of an adapter's files
    that were checked out, which says more than their folder. `check` and `say` are for fetching datasets
    that are named by their address: what is asked depends on their columns. `previous`: the plan of the run that is
    to be reused, where its folder has not been made yet.
    """
    flags = {name: value for name, value in values.items() if name != "config"}
    from_file = _file_layer(values.get("config"))
    if not trust_file:
        refuse_workflow_settings(from_file, str(values["config"]) if "config" in values else "")
    layer = {**from_file, **read(flags, source)}
    previous = previous or (saved(layer["reuse"]) if layer.get("reuse") else None)
    settings = merge(_inherited(previous, layer) if previous else {}, layer)
    if previous:
        refuse_untold(settings, layer, environment)
    _refuse_dataset_as_adapter(settings.adapter or "")
    resolved = resolve(
        settings,
        run_id=Path(layer["reuse"]).resolve().name if previous else os.urandom(16).hex(),
        stamp=time.strftime("%Y%m%d_%H%M%S"),
        library=library(settings, environment, check, say, keep_lock=trust_file),
    )
    if names := understood(resolved):
        say(names)
    same = previous is not None and previous.settings.adapter == resolved.settings.adapter
    tree = adapter_tree or (previous.adapter_tree if previous is not None and same else "")
    resolved = msgspec.structs.replace(resolved, adapter_tree=tree)
    if previous is None:
        return resolved
    saved_plan.check_same_questions(previous, resolved)
    lacks = previous.absent_shards if resolved.settings.mode == "eval" else ()
    return msgspec.structs.replace(resolved, absent_shards=lacks, unverified=previous.unverified)


def _refuse_dataset_as_adapter(adapter: str) -> None:
    """The argument of `run` is the adapter, and datasets are what people think of first."""
    known = dataset_table.canonical(adapter) is not None or adapter in dataset_table.GROUPS
    if (known and not Path(adapter).is_dir()) or Path(adapter).is_file():
        what = "dataset" if known else "file"
        raise BadValue(
            f"'{adapter}' is a {what}, and the adapter's folder is to stand there: run ADAPTER --model WEIGHTS "
            f"--datasets {adapter}, or, for a service that runs, run --endpoint URL --datasets {adapter}."
        )


def library(
    settings: Settings,
    environment: Mapping[str, str],
    check: Callable[[], object] = _ignore,
    say: Callable[[str], object] = _ignore,
    *,
    keep_lock: bool = True,
    source: DataHub | None = None,
) -> Library:
    """All tasks that a run with these settings can name. Functions of tasks that are trusted are loaded into processes
    of their own. `source`: where rows come from, if not from where a run takes them."""
    data_dir = settings.data_dir
    if data_dir and not Path(data_dir).is_dir():
        raise BadValue(f"There is no folder '{data_dir}', where --data-dir says that data files lie.")
    if settings.trust_python:
        LOADER.set(TrustedFunctions(environment))
    if source is None:
        fetch = None if settings.offline else DataFetch(environment, check=check, say=say)
        source = hub(environment, fetch=fetch, keep_lock=keep_lock)
    return Library(
        read_file=lambda path: next(source.parts(DataFile(name=path), data_dir)).content,
        files=TaskFiles(),
        folders=settings.tasks_path,
        trusted=settings.trust_python,
        read_split=lambda file: _split(file, data_dir, source),
        columns=columns_by_role(settings.columns),
    )


def _split(file: DataFile, data_dir: str | None, source: DataHub) -> tuple[tuple[str, ...], list[DataRow]]:
    found = rows.gathered(file, (), data_dir, source)
    return found.places, found.rows


def _file_layer(path: str | None) -> dict[str, Any]:
    """The settings of a YAML file; none where there is no file."""
    if not path:
        return {}
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadValue(f"The configuration file {path} cannot be read: {error}.") from error
    return read_given(yaml_values(text, path))


def saved(folder: str) -> RunPlan:
    """The newest plan in the folder of a run; it says so if what was asked and answered is not what the run left."""
    check_is_there(folder)
    archive = FolderArchive(folder)
    plan = saved_plan.newest(archive)
    doubts = dict.fromkeys([*plan.unverified, *kept_run.edited(archive)])
    return msgspec.structs.replace(plan, unverified=tuple(doubts))


def stopped_early(folder: Path) -> bool:
    """Whether datasets of the run were asked no further than was needed."""
    path = folder / RUN_FILE
    run = runfile.read_if_complete(path.read_bytes() if path.is_file() else None, str(folder))
    return run is not None and any(entry.part for entry in run.datasets.values())


def _inherited(previous: RunPlan, layer: Mapping[str, Any]) -> JSONObject:
    """The settings that continuing a run starts from. Its mode and its reuse belonged to that one command, and who
    goes on with a run that stopped when it was decided wants the rest."""
    folder = Path(layer["reuse"])
    settings = msgspec.structs.asdict(previous.settings)
    own = {"mode", "reuse"}
    if layer.get("mode") != "eval" and stopped_early(folder):
        own.add("stop_when_decided")
    inherited = {name: value for name, value in settings.items() if name not in own}
    return {**inherited, "out": str(folder.resolve().parent)}


def refuse_untold(settings: Settings, layer: Mapping[str, Any], environment: Mapping[str, str]) -> None:
    """Refuses to start what only the folder of a run names; `layer`: what was typed."""
    keys, _ = build.of_run(settings, environment)
    untold = endings.to_be_typed(
        settings,
        layer,
        asks=settings.mode != "eval",
        model_key=bool(keys.of("model")),
        judge_key=bool(keys.of("judge")),
    )
    if words := list(untold):
        raise BadReuse(
            "What starts programs or gets a key is never taken from the folder of a run, which may be anybody's. If "
            f"you trust what it names, type it again: {shlex.join(words)}."
        )
