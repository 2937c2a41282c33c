"""`diagnose --bisect`: the first commit, or the first image, of an adapter that answers otherwise than the good one."""

import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec

from model_accuracy_eval.commands.diagnose_service import asked, reason, serving
from model_accuracy_eval.commands.options import write
from model_accuracy_eval.diagnosis.bisection import Bisection, StepVerdict, read
from model_accuracy_eval.diagnosis.discriminating import (
    Apart,
    Case,
    SeenAnswer,
    cases,
    judge,
    told_apart,
    wrong,
    wrong_answers,
)
from model_accuracy_eval.errors import AdapterFailed, BadValue, Refused
from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import Service
from model_accuracy_eval.system.clock import SignalClock

_LOOKS = 2
"""At the good end, to know how often it contradicts itself."""
_UNDECIDED = 7
_SHOWN = 12
"""Characters of a commit."""

Serving = Callable[[str], AbstractContextManager[Service]]
"""By its name, for as long as it is asked."""


class SearchedLine(NamedTuple):
    """What is searched, the good one first."""

    titles: dict[str, str]
    """Name → what is told of it."""
    serve: Serving
    next_step: str
    """For the one that is found."""

    def said(self, name: str) -> str:
        return f"{name[:_SHOWN]} {self.titles[name]}" if self.titles[name] else name


@contextmanager
def line(adapter: str, words: str, given: Mapping[str, Any], clock: SignalClock) -> Iterator[SearchedLine]:
    """`words`: GOOD..BAD, or images in order with commas between them."""
    if "," in words:
        images = {name: "" for word in words.split(",") if (name := word.strip())}
        yield SearchedLine(
            images,
            lambda name: serving({**given, "runtime": "container", "adapter_image": name}, clock),
            "compare what was built into {}",
        )
        return
    good, *bad = words.split("..")
    if not bad:
        raise BadValue(f"--bisect takes GOOD..BAD, or images with commas between them, and no '{words}'.")
    top, inside = _git(adapter, "rev-parse", "--show-toplevel", "--show-prefix").split("\n")[:2]
    commits = [_git(adapter, "log", "-1", "--format=%H\t%s", good, "--")]
    commits += _git(adapter, "log", "--first-parent", "--reverse", "--format=%H\t%s", words, "--").splitlines()
    titles = dict(commit.strip().split("\t", 1) for commit in commits)
    if len(titles) < 2:
        raise BadValue(f"No commit of {adapter} is in {words}: the good one has to come first.")
    with tempfile.TemporaryDirectory(prefix="bisect-") as copy:
        _git(top, "clone", "--quiet", "--shared", "--no-checkout", top, copy)

        def serve(commit: str) -> AbstractContextManager[Service]:
            _git(copy, "checkout", "--quiet", "--force", "--detach", commit)
            _git(copy, "clean", "-ffdxq")
            return serving({**given, "adapter": str(Path(copy) / inside)}, clock)

        yield SearchedLine(titles, serve, f"git -C {adapter} show {{}}")


def _git(folder: str, *words: str) -> str:
    try:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603, S607
    except OSError as error:
        raise BadValue(f"git cannot be used in {folder}: {error.strerror}.") from error
    if done.returncode:
        reason = done.stderr.strip().splitlines() or [""]
        raise Refused(f"git {words[0]} failed in {folder}: {reason[-1].removeprefix('fatal: ')}", detail=done.stderr)
    return done.stdout


