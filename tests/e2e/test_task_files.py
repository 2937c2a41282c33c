"""A run over task files as lm-eval and we ourselves write them, against a service over real HTTP."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import command
from tests.servers.fault_server import FaultServer

JSON = dict[str, Any]

LM_EVAL = """
task: own_sums
dataset_path: own/sums
test_split: test
fewshot_split: train
num_fewshot: 1
fewshot_config: {sampler: first_n}
description: "Add.\\n\\n"
doc_to_text: "Q: {{q}}\\nA:"
doc_to_target: "{{a}}"
metric_list: [{metric: exact_match, ignore_punctuation: true}]
filter_list:
  - name: strict
    filter: [{function: regex, regex_pattern: 'is (\\d+)'}, {function: take_first}]
"""
GROUP = "group: all_sums\ntask: [own_sums]\naggregate_metric_list: [{metric: exact_match}]\n"
TRUSTED = LM_EVAL.replace("own_sums", "odd_sums") + "process_docs: !function utils.odd\n"
OURS = """
name: declared_sums
data: own/sums/test.jsonl
prompt: {question: "{{ q }} ="}
reference: "{{ a }}"
repeats: 1
pipelines: [{filters: [number_answer], metrics: [number]}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Task files, their rows, and the Python of one of them."""
    files = {"tasks/own_sums.yaml": LM_EVAL, "tasks/all.yaml": GROUP, "tasks/odd.yaml": TRUSTED, "ours.yaml": OURS}
    files["tasks/utils.py"] = "def odd(rows):\n    return rows.filter(lambda row: int(row['a']) % 2)\n"
    for split in ("test", "train"):
        rows = [{"q": f"{number}+{len(split)}", "a": str(number + len(split))} for number in range(5)]
        files[f"data/own/sums/{split}.jsonl"] = "".join(json.dumps(row) + "\n" for row in rows)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def answer(request: JSON) -> list[str]:
    """Adds the last two numbers of the question, but for one of them."""
    question = request["messages"][-1]["content"].rpartition("Q: ")[2].replace("=", "").split("\n")[0]
    if "+" not in question:
        return ["ready"]
    first, second = map(int, question.split("+"))
    return [f"It is {first + second if first != 3 else 0}."] * request.get("n", 1)


def run(folder: Path, *arguments: object) -> tuple[command.Done, dict[str, JSON]]:
    """What the command said, and the results of every dataset."""
    with FaultServer(answer) as server:
        done = command.run(
            "run", "--endpoint", server.url, "--data-dir", folder / "data", "--out", folder / "out", *arguments
        )
    found = (folder / "out").glob("[0-9a-f]*/results/*/*.json")
    return done, {path.stem: json.loads(path.read_bytes()) for path in found}


def test_a_task_is_found_by_name_in_the_users_folder(folder: Path) -> None:
    """Few-shot prompt, filter and metric of an lm-eval file give lm-eval's figure."""
    done, results = run(folder, "--datasets", "own_sums", "--tasks-path", folder / "tasks")
    assert done.code == 0, done.err
    assert results["own_sums"]["exact_match,strict"] == 80.0
    sent = next((folder / "out").glob("[0-9a-f]*/predictions/*/own_sums.json")).read_text()
    assert json.loads(sent)["0"]["origin_prompt"][-1]["prompt"] == "Add.\n\nQ: 0+5\nA: 5\n\nQ: 0+4\nA:"


def test_files_of_both_spellings_and_groups_are_datasets(folder: Path) -> None:
    """A group's file stands for its members, and ours beside it."""
    done, results = run(folder, "--datasets", f"{folder}/tasks/all.yaml,{folder}/ours.yaml")
    assert done.code == 0, done.err
    assert set(results) >= {"own_sums", "declared_sums"}
    assert results["declared_sums"]["number"] == 80.0


def test_tasks_show_prints_the_task_and_its_first_prompt(folder: Path) -> None:
    """Or what stands against it."""
    done = command.run("tasks", "show", folder / "tasks/own_sums.yaml", "--data-dir", folder / "data")
    assert done.code == 0, done.err
    assert done.out.startswith("name: own_sums\n")
    assert "Add.\n\nQ: 0+5\nA: 5\n\nQ: 0+4\nA:" in done.out
    refused = command.run("tasks", "show", folder / "tasks/odd.yaml")
    assert (refused.code, "--trust-python" in refused.err) == (2, True)


def test_paths_in_our_own_spelling_are_not_loaded_without_trust(folder: Path) -> None:
    """Not even to look at what the figures will be called."""
    marker = folder / "loaded"
    (folder / "own.py").write_text(
        f"open({str(marker)!r}, 'a').write('x')\ndef one(answer, references):\n    return 1.0\n"
    )
    (folder / "ours.yaml").write_text(OURS.replace("metrics: [number]", f"metrics: ['{folder}/own.py:one']"))
    done, _ = run(folder, "--datasets", folder / "ours.yaml")
    assert (done.code, marker.exists()) == (2, False)
    assert "allow it with --trust-python" in done.err
    done, _ = run(folder, "--datasets", folder / "ours.yaml", "--trust-python")
    assert (done.code, marker.exists()) == (0, True)
