"""What programs find: their environment variables, the Python outside containers, and which files may be with them."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from model_accuracy_eval.errors import BadValue, Refused, UnknownName
from model_accuracy_eval.records.code import Program
from model_accuracy_eval.sandbox.inside.messages import Toolchain

# How programs of other languages are run: a file, perhaps a compiler, a command. The image must have the tools.


_RUST = ["--edition=2021", "--cap-lints=allow"]
# Its start takes longer than the programs: no optimising compiler, and no garbage collector with threads.
_JAVA = ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-ea"]
_JAVAC = ["-J-XX:+UseSerialGC", "-J-XX:TieredStopAtLevel=1", "-nowarn"]

TOOLCHAINS = {
    "bash": Toolchain("main.sh", ["bash", "main.sh"]),
    "c": Toolchain("main.c", ["./main"], ["cc", "-O1", "-o", "main", "main.c", "-lm"]),
    "cpp": Toolchain("main.cpp", ["./main"], ["c++", "-std=c++17", "-O1", "-o", "main", "main.cpp"]),
    "go": Toolchain("main.go", ["./main"], ["go", "build", "-o", "main", "main.go"]),
    "go_test": Toolchain("main_test.go", ["./main"], ["go", "test", "-c", "-vet=off", "-o", "main", "main_test.go"]),
    "java": Toolchain("Main.java", [*_JAVA, "Main"], ["javac", *_JAVAC, "Main.java"]),
    "java_problem": Toolchain(
        "Problem.java", [*_JAVA, "Problem"], ["javac", *_JAVAC, "-encoding", "UTF8", "Problem.java"]
    ),
    "javascript": Toolchain("main.js", ["node", "main.js"]),
    "perl": Toolchain("main.pl", ["perl", "main.pl"]),
    "rust": Toolchain("main.rs", ["./main"], ["rustc", *_RUST, "-o", "main", "main.rs"]),
    "rust_test": Toolchain("main.rs", ["./main"], ["rustc", *_RUST, "--test", "-o", "main", "main.rs"]),
}


def find_toolchain(language: str) -> Toolchain:
    """`go_test` and `rust_test` run what these languages mark as tests, and need no main; `java_problem` runs the class
    of that name."""
    if language not in TOOLCHAINS:
        raise UnknownName("language", language, ["python", *TOOLCHAINS])
    return TOOLCHAINS[language]


def toolchain_commands(toolchain: Toolchain) -> set[str]:
    """The commands that must be there, without the one that the compiler makes."""
    commands = {words[0] for words in (toolchain.compiling, toolchain.running) if words}
    return {command for command in commands if not command.startswith("./")}


TOOLS = sorted(set().union(*map(toolchain_commands, TOOLCHAINS.values())))


VARIABLES = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108 - the program's own, in a container
    "LANG": "C.UTF-8",
    # The same order of sets each time: a verdict must not depend on the day.
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONNOUSERSITE": "1",  # a program could put modules there for every Python that its tests start
    "USER": "nobody",  # whom no file names under the number that it has
    # Threads would reserve more addresses than a program may have, and libraries that start some cannot be forked.
    "MALLOC_ARENA_MAX": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
"""All environment variables of a program."""


def interpreter() -> str:
    """The path of our own Python or the system's: one that a user without rights may read."""
    own = getattr(sys, "_base_executable", None) or sys.executable
    for path in (Path(own).resolve(), Path("/usr/bin/python3").resolve()):
        if path.is_file() and (os.geteuid() != 0 or _all_readable(path.parents)):
            return str(path)
    raise Refused(
        f"{own} lies in a folder that only its owner may read, and generated code runs as another user; "
        "type: apt-get install python3."
    )


def _all_readable(folders: Iterable[Path]) -> bool:
    return all(folder.stat().st_mode & 0o005 == 0o005 for folder in folders)


def check_files(program: Program) -> None:
    """Raises `BadValue` for files that cannot be in the program's folder, or do not fit into it."""
    own = TOOLCHAINS[program.language].file if program.language in TOOLCHAINS else None
    for name in program.files:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.name or "\0" in name:
            raise BadValue(
                f"The file '{name}' of a program must be named by a path below its folder, such as data/a.csv."
            )
        if str(path) == own:
            raise BadValue(f"The file '{name}' would be overwritten: {program.language} programs are written to it.")
    limit = program.limits.file_mb << 20
    if (size := sum(len(text.encode("utf-8", "replace")) for text in program.files.values())) > limit:
        raise BadValue(f"The files of a program have {size:,} bytes together, and there is room for {limit:,}.")
