"""Programs in other languages than Python: judged by their exit code, with the tools that are there."""

import shutil
from collections.abc import Callable

import pytest
from tests.integration.sandbox.conftest import RunAll, runner

from model_accuracy_eval.errors import Refused, UnknownName
from model_accuracy_eval.ports import Sandbox
from model_accuracy_eval.records.code import Limits, Program
from model_accuracy_eval.system.clock import run


def test_other_languages_are_judged_by_their_exit_code(run_any: RunAll) -> None:
    """With the tools that the image has; the integrity says how much that is worth."""
    cases = [
        Program(code="f() { echo $(($1 * $1)); }", tests="[ $(f 3) = 9 ]", language="bash"),
        Program(code="f() { echo 0; }", tests="[ $(f 3) = 9 ]", language="bash"),
        Program(code="sub f { $_[0] ** 2 }", tests="die unless f(3) == 9;", language="perl"),
        Program(code="sub f { 0 }", tests="die 'wrong' unless f(3) == 9;", language="perl"),
    ]
    done = run_any(cases)
    assert [one.verdict for one in done] == ["passed", "failed", "passed", "failed"]
    assert {one.integrity for one in done} == {"exit code"}
    assert "wrong" in done[3].output


CUBE = "#include <cassert>\nint cube(int x) { return x * x * x; }\n"


@pytest.mark.parametrize("kind", ["bwrap", *(pytest.param(it, marks=pytest.mark.slow) for it in ("uid", "none"))])
def test_a_machine_with_a_compiler_judges_compiled_languages(kind: str, boxes: Callable[[str], Sandbox]) -> None:
    """Where programs see the tools of this machine; what does not compile is told with the compiler's words."""
    if shutil.which("c++") is None:
        pytest.skip("this machine has no c++")
    tests = "int main() { assert(cube(3) == 27); }"
    programs = [
        Program(code=CUBE, tests=tests, language="cpp"),
        Program(code=CUBE.replace("* x;", "+ x;"), tests=tests, language="cpp"),
        Program(code=CUBE.replace("return", "reutrn"), tests=tests, language="cpp"),
        Program(code=CUBE.replace("cassert", "assert.h"), tests=tests, language="c"),
    ]
    done = runner(boxes(kind))(programs)
    assert [one.verdict for one in done] == ["passed", "crashed", "error", "passed"]
    assert "does not compile" in done[2].detail
    assert "reutrn" in done[2].output
    assert {one.integrity for one in done} == {"exit code"}


def test_a_language_that_the_image_lacks_is_refused(boxes: Callable[[str], Sandbox]) -> None:
    """One sentence, for tools that are missing and for languages that nobody knows."""
    box = boxes("docker")
    with pytest.raises(Refused, match="The sandbox has no go, which go programs need"):
        run(box.run(Program(code="", tests="", language="go")))
    with pytest.raises(UnknownName, match="no language called 'pearl'; did you mean perl"):
        run(box.run(Program(code="", tests="", language="pearl")))


@pytest.mark.slow
def test_java_finds_its_settings_in_a_namespace(boxes: Callable[[str], Sandbox]) -> None:
    """Debian keeps them in /etc, and neither compiler nor program starts without."""
    if shutil.which("javac", path="/usr/local/bin:/usr/bin:/bin") is None:
        pytest.skip("this machine has no javac")
    body = "static int cube(int x) { return x * x * x; }\npublic static void main(String[] words) { assert cube(3) == 27; }"
    code = f"import java.security.*;\npublic class Main {{ {body} }}"
    limits = Limits(wall_seconds=30.0, memory_mb=2048, processes=128, file_mb=64)
    wrong = code.replace("* x;", "+ x;")
    done = runner(boxes("bwrap"))(Program(code=one, tests="", language="java", limits=limits) for one in (code, wrong))
    assert [one.verdict for one in done] == ["passed", "failed"], done[0]
