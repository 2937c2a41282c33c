"""Which files may lie beside a program."""

from pathlib import PurePosixPath

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records.code import Program
from model_accuracy_eval.rim.sandbox.recipes import RECIPES


def check(program: Program) -> None:
    """Raises `BadValue` for what cannot lie in the program's folder, or does not fit into it."""
    own = RECIPES[program.language].file if program.language in RECIPES else None
    for name in program.files:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.name or "\0" in name:
            raise BadValue(
                f"The file '{name}' of a program must be named by a path below its folder, such as data/a.csv."
            )
        if str(path) == own:
            raise BadValue(f"The file '{name}' would be overwritten: {program.language} programs are written to it.")
    most = program.limits.file_mb << 20
    if (size := sum(len(text.encode("utf-8", "replace")) for text in program.files.values())) > most:
        raise BadValue(f"The files of a program have {size:,} bytes together, and there is room for {most:,}.")
