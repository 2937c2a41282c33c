"""HumanEval-X for real: replies of all forms compile and run, and in its own image every reference solution passes.

The image takes long to build and to run, so that part is for `make references` alone: all problems of all languages.
"""

import shutil

import pytest
from tests.e2e.test_code_references import DATA, exam_of
from tests.sandboxed import EVERY, lacks, run_all

from model_accuracy_eval.records import Attempt, PreparedDataset
from model_accuracy_eval.records.code import Limits, Program
from model_accuracy_eval.scoring.figures.scorecard import Scorecard

IMAGE = "mae-humaneval-x"
LANGUAGES = ("cpp", "go", "java", "js", "python", "rust")
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="benchmark files are not in ../shared/data")


def programs(prepared: PreparedDataset, replies: dict[int, str]) -> list[Program]:
    card = Scorecard(prepared.task, 1, (1,))
    return [
        ask
        for problem in prepared.problems
        if problem.id in replies
        for ask in card.asks(problem, [Attempt(problem=problem.id, index=0, text=replies[problem.id])])
        if isinstance(ask, Program)
    ]


def test_a_program_whose_own_solution_fails_is_not_judged() -> None:
    """A library that the image lacks says nothing about a model; a right solution beside it makes the failure count."""
    wrong, right = "exit 3\n", "exit 0\n"
    unknown, failed, passed = run_all(
        "none",
        [
            Program(code=wrong, tests="", language="bash", reference="no-such-tool\n"),
            Program(code=wrong, tests="", language="bash", reference=right),
            Program(code=right, tests="", language="bash", reference=wrong),
        ],
    )
    assert (unknown.passed, failed.passed, passed.passed) == (None, False, True)
    assert "own solution does not pass here (failed: It ended with exit code" in unknown.detail


@pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")
def test_compiling_has_a_time_of_its_own() -> None:
    """What a compiler takes is not the program's, and each limit is named in its sentence."""
    slow = '#include <regex>\nint main() { return std::regex_match("", std::regex("x")); }\n'
    endless = Limits(wall_seconds=0.2, compile_seconds=20.0)
    passed, late, broken, stuck = run_all(
        "none",
        [
            Program(code=slow, tests="", language="cpp", limits=Limits(wall_seconds=0.2)),
            Program(code=slow, tests="", language="cpp", limits=Limits(compile_seconds=0.01)),
            Program(code="int main() { return nothing; }", tests="", language="cpp"),
            Program(code="int main() { for (;;) ; }", tests="", language="cpp", limits=endless),
        ],
    )
    assert (passed.verdict, late.verdict, broken.verdict) == ("passed", "timeout", "error")
    assert late.detail == "It did not compile within 0.01 s."
    assert (stuck.verdict, stuck.detail) == ("timeout", "It did not end within 0.2 s.")
    assert broken.detail.startswith("It does not compile: main.cpp")
    assert "was not declared in this scope" in broken.output


REPLIES = {
    "cpp": "#include <cmath>\nbool has_close_elements(vector<float> n, float t) {\n  for (size_t i = 0; i < n.size(); i++)\n"
    "    for (size_t j = 0; j < i; j++) if (std::abs(n[i] - n[j]) < t) return true;\n  return false;\n}\n\n"
    "int main() {\n  return !has_close_elements({1, 2}, 3);\n}\n",
    "java": "package demo;\nimport java.util.stream.*;\n\npublic class Solution {\n"
    "  public boolean hasCloseElements(List<Double> n, double t) {\n    return IntStream.range(0, n.size()).anyMatch("
    "i -> IntStream.range(0, i).anyMatch(j -> Math.abs(n.get(i) - n.get(j)) < t));\n  }\n"
    "  public static void main(String[] args) {}\n}\n\npublic class Main {\n"
    "  public static void main(String[] args) {}\n}\n",
    "js": "export const hasCloseElements = (n, t) =>  {\n  return n.some((a, i) => n.some((b, j) => i < j && Math.abs(a - b) < t))\n"
    "}\n\nconst testHasCloseElements = () => {\n  hasCloseElements([], 1)\n}\ntestHasCloseElements()\n",
    "go": 'package main\n\nimport (\n\t"fmt"\n\t"math"\n)\n\nfunc HasCloseElements(n []float64, t float64) bool {\n'
    "\tfor i := range n {\n\t\tfor j := 0; j < i; j++ {\n\t\t\tif math.Abs(n[i]-n[j]) < t {\n\t\t\t\treturn true\n\t\t\t}\n"
    "\t\t}\n\t}\n\treturn false\n}\n\nfunc main() {\n}\n\nfunc TestHasCloseElements(t *testing.T) {\n}\n",
    "rust": "#![allow(dead_code)]\nuse std::collections::HashMap;\nuse std::cmp::max;\n\n"
    "fn has_close_elements(n: Vec<f32>, t: f32) -> bool {\n    let _: HashMap<i32, i32> = HashMap::new();\n"
    "    let _ = max(1, 2);\n    (0..n.len()).any(|i| (0..i).any(|j| (n[i] - n[j]).abs() < t))\n}\n\n"
    "fn main() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn it() {}\n}\n",
}
"""To the first problem, each with the mains, tests and imports that chat models add."""


def assert_judged(short: str, kind: str) -> None:
    """The reply passes, and fails when it compares the wrong way round."""
    prepared = exam_of(f"humaneval_x_{short}", 1)
    texts = [f"Sure!\n```\n{reply}```\n" for reply in (REPLIES[short], REPLIES[short].replace("< t", ">= t"))]
    image = IMAGE if kind == "docker" else None
    found = run_all(kind, [one for text in texts for one in programs(prepared, {0: text})], image)
    assert found[0].verdict == "passed", found[0]
    assert found[1].verdict in {"failed", "crashed"}, found[1]


@needs_data
@pytest.mark.parametrize(
    ("short", "tools"), [("cpp", ["c++"]), ("java", ["javac", "java"]), ("js", ["node"])], ids=["cpp", "java", "js"]
)
def test_replies_that_bring_too_much_pass_here(short: str, tools: list[str]) -> None:
    """With the compilers that this machine has."""
    if any(shutil.which(tool, path="/usr/local/bin:/usr/bin:/bin") is None for tool in tools):
        pytest.skip(f"there is no {' or no '.join(tools)}")
    assert_judged(short, "none")


in_image = pytest.mark.skipif(
    not (EVERY and DATA.is_dir() and lacks(IMAGE) is None),
    reason=f"`make references` runs this where there is the image {IMAGE}",
)


@in_image
@pytest.mark.parametrize("short", LANGUAGES)
def test_every_reference_solution_passes_in_the_image(short: str) -> None:
    """But for those whose own authors' tests refute them."""
    prepared = exam_of(f"humaneval_x_{short}", None)
    found = run_all(
        "docker", programs(prepared, {one.id: f"```\n{one.references[0]}\n```" for one in prepared.problems}), IMAGE
    )
    wrong = {
        one.id: (run.verdict, run.detail, run.output)
        for one, run in zip(prepared.problems, found, strict=True)
        if not run.passed
    }
    assert list(wrong) == ([112, 155] if short == "js" else []), wrong
    assert all(verdict == "failed" for verdict, *_ in wrong.values())


@in_image
@pytest.mark.parametrize("short", REPLIES)
def test_replies_that_bring_too_much_pass_in_the_image(short: str) -> None:
    """Go and Rust, too, whose compilers are the strictest."""
    assert_judged(short, "docker")
