"""The shape of the house: imports point down, the pure rooms stay pure, importing is silent."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "src" / "model_accuracy_eval"

RANKS = {
    "records": 0, "errors": 0,
    "ports": 1,
    "scoring": 2, "tasks": 2, "reporting": 2, "rim": 2, "testing": 2,
    "config": 3, "stages": 3,
    "pipeline": 4, "catalogue": 4, "retelling": 4, "rescoring": 4, "batch": 4, "merging": 4, "doctor": 4, "action": 5,
    "wiring": 6,
    "commands": 7,
    "cli": 8,
    "__init__": 0, "__main__": 9,
}  # fmt: skip

LEVEL = {("reporting", "scoring"), ("tasks", "scoring")}
"""Pure neighbours that may be looked at from the same rank; rim is nobody's neighbour."""

PURE = ("scoring", "tasks", "reporting", "config")
OUTSIDE = {
    "socket",
    "subprocess",
    "threading",
    "multiprocessing",
    "asyncio",
    "time",
    "httpx",
    "requests",
    "signal",
    "os",
}


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).parts[0].removesuffix(".py"), path


def imports(path: Path) -> Iterator[str]:
    """Every imported module, wherever in the file the import stands."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own(module: str) -> str | None:
    """The room that an import of ours goes to."""
    parts = module.split(".")
    return parts[1] if parts[0] == "model_accuracy_eval" and len(parts) > 1 else None


def test_every_module_has_a_rank() -> None:
    """A new room in the house is given its place in the table first."""
    assert {room for room, _ in modules()} <= set(RANKS)


def test_imports_point_down() -> None:
    """A module imports a lower rank, its own package, or one of the drawn pure neighbours."""
    upward = [
        f"{path.relative_to(PACKAGE)} imports {target}"
        for room, path in modules()
        for target in filter(None, map(own, imports(path)))
        if target in RANKS and target != room and RANKS[target] >= RANKS[room] and (room, target) not in LEVEL
    ]
    assert upward == []


def test_pure_rooms_touch_nothing_outside() -> None:
    """Scoring, tasks, reporting and config know no socket, process, thread or clock."""
    impure = [
        f"{path.relative_to(PACKAGE)} imports {target}"
        for room, path in modules()
        if room in PURE
        for target in imports(path)
        if target.split(".")[0] in OUTSIDE
    ]
    assert impure == []


def test_there_is_no_cycle() -> None:
    """No module reaches itself through imports, late ones included."""
    names = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for _, path in modules()}
    edges = {name: {target for target in imports(path) if target in names} for name, path in names.items()}
    done: set[str] = set()

    def walk(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " → ".join([*trail, name])
        if name not in done:
            for target in edges[name]:
                walk(target, (*trail, name))
            done.add(name)

    for name in names:
        walk(name, ())


def test_importing_is_silent_and_light() -> None:
    """Importing the command line prints nothing and pulls in no library that only commands need."""
    heavy = ["httpx", "numpy", "jinja2", "rich", "yaml", "asyncio", "psutil", "uvloop"]
    code = f"import sys, model_accuracy_eval.cli; print(sorted(name for name in {heavy!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")