def bisect(adapter: str, words: str, state: str, given: Mapping[str, Any], clock: SignalClock) -> int:
    """Tells the first bad one, and returns the exit code. `state`: the file that keeps the search."""
    with line(adapter, words, given, clock) as of:
        search = Bisection(about=f"{adapter} with {given.get('model', 'no weights')}", names=tuple(of.titles))
        if Path(state).exists():
            search = read(Path(state).read_bytes(), state, search)
            for name, verdict in search.verdicts.items():
                click.echo(f"{verdict.state:4}  {of.said(name)}: {verdict.sentence} (kept in {state})")
        if not search.apart.cases:
            search = _with_ends(search, of, clock)
            if not search.apart.rates.are_apart:
                good, bad = (f"{100 * rate:.1f} %" for rate in search.apart.rates)
                rates = f": up to {good} of answers may be wrong at the good one, {bad} or more at the bad one"
                click.echo(
                    f"\nThe ends cannot be told apart{rates if search.apart.cases else ', as they answer alike'}.\n"
                    "Next: diagnose both, and see which probe fails at the bad one only."
                )
                return _UNDECIDED
            _keep(search, state)
        while (at := search.next) is not None:
            verdict = _judged(at, search, of, clock)
            search = search.judged(at, verdict)
            _keep(search, state)
            left = f" About {search.steps} more." if search.steps else ""
            click.echo(f"{verdict.state:4}  {of.said(at)}: {verdict.sentence}{left}")
    return _told(search, of)


def _with_ends(search: Bisection, of: SearchedLine, clock: SignalClock) -> Bisection:
    """Looks at both ends: right is what the good one says, and what the bad one says otherwise tells them apart."""

    async def good_look(subject: Subject) -> tuple[tuple[Case, ...], list[list[SeenAnswer]]]:
        everything = await cases(subject, is_right=True)
        return everything, [await wrong(subject, everything) for _ in range(_LOOKS)]

    async def bad_look(subject: Subject) -> Apart:
        return await told_apart(subject, everything, looks)

    good, bad = search.names[0], search.names[-1]
    with _end(good, of) as service:
        everything, looks = asked(service, clock, good_look)
    own = [wrong_answers(everything, each) for each in looks]
    count, total = sum(len(each.wrong) for each in own), sum(each.asked for each in own)
    if not total:
        raise AdapterFailed(f"The good end, {good}, answers no question twice alike.")
    click.echo(f"good  {of.said(good)}: {count} of {total} answers contradict its own.")
    with _end(bad, of) as service:
        apart = asked(service, clock, bad_look)
    shown = apart.seen.shown if apart.seen.wrong else f"none of {apart.seen.asked} answers is another one"
    click.echo(f"bad   {of.said(bad)}: {shown}.")
    found = search.judged(good, StepVerdict("good", "The good end.")).judged(bad, StepVerdict("bad", f"{shown}."))
    return msgspec.structs.replace(found, apart=apart)


@contextmanager
def _end(name: str, of: SearchedLine) -> Iterator[Service]:
    try:
        with of.serve(name) as service:
            yield service
    except AdapterFailed as failed:
        failed.sentence = f"An end of the search, {of.said(name)}, does not start: {failed.sentence}"
        raise


def _judged(name: str, search: Bisection, of: SearchedLine, clock: SignalClock) -> StepVerdict:
    async def look(subject: Subject) -> StepVerdict:
        judged = await judge(subject, search.apart, search.error)
        count, total = len(judged.answers.wrong), judged.answers.asked
        if judged.is_wrong is None:
            return StepVerdict("skip", f"It answered only {total} questions.")
        return StepVerdict("bad" if judged.is_wrong else "good", f"{count} of {total} answers are wrong.")

    try:
        with of.serve(name) as service:
            return asked(service, clock, look)
    except (AdapterFailed, Refused) as failed:
        return StepVerdict("skip", f"It does not start: {reason(failed)}")


def _keep(search: Bisection, state: str) -> None:
    """The whole file or the former one, whenever this program is ended."""
    write(f"{state}.new", msgspec.json.encode(search))
    Path(f"{state}.new").replace(state)


def _told(search: Bisection, of: SearchedLine) -> int:
    *others, first = search.open
    if others:
        click.echo(f"\nThe first bad one is one of {len(others) + 1}, as {len(others)} could not be judged:")
        for name in search.open:
            click.echo(f"  {of.said(name)}")
        return _UNDECIDED
    click.echo(f"\nFirst bad: {of.said(first)}. An innocent one is named in at most 1 of 20 searches.")
    click.echo(f"Next: {of.next_step.format(first[:_SHOWN] if of.titles[first] else first)}.")
    return 0
