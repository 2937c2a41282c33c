"""The two sides of the comparison: lm-eval in an environment of its own, and this package on the same rows."""

import csv
import gzip
import io
import json
import os
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.parity import families, own_rows
from tests.parity.families import REAL_ROWS
from tests.parity.oracle_words import weigh

from model_accuracy_eval.hubs.file_hub import FileHub
from model_accuracy_eval.records import Attempt, DataFile, DataRow, Loglikelihood, PreparedDataset, Problem, TaskSpec
from model_accuracy_eval.system.local_files import TaskFiles
from model_accuracy_eval.tasks import preparation, rows
from model_accuracy_eval.tasks.importers.lm_eval_files import TaskFields, load
from model_accuracy_eval.tasks.importers.lm_eval_tasks import convert
from model_accuracy_eval.trusted_python.trusted_functions import TrustedRows

ROWS = families.ROWS | own_rows.ROWS
Change = Callable[[TaskSpec, TaskFields], TaskSpec]

LIMIT = 9
REAL_LIMIT = 60
BENCHMARKS = Path(__file__).parents[2].parent / "shared" / "data"
ROWS_A_SPLIT = 24


def task_fields(folder: Path, tasks: Iterable[str]) -> dict[str, tuple[Path, TaskFields]]:
    """Name of every task → its file and its fields."""
    found = {}
    for name in tasks:
        path = folder / f"{name}.yaml"
        fields = load(TaskFiles(), str(path))
        found[str(fields["task"])] = (path, fields)
    return found


def write_rows(data: Path, fields: TaskFields) -> None:
    """A file for every split that the task names."""
    splits = {fields.get(f"{kind}_split") for kind in ("training", "validation", "test", "fewshot")}
    path, name = fields["dataset_path"], fields.get("dataset_name")
    files = (fields.get("dataset_kwargs") or {}).get("data_files", {})
    for split in sorted(str(split) for split in splits if split is not None):
        if path in ("json", "csv"):
            where = files[split].removeprefix("hf://datasets/")
            _write(data / where, ROWS[f"{path}:{where}"], split)
        else:
            whole = "/".join(str(part) for part in (path, name) if part is not None)
            _write(data / whole / f"{split}.jsonl", ROWS.get(whole) or ROWS[path], split)


def _write(file: Path, row: Any, split: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    start = sum(map(ord, split))  # splits differ
    made = [one for number in range(ROWS_A_SPLIT) if (one := row(start + number)) is not None]
    if file.suffix == ".csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, fieldnames=list(made[0]))
        writer.writeheader()
        writer.writerows(made)
        file.write_text(text.getvalue(), encoding="utf-8")
    else:
        file.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in made), encoding="utf-8")


def write_real_rows(data: Path) -> None:
    """Benchmark files where they are, in place of what was made up."""
    for split, (file, wanted) in REAL_ROWS.items():
        found = map(json.loads, gzip.decompress((BENCHMARKS / f"{file}.jsonl.gz").read_bytes()).splitlines())
        chosen = [row for row in found if all(row[name] == value for name, value in wanted.items())]
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in chosen)
        (data / f"{split}.jsonl").write_text(text, encoding="utf-8")


def ours(fields: TaskFields, data: Path, *, trusted: bool, limit: int, change: Change | None = None) -> PreparedDataset:
    """The exam that the task file gives over the rows in the folder; `change` is what another version does to the task."""
    task = convert(fields, trusted=trusted).task
    task = change(task, fields) if change else task
    fewshot = task.prompt.fewshot
    shots = _rows(task, fewshot.data, data) if fewshot and fewshot.data else []
    return preparation.build(task, _rows(task, task.data, data), shots, None, first=limit)


def _rows(task: TaskSpec, file: DataFile, data: Path) -> list[DataRow]:
    return list(rows.read(file, task.fields, str(data), FileHub({}), TrustedRows(os.environ)))


def asked(exam_: PreparedDataset) -> list[list[list[str]]]:
    """What is asked of the model for each problem, in lm-eval's shape."""
    return [_asked(exam_.task, problem) for problem in exam_.problems]


def _asked(task: TaskSpec, problem: Problem) -> list[list[str]]:
    if task.kind == "generate":
        (turn,) = problem.messages
        return [[turn.content]]
    if task.kind == "rolling":
        return [[problem.candidates[0].continuation]]
    return [[one.context, one.continuation] for one in problem.candidates]


def replies(exam_: PreparedDataset, plain: PreparedDataset) -> dict[str, list[str]]:
    """For every prompt what the scripted model answers: right, nearly right, and wrong answers to the plain exam in turn."""
    n = exam_.task.repeats or 1
    return {
        asked.messages[0].content: [_reply(plain, problem, number) for number in range(n)]
        for asked, problem in zip(exam_.problems, plain.problems, strict=True)
        if exam_.task.kind == "generate"
    }


def _reply(exam_: PreparedDataset, problem: Problem, number: int) -> str:
    right = problem.references[(problem.id + number) % len(problem.references)]
    other = exam_.problems[(problem.id + 1) % len(exam_.problems)].references[0]
    forms = (
        "The answer is {right}.",
        "{right}",
        " {right}.",
        "#### {right}",
        "{other}",
        "I think: ({right})\n",
        "The answer is {other}.",
        "The best answer is: {other}",
        "{right} it is.",
    )
    return forms[(problem.id + 4 * number) % len(forms)].format(right=right, other=other)


def attempts(exam_: PreparedDataset, problem: Problem, told: dict[str, list[str]]) -> list[Attempt]:
    if exam_.task.kind == "generate":
        texts = told[problem.messages[0].content]
        return [Attempt(problem=problem.id, index=index, text=text) for index, text in enumerate(texts)]
    weighed = tuple(_likelihood(one.context, one.continuation) for one in problem.candidates)
    return [Attempt(problem=problem.id, index=0, method="echo", loglikelihoods=weighed)]


def _likelihood(context: str, continuation: str) -> Loglikelihood:
    logprob, greedy = weigh(context, continuation)
    return Loglikelihood(logprob=logprob, greedy=greedy)


def with_examples(fields: TaskFields, count: int) -> TaskFields:
    """As lm-eval's `--num_fewshot` has it: a file that says 0 keeps its 0."""
    return fields if fields.get("num_fewshot") == 0 else {**fields, "num_fewshot": count}


@dataclass(frozen=True)
class Job:
    """What the real program is to run."""

    tasks: dict[str, Path]
    """Name → the folder where its file is looked for."""
    data: Path
    replies: dict[str, list[str]] = field(default_factory=dict)
    examples: int | None = None
    limit: int = LIMIT
    draws: int = 0
    alone: bool = False
    """Each task by itself; told is then why it stopped, or None."""
    keep: Path | None = None
    """Where its own files go."""


def ask_lm_eval(python: Path, job: Job) -> dict[str, Any]:
    """What it asked and found."""
    done = subprocess.run(
        [str(python), str(Path(__file__).with_name("oracle.py"))],
        input=json.dumps(asdict(job), default=str),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer
