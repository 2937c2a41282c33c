"""The fork server: a Python that is up already, and makes the processes of one job after the other.

It runs as the first process of its pid namespace where there is one. It reads neither code nor tests: only the
children do, so that nothing of one job is in the memory that the next one is forked from. Its word to the host is
one message a job; a job that leaves anything behind is `clean: false`, and the host then throws this server away.
"""

import gc
import os
import random
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from model_accuracy_eval.rim.sandbox.inside import foreign, judge, libraries, program, together
from model_accuracy_eval.rim.sandbox.inside.endings import death, memory_kills
from model_accuracy_eval.rim.sandbox.inside.frames import Gone, TooLarge, receive, send, take
from model_accuracy_eval.rim.sandbox.inside.jail import Bounds, confine, fork, settle, silence
from model_accuracy_eval.rim.sandbox.inside.job import Material, Order, Pipes, Watch
from model_accuracy_eval.rim.sandbox.inside.kernel import Kernel
from model_accuracy_eval.rim.sandbox.inside.leftovers import Ended, nobody_left, nothing_left

_START_LIMIT = 20.0
"""Seconds for the judge to say that it is there; it does nothing before."""
_END_LIMIT = 1.0
"""Seconds for a process to end whose connection is closed already."""
_MOMENT = 0.05

Answer = list[Any]
"""Verdict, detail, and the checks that were made, if any."""


