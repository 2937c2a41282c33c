"""Runs whose rows, examples, filters and metrics are Python of the tasks' authors, which the user trusts."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import command
from tests.servers.fault_server import FaultServer

JSON = dict[str, Any]

PROGRAMS = """
task: own_programs
dataset_path: own/programs
test_split: test
unsafe_code: true
doc_to_text: "{{prompt}}"
doc_to_target: "{{test}}\\ncheck({{name}})"
metric_list: [{metric: !function programs.pass_at_k, aggregation: mean, k: [1]}]
filter_list: [{name: whole, filter: [{function: custom, filter_fn: !function programs.whole}]}]
generation_kwargs: {until: ["\\nclass"], do_sample: false}
"""
PROGRAMS_PYTHON = """
import evaluate as library
judge = library.load("code_eval")
judge.compute(references=["assert f(1)"], predictions=[["def f(n): return n"]], k=[1])

def pass_at_k(references, predictions, k=None):
    return judge.compute(references=references, predictions=predictions, k=k)[0]

def whole(resps, docs):
    return [[doc["prompt"] + one for one in several] for several, doc in zip(resps, docs)]
"""
PROGRAM_ROWS = [
    {"prompt": f"def add{number}(a, b):\n", "name": f"add{number}", "test": "def check(f):\n    assert f(2, 3) == 5"}
    for number in range(4)
]

MADE = """
task: own_names
custom_dataset: !function names.load
dataset_kwargs: {least: 1}
test_split: test
num_fewshot: 1
fewshot_config: {sampler: first_n, samples: !function names.samples}
doc_to_text: !function names.question
doc_to_target: "{{name}}"
metric_list: [{metric: f1, aggregation: !function names.share, ignore_case: true}]
filter_list:
  - {name: read, filter: [{function: !function names.Marked, regex_pattern: 'NAME (\\w+)'}, {function: take_first}]}
  - {name: registered, filter: [{function: loud, times: 2}, {function: take_first}]}
"""
MADE_PYTHON = """
import datasets
from lm_eval.api.filter import Filter
from lm_eval.api.registry import register_filter
from lm_eval.filters.extraction import RegexFilter

def load(least, **more):
    rows = datasets.load_dataset("own/names", "short")["test"]
    return {"test": rows.filter(lambda row: row["number"] >= least)}

def samples():
    return [{"number": 9, "name": "Zoe"}]

def question(row):
    return f"Who is number {row['number']}?"

def share(pairs):
    return sum(right == said for right, said in pairs) / len(pairs)

class Marked(RegexFilter):
    def apply(self, resps, docs):
        return [(one.title() for one in several) for several in super().apply(resps, docs)]

@register_filter("loud")
class Loud(Filter):
    def __init__(self, times):
        self.times = times

    def apply(self, resps, docs):
        return [[doc["name"] * self.times for one in several] for several, doc in zip(resps, docs)]
"""

ASKING = """
name: asking
data: own/programs/test.jsonl
prompt: {question: "{{ prompt }}"}
reference: "{{ name }}"
extras: [prompt, test]
repeats: 1
pipelines: [{metrics: [{name: "METRIC", label: right, args: {limit: 5}}]}]
"""
ASKING_PYTHON = """
from model_accuracy_eval.records.code import Limits, Program
from model_accuracy_eval import Metric

def ask(answer, problem, *, limit):
    code, tests = problem.extras["prompt"] + answer, problem.extras["test"]
    program = Program(code=code, tests=f"{tests}\\ncheck({problem.references[0]})", limits=Limits(wall_seconds=limit))
    shown = Program(code=code, tests=f"{problem.references[0]}(1, 1)")
    return program, shown

def worth(hidden, shown, *, problem, limit):
    return float(hidden.passed and shown.passed)

ROW = Metric(score=worth, asks=ask, reads="findings", yes_or_no=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows: dict[str, list[JSON]] = {"programs/test": PROGRAM_ROWS}
    rows["names/short/test"] = [{"number": number, "name": name} for number, name in enumerate(("Ada", "Bob", "Cid"))]
    files = {f"data/own/{name}.jsonl": "".join(json.dumps(row) + "\n" for row in own) for name, own in rows.items()}
    files |= {"programs.yaml": PROGRAMS, "programs.py": PROGRAMS_PYTHON, "names.yaml": MADE, "names.py": MADE_PYTHON}
    files |= {"asking.yaml": ASKING.replace("METRIC", f"{tmp_path}/asking.py:ROW"), "asking.py": ASKING_PYTHON}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def answer(request: JSON) -> list[str]:
    """Half of the programs add, the others do not; of two names one is right."""
    question = request["messages"][-1]["content"]
    if "def add" in question:
        return ["    return a + b\n" if question.startswith(("def add0", "def add2")) else "    return a - b\n"]
    return ["So: NAME bob, I think" if question.endswith("number 1?") else "NAME nobody"]


def run(folder: Path, *arguments: object) -> tuple[command.Done, JSON]:
    with FaultServer(answer) as server:
        done = command.run(
            "run", "--endpoint", server.url, "--data-dir", folder / "data", "--out", folder / "out", "-n", 1, *arguments
        )
    found = list((folder / "out").glob("[0-9a-f]*/results/*/*.json"))
    return done, json.loads(found[0].read_bytes()) if found else {}


def test_pass_at_k_of_the_evaluate_library_is_run_in_our_sandbox(folder: Path) -> None:
    """The author's filter makes whole programs, the sandbox runs them, and the author's metric is never called."""
    done, results = run(folder, "--datasets", folder / "programs.yaml", "--trust-python", "--sandbox", "none")
    assert done.code == 0, done.err
    assert results["pass@1(code_eval,whole)"] == 50.0
    refused, _ = run(folder, "--datasets", folder / "programs.yaml", "--sandbox", "none")
    assert refused.code == 2
    assert "filter_fn is Python (!function programs.whole), which is run only with --trust-python" in refused.err


def test_rows_examples_filters_and_aggregation_are_the_authors(folder: Path) -> None:
    """Rows come from a file that the author's function names, examples from one that reads none; a filter is a class that
    inherits from lm-eval's, or one that its module registers under a name."""
    done, results = run(folder, "--datasets", folder / "names.yaml", "--trust-python")
    assert done.code == 0, done.err
    assert (results["f1,read"], results["f1,registered"]) == (0.5, 0.0)
    sent = json.loads(next((folder / "out").glob("[0-9a-f]*/predictions/*/own_names.json")).read_text())
    assert [sent[key]["origin_prompt"][-1]["prompt"] for key in sorted(sent)] == [
        f"Who is number 9? Zoe\n\nWho is number {number}?" for number in (1, 2)
    ]


def test_a_metric_of_the_users_own_asks_for_programs_to_be_run(folder: Path) -> None:
    """What it asks goes from its process to the sandbox, and the findings go back to it."""
    done, results = run(folder, "--datasets", folder / "asking.yaml", "--trust-python", "--sandbox", "none")
    assert done.code == 0, done.err
    assert results["right"] == 50.0
