"""The real benchmarks' programs, read where they lie beside the checkout: reference solutions and damaged ones."""

import ast
import gzip
import json
import warnings
from pathlib import Path
from typing import Any

import msgspec
import pytest

from model_accuracy_eval.records.code import Program
from model_accuracy_eval.scoring.code.code_syntax import called_function, parse_source

DATA = Path(__file__).parents[4] / "shared" / "data"


def rows(name: str) -> list[dict[str, Any]]:
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"the real {path.name} is not on this machine (it is looked for in ../shared/data)")
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def mbpp() -> dict[str, Program]:
    return {
        f"MBPP/{row['task_id']}": Program(
            code=row["code"],
            tests="\n".join([row["test_setup_code"], *row["test_list"]]),
            entry_points=(called_function(row["test_list"]),),
        )
        for row in rows("mbpp/mbpp.jsonl.gz")
    }


class _Off(ast.NodeTransformer):
    """Every result a little off: numbers by one, the rest replaced by a text that nobody expects."""

    def visit_Return(self, node: ast.Return) -> ast.Return:
        wrong = ast.parse("(lambda it: it + 1 if type(it) in (int, float) else 'wrong')(0)", mode="eval").body
        assert isinstance(wrong, ast.Call)
        wrong.args = [node.value or ast.Constant(None)]
        return ast.Return(wrong)


def damaged(program: Program) -> Program:
    code = ast.unparse(ast.fix_missing_locations(_Off().visit(parse_source(program.code))))
    return msgspec.structs.replace(program, code=code)


_SPOILING = """
_right = {{"__name__": "right"}}
exec(compile({code!r}, "<right>", "exec"), _right)
globals().update((name, it) for name, it in _right.items() if name[0] != "_")
def {name}(*arguments, **named):
    it = _right[{name!r}](*arguments, **named)
    return it + 1 if type(it) in (int, float) else "wrong"
"""


def spoiled(program: Program) -> Program:
    """What the tests call gives back nothing but wrong results; within itself the code goes on as it was.

    Without its reference it is judged in the program's own mode, and the task is not settled once more.
    """
    (name,) = program.entry_points
    return msgspec.structs.replace(program, code=_SPOILING.format(code=program.code, name=name), reference="")


def plainly(program: Program) -> bool:
    """Whether plain Python finds the program right."""
    names: dict[str, object] = {"__name__": "program"}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(program.code, names)
            exec(program.tests, names)
    except Exception:
        return False
    return True