class Server:
    """`settings`: folder, places, sweep, uid, judge_uid, preload, tools, own_processes (None: not counted)."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        # A namespace of processes never comes without one of the network.
        self._kernel = Kernel(own_network=settings["sweep"] == "namespace")
        self._kernel.be_dumpable(False)
        self._kernel.adopt_orphans()
        self._bell, ring = os.pipe()
        for one in (self._bell, ring):
            os.set_blocking(one, False)
        signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._libraries_mb = libraries.load(settings["preload"])
        self._places = [place for place in settings["places"] if Path(place).is_dir()]
        os.chdir(settings["folder"])
        os.umask(0o022)
        random.seed(0)
        gc.collect()
        gc.freeze()

    def hello(self) -> dict[str, Any]:
        tools = [name for name in self._settings["tools"] if shutil.which(name)]
        return {"python": sys.version.split()[0], "filters": self._kernel.filters, "tools": tools}

    def run(self, order: Order) -> dict[str, Any]:
        pipes = Pipes()
        kills = memory_kills()
        watch = Watch(pipes, self._bell, order.wall_seconds)
        pids = KINDS[order.kind](self, order, pipes, watch)
        pipes.close(pipes.reporting, pipes.printing, pipes.lifeline, pipes.judge_link, pipes.program_link)
        try:
            verdict, detail, *checks = self._conclude(order, pids, pipes, watch, kills)
        except (
            TypeError,
            ValueError,
            LookupError,
            RecursionError,
            TooLarge,
        ) as error:  # only a forged report has another form
            verdict, detail, checks = "error", f"The report of the tests cannot be read: {error}", []
        wall = watch.elapsed()
        watch.look(0)
        killed = any(
            os.WIFSIGNALED(one.status) and os.WTERMSIG(one.status) == signal.SIGKILL for one in watch.ended.values()
        )
        clean = self._sweep(watch.ended)
        pipes.close()
        used = watch.ended.get(pids[-1], Ended(0, 0.0, 0))
        return {
            "seq": order.seq,
            "verdict": str(verdict),
            "detail": str(detail)[:4000],
            "checks": checks[0] if checks else [],
            "wall": wall,
            "cpu": used.cpu,
            "memory_kb": used.memory_kb,
            "output": watch.kept.decode("utf-8", "replace"),
            "output_bytes": watch.printed,
            "clean": clean,
            "doubt": (killed and verdict == "crashed") or (watch.starved and verdict == "timeout"),
        }

    def _conclude(self, order: Order, pids: list[int], pipes: Pipes, watch: Watch, kills: int) -> Answer:
        """Waits until there is a verdict, or no right to wait for one."""
        author = pids[-1]
        while (left := watch.seconds_left(pids)) > 0:
            watch.look(left)
            if watch.orphaned:
                self._sweep(watch.ended)
                raise Gone
            if watch.printed > order.output_bytes:
                return ["output_limit", f"More than {order.output_bytes:,} bytes were printed."]
            if (report := watch.report()) is not None:
                if order.kind == "foreign" and report == foreign.COMPILED:
                    watch.restart(order.wall_seconds)
                    continue
                return list(report) if report[0] != "gone" else self._ending(author, watch, kills)
            if pids[0] in watch.ended:
                return death(order.kind, watch.ended[pids[0]], kills)
            if author in watch.ended:
                pipes.close(pipes.alive)  # tells the judge, who may not need the program any more
        return ["timeout", watch.overdue]

    def _ending(self, author: int, watch: Watch, kills: int) -> Answer:
        """Why the program does not answer any more."""
        for _ in range(int(_END_LIMIT / _MOMENT)):
            if author in watch.ended:
                return death("split", watch.ended[author], kills)
            watch.look(_MOMENT)
        return ["exited", "The program closed its connection before the tests had ended."]

    def _split(self, order: Order, pipes: Pipes, watch: Watch) -> list[int]:
        def testing() -> None:
            tests = take(0, order.tests_size).decode()
            silence()
            settle([pipes.judge_link, pipes.lifeline, pipes.reporting])
            self._confine(order, self._settings["judge_uid"], secret=True)
            send(5, ["ready"])
            send(5, judge.judge(tests, order.entry_points, judge.Link(3, 4)))

        def answering() -> None:
            material = Material.read(order)
            silence(pipes.printing)
            settle([pipes.program_link])
            self._confine(order, self._settings["uid"])
            material.lay_out()
            program.serve(material.code, 3)

        judging = fork(testing)
        # The judge reads its part before the program's process may read on.
        while watch.report() is None:
            watch.look(_START_LIMIT)
            if judging in watch.ended or watch.elapsed() > _START_LIMIT:
                raise RuntimeError("the judge did not start")
        author = fork(answering)
        watch.restart(order.wall_seconds)
        return [judging, author]

    def _together(self, order: Order, pipes: Pipes, _watch: Watch) -> list[int]:
        def both() -> None:
            tests, material = take(0, order.tests_size).decode(), Material.read(order)
            silence(pipes.printing)
            settle([pipes.reporting])
            self._confine(order, self._settings["uid"])
            material.lay_out()
            together.run(material.code, tests, lambda report: send(3, report))

        return [fork(both)]

    def _foreign(self, order: Order, pipes: Pipes, watch: Watch) -> list[int]:
        def becoming() -> None:
            tests, material = take(0, order.tests_size).decode(), Material.read(order)
            silence(pipes.printing)
            settle([pipes.reporting])
            self._confine(order, self._settings["uid"])
            material.lay_out()
            foreign.run(f"{material.code}\n{tests}", lambda report: send(3, report), **order.recipe)

        if order.recipe["compiling"]:
            watch.restart(order.compile_seconds, "compile")
        return [fork(becoming)]

    def _confine(self, order: Order, uid: int | None, *, secret: bool = False) -> None:
        own = self._settings["own_processes"]
        processes = None if own is None else own + order.processes
        # Virtual machines reserve far more than they use; and libraries of ours are not the program's to pay for.
        memory = None if order.kind == "foreign" else order.memory_mb + self._libraries_mb
        confine(self._kernel, Bounds(memory, order.file_mb, processes), uid, secret=secret)

    def _sweep(self, ended: dict[int, Ended]) -> bool:
        settings = self._settings
        nobody = nobody_left(settings["sweep"], list({settings["uid"], settings["judge_uid"]}), ended)
        owner = os.getuid() if settings["uid"] is None else settings["uid"]
        return nobody and nothing_left(self._places, owner, kernel_objects=settings["sweep"] != "children")


Start = Callable[[Server, Order, Pipes, Watch], list[int]]

KINDS: dict[str, Start] = {
    "split": Server._split,  # noqa: SLF001
    "shared": Server._together,  # noqa: SLF001
    "foreign": Server._foreign,  # noqa: SLF001
}
"""How a job's processes are started: the one that knows the verdict first, the program's own last."""


def main() -> None:
    settings = receive(0)
    try:
        server = Server(settings)
        send(1, server.hello())
        while True:
            send(1, server.run(Order(**receive(0))))
    except Gone:  # the host's wish, or its end: nobody else may be there to remove our folder
        if settings["sweep"] != "namespace":
            shutil.rmtree(settings["folder"], ignore_errors=True)
        os._exit(0)
