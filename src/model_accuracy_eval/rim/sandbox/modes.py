"""How a program is judged on a worker: apart from its tests, together with them and a control, or by an exit code."""

from typing import Any, NamedTuple

import msgspec

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.records.code import Integrity, Program
from model_accuracy_eval.rim.sandbox.falsify import falsify
from model_accuracy_eval.rim.sandbox.recipes import find
from model_accuracy_eval.rim.sandbox.worker import Worker

_REPORTED = {"passed", "failed", "error", "out_of_memory"}
"""What tests may say of themselves; the server alone says the rest."""
_SEEN = {"exited", "crashed", "timeout", "output_limit"}


class Judged(NamedTuple):
    """The server's answer, and how sure a pass is."""

    answer: dict[str, Any]
    integrity: Integrity


def judge(worker: Worker, program: Program) -> Judged:
    if program.language != "python":
        return Judged(_foreign(worker, program), "exit code")
    if program.mode == "split":
        return Judged(_checked(worker.do(_order("split", program), program.tests, program)), "split")
    return _together(worker, program)


def _together(worker: Worker, program: Program) -> Judged:
    """A pass is believed when wrong expectations are seen to fail, all of them."""
    control = falsify(program.tests)
    integrity: Integrity = "shared+control" if control else "shared"
    answer = _checked(worker.do(_order("shared", program), program.tests, program))
    if answer["verdict"] != "passed" or control is None or not answer["clean"]:
        return Judged(answer, integrity)
    second = worker.do(_order("shared", program), control.tests, program)
    held, failed = _outcomes(second["checks"])
    answer["clean"] = second["clean"]
    if program.reference and second["verdict"] == "failed" and second["clean"] and not held + failed:
        # Checks may stand in a branch that no right program takes. The task's own solution tells, and not this one.
        solution = msgspec.structs.replace(program, code=program.reference)
        third = worker.do(_order("shared", program), control.tests, solution)
        answer["clean"] = third["clean"]
        if not any(_outcomes(third["checks"])):
            return Judged(answer, "shared")
    if second["verdict"] == "timeout" and not held:
        answer.update({name: second[name] for name in ("verdict", "detail", "doubt")})
    elif held or not failed or second["verdict"] == "passed":
        what = f"{held} of {held + failed} wrong expectations were met" if held else "tests that must fail did not"
        answer.update(verdict="tampered", detail=f"The tests passed, but in the control run {what}.")
    return Judged(answer, integrity)


def _outcomes(checks: Any) -> tuple[int, int]:
    """How many falsified checks held, and how many failed. A report of another form holds nothing."""
    if not isinstance(checks, list):
        return 0, 0
    said = [bool(check[1]) for check in checks if isinstance(check, list) and len(check) == 2]
    return sum(said), len(said) - sum(said)


def _foreign(worker: Worker, program: Program) -> dict[str, Any]:
    recipe = find(program.language)
    missing = sorted(recipe.tools - set(worker.hello["tools"]))
    if missing:
        raise Refused(
            f"The sandbox has no {' and no '.join(missing)}, which {program.language.removesuffix('_test')} programs "
            "need; type: docker build -t mae-humaneval-x docker/humaneval_x, and add --sandbox docker "
            "--sandbox-image mae-humaneval-x."
        )
    words = {"file": recipe.file, "compiling": recipe.compiling, "running": recipe.running}
    return _checked(worker.do({**_order("foreign", program), "recipe": words}, program.tests, program))


def _order(kind: str, program: Program) -> dict[str, Any]:
    limits = program.limits
    return {
        "kind": kind,
        "entry_points": program.entry_points,
        "recipe": {},
        "wall_seconds": limits.wall_seconds,
        "compile_seconds": limits.compile_seconds if program.language != "python" else 0.0,
        "memory_mb": limits.memory_mb,
        "processes": limits.processes,
        "file_mb": limits.file_mb,
        "output_bytes": limits.output_kb << 10,
    }


def _checked(answer: dict[str, Any]) -> dict[str, Any]:
    if answer["verdict"] not in _REPORTED | _SEEN:
        answer.update(verdict="error", detail="The report of the tests has no verdict that there is.")
    return answer
