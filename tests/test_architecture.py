"""The shape of the house: imports point down, the pure rooms stay pure, importing is silent."""

import ast
import subprocess
import sys
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "model_accuracy_eval"

RANKS = {
    "records": 0, "errors": 0, "settings": 0,
    "ports": 1, "extras": 1,
    "scoring": 2, "system": 2, "benchmarks": 2.5,
    "tasks": 3, "run_folder": 3,
    "report": 4,
    "client": 4, "sandbox": 4, "adapter": 4, "hubs": 4, "github": 4, "trusted_python": 4, "cluster": 4,
    "diagnosis": 5, "sinks": 5, "run": 6,
    "rescoring": 7,
    "python_api": 8,
    "commands": 9,
    "cli": 10,
    "__init__": 11, "__main__": 11,
}  # fmt: skip

OUTSIDE_ROOMS = {"client", "sandbox", "adapter", "hubs", "github", "trusted_python", "cluster"}
"""The rooms that touch the outside world; they do not know each other."""
INTRODUCE = {"run/build.py", "run/engines.py", "run/plan_parts.py"}
"""What builds their parts for a run; a verb's file in `commands` may do so, too."""
TYPES_ALONE = {"sinks/publisher.py", "sinks/check_sink.py"}
"""What gets GitHub's classes handed in, and names them."""

NEIGHBOURS = {
    ("records", "settings"): "a plan holds its settings",
}
"""Rooms of which the first may import the second, and why."""

PURE = ("scoring", "tasks", "benchmarks", "report", "diagnosis")
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
PARSING = {("code_syntax.py", "threading")}
"""Python's parser takes one thread at a time, so it has a lock."""


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).parts[0].removesuffix(".py"), path


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Every imported module, wherever in the file the import stands."""
    found: list[str] = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return tuple(found)


def own(module: str) -> str | None:
    """The room that an import of ours goes to."""
    parts = module.split(".")
    return parts[1] if parts[0] == "model_accuracy_eval" and len(parts) > 1 else None


def test_every_module_has_a_rank() -> None:
    """A new room in the house is given its place in the table first."""
    assert {room for room, _ in modules()} <= set(RANKS)


def test_imports_point_down() -> None:
    """A module imports a lower rank, its own package, or one of the named neighbours."""
    upward = [
        f"{path.relative_to(PACKAGE)} imports {target}"
        for room, path in modules()
        for target in filter(None, map(own, imports(path)))
        if target in RANKS and target != room and RANKS[target] >= RANKS[room] and (room, target) not in NEIGHBOURS
    ]
    assert upward == []


def test_pure_rooms_touch_nothing_outside() -> None:
    """Scoring, tasks, benchmarks and report know no socket, process, thread or clock."""
    impure = [
        f"{path.relative_to(PACKAGE)} imports {target}"
        for room, path in modules()
        if room in PURE
        for target in imports(path)
        if target.split(".")[0] in OUTSIDE and (path.name, target) not in PARSING
    ]
    assert impure == []


def test_only_what_introduces_parts_reaches_the_outside() -> None:
    """The story of a run gets outside parts handed in; it imports none."""
    reaching = [
        f"{path.relative_to(PACKAGE)} imports {target}"
        for room, path in modules()
        if room != "commands" and str(path.relative_to(PACKAGE)) not in INTRODUCE | TYPES_ALONE
        for target in filter(None, map(own, imports(path)))
        if target in OUTSIDE_ROOMS and target != room
    ]
    assert reaching == []


def test_every_named_neighbour_is_one() -> None:
    """A pair whose import is gone leaves the table."""
    used = {(room, target) for room, path in modules() for target in filter(None, map(own, imports(path)))}
    assert set(NEIGHBOURS) <= used


def public_types() -> Iterator[tuple[str, str]]:
    """Name and module of every class and type alias that a module defines for others."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in tree(path).body:
            names: list[str] = []
            if isinstance(node, ast.ClassDef):
                names = [node.name]
            elif isinstance(node, ast.Assign):
                names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            for name in names:
                if name[0].isupper() and not name.isupper():
                    yield name, str(path.relative_to(PACKAGE))


def test_a_type_name_means_one_thing() -> None:
    """No public class or type alias is defined in two modules."""
    homes: dict[str, list[str]] = {}
    for name, home in public_types():
        homes.setdefault(name, []).append(home)
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_a_file_name_means_one_thing() -> None:
    """No two modules of the package share a file name, but `__init__`; a command's file is called as it is typed."""
    tracked = subprocess.run(["git", "ls-files", "src/*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    homes: dict[str, list[str]] = {}
    for path in map(Path, tracked.stdout.split()):
        if path.name != "__init__.py" and path.parent.name != "commands":
            homes.setdefault(path.name, []).append(str(path))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def loaded(path: Path, known: Collection[str]) -> Iterator[str]:
    """The modules that an import of ours needs something of: of a package, its own names or modules inside it."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inside = f"{node.module}.{alias.name}"
                yield inside if inside in known else node.module


def test_there_is_no_cycle() -> None:
    """No module reaches itself through imports, those inside functions included. The package itself, whose names are
    imported when they are first used, is left out."""
    paths = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for _, path in modules()}
    names = {name.removesuffix(".__init__"): path for name, path in paths.items()}
    del names[PACKAGE.name]
    edges = {name: set(loaded(path, names)) & names.keys() for name, path in names.items()}
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
    """The command line, which has a line about every command, pulls in no library that only commands need."""
    heavy = ["httpx", "numpy", "jinja2", "rich", "yaml", "asyncio", "psutil", "uvloop"]
    code = f"import sys, model_accuracy_eval.cli; print(sorted(name for name in {heavy!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")
