"""The real benchmarks' programs, read where they lie beside the checkout: reference solutions and damaged ones."""

import ast
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from model_accuracy_eval.records.code import Program
from model_accuracy_eval.rim.sandbox.parsing import parsed

DATA = Path(__file__).parents[4] / "shared" / "data"


def rows(name: str) -> list[dict[str, Any]]:
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"the real {path.name} is not on this machine (it is looked for in ../shared/data)")
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def human_eval() -> dict[str, Program]:
    return {
        row["task_id"]: Program(
            code=row["prompt"] + row["canonical_solution"],
            tests=f"{row['test']}\ncheck({row['entry_point']})\n",
            entry_points=(row["entry_point"],),
        )
        for row in rows("humaneval/HumanEval.jsonl.gz")
    }


def mbpp() -> dict[str, Program]:
    return {
        f"MBPP/{row['task_id']}": Program(
            code=row["code"],
            tests="\n".join([row["test_setup_code"], *row["test_list"]]),
            entry_points=defined(row["code"]),
        )
        for row in rows("mbpp/mbpp.jsonl.gz")
    }


def defined(code: str) -> tuple[str, ...]:
    """What code defines at its top level."""
    return tuple(node.name for node in parsed(code).body if isinstance(node, (ast.FunctionDef, ast.ClassDef)))


class _Off(ast.NodeTransformer):
    """Every result a little off: numbers by one, the rest replaced by a text that nobody expects."""

    def visit_Return(self, node: ast.Return) -> ast.Return:
        wrong = ast.parse("(lambda it: it + 1 if type(it) in (int, float) else 'wrong')(0)", mode="eval").body
        assert isinstance(wrong, ast.Call)
        wrong.args = [node.value or ast.Constant(None)]
        return ast.Return(wrong)


def damaged(program: Program) -> Program:
    code = ast.unparse(ast.fix_missing_locations(_Off().visit(parsed(program.code))))
    return Program(code=code, tests=program.tests, entry_points=program.entry_points)
