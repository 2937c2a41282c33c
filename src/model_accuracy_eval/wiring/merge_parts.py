"""Opens the folders and zips for `merge`."""

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from model_accuracy_eval import merge, wiring
from model_accuracy_eval.errors import BadReuse, PublishFailed
from model_accuracy_eval.ports import Archive
from model_accuracy_eval.run import plan_parts
from model_accuracy_eval.run_folder.run_folder import RunFolder
from model_accuracy_eval.run_folder.runfile import RUN_FILE


def merged(runs: Sequence[str], out: str, given: Mapping[str, Any], *, allow_missing: bool = False) -> str:
    """Makes a new run folder with the replies of all shards, each a folder or a zip of one; returns its path.

    `given`: settings that are not taken from the shards. `allow_missing`: some of these may be missing.
    """
    runs = list(dict.fromkeys(str(Path(run).resolve()) for run in runs))
    run_id = os.urandom(16).hex()
    with ExitStack() as open_stores:
        shards = [_shard(run, open_stores) for run in runs]
        merge.check(shards, given, allow_missing=allow_missing)
        merge.check_samples(shards)
        folder = str(Path(out) / run_id)
        # What cannot be judged so is refused before there is a folder, which would be left unfinished.
        values = {"mode": "eval", "reuse": folder, **given}
        plan = plan_parts.plan(values, os.environ, previous=merge.merged_plan(shards, run_id))
        if plan.settings.baseline:
            wiring.run_archive(plan.settings.baseline)
        store = RunFolder(folder)
        open_stores.callback(store.close)
        try:
            merge.gather(shards, store, run_id=run_id)
        except BaseException as error:  # part of a run is of no use
            shutil.rmtree(folder)
            if isinstance(error, PublishFailed):  # most often the disk is full
                error.next_step = shlex.join(["df", "-h", str(Path(folder).parent)])
            raise
        return store.root


def _shard(run: str, open_stores: ExitStack) -> merge.ShardFolder:
    archive = _opened(run, open_stores)
    if archive.read(RUN_FILE) is None:
        raise BadReuse(
            f"'{run}' is not the zip of a run: it has no {RUN_FILE}.", next_step=shlex.join(["unzip", "-l", run])
        )
    return merge.ShardFolder(archive, plan_parts.saved_in(archive))


def _runs_near(place: Path) -> str:
    """A command that finds the runs below the folder, or below the nearest one that is there."""
    folder = next(each for each in (place, *place.parents) if each.is_dir())
    return shlex.join(["find", str(folder), "-maxdepth", "3", "-name", RUN_FILE, "-o", "-name", "*.zip"])


def _opened(run: str, open_stores: ExitStack) -> Archive:
    """A folder is locked meanwhile: its run must not go on."""
    if Path(run).is_file():
        return wiring.run_archive(run)
    if not Path(run).exists():
        raise BadReuse(f"There is no shard at '{run}'.", next_step=_runs_near(Path(run)))
    if not (Path(run) / RUN_FILE).is_file():
        sentence = f"'{run}' is not the folder of a run: it has no {RUN_FILE}."
        raise BadReuse(sentence, next_step=_runs_near(Path(run)))
    store = wiring.run_folder(run)
    open_stores.callback(store.close)
    return store
