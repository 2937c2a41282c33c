"""The one door to a run that is kept: its reader gets the files that the run left, or is told which are others.

Figures come from `configs/`, `predictions/`, `results/` and `run.json`. Each of these files has to be as the manifest
says, and none may have been added. Pages and logs are for people; `verify` looks at them too.
"""

import shlex
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.ports import Archive
from model_accuracy_eval.records import Outcome, Report, RunPlan
from model_accuracy_eval.records.base import filled
from model_accuracy_eval.run_folder import manifest, results, runfile, saved_plan
from model_accuracy_eval.run_folder.manifest import MANIFEST
from model_accuracy_eval.run_folder.runfile import RUN_FILE, RunFile
from model_accuracy_eval.scoring.figures.notes import unverified_result

_FIGURES = ("configs/", "predictions/", "results/")
_NAMED = 3
"""Files that a sentence names."""


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run that was opened here. `doubts`: why nobody can say that its files are those that it left."""

    archive: Archive
    doubts: tuple[str, ...] = ()

    def run(self) -> RunFile:
        return runfile.read(self.archive.read(RUN_FILE), self.archive.root)

    def plan(self) -> RunPlan:
        plan = saved_plan.newest(self.archive)
        return msgspec.structs.replace(plan, unverified=tuple(dict.fromkeys([*plan.unverified, *self.doubts])))

    def report(self) -> Report:
        """The report from the files of the folder; nobody is asked, no reply is judged. It says what is in doubt."""
        run, plan = self.run(), self.plan()
        if run.status == "running":
            raise BadReuse(f"The run '{self.archive.root}' is still running, so there is no report of it.")
        judged = (results.dataset_result(self.archive, run.label, name) for name in run.judged)
        return filled(
            Report,
            run,
            plan=plan,
            outcome=filled(Outcome, run, conclusion=run.status, folder=self.archive.root),
            datasets=(),
            dataset_results=tuple(unverified_result(result, plan.unverified) for result in judged),
            gates=tuple(entry.result() for entry in run.gates),
            service=run.service,
            tail_seconds=None if run.tail_seconds is msgspec.UNSET else run.tail_seconds,
            answered_before=run.answered_before or 0,
            replicas=run.replicas or (),
        )


class _Fault(NamedTuple):
    """Why nothing says that the files are those that the run left, and what to do about it."""

    doubt: str
    cure: str
    next_step: str
    cut_off: bool = False


def opened(
    archive: Archive, *, unverified: bool | None = None, cut_off: bool = False, also: Collection[str] = ()
) -> KeptRun:
    """The run, if its files are those that it left.

    `unverified`: whether to go on if they are not, which is a doubt then; None: the reader offers no such thing.
    `cut_off`: a run that came to no end, and so has no manifest yet, may be read, with that doubt. `also`: further
    files that are shown.
    """
    source = archive.read(RUN_FILE)
    run = runfile.read_if_complete(source, archive.root) if source is not None else runfile.read(None, archive.root)
    stated = archive.read(MANIFEST)
    fault: _Fault | None = None
    if stated is None:
        fault = _without_manifest(run, archive.root)
    else:
        found = _differences(archive, stated, lambda name: _has_figures(name) or name in also)
        fault = _altered(found, archive.root) if found else None
    if fault and not unverified and not (cut_off and fault.cut_off):
        offer = "" if unverified is None else " --unverified goes on all the same, and says so in all that it makes."
        raise BadReuse(f"{fault.doubt}: {fault.cure}.{offer}", next_step=fault.next_step)
    return KeptRun(archive, (*((run and run.unverified) or ()), *([fault.doubt] if fault else [])))


def edited(archive: Archive) -> tuple[str, ...]:
    """What a run that goes on has to say of itself: what it was asked and answered is not as it left it, or nobody can
    say so.

    Its results are made anew, and one that was cut off has no manifest yet.
    """
    stated = archive.read(MANIFEST)
    if stated is None:
        fault = _without_manifest(runfile.read_if_complete(archive.read(RUN_FILE), archive.root), archive.root)
        return () if fault.cut_off else (fault.doubt,)
    found = _differences(
        archive, stated, lambda name: _has_figures(name) and (name == RUN_FILE or not name.endswith(".json"))
    )
    return (_altered(found, archive.root).doubt,) if found else ()


def _has_figures(name: str) -> bool:
    """Nobody reads what file managers and editors leave beside these."""
    return name == RUN_FILE or (name.startswith(_FIGURES) and name.endswith((".py", ".json", ".jsonl")))


def _differences(archive: Archive, stated: bytes, counts: Callable[[str], bool]) -> manifest.Differences:
    hashes = {name: sha256 for name, sha256 in manifest.parse(stated).items() if counts(name)}
    return manifest.differences(hashes, filter(counts, archive.names()), archive.parts)


def _without_manifest(run: RunFile | None, root: str) -> _Fault:
    if run is None or run.status == "running":
        doubt = f"The run '{root}' did not come to its end, so that no {MANIFEST} says what it left"
        return _Fault(doubt, *_going_on(root, "go on with it by"), cut_off=True)
    doubt = (
        f"The run '{root}' ended as {run.status} and has no {MANIFEST}, because that could not be written or somebody "
        "removed it"
    )
    return _Fault(doubt, *_going_on(root, "judge its replies again by", "--mode", "eval"))


def _altered(found: manifest.Differences, root: str) -> _Fault:
    names = [*found.changed, *found.missing, *found.added]
    shown = "; ".join([*found.sentences()][:_NAMED]) + ("; …" if len(names) > _NAMED else "")
    files = "1 of its files differs" if len(names) == 1 else f"{len(names)} of its files differ"
    doubt = f"'{root}' is not what its run left: {files} from {MANIFEST} ({shown})"
    if all(name.startswith("results/") for name in names):
        return _Fault(doubt, *_going_on(root, "judge its replies, which it left so, again by", "--mode", "eval"))
    command = ["model-accuracy-eval", "verify", root]
    return _Fault(doubt, "look for a copy that is whole; `verify` names every file", shlex.join(command))


def _going_on(root: str, verb: str, *mode: str) -> tuple[str, str]:
    """What to do, and the command where it can be typed as it is: a zip has to be unpacked first."""
    words = ["run", *mode, "--reuse", root]
    if root.endswith(".zip"):
        return f"unpack it, and {verb} {' '.join(words[:-1])} with its folder", ""
    return f"{verb} {' '.join(words)}", shlex.join(["model-accuracy-eval", *words])
