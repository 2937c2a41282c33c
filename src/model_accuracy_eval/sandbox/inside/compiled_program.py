"""Runs a program in another language: one file, perhaps compiled, then run. Only its exit code is known."""

import os
from collections.abc import Callable
from pathlib import Path

from model_accuracy_eval.sandbox.inside.messages import COMPILED, JobReport, Toolchain

_COMPILER_LOG = Path(".compiler")
_MAX_LOG = 4096


def run(source: str, toolchain: Toolchain, report: Callable[[JobReport], None]) -> None:
    """Becomes the program, which has no way to report."""
    Path(toolchain.file).write_text(source, encoding="utf-8")
    if toolchain.compiling and (fault := compile_file(toolchain.compiling)):
        report(JobReport("error", f"It does not compile: {fault}"))
        os._exit(1)
    report(JobReport(COMPILED))
    os.set_inheritable(3, False)
    os.execvp(toolchain.running[0], toolchain.running)  # noqa: S606 - from our own table


def compile_file(command: list[str]) -> str:
    """The compiler's first error, after its log was printed; empty if there was none."""
    import subprocess  # noqa: PLC0415 - it loads `locale`, whose half a megabyte each fork would pay for

    with _COMPILER_LOG.open("wb") as log:
        done = subprocess.run(command, check=False, stdout=log, stderr=log)  # noqa: S603 - from our own table
    if not done.returncode:
        return ""
    text = _COMPILER_LOG.read_bytes()[:_MAX_LOG]
    os.write(1, text)
    return _first_error(text.decode("utf-8", "replace"))


def _first_error(log: str) -> str:
    """The first line that contains the word error, else the first of all."""
    lines = [line.strip() for line in log.splitlines() if line.strip()] or ["the compiler printed nothing"]
    return next((line for line in lines if "error" in line.lower()), lines[0])[:300]
