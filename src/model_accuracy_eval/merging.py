"""`merge SHARD…`: the replies of all shards in one folder, which is then judged as any run that was kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from model_accuracy_eval.config import kept
from model_accuracy_eval.config.settings import Settings
from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.ports import Store
from model_accuracy_eval.records import RunPlan
from model_accuracy_eval.reporting import journal, runfile
from model_accuracy_eval.stages.publish import RUN_FILE


@dataclass(frozen=True, slots=True)
class Part:
    """The folder of one shard, and what it was to do."""

    store: Store
    settings: Settings
    plan: RunPlan


def gather(parts: Sequence[Part], store: Store, *, run_id: str) -> None:
    """Fills the new run's folder from shards that were checked: their journals, the plan of the whole, who answered."""
    first = parts[0]
    settings = msgspec.structs.replace(first.settings, shard=None, reuse=None, mode="all")
    plan = msgspec.structs.replace(first.plan, shard=None, run_id=run_id)
    for task in plan.tasks:
        for name in (journal.file(plan.label, task.name), journal.failures_file(plan.label, task.name)):
            lines = b"".join(part.store.read(name) or b"" for part in parts)
            if lines:
                store.append(name, lines)
    store.write(RUN_FILE, first.store.read(RUN_FILE) or b"{}")
    store.write(f"configs/{plan.stamp}_merged.py", kept.dump(settings, plan).encode())


def check(parts: Sequence[Part]) -> None:
    """All shards of one run, each once, that asked the same of the same model."""
    whole = {part.store.root: part.plan.shard for part in parts}
    alone = [root for root, shard in whole.items() if shard is None]
    if alone:
        raise BadReuse(f"'{alone[0]}' is no shard: it was run without --shard.")
    count = parts[0].plan.shard.count if parts[0].plan.shard else 0
    found = sorted(str(shard) for shard in whole.values())
    wanted = sorted(f"{index}/{count}" for index in range(count))
    if found != wanted:
        raise BadReuse(f"A run of {count} shards is merged of {', '.join(wanted)}, but there are {', '.join(found)}.")
    first = msgspec.structs.replace(parts[0].plan, shard=None)
    for part in parts[1:]:
        kept.check_same_questions(first, msgspec.structs.replace(part.plan, shard=None))
    _check_answers([runfile.kept(part.store.read(RUN_FILE) or b"{}") for part in parts], list(whole))


def _check_answers(found: Sequence[dict[str, Any]], roots: Sequence[str]) -> None:
    """Nobody mixed data or models between the shards."""
    for root, one in zip(roots[1:], found[1:], strict=True):
        if one.get("model") != found[0].get("model"):
            raise BadReuse(
                f"'{root}' asked the model '{one.get('model')}', but '{roots[0]}' asked '{found[0].get('model')}'."
            )
        hashes = [
            {name: told["questions"] for name, told in run.get("datasets", {}).items()} for run in (found[0], one)
        ]
        if hashes[0] != hashes[1]:
            raise BadReuse(f"'{root}' and '{roots[0]}' were asked of different data, so they are no shards of one run.")
