"""HumanEval+ and MBPP+: inputs of the evaluator's types, its oracles and tolerances. Against the evaluator itself they
are compared by tests/parity/test_evalplus.py."""

from typing import Any

import pytest

from model_accuracy_eval.benchmarks import dataset_table as tasks
from model_accuracy_eval.scoring.code.evalplus import VERSION, agreement, notes, with_types


@pytest.mark.parametrize(
    ("shapes", "arguments", "typed"),
    [
        ("", [[1], "2"], [[1], "2"]),
        ("t", [[[1]], [2]], [([1],), (2,)]),
        ("lt", [[[1], [2]], [[3]]], [[(1,), (2,)], [(3,)]]),
        ("tt", [[[1], 2]], [((1,), 2)]),
        ("T", [[1, [2, [3]]]], [(1, (2, (3,)))]),
        ("- t", [[1], [2], [3]], [[1], (2,), (3,)]),
        ("ls", [[[1, 1], [], 2]], [[{1}, {}, 2]]),
        ("dt -", [{"a": [1]}, [2]], [{"a": (1,)}, [2]]),
        ("c", ["1j"], [1j]),
        ("f c", ["0", "1j"], [0.0, 1j]),
    ],
)
def test_inputs_have_the_types_of_the_evaluator(shapes: str, arguments: list[Any], typed: list[Any]) -> None:
    """Which JSON has not: tuples, sets and complex numbers."""
    assert repr(with_types(arguments, shapes)) == repr(typed)


def agrees(reference: str, got: str, *inputs: list[Any], name: str = "f", atol: float = 0, **more: Any) -> bool:
    """Whether a program that returns this agrees with a reference that returns that, for x and y as inputs."""
    row = {
        "task_id": "Mbpp/0", "entry_point": name, "canonical_solution": f"def {name}(*it):\n    return {reference}",
        "base_input": inputs or [[0]], "plus_input": [], "atol": atol, "assertion": "", **more,
    }  # fmt: skip
    code = f"def {name}(*it):\n    return {got}"
    names: dict[str, Any] = {}
    exec(code, names)
    names["__within__"] = lambda _limit, _crossing, function, *arguments: (function(*arguments), 0.0)
    try:
        exec(agreement(code, row).tests, names)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize(
    ("reference", "got", "equal"),
    [
        ("1", "1", True),
        ("1", "1.0", True),
        ("[1]", "(1,)", False),
        ("1.0", "1.0000005", True),
        ("1.0", "1.00001", False),
        ("1.0", "1", True),
        ("2.0", "1 + 1 - 1e-9j", False),
        ("[1.0, 2.0]", "[1.0000001, 2]", True),
        ("[1.0, 2.0]", "(1.0, 2.0)", False),
        ("[1.0, 2.0]", "[1.0]", False),
        ("[1.0, 2]", "[1.0000001, 2]", False),
        ("float('inf')", "float('inf')", True),
        ("float('nan')", "float('nan')", False),
        ("'a'", "'b'", False),
    ],
)
def test_floats_have_a_tolerance(reference: str, got: str, equal: bool) -> None:
    """Where nothing but floats is expected, and the type is that one."""
    assert agrees(reference, got) is equal


def test_a_tolerance_stays_for_the_inputs_after_it() -> None:
    """As in the evaluator: a float that was expected once makes whole numbers approximate, too; not before."""
    reference, got = "it[0]", "it[0] + 1e-8"
    assert agrees(f"[{reference}, 1]", f"[{got}, 1]", [1.5]) is False
    assert agrees("it[0] if it[1] else [it[0], 1]", "it[0] if it[1] else [it[0] + 1e-8, 1]", [1.5, 1], [1.5, 0])
    assert not agrees("it[0] if it[1] else [it[0], 1]", "it[0] if it[1] else [it[0] + 1e-8, 1]", [1.5, 0], [1.5, 1])


@pytest.mark.parametrize("got", ["[[1.00005, 2.0]]", "[(1, 2)]"])
def test_a_task_has_a_tolerance_of_its_own(got: str) -> None:
    """Nested lists are compared as arrays, whatever their inner types."""
    assert agrees("[[1.0, 2.0]]", got, atol=1e-4)
    assert not agrees("[[1.0, 2.0], [3.0]]", f"[*{got}, [3.00001]]", atol=1e-4)


@pytest.mark.parametrize(
    ("name", "reference", "right", "wrong"),
    [
        ("are_equivalent", "True", ["False", "None"], []),
        ("sum_div", "5", ["5", "0"], ["1"]),
        ("surface_Area", "33", ["33", "35"], ["34"]),
        ("digit_distance_nums", "1", ["1", "8"], ["2"]),
        ("Diff", "[1, 2]", ["[2, 1, 1]", "(1, 2)"], ["[1]"]),
        ("check_str", "None", ["None", "False"], ["True", "1"]),
        ("check_str", "1", ["True", "'found'"], ["None", "False"]),
    ],
)
def test_some_functions_have_several_right_answers(
    name: str, reference: str, right: list[str], wrong: list[str]
) -> None:
    """Those for which the evaluator has an oracle."""
    arguments = {"surface_Area": [3, 4], "digit_distance_nums": [1, 18]}.get(name, [0])
    seen = [agrees(reference, got, arguments, name=name) for got in [*right, *wrong]]
    assert seen == [True] * len(right) + [False] * len(wrong)


def test_a_zero_is_judged_by_its_polynomial() -> None:
    """The other root is right, too; its reference comes with the prompt's function."""
    prompt = "def poly(xs, x):\n    return sum(c * x ** i for i, c in enumerate(xs))\n"
    row = {
        "entry_point": "find_zero", "prompt": prompt, "canonical_solution": "def find_zero(xs):\n    return 1.0",
        "base_input": [[[-1, 0, 1]]], "plus_input": [], "atol": 1e-4,
    }  # fmt: skip
    for root, right in (("-1.0", True), ("1.00001", True), ("1.01", False)):
        names: dict[str, Any] = {"__within__": lambda _limit, _crossing, function, *them: (function(*them), 0.0)}
        exec(f"def find_zero(xs): return {root}", names)
        tests = agreement("", row).tests
        if right:
            exec(tests, names)
        else:
            with pytest.raises(AssertionError):
                exec(tests, names)


def test_the_reference_keeps_its_own_functions() -> None:
    """A program that has one of the same name changes nothing that is expected."""
    row = {
        "task_id": "Mbpp/0", "entry_point": "f", "atol": 0, "assertion": "", "base_input": [[1]], "plus_input": [],
        "canonical_solution": "def g(x):\n    return x\ndef f(x):\n    return f(x - 1) if x else g(7)",
    }  # fmt: skip
    tests = agreement("", row).tests
    names: dict[str, Any] = {"__within__": lambda _limit, _crossing, function, *them: (function(*them), 0.0)}
    exec("def g(x): return 8\ndef f(x): return g(x)", names)
    with pytest.raises(AssertionError, match="8 is not 7"):
        exec(tests, names)


def test_the_result_names_the_evaluator_and_its_version() -> None:
    """Of the datasets that are judged by its rules, and of no others."""
    said = {name: list(notes(tasks.find(name))) for name in ("humaneval", "humaneval_plus", "mbpp", "mbpp_plus_v0.1.0")}
    assert {name: len(sentences) for name, sentences in said.items()} == {
        "humaneval": 0, "humaneval_plus": 1, "mbpp": 0, "mbpp_plus_v0.1.0": 1,
    }  # fmt: skip
    assert f"EvalPlus {VERSION}," in said["humaneval_plus"][0]
