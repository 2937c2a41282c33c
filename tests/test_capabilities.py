"""The table of other systems' capabilities names tests and decisions that there are."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "reference" / "capabilities.md"
SYSTEMS = {"lm-eval": 42, "UltraEval": 21, "nanochat": 24, "apr": 23}
ROW = re.compile(r"^\| ([\w-]+) (\d+) \| .+? \| (.+) \|$", re.MULTILINE)
TEST = re.compile(r"`(tests/\S+\.py)::(test_\w+)`")
DECISION = re.compile(r"\(\.\./(decisions/\S+\.md)\)")


def test_every_number_has_a_row() -> None:
    """All numbers of all four systems, each once and in its order."""
    found = [(system, int(number)) for system, number, _ in ROW.findall(PAGE.read_text())]
    assert found == [(system, number) for system, last in SYSTEMS.items() for number in range(1, last + 1)]


def test_every_row_has_a_test_or_a_decision() -> None:
    """A row without either would be a claim."""
    rows = ROW.findall(PAGE.read_text())
    assert [row[:2] for row in rows if not (TEST.search(row[2]) or DECISION.search(row[2]))] == []


def test_the_named_tests_exist() -> None:
    """As functions of the named files; a test that is renamed takes its row along."""
    named = TEST.findall(PAGE.read_text())
    tests = {file: _tests(ROOT / file) for file, _ in named}
    assert [f"{file}::{name}" for file, name in named if name not in tests[file]] == []


def test_the_named_decisions_exist() -> None:
    """Each is a file."""
    assert [name for name in DECISION.findall(PAGE.read_text()) if not (ROOT / "docs" / name).is_file()] == []


def _tests(file: Path) -> set[str]:
    tree = ast.parse(file.read_text()) if file.is_file() else ast.Module(body=[], type_ignores=[])
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
