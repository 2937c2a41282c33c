"""The nouns of running code that a model wrote: a program with its tests, and what came of it."""

from typing import Literal

from model_accuracy_eval.records import Record

Verdict = Literal[
    "passed",
    "failed",
    "error",
    "exited",
    "crashed",
    "timeout",
    "out_of_memory",
    "output_limit",
    "tampered",
    "harness_error",
]
"""`harness_error` says nothing about the program; all others but `passed` say that it is not right."""

Mode = Literal["split", "shared"]
"""Where the tests run: in another process than the program, or in the same one because they look into its objects.
It belongs to the task, and is found with the reference solution: a program that could choose would choose `shared`."""

Isolation = Literal["container", "namespace", "uid", "none"]

Integrity = Literal["split", "shared+control", "shared", "exit code"]
"""How sure a `passed` is: cannot be forged; forgeries of the usual kinds are noticed; can be forged."""


class Limits(Record, frozen=True, kw_only=True):
    """What one program may use. There is no network, and no limit that would open it."""

    wall_seconds: float = 10.0
    """Less the time that the program waited for a core of a busy machine, up to three times this."""
    compile_seconds: float = 60.0
    """For a compiler, before the program's own time begins; counted in the same way."""
    memory_mb: int = 512
    processes: int = 24
    """Threads count too."""
    file_mb: int = 16
    """For one file; all files together have four times this."""
    output_kb: int = 4096


class Program(Record, frozen=True, kw_only=True):
    """One piece of code, and the tests that tell whether it is right."""

    code: str
    tests: str
    """Python source that ends well if and only if the code is right, such as `assert add(1, 2) == 3`."""
    entry_points: tuple[str, ...] = ()
    """Names that the tests take from the code even where Python has a builtin or a module of that name."""
    mode: Mode = "split"
    reference: str = ""
    """A solution that is known to be right; where there is one, the mode is found with it, whatever `mode` says."""
    files: dict[str, str] = {}
    """Files beside the program, in the folder that it runs in: relative path → text. Python finds modules there."""
    language: str = "python"
    """Another language: code and tests become one file, whose exit code decides."""
    limits: Limits = Limits()


class Execution(Record, frozen=True, kw_only=True):
    """What came of one program, with the conditions that it was found under."""

    verdict: Verdict
    detail: str = ""
    output: str = ""
    """The first 4 KiB that the program printed."""
    output_bytes: int = 0
    wall_seconds: float | None = None
    cpu_seconds: float | None = None
    memory_mb: float | None = None
    """The most that the program's own process held at one time."""
    isolation: Isolation
    integrity: Integrity
    image: str = ""
    """What it ran on: an image's digest, or the interpreter of this machine."""
    attempts: int = 1
    """Two when the first worker was lost."""

    @property
    def passed(self) -> bool | None:
        """None when nothing is known about the program."""
        return None if self.verdict == "harness_error" else self.verdict == "passed"
