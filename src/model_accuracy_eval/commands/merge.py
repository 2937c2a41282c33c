"""`merge`: one run of the replies of all shards, judged as any run that is judged again."""

import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from model_accuracy_eval.commands.options import given_settings, setting_options, told, unverified_option
from model_accuracy_eval.commands.run import evaluate
from model_accuracy_eval.errors import BadReuse, UsageError
from model_accuracy_eval.ports import Archive
from model_accuracy_eval.run import plan_parts
from model_accuracy_eval.run_folder import kept_run, shard_folders
from model_accuracy_eval.run_folder.run_archive import open_archive
from model_accuracy_eval.run_folder.run_folder import RunFolder, reopened
from model_accuracy_eval.run_folder.runfile import RUN_FILE
from model_accuracy_eval.run_folder.shard_folders import ShardFolder
from model_accuracy_eval.settings import SCORING_SETTINGS, VERDICT_SETTINGS


@click.command()
@click.argument("shards", nargs=-1, required=True)
@click.option("--out", default="outputs", show_default=True, help="Folder under which the merged run's folder is made.")
@click.option("--data-dir", help="Folder that is searched for data files; default: as the shards had it.")
@click.option("--allow-missing", is_flag=True, help="Count the samples of missing shards as lost.")
@unverified_option
@setting_options((*SCORING_SETTINGS, *VERDICT_SETTINGS, "trust_python", "sandbox"))
def merge(shards: tuple[str, ...], out: str, *, allow_missing: bool, unverified: bool, **values: Any) -> None:
    """Make one report of the runs of all shards (`run --shard r/W`): equal to that of a single run.

    SHARDS are folders of runs, or zips of them.
    """
    given = given_settings(values)
    run = merged(shards, out, given, allow_missing=allow_missing, unverified=unverified)
    try:
        evaluate({"mode": "eval", "reuse": run, **given})
    except UsageError:  # it cannot be judged, so it is no run; the shards are as they were
        shutil.rmtree(run)
        raise


def merged(
    runs: Sequence[str],
    out: str,
    given: Mapping[str, Any],
    *,
    allow_missing: bool = False,
    unverified: bool | None = None,
) -> str:
    """Makes a new run folder with the replies of all shards, each a folder or a zip of one; returns its path.

    `given`: settings that are not taken from the shards. `allow_missing`: some of these may be missing.
    `unverified`: as `kept_run.opened` has it. A shard that was cut off is merged with that doubt.
    """
    runs = list(dict.fromkeys(str(Path(run).resolve()) for run in runs))
    run_id = os.urandom(16).hex()
    with ExitStack() as open_stores:
        archives = [_opened(run, open_stores) for run in runs]
        kept = [told(kept_run.opened(archive, unverified=unverified, cut_off=True)) for archive in archives]
        shards = [ShardFolder(each.archive, each.plan()) for each in kept]
        shard_folders.check(shards, given, allow_missing=allow_missing)
        folder = str(Path(out) / run_id)
        # What cannot be judged so is refused before there is a folder, which would be left unfinished.
        values = {"mode": "eval", "reuse": folder, **given}
        plan = plan_parts.plan(values, os.environ, previous=shard_folders.merged_plan(shards, run_id))
        if plan.settings.baseline:
            open_archive(plan.settings.baseline)
        store = RunFolder(folder)
        open_stores.callback(store.close)
        try:
            shard_folders.gather(shards, store, run_id=run_id)
        except BaseException:  # part of a run is of no use
            shutil.rmtree(folder)
            raise
        return store.root


def _opened(run: str, open_stores: ExitStack) -> Archive:
    """A folder is locked meanwhile: its run must not go on."""
    if not Path(run).is_file():
        store = reopened(run)
        open_stores.callback(store.close)
        return store
    archive = open_archive(run)
    if archive.read(RUN_FILE) is None:
        raise BadReuse(f"'{run}' is not the zip of a run: it has no {RUN_FILE}.")
    return archive
