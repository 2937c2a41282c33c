"""Programs that models wrote, with their tests, and the results of running them."""

from typing import Literal

from model_accuracy_eval.records import Record

ExecutionVerdict = Literal[
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
"""`harness_error` says nothing about the program; all others except `passed` mean that it is wrong."""

Mode = Literal["split", "shared"]
"""Whether the tests run in another process than the program, or in the same one because they need its objects. The mode
belongs to the task and is detected with the reference solution, never with the program that is judged; without one,
only plain tests are `split`. What a program of a `split` task gives and is no data, such as a generator, is judged in
`shared`, and its integrity says so."""

Isolation = Literal["container", "namespace", "uid", "none"]

Integrity = Literal["split", "split+names", "shared+control", "shared", "exit code"]
"""How reliable a `passed` is. `split`: it cannot be forged. `split+names`: not either, unless the tests work out what
they expect with a name that the program supplies beside its entry point. `shared+control`: the usual forgeries are
detected. The others: it can be forged."""


class Limits(Record, frozen=True, kw_only=True):
    """Resource limits of one program. It never has a network."""

    wall_seconds: float = 10.0
    """Time that it waited for a CPU on a busy machine does not count, up to three times this value or 20 s more."""
    compile_seconds: float = 60.0
    """Time for a compiler, before the program's own time begins; counted in the same way."""
    memory_mb: int = 512
    processes: int = 24
    """The maximum number of processes and threads."""
    file_mb: int = 16
    """Size of one file; all files together may have four times this."""
    output_kb: int = 4096


class Program(Record, frozen=True, kw_only=True):
    """Code, and the tests that decide whether it is right."""

    code: str
    tests: str
    """Python source that ends without an error if and only if the code is right, such as `assert add(1, 2) == 3`."""
    helpers: str = ""
    """Source that the task gives beside the function it asks for, such as imports. Where the tests have a process of
    their own, these names are theirs; else they find what the code makes of them."""
    entry_points: tuple[str, ...] = ()
    """Names that the tests take from the code even where Python has a builtin or a module of that name."""
    mode: Mode = "split"
    reference: str = ""
    """A correct solution. If there is one, the mode is detected with it, and `mode` is ignored."""
    files: dict[str, str] = {}
    """Files in the program's working folder: relative path → text. Python can import modules from there. In `split` the
    tests have a copy of their own."""
    language: str = "python"
    """In other languages, code and tests become one file, whose exit code decides."""
    limits: Limits = Limits()


TextRule = Literal["tokens", "exact", "floats", "livecodebench", "apps", "codecontests"]
"""What makes a printed output right: the same words, the same text, numbers within a tolerance, a benchmark's rule."""
ValueRule = Literal["equal", "apps"]
"""What makes a returned value right."""

CaseKind = Literal["stdin", "calls"]
"""Whether a case is a run of the whole program, with text on its standard input, or a call of one function."""


class CaseProgram(Program, frozen=True, kw_only=True):
    """Code that is right if it gives what is expected in every case.

    `tests` is the JSON of an object: `cases` is a list whose entries are lists of {"input": …, "output": …} or texts of
    such, packed or not; `checker` or `checker_source` says what makes an output right, `tolerance` how far numbers may
    be; `function` names what is called. A call's input has an argument in JSON on each line.
    """

    kind: CaseKind = "stdin"
    all_cases: bool = False
    """Whether the cases after the first one that fails are run too."""


class CaseResult(Record, frozen=True, kw_only=True):
    """How one case ended."""

    verdict: ExecutionVerdict
    cpu_seconds: float = 0.0


class Execution(Record, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """The result of one program, and the environment it ran in. Findings of earlier versions have further fields."""

    verdict: ExecutionVerdict
    detail: str = ""
    output: str = ""
    """The first 4 KiB of the program's output."""
    output_end: str = ""
    """The last KiB, where more was printed than `output` holds."""
    output_bytes: int = 0
    wall_seconds: float | None = None
    limit_seconds: float | None = None
    """The limit of the step that it ended in: its own, or its compiler's."""
    cpu_seconds: float | None = None
    """Core time of all its processes."""
    waited_seconds: float | None = None
    """How long it wanted a core and had none."""
    memory_mb: float | None = None
    """Peak memory of the program's own process."""
    isolation: Isolation
    integrity: Integrity
    image: str = ""
    """The digest of the image that it ran in, or the interpreter of this machine."""
    attempts: int = 1
    """How often it ran: more than once if a worker was lost, or if its time was over before it had used it."""
    alone: bool = False
    """Whether nothing else ran in the sandbox meanwhile."""
    cases: tuple[CaseResult, ...] = ()
    """Of a `CaseProgram`, those that ran; the first that failed is the last, unless all were wanted. Times and memory
    are those of the case that it ended in."""
    all_cases: int = 0
    """How many cases there are."""

    @property
    def passed(self) -> bool | None:
        """Returns None if nothing is known about the program."""
        return None if self.verdict == "harness_error" else self.verdict == "passed"

    def is_undecided(self, limits: Limits) -> bool:
        """Whether its time was over beside others with little core time, so that the machine may be to blame.

        Alone, such a program sleeps or waits, unless `harness_error` says that the machine gave it no core.
        """
        if self.verdict != "timeout" or self.alone:
            return False
        limit = self.limit_seconds or limits.wall_seconds
        return self.cpu_seconds is None or self.cpu_seconds < limit * _FULL_USE


_FULL_USE = 0.9
"""The share of its limit that a program must have used to be called slow; the rest is what starting it takes."""
