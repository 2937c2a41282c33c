"""`rescore` of a run of this program gives the run's own figures, for every dataset of the table."""

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.fake_ports import MemoryHub, ScriptedChat, ScriptedSandbox, fake_ports
from tests.one_of_each import one_of_each
from tests.real_data import REAL

from model_accuracy_eval import rescore
from model_accuracy_eval.benchmarks import dataset_table as tasks
from model_accuracy_eval.errors import BadData, BadReuse, BadValue
from model_accuracy_eval.ports import Ports
from model_accuracy_eval.records import (
    Candidate,
    Choice,
    ClientLimits,
    DataFile,
    Fault,
    GroupMean,
    Loglikelihood,
    PreparedDataset,
    Report,
    Request,
    RequestMethod,
    RunPlan,
    Sampling,
    Settings,
    Shard,
    TaskGroup,
    TaskSpec,
    Timings,
    ToolCall,
)
from model_accuracy_eval.records.code import ExecutionVerdict, Program
from model_accuracy_eval.rescoring.rescoring_result import Rescored
from model_accuracy_eval.run import engines, pipeline, preflight
from model_accuracy_eval.run_folder.run_folder import RunFolder
from model_accuracy_eval.scoring.figures.groups import all_rows
from model_accuracy_eval.scoring.metrics.metric_table import metric_uses, needs_judge, unavailable_metrics
from model_accuracy_eval.tasks.rows import parse

ROWS = 40
"""How many rows of a large file are taken, from all over it."""
PROBLEMS = 18
LABEL = "vllm-api-stream-chat"
WRONG = "# this one is wrong"
SYNTHETIC: dict[str, Any] = {
    "query": "Which comes after {}?", "choices": ["{}", "one more than {}", "less"], "gold": 1,
    "context": "What comes after {} is", "continuation": "one more than {}",
}  # fmt: skip
"""Columns of datasets whose files nobody may copy, filled with a number."""


def draw(*words: object) -> int:
    """The same number for the same words, in every process."""
    return int.from_bytes(hashlib.sha256(repr(words).encode()).digest()[:4], "big")


def data(file: DataFile, fields: tuple[str, ...], *, all_rows: bool) -> bytes:
    """The rows of a dataset: its own where they are at hand, otherwise made from the names of its columns."""
    if file.source and file.source.url.startswith("package:"):
        return (resources.files("model_accuracy_eval.tasks") / "data" / file.source.url[8:]).read_bytes()
    plain, packed = REAL / file.name, REAL / f"{file.name}.gz"
    if plain.is_file() or packed.is_file():
        content = plain.read_bytes() if plain.is_file() else gzip.decompress(packed.read_bytes())
        return content if all_rows else few(file.name, content)
    if not set(fields) <= SYNTHETIC.keys():
        pytest.skip(f"{file.name} is not on this machine (it is looked for in ../shared/data)")
    return b"".join(
        json.dumps(filled({name: SYNTHETIC[name] for name in fields}, row)).encode() + b"\n" for row in range(ROWS)
    )


def filled(value: Any, number: int) -> Any:
    if isinstance(value, dict):
        return {key: filled(inner, number) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, number) for inner in value]
    return value.format(number) if isinstance(value, str) else value


