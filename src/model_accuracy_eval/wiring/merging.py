"""The real folders of `merge`."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from model_accuracy_eval import merging, wiring
from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.rim.store import FolderStore


def merged(folders: Sequence[str], out: str) -> str:
    """The new folder that holds the replies of all shards."""
    folders = list(dict.fromkeys(str(Path(folder).resolve()) for folder in folders))
    if len(folders) < 2:
        raise BadReuse("Merging takes the folders of at least two shards.")
    run_id = os.urandom(16).hex()
    with ExitStack() as open_stores:
        parts = [_part(folder, open_stores) for folder in folders]
        merging.check(parts)
        store = FolderStore(str(Path(out) / run_id))
        open_stores.callback(store.close)
        merging.gather(parts, store, run_id=run_id)
        return store.root


def _part(folder: str, open_stores: ExitStack) -> merging.Part:
    store = wiring.kept_store(folder)
    open_stores.callback(store.close)
    settings, plan = wiring.kept_plan(folder)
    return merging.Part(store, settings, plan)
