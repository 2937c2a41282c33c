"""HumanEval-X: replies of every form become files that hold each thing once, in every language."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from model_accuracy_eval.benchmarks import humaneval_x
from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.code import foreign_programs
from model_accuracy_eval.scoring.code.foreign_programs import (
    LANGUAGES,
    blank_out,
    entry_point,
    foreign,
    foreign_code,
    missing_braces,
)

DATA = Path(__file__).parents[5] / "shared/data/humaneval_x"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="benchmark files are not in ../shared/data")
every_language = pytest.mark.parametrize("language", sorted(LANGUAGES))


def rows(language: str) -> list[dict[str, Any]]:
    source = gzip.decompress((DATA / f"humaneval_{humaneval_x._NAMES[language][0]}.jsonl.gz").read_bytes()).decode()
    return [json.loads(line) for line in source.split("\n") if line.strip()]


def read(language: str, text: str, row: dict[str, Any]) -> str:
    found = foreign_code(text, Problem(id=0, messages=(), references=(), extras=row), language=language)
    assert found is not None
    return found


def own(language: str, row: dict[str, Any]) -> str:
    """The function alone, as a chat model gives it: with its head, without what stands above."""
    known = LANGUAGES[language]
    return f"{row[known.head][foreign_programs.requested_function(known, row).start :].rstrip()}\n{row['canonical_solution']}"


def names(language: str, source: str) -> list[str]:
    return [one.name for one in foreign_programs.functions(LANGUAGES[language], source)]


def squeezed(source: str) -> str:
    return re.sub(r"\s+", " ", source).strip()


@needs_data
@every_language
def test_a_body_and_a_whole_function_make_the_same_file(language: str) -> None:
    """Of all 164 rows: what a body goes on with is what a whole function has above it."""
    for row in rows(language):
        body = read(language, f"```\n{row['canonical_solution']}\n```", row)
        whole = read(language, f"Sure:\n```\n{own(language, row)}\n```\nThat is it.", row)
        name = foreign_programs.requested_function(LANGUAGES[language], row).name
        assert names(language, whole).count(name) == 1, row["task_id"]
        assert names(language, body) == names(language, whole), row["task_id"]


@needs_data
@every_language
def test_a_reply_loses_what_the_tests_define(language: str) -> None:
    """Mains, test functions and test classes that are given again would be there twice."""
    known = LANGUAGES[language]
    for row in rows(language):
        tested = {one.name for one in foreign_programs.top_level(known, row["test"])}
        for answer in (own(language, row), row["canonical_solution"]):
            found = read(language, f"```\n{answer}\n{row['test']}\n```", row)
            assert not tested & {one.name for one in foreign_programs.top_level(known, found)}, row["task_id"]


@needs_data
@every_language
def test_code_without_a_fence_is_found_between_talk(language: str) -> None:
    """Talk in front of a whole function and behind its last brace is left out."""
    for row in rows(language)[::3]:
        whole = own(language, row).strip()
        bare = read(language, f"Here's the function:\n\n{whole}\n\nIt's done (in linear time).", row)
        fenced = read(language, f"```\n{whole}\n```", row)
        assert squeezed(bare) == squeezed(fenced[: fenced.rindex("}") + 1]), row["task_id"]


@needs_data
@every_language
def test_a_body_that_stops_before_its_brace_is_closed(language: str) -> None:
    """A model that goes on with a text ends where it likes."""
    known = LANGUAGES[language]
    for row in rows(language)[:20]:
        body = row["canonical_solution"].rstrip().rstrip("}")
        assert not missing_braces(blank_out(read(language, f"```\n{body}\n```", row), known.hidden)), row["task_id"]


@pytest.mark.parametrize("language", ["python", *LANGUAGES])
def test_a_reply_without_code_has_no_answer(language: str) -> None:
    """Nothing is put together of nothing."""
    row = {"prompt": "def f():\n", "declaration": "def f():\n" if language == "python" else HEADS[language]["head"]}
    row |= {
        "test": "",
        "test_setup": "",
        LANGUAGES[language].head if language != "python" else "prompt": row["declaration"],
    }
    assert foreign_code(" \n", Problem(id=0, messages=(), references=(), extras=row), language=language) is None


HEADS = {
    "cpp": {"head": "#include<string>\nint half(int n){\n", "test": "int main(){ assert(half(4)==2); }"},
    "go": {
        "head": 'import (\n    "math"\n)\n\n// …\nfunc Half(n int) int {\n',
        "test": "func TestHalf(t *testing.T) {\n    assert := assert.New(t)\n    assert.Equal(2, Half(4))\n}\n",
    },
    "java": {
        "head": "import java.util.*;\n\nclass Solution {\n    public int half(int n) {\n",
        "test": "public class Main {\n    public static void main(String[] args) {\n    }\n}\n",
    },
    "javascript": {"head": "\nconst half = (n) => {\n", "test": "const testHalf = () => {\n}\n\ntestHalf()\n"},
    "rust": {
        "head": "\nuse std::{cmp::{max, self}, mem::replace};\nuse rand::Rng;\n\nfn half(n:i32) -> i32{\n",
        "test": "#[cfg(test)]\nmod tests {\n    use super::*;\n}\n",
    },
}
SETUP = 'package main\n\nimport (\n    "testing"\n    "github.com/stretchr/testify/assert"\n)\n'

TRAPS = {
    "a main of its own": (
        "cpp",
        "#include <map>\nstatic int two() { return 2; }\nint half(int n) { return n / two(); }\n\nint main() { half(2); }",
        ("#include <map>", "int two()"),
        ("main",),
    ),
    "a brace in a text": (
        "cpp",
        "int half(int n) { char c = '{'; return n / 2; } // }\nint main() {\n  puts(\"}\");\n}\nint more() { return 1; }",
        ("int more()", "char c = '{'"),
        ("main", "puts"),
    ),
    "a package, a public class and a Main": (
        "java",
        (
            "package demo;\n\nimport java.util.stream.*;\n\npublic class Solution {\n    public int half(int n) { return n / 2; }\n}"
            "\n\npublic class Main {\n    public static void main(String[] a) { }\n}"
        ),
        ("import java.util.*;\nimport java.util.stream.*;", "\nclass Solution"),
        ("package", "class Main", "public class"),
    ),
    "a method alone with an import": (
        "java",
        "import java.util.stream.*;\npublic int half(int n) {\n    return n / 2;\n}",
        ("import java.util.*;\nimport java.util.stream.*;\n", "class Solution {"),
        (),
    ),
    "imports that it does not use, and one that it forgot": (
        "go",
        (
            'package main\n\nimport (\n\t"fmt"\n\tstr "strings"\n)\n\n// fmt.Println and "os."\nfunc Half(n int) int {\n'
            '\treturn sort.SearchInts(nil, 0) + len(str.Trim("fmt. ", " "))\n}\n\nfunc main() {\n}'
        ),
        ('\t"sort"\n', '\tstr "strings"\n', '\t"testing"\n', "testify/assert"),
        ('"fmt"\n', '"math"'),
    ),
    "a test and a type in braces": (
        "go",
        "func Half(x interface{}, n int) []interface{} {\n\treturn nil\n}\n\nfunc TestHalf(t *testing.T) {\n\tHalf(nil, 1)\n}",
        ("return nil",),
        ("TestHalf", "Half(nil, 1)"),
    ),
    "an export, and tests that it runs": (
        "javascript",
        "export const half = ({n, m} = {}) => {\n  return n / 2\n}\n\nconst testHalf = () => {\n  half(2)\n}\ntestHalf();",
        ("\nconst half",),
        ("export", "testHalf"),
    ),
    "attributes, imports and tests": (
        "rust",
        (
            "#![allow(dead_code)]\nuse std::cmp::max;\n\nfn half<'a>(n: i32) -> i32 {\n    max(0, n / 2)\n}\n\n"
            "#[cfg(test)]\nmod tests {\n    #[test]\n    fn it() {}\n}\n\nfn main() {}"
        ),
        (
            "mod given {\n    pub use std::{cmp::{max, self}, mem::replace};\n    pub use rand::Rng;\n}",
            "use std::cmp::max;",
        ),
        ("mod tests", "cfg(test)"),
    ),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_replies_that_bring_too_much(trap: str) -> None:
    """What stands twice or in the wrong place keeps a right answer from compiling."""
    language, reply, kept, gone = TRAPS[trap]
    head, test = HEADS[language]["head"], HEADS[language]["test"]
    row = {"prompt": head, "declaration": head, "test": test, "test_setup": SETUP}
    found = read(language, f"```{language}\n{reply}\n```", row)
    assert [piece for piece in kept if piece not in found] == []
    assert [piece for piece in gone if piece in found] == []
    assert not missing_braces(blank_out(found, LANGUAGES[language].hidden))
    assert not found.partition("#![allow")[0].strip()[:1] or language != "rust"


@needs_data
def test_python_is_judged_apart_from_its_tests() -> None:
    """Of all 164 rows: the tests call what the head defines last."""
    for row in rows("python"):
        assert row["test"].rstrip().endswith(f"check({entry_point(row)})"), row["task_id"]
    program = foreign("def f(): …", row, language="python")
    assert (program.language, program.mode, program.entry_points) == ("python", "split", (entry_point(row),))


@needs_data
def test_a_wrong_published_solution_is_no_measure() -> None:
    """The tests of two tasks in JavaScript are right where their solutions are not."""
    program = {row["task_id"]: foreign("", row, language="javascript") for row in rows("javascript")}
    assert [name for name, one in program.items() if not one.reference] == ["JavaScript/112", "JavaScript/155"]