def few(name: str, content: bytes) -> bytes:
    """Rows from all over the file, as its format has them."""
    if name.endswith((".txt", ".csv")):
        return content
    if name.endswith(".json") and not content.lstrip().startswith(b"["):
        return content
    rows = parse(name, content, ())
    chosen = rows[:: max(1, len(rows) // ROWS)]
    if name.endswith(".json"):
        return json.dumps(chosen).encode()
    return b"".join(json.dumps(row).encode() + b"\n" for row in chosen)


def hub(task: TaskSpec) -> MemoryHub:
    """The files of a dataset, whole where a further view chooses few of its rows."""
    whole = task.views[1:] != () or bool(task.data.more)
    files = {task.data.name: data(task.data, task.fields, all_rows=whole)}
    files |= {other.name: data(other, ("?",), all_rows=True) for other in task.data.more}
    fewshot = task.prompt.fewshot
    if fewshot and fewshot.data:
        files[fewshot.data.name] = data(fewshot.data, fewshot.fields or task.fields, all_rows=True)
    return MemoryHub(files)


class Service:
    """Answers some questions right, some wrong, some with nothing, and fails at some."""

    def __init__(self, prepared: PreparedDataset) -> None:
        self._references = {problem.messages[-1].content: problem.references[0] for problem in prepared.problems}
        self._references |= {problem.text: problem.references[0] for problem in prepared.problems if problem.text}

    def __call__(self, request: Request, choice: int) -> str | Choice | Fault:
        asked = request.text or request.messages[-1].content
        reference = self._references.get(asked)
        if reference is None:  # the readiness probe
            return "ok"
        number = draw(asked, request.seed, choice)
        said = Timings(e2e=0.1)
        match number % 11:
            case 0:
                kind = "rejected" if number % 2 else "failed"
                return Fault(kind=kind, sentence=f"it {kind} the request", status=400 if number % 2 else 500)  # type: ignore[arg-type]
            case 1:
                return ""
            case 2:
                return Choice(
                    index=choice, text="", reasoning=self._reply(reference), finish_reason="stop", timings=said
                )
            case 3:
                return Choice(index=choice, text="Let me think about", finish_reason="length", timings=said)
            case 4 if request.tools and not request.rounds:
                call = ToolCall(id="1", name="calculator", arguments='{"expression": "1 + 1"}')
                return Choice(index=choice, text="", finish_reason="tool_calls", calls=(call,), timings=said)
            case 5 | 6 | 7:
                return self._reply(WRONG)
        return self._reply(reference)

    @staticmethod
    def _reply(answer: str) -> str:
        """In all forms in which tasks want answers."""
        code = f"```python\n{answer}\n```\n" if "\n" in answer or answer == WRONG else ""
        return f"{code}{answer}\nSo the answer is {answer}.\n【答案】{answer}\n[ANSWER]{answer}[/ANSWER]\nANSWER: {answer}\n#### {answer}"


def likelihood(candidate: Candidate) -> Loglikelihood | Fault:
    number = draw(candidate.context, candidate.continuation)
    if number % 7 == 0:
        return Fault(kind="failed", sentence="the stream broke", status=500)
    tokens = 1 + len(candidate.continuation) // 4
    return Loglikelihood(logprob=-(number % 97) / 7, tokens=tokens, greedy=number % 3 == 0)


def verdict(program: Program) -> ExecutionVerdict:
    return "failed" if WRONG in f"{program.code}{program.tests}{program.files}" else "passed"


def plan(task: TaskSpec, out: Path, **settings: Any) -> RunPlan:
    return RunPlan(
        run_id="a" * 32,
        stamp="20260326_151326",
        settings=Settings(endpoint=("http://service",), out=str(out), max_failed_requests=10_000, **settings),
        tasks=(task,),
        shard=Shard(index=1, count=3) if settings.get("shard") else None,
        groups=(TaskGroup(name="all", members=(task.name,), means=MEANS),),
        sampling=Sampling(n=4),
        k=(1, 3),
        client_limits=ClientLimits(concurrency=3),
    )


def ports(task: TaskSpec, prepared_plan: RunPlan, method: RequestMethod) -> Ports:
    files = hub(task)
    prepared = preflight.prepared(task, prepared_plan, fake_ports(hub=files))
    chat = ScriptedChat(Service(prepared), weight=likelihood, method=method)
    return fake_ports(hub=files, chat=chat, open_store=RunFolder, open_sandbox=lambda: ScriptedSandbox(verdict))


def run_and_rescore(
    task: TaskSpec, out: Path, monkeypatch: pytest.MonkeyPatch, *, method: RequestMethod = "echo", **settings: Any
) -> tuple[Report, list[Rescored]]:
    """A run on disk, then its folder."""
    run_plan = plan(task, out, **settings)
    parts = ports(task, run_plan, method)
    report = pipeline.run(run_plan, parts)
    monkeypatch.setattr(engines, "ports", lambda *_, **__: parts)
    return report, rescore(report.outcome.folder or "")


MEANS = tuple(
    GroupMean(metric=metric)
    for metric in ("accuracy", "points", "exact_match", "prompt_level_strict_acc", "log_prob_mc2")
)
METHODS: tuple[RequestMethod, ...] = ("echo", "top-logprobs", "extracted")


LONGER = re.compile(r"_(8|16|32|64|128)k$")
"""Datasets that are others with longer texts: the same in all that rescoring does, and minutes of work."""


def is_asked_here(name: str) -> bool:
    """The service of these tests is no judge, and sees no pictures."""
    task = tasks.find(name)
    return not (LONGER.search(name) or needs_judge(task) or task.data.name == "demo_digits.parquet")


def cases() -> Iterator[Any]:
    """Every dataset, and those that compare likelihoods by every method that gives their figures."""
    for parameter in one_of_each(filter(is_asked_here, tasks.TASKS)):
        name = str(*parameter.values)
        task = tasks.find(name)
        if task.kind == "generate":
            yield pytest.param(name, "echo", id=name, marks=parameter.marks)
            continue
        for method in METHODS:
            if len(unavailable_metrics(task, method)) < len(metric_uses(task)):
                yield pytest.param(name, method, id=f"{name}-{method}", marks=parameter.marks)


@pytest.mark.parametrize(("name", "method"), [*cases()])
def test_rescoring_a_run_gives_its_figures(
    name: str, method: RequestMethod, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every row with its interval and its error, every count and every note; and nothing differs from the results."""
    task = tasks.find(name)
    report, (result, *groups) = run_and_rescore(task, tmp_path, monkeypatch, method=method, first=PROBLEMS)
    (own,) = report.dataset_results
    assert own.counts.planned > own.counts.answered > 0
    assert result.rows == own.rows
    assert result.counts == own.counts
    assert result.notes == own.notes
    assert result.problems == len(own.problem_results)
    assert all(figure.ours == figure.claimed for figure in result.figures if figure.claimed is not None)
    assert [row for group in groups for row in group.rows] == all_rows(report.plan.groups, report.dataset_results)
    assert groups[0].rows


@pytest.mark.parametrize(
    "settings", [{"limit": 7}, {"first": 7}, {"shard": "1/3"}, {"match": "contains"}, {"label": "other"}]
)
def test_the_plan_of_the_run_counts(settings: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its problems, its samples and its way of judging, whatever the rescoring command would take by itself."""
    report, (result, *_) = run_and_rescore(tasks.find("demo_gsm8k"), tmp_path, monkeypatch, **settings)
    (own,) = report.dataset_results
    assert (result.rows, result.counts, result.notes) == (own.rows, own.counts, own.notes)


def test_a_file_of_a_run_stands_for_its_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its journal, its failures and its view give the same as the folder; k can be another one."""
    report, (whole, *_) = run_and_rescore(tasks.find("demo_gsm8k"), tmp_path, monkeypatch)
    folder = Path(report.outcome.folder or "") / "predictions" / LABEL
    for name in ("demo_gsm8k.jsonl", "demo_gsm8k_failed.jsonl", "demo_gsm8k.json"):
        assert rescore(folder / name) == [whole]
    (other,) = rescore(folder / "demo_gsm8k.jsonl", k=2)
    assert {row.metric: row.value for row in other.rows}.keys() > {"pass@2", "cons@2"}
    with pytest.raises(BadValue, match=r"k = 5 needs at least 5 samples of every problem, but demo_gsm8k holds 4"):
        rescore(folder / "demo_gsm8k.jsonl", k=5)
    with pytest.raises(BadValue, match="has its own limit: leave --limit out"):
        rescore(folder / "demo_gsm8k.jsonl", limit=5)
    with pytest.raises(BadValue, match="has its own first: leave --first out"):
        rescore(folder / "demo_gsm8k.jsonl", first=5)


def test_a_run_of_two_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both and their group; --task chooses one of them, or judges a file of one as another dataset."""
    both = [tasks.find(name) for name in ("demo_gsm8k", "demo_arithmetic")]
    group = TaskGroup(name="both", members=("demo_gsm8k", "demo_arithmetic"), means=MEANS)
    run_plan = msgspec.structs.replace(plan(both[0], tmp_path), tasks=tuple(both), groups=(group,))
    hubs = MemoryHub({name: content for task in both for name, content in hub(task).files.items()})
    services = [Service(preflight.prepared(task, run_plan, fake_ports(hub=hubs))) for task in both]

    def answer(request: Request, choice: int) -> str | Choice | Fault:
        return next((said for service in services if (said := service(request, choice)) != "ok"), "ok")

    parts = fake_ports(hub=hubs, chat=ScriptedChat(answer), open_store=RunFolder)
    report = pipeline.run(run_plan, parts)
    monkeypatch.setattr(engines, "ports", lambda *_, **__: parts)
    folder = report.outcome.folder or ""
    *results, mean = rescore(folder)
    assert [result.rows for result in results] == [own.rows for own in report.dataset_results]
    assert list(mean.rows) == all_rows((group,), report.dataset_results)
    (one,) = rescore(folder, task="demo_arithmetic")
    assert one.rows == results[1].rows
    with pytest.raises(
        BadReuse, match="has no replies to gsm8k, but to demo_gsm8k, demo_arithmetic: give the file of one"
    ):
        rescore(folder, task="gsm8k")


def test_a_run_whose_data_has_changed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both values are named, and how many problems differ."""
    task = tasks.find("demo_gsm8k")
    run_plan = plan(task, tmp_path)
    parts = ports(task, run_plan, "echo")
    folder = pipeline.run(run_plan, parts).outcome.folder
    changed = MemoryHub({task.data.name: b'{"question": "What else?", "answer": "#### 1"}\n' * 20})
    monkeypatch.setattr(engines, "ports", lambda *_, **__: replace(parts, hub=changed))
    with pytest.raises(
        BadData, match=r"20 of 20 problems of demo_gsm8k.* contradict demo_gsm8k: .*'What else\?' in the"
    ):
        rescore(folder or "")
