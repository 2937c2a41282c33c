"""`merge SHARD…`: copies the replies of all shards into one folder, which is then judged like any saved run."""

import shlex
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import msgspec

from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.ports import Archive, Store
from model_accuracy_eval.records import RunPlan, Settings, Shard, TaskSpec
from model_accuracy_eval.report.remarks import sampling_change
from model_accuracy_eval.run import resolve
from model_accuracy_eval.run_folder import journal, predictions, runfile, saved_plan
from model_accuracy_eval.run_folder.runfile import RUN_FILE, RunFile
from model_accuracy_eval.settings import SCORING_SETTINGS, VERDICT_SETTINGS

_JOURNALS = (journal.file, journal.failures_file, predictions.findings_file)
"""What a run appends to, by label and dataset: replies, samples without one, and judgements."""
_ENDED = ("complete", "passed", "failed", "undecided")
_FACTS = ("adapter", "weights")
"""What a branch or a hub may move between the jobs of two shards."""


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
                "shards of one run, each once.",
                next_step=shlex.join(["model-accuracy-eval", "report", self.store.root]),
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
    run_file = asked[0].store.read(RUN_FILE)
    if run_file is not None:
        store.write(RUN_FILE, run_file)
    store.write(f"configs/{plan.stamp}_merged.py", saved_plan.dump(plan).encode())


def merged_plan(shards: Sequence[ShardFolder], run_id: str) -> RunPlan:
    """The plan of the whole run, as a shard that asked somebody had it."""
    plan = _whole_plan(_asked(shards)[0].plan)
    return msgspec.structs.replace(plan, run_id=run_id, absent_shards=_absent(shards))


def _asked(shards: Sequence[ShardFolder]) -> Sequence[ShardFolder]:
    """Those that asked somebody, the first one first; else all."""
    shards = sorted(shards, key=lambda each: each.shard.index)
    return [each for each in shards if (run := each.run()) and run.service] or shards


def check(shards: Sequence[ShardFolder], given: Collection[str] = (), *, allow_missing: bool = False) -> None:
    """Refuses anything but all shards of one run, each once, that asked the same of the same model.

    They must agree on what figures and verdict hang on, too, unless it is `given` anew. `allow_missing`: some of them
    may be missing.
    """
    _check_once(shards)
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


def _check_once(shards: Sequence[ShardFolder]) -> None:
    roots: dict[Shard, str] = {}
    for each in shards:
        if each.shard in roots:
            others = [one.store.root for one in shards if one is not each]
            raise BadReuse(
                f"'{roots[each.shard]}' and '{each.store.root}' are both the shard {each.shard}: give one of them.",
                next_step=shlex.join(["model-accuracy-eval", "merge", *others]),
            )
        roots[each.shard] = each.store.root


def check_samples(shards: Sequence[ShardFolder]) -> None:
    """Refuses replies that a run never leaves: unreadable ones, and samples that are there twice or were not asked for.

    Counted twice, a problem would make the figures surer than they are.
    """
    for task in shards[0].plan.tasks:
        n = shards[0].plan.sampling.of(task).n
        seen: set[tuple[int, int]] = set()
        for each in shards:
            name = journal.file(each.plan.settings.label, task.name)
            for number, line in enumerate(each.store.lines(name), start=1):
                problem, index = _sample(line, each, name, number)
                if not is_of_shard(problem, task, each.shard):
                    reason = f"of problem {problem}, which the shard {each.shard} was not asked"
                    raise _unfit(each, name, number, reason)
                if index not in range(n):
                    reason = f"sample {index} of problem {problem}, but each has {n}, counted from 0"
                    raise _unfit(each, name, number, reason)
                if (problem, index) in seen:
                    raise _unfit(each, name, number, f"sample {index} of problem {problem} for the second time")
                seen.add((problem, index))
            failures = journal.failures_file(each.plan.settings.label, task.name)
            for number, line in enumerate(each.store.lines(failures), start=1):
                _sample(line, each, failures, number)


def is_of_shard(problem: int, task: TaskSpec, shard: Shard) -> bool:
    """Problems have the numbers of their places before the slice, of which a shard has every W-th."""
    place, rest = divmod(problem - task.slice.start, task.slice.step)
    return place >= 0 and not rest and place % shard.count == shard.index


def _sample(line: bytes, shard: ShardFolder, name: str, number: int) -> tuple[int, int]:
    try:
        return journal.key(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _unfit(shard, name, number, f"no sample ({error})") from error


def _unfit(shard: ShardFolder, name: str, number: int, reason: str) -> BadReuse:
    root = shard.store.root
    return BadReuse(
        f"Line {number} of '{root}/{name}' is {reason}. A run leaves no such line: take it out of the shard's folder; "
        f"what is missing then is asked again by run --reuse {root}.",
        next_step=shlex.join(["unzip", root, "-d", f"{root}.folder"])
        if root.endswith(".zip")
        else shlex.join(["sed", "-i", f"{number}d", f"{root}/{name}"]),
    )


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
    return tuple(sorted(map(str, resolve.parsed(settings))))


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
    for root, run in runs[1:]:
        first_root, first = runs[0]
        if run.model != first.model:
            raise BadReuse(f"'{root}' asked the model '{run.model}', but '{first_root}' asked '{first.model}'.")
        if change := sampling_change(first.sampling_facts, run.sampling_facts):
            raise BadReuse(f"'{root}' and '{first_root}' are not shards of one run. {change}")
        if _questions(run) != _questions(first):
            raise BadReuse(f"'{root}' and '{first_root}' have different data, so they are not shards of one run.")
    for fact in _FACTS:
        _check_fact(fact, [(root, run.environment[fact]) for root, run in runs if fact in run.environment])


def _check_fact(fact: str, values: Iterable[tuple[str, str]]) -> None:
    roots = {value: root for root, value in values}
    if len(roots) > 1:
        found = "; ".join(f"'{root}' has {fact}: {value}" for value, root in roots.items())
        raise BadReuse(f"Shards of one run ask the same {fact}, but {found}.")


def _questions(run: RunFile) -> dict[str, str]:
    """Hashes of the questions, by dataset."""
    return {name: entry.questions for name, entry in run.datasets.items()}
