"""The folders of a run's shards: which of them make up one run, and all their replies in a folder of their own."""

import contextlib
import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.ports import Archive, Store
from model_accuracy_eval.records import RunPlan, Settings, Shard
from model_accuracy_eval.run_folder import journal, manifest, predictions, runfile, saved_plan
from model_accuracy_eval.run_folder.manifest import MANIFEST
from model_accuracy_eval.run_folder.run_archive import FolderArchive
from model_accuracy_eval.run_folder.runfile import RUN_FILE, RunFile
from model_accuracy_eval.run_folder.saved_plan import sampling_change
from model_accuracy_eval.scoring.figures import run_speed
from model_accuracy_eval.scoring.verdicts import gate_lines
from model_accuracy_eval.settings import SCORING_SETTINGS, VERDICT_SETTINGS
from model_accuracy_eval.system import local_files

_JOURNALS = (journal.file, journal.failures_file, predictions.findings_file)
"""What a run appends to, by label and dataset: replies, samples without one, and judgements."""
_ENDED = ("complete", "passed", "failed", "undecided")


@dataclass(frozen=True, slots=True)
class ShardFolder:
    """The folder of one shard or a zip of it, and its plan."""

    store: Archive
    plan: RunPlan

    @property
    def shard(self) -> Shard:
        if self.plan.shard is None:
            raise BadReuse(
                f"'{self.store.root}' is not a shard: it was run without --shard, or is merged already. Give all "
                "shards of one run, each once."
            )
        return self.plan.shard

    def run(self) -> RunFile | None:
        return runfile.read_if_complete(self.store.read(RUN_FILE), self.store.root)


def gather(shards: Sequence[ShardFolder], store: Store, *, run_id: str) -> None:
    """Fills the new run's folder from checked shards: their journals, the plan of the whole run and its `run.json`."""
    shards = sorted(shards, key=lambda each: each.shard.index)
    asked, plan = _asked(shards), merged_plan(shards, run_id)
    names = [name(plan.settings.label, task.name) for task in plan.tasks for name in _JOURNALS]
    for name in names:
        for each in shards:
            for line in each.store.lines(name):
                store.append(name, line)
    for each in shards:
        for name in filter(journal.is_media_file, each.store.names()):
            store.write(name, each.store.read(name) or b"")
    run_file = asked[0].store.read(RUN_FILE)
    if run_file is not None:
        speeds = [run.speed for each in asked if (run := each.run()) and run.speed]
        measured = run_speed.of_shards(speeds) if len(speeds) == len(asked) else None
        store.write(RUN_FILE, msgspec.json.encode({**msgspec.json.decode(run_file), "speed": measured}))
    store.write(f"configs/{plan.stamp}_merged.py", saved_plan.dump(plan).encode())
    store.write(MANIFEST, manifest.as_text(store.names(), store.parts))


def merged_plan(shards: Sequence[ShardFolder], run_id: str) -> RunPlan:
    """The plan of the whole run, as a shard that asked somebody had it."""
    plan = _whole_plan(_asked(shards)[0].plan)
    doubts = dict.fromkeys(doubt for each in shards for doubt in each.plan.unverified)
    return msgspec.structs.replace(plan, run_id=run_id, absent_shards=_absent(shards), unverified=tuple(doubts))


def _asked(shards: Sequence[ShardFolder]) -> Sequence[ShardFolder]:
    """Those that asked somebody, the first one first; else all."""
    shards = sorted(shards, key=lambda each: each.shard.index)
    return [each for each in shards if (run := each.run()) and run.service] or shards


def check(shards: Sequence[ShardFolder], given: Collection[str] = (), *, allow_missing: bool = False) -> None:
    """Refuses anything but all shards of one run, each once, that asked the same of the same model.

    They must agree on what figures and verdict hang on, too, unless it is `given` anew. `allow_missing`: some of them
    may be missing.
    """
    roots: dict[Shard, str] = {}
    for each in shards:
        if each.shard in roots:
            raise BadReuse(
                f"'{roots[each.shard]}' and '{each.store.root}' are both the shard {each.shard}: give one of them."
            )
        roots[each.shard] = each.store.root
    names = [str(each.shard) for each in shards]
    expected = _names(shards[0].shard.count)
    complete = set(names) == set(expected) or (allow_missing and set(names) <= set(expected))
    if not complete:
        found = f"A run of {len(expected)} shards is merged from {', '.join(expected)}, but there are"
        cure = "" if set(names) >= set(expected) else " With --allow-missing, the samples of a missing one are lost."
        raise BadReuse(f"{found} {', '.join(sorted(names))}.{cure}")
    for each in shards[1:]:
        saved_plan.check_same_questions(_whole_plan(shards[0].plan), _whole_plan(each.plan))
    _check_answers(shards)
    _check_verdicts(shards, given)


