"""Filters of two families of tasks, filters that are classes, pairs for an aggregation, and examples by a function."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from tests.parity import sides
from tests.parity.comparing import Compared, both, check_prompts, check_scores
from tests.parity.conftest import STABLE, Oracle, find

from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.filters.filters import format_span, regex_pos
from model_accuracy_eval.scoring.metrics import user_functions
from model_accuracy_eval.scoring.metrics.metric_table import metric
from model_accuracy_eval.system.local_files import TaskFiles
from model_accuracy_eval.tasks.importers.lm_eval_files import load
from model_accuracy_eval.tasks.importers.lm_eval_tasks import convert
from model_accuracy_eval.trusted_python.trusted_functions import TrustedFunctions

TASKS = [
    "afrobench/masakhaner/prompt_1/masakhaner_am",
    "afrobench/afriqa/prompt_1/afriqa_bem",
    "bbh/zeroshot/word_sorting",
    "bbh/zeroshot/date_understanding",
    "bbh/zeroshot/web_of_lies",
    "bbh/cot_zeroshot/date_understanding",
    "kormedmcqa/doctor",
    "nerel-bench/ru_entity_recognition",
]
PIECES = """Person person location company time date per loc ORG PER DATE Ada none Kenya superper : : : $ $$ , \n 5:30 .
('Ada', 'PROPN') ('a','b') ('x', '') [ ] İ""".replace("', '", "',_'").split()
THEIRS = """
import json, sys
from lm_eval.filters.extraction import POSFilter
from lm_eval.filters.transformation import SPANFilter
replies = json.load(sys.stdin)
found = [[next(iter(made().apply([[one]], [{}])))[0] for one in replies] for made in (SPANFilter, POSFilter)]
print(json.dumps(found))
"""
FIGURE = """
import importlib.util, json, sys
found = importlib.util.spec_from_file_location("utils", sys.argv[1])
module = importlib.util.module_from_spec(found)
found.loader.exec_module(module)
print(module.acc_score(json.load(sys.stdin)))
"""


@pytest.fixture(scope="module")
def stable() -> Oracle:
    return find(STABLE)


@pytest.fixture(scope="module", autouse=True)
def trusted() -> Iterator[None]:
    functions = TrustedFunctions(os.environ)
    token = user_functions.LOADER.set(functions)
    yield
    user_functions.LOADER.reset(token)
    functions.close()


@pytest.fixture(scope="module")
def compared(stable: Oracle, tmp_path_factory: pytest.TempPathFactory) -> Compared:
    data = tmp_path_factory.mktemp("rows")
    found = sides.task_fields(stable.folder, TASKS)
    for _, fields in found.values():
        sides.write_rows(data, fields)
    job = sides.Job({name: path.parent for name, (path, _) in found.items()}, data, limit=sides.ROWS_A_SPLIT)
    return both(stable, {name: fields for name, (_, fields) in found.items()}, job, trusted=True)


def test_prompts_with_examples_by_a_function_are_the_same(compared: Compared) -> None:
    """And all other prompts of these tasks."""
    assert len(compared.ours) == len(TASKS)
    check_prompts(compared)


def test_l13_scores_behind_filters_in_python_are_the_same(compared: Compared) -> None:
    """Classes over bases of ours find what they find over lm-eval's; pairs come to the same figure."""
    check_scores(compared)


def _theirs(oracle: Oracle, script: str, given: object, *arguments: str) -> str:
    words = [str(oracle.python), "-c", script, *arguments]
    done = subprocess.run(words, input=json.dumps(given), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()[-1]


def test_l13_entities_and_tags_are_the_same_in_any_reply(stable: Oracle) -> None:
    """Two thousand texts of the pieces that such replies have, in any order."""
    draw = Random(7)
    blank = [" ", "", "  ", "\n"]
    replies = [
        "".join(draw.choice(PIECES).replace("_", " ") + draw.choice(blank) for _ in range(draw.randrange(15)))
        for _ in range(2000)
    ]
    asked = Problem(id=0, messages=(), references=("",))
    spans, tags = json.loads(_theirs(stable, THEIRS, replies))
    assert [format_span(one, asked) for one in replies] == spans
    read = [regex_pos(one, asked) for one in replies]
    assert [["invalid"] if one is None else json.loads(one) for one in read] == tags
    assert min(sum(map(bool, spans)), sum(one is not None for one in read)) > 100


def test_pairs_of_tags_are_what_the_tasks_aggregation_is_written_for(stable: Oracle, tmp_path: Path) -> None:
    """lm-eval itself stops at these tasks, so that its aggregation is called with the pairs by hand."""
    path = stable.folder / "afrobench/masakhapos/prompt_1/masakhapos_bam.yaml"
    fields = load(TaskFiles(), str(path))
    sides.write_rows(tmp_path, fields)
    job = sides.Job({str(fields["task"]): path.parent}, tmp_path, {}, alone=True)
    assert "'float' object is not iterable" in str(sides.ask_lm_eval(stable.python, job))
    prepared = sides.ours(fields, tmp_path, trusted=True, limit=sides.LIMIT)
    (pipeline,) = convert(fields, trusted=True).task.pipelines
    (measure,) = pipeline.metrics
    replies = ["[('She', 'PRON'), ('runs', 'VERB'), ('1', 'ADP')]", "no tags", "('She', 'NOUN') ('runs', 'VERB')"]
    pairs = []
    for problem in prepared.problems:
        answer = regex_pos(replies[problem.id % 3], problem)
        pairs.append(metric(measure.name).score(answer or "", problem.references, **measure.args))
    theirs = float(_theirs(stable, FIGURE, pairs, str(path.with_name("utils.py"))))
    assert 0.2 < theirs < 0.8