def _names(count: int) -> list[str]:
    return [str(Shard(index=index, count=count)) for index in range(count)]


def _absent(shards: Sequence[ShardFolder]) -> tuple[str, ...]:
    """Names of the shards that are missing; among those, also the ones that had not come to their end."""
    if len(shards) == shards[0].shard.count:
        return ()
    ended = {str(each.shard) for each in shards if (run := each.run()) and run.status in _ENDED}
    return tuple(f"the shard {name}" for name in _names(shards[0].shard.count) if name not in ended)


def _check_verdicts(shards: Sequence[ShardFolder], given: Collection[str]) -> None:
    """Refuses shards of which the first one would decide how the merged run is judged, or what it has to reach."""
    first, *others = shards
    for name in (name for name in (*SCORING_SETTINGS, *VERDICT_SETTINGS) if name not in given):
        asked = _verdict_setting(first.plan.settings, name)
        for shard in others:
            if (other := _verdict_setting(shard.plan.settings, name)) != asked:
                option = f"--{name.replace('_', '-')}"
                raise BadReuse(
                    f"'{first.store.root}' was run with {_shown(option, asked)}, and '{shard.store.root}' with "
                    f"{_shown(option, other)}: say what holds for the merged run, with merge {option}."
                )


def _verdict_setting(settings: Settings, name: str) -> object:
    """Gates are the same in whatever order and spacing they stand."""
    if name != "gate":
        return getattr(settings, name)
    return tuple(sorted(str(gate) for line in settings.gate for gate in gate_lines.parse(line)))


def _shown(option: str, value: object) -> str:
    if value in (None, (), False):
        return f"no {option}"
    return " ".join(f"{option} '{each}'" for each in (value if isinstance(value, tuple) else (value,)))


def _whole_plan(plan: RunPlan) -> RunPlan:
    """The plan of the run that the shard is a part of."""
    return msgspec.structs.replace(plan, shard=None).with_settings(shard=None, reuse=None, mode="all")


def _check_answers(shards: Sequence[ShardFolder]) -> None:
    """Refuses shards that asked different models or about different data; one that asked nobody fits every other."""
    runs = [(each.store.root, run) for each in shards if (run := each.run()) and run.service]
    if not runs:
        return
    first_root, first = runs[0]
    questions = {name: entry.questions for name, entry in first.datasets.items()}
    for root, run in runs[1:]:
        if run.model != first.model:
            raise BadReuse(f"'{root}' asked the model '{run.model}', but '{first_root}' asked '{first.model}'.")
        if change := sampling_change(first.sampling_facts, run.sampling_facts):
            raise BadReuse(f"'{root}' and '{first_root}' are not shards of one run. {change}")
        if {name: entry.questions for name, entry in run.datasets.items()} != questions:
            raise BadReuse(f"'{root}' and '{first_root}' have different data, so they are not shards of one run.")
        # A branch, a tag or a hub may have moved between the jobs of two shards.
        if run.identity != first.identity:
            raise BadReuse(
                f"Shards of one run are about the same, but '{first_root}' is about {first.identity.line}; '{root}' is "
                f"about {run.identity.line}."
            )


# Shards as the jobs of a matrix.


def newest(folder: str) -> dict[str, Path]:
    """The newest run of each shard below the folder: a job that was run again leaves an artifact of each attempt.

    An attempt goes on from the one before, so it has at least as many answers; clocks of two machines may disagree.
    """
    found: dict[str, tuple[int, str, Path]] = {}
    for run in sorted(path.parent for path in Path(folder).rglob(RUN_FILE)):
        with contextlib.suppress(BadReuse):
            plan = saved_plan.newest(FolderArchive(str(run)))
            if plan.shard is not None:
                found[str(plan.shard)] = max(found.get(str(plan.shard), (0, "", run)), (_answers(run), plan.stamp, run))
    return {shard: run for shard, (_, _, run) in sorted(found.items())}


def _answers(run: Path) -> int:
    files = (path for path in run.glob("predictions/*/*.jsonl") if not path.stem.endswith(_NO_REPLIES))
    return sum(block.count(b"\n") for path in files for block in local_files.parts(path))


_NO_REPLIES = ("_failed", "_findings", "_pictures")
"""Ends of the names of other files beside the replies."""


def earlier_attempt(folder: str, shard: str, out: str) -> str | None:
    """A copy of what an earlier attempt of this shard has left, to go on with; None if there is nothing."""
    run = newest(folder).get(shard)
    content = (run / RUN_FILE).read_bytes() if run else None
    if run is None or runfile.read_if_complete(content, str(run)) is None:
        return None
    target = Path(out) / runfile.read(content, str(run)).run_id
    shutil.copytree(run, target, dirs_exist_ok=True)
    return str(target)
