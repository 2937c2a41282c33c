"""UltraEval's JSON: what is a task file, what its tasks are called, and what is wrong with it."""

from typing import Any

import msgspec
import pytest
from tests.fake_ports import MemoryTaskFiles

from model_accuracy_eval.errors import BadValue, UnknownName, Unsupported
from model_accuracy_eval.records import (
    GroupMean,
    MetricUse,
    PreparedDataset,
    Sampling,
    Step,
    TaskGroup,
    TaskSpec,
    Transform,
)
from model_accuracy_eval.tasks import preparation
from model_accuracy_eval.tasks.importers import ultraeval_replies, ultraeval_tasks
from model_accuracy_eval.tasks.importers.lm_eval_tasks import ImportedTask
from model_accuracy_eval.tasks.importers.ultraeval_tasks import convert
from model_accuracy_eval.tasks.library import Library

FIELDS: dict[str, Any] = {
    "task_name": "tydiqa",
    "path": "datasets/tydiqa/data/tydiqa.jsonl",
    "description": "",
    "transform": "datasets/tydiqa/transform_gen_v0.py",
    "fewshot": 0,
    "generate": {"method": "generate", "params": ""},
    "postprocess": "exact_match_post",
    "metric": {"f1_score": {"evaluation": {"type": "f1_score"}}, "accuracy": {"evaluation": {"type": "exact_match"}}},
}


def parse(file: str, *entries: Any) -> list[ultraeval_replies.Config]:
    return ultraeval_replies.parse(file, msgspec.json.encode(entries[0] if len(entries) == 1 else entries))


def test_u1_one_task_or_a_list_of_them() -> None:
    """The example of UltraEval's documentation has two metrics, no aggregation and no parameters."""
    (one,) = parse("datasets/tydiqa/config/tydiqa_gen.json", FIELDS)
    assert list(one.fields.metric) == ["f1_score", "accuracy"]
    assert [metric.aggregation for metric in one.fields.metric.values()] == [None, None]
    assert one.fields.generate.params == ""
    assert len(parse("run.json", FIELDS, FIELDS)) == 2


@pytest.mark.parametrize(
    ("file", "task", "path", "method", "name", "dataset"),
    [
        ("datasets/mmlu/config/x_ppl.json", "law", "", "loglikelihood", "mmlu_law_ppl", "mmlu"),
        ("run.json", "mmlu_law_ppl", "datasets/other/data/x.jsonl", "loglikelihood", "mmlu_law_ppl", "mmlu"),
        ("run.json", "law", "datasets/MMLU/data/law.jsonl", "generate", "mmlu_law_gen", "mmlu"),
        ("run.json", "a b/c", "law.jsonl", "generate", "a_b_c_a_b_c_gen", "a b/c"),
    ],
)
def test_u2_names_are_made_of_dataset_task_and_method(
    file: str, task: str, path: str, method: str, name: str, dataset: str
) -> None:
    """A name that has all three is kept, and a report can always be a file of that name."""
    (one,) = parse(file, FIELDS | {"task_name": task, "path": path, "generate": {"method": method}})
    assert (one.name, one.dataset) == (name, dataset)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (msgspec.json.encode(FIELDS), True),
        (msgspec.json.encode([FIELDS, {"task_name": "x", "metric": {}}]), True),
        (b'[{"question": "1+1?", "answer": "2"}]', False),
        (b"{", False),
    ],
)
def test_task_files_are_told_from_data_files(data: bytes, found: bool) -> None:
    """Rows of questions in a .json file are no tasks."""
    assert ultraeval_replies.is_config(data) is found


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        (
            {"transfrom": "x"},
            UnknownName,
            "There is no field called 'transfrom' in run.json, task 1; did you mean transform",
        ),
        ({"generate": {"metod": "x"}}, UnknownName, "There is no field called 'metod'"),
        ({"fewshot": "five"}, BadValue, "run.json, task 1: expected 'int', got 'str', in fewshot."),
        ({"metric": {"a": {}}}, BadValue, "object missing required field 'evaluation'"),
    ],
)
def test_a_field_that_cannot_be_meant_is_named(change: dict[str, Any], error: type[Exception], sentence: str) -> None:
    """With the file, the number of the task in it, and the nearest known field."""
    with pytest.raises(error) as raised:
        parse("run.json", FIELDS | change)
    assert sentence in str(raised.value)


FILE = "ultra/datasets/tydiqa/config/tydiqa_gen.json"
WEIGHED: dict[str, Any] = {
    "generate": {"method": "loglikelihood"},
    "postprocess": "",
    "metric": {"acc": {"evaluation": {"type": "log_prob"}}},
}
PARAMS = {
    "temperature": 0.2, "top_p": 0.9, "max_tokens": 64, "sampling_num": 3, "stop": ["\n"], "presence_penalty": 0.1,
    "request_id": None, "batch_size": 4,
}  # fmt: skip


def files(**more: Any) -> MemoryTaskFiles:
    named = {f"ultra/{path.replace('__', '/')}.json": msgspec.json.encode(value) for path, value in more.items()}
    return MemoryTaskFiles({"ultra/datasets/tydiqa/transform_gen_v0.py": b"", **named})


def imported(change: dict[str, Any], found: MemoryTaskFiles | None = None, *, trusted: bool = True) -> ImportedTask:
    (config,) = ultraeval_replies.parse(FILE, msgspec.json.encode(FIELDS | change))
    return convert(config, found or files(), trusted=trusted)


def task(found: MemoryTaskFiles | None = None, **change: Any) -> TaskSpec:
    return imported(change, found).task


def evaluated(**evaluation: Any) -> dict[str, Any]:
    return {"metric": {"score": {"evaluation": evaluation}}}


def made(task: TaskSpec, *rows: dict[str, Any], limit: int | None = None) -> PreparedDataset:
    """An exam over rows that the transform made."""
    whole = [{"output": f"a{at}", "answers": [f"a{at}"], "target_scores": {}, **row} for at, row in enumerate(rows)]
    return preparation.build(task, whole, [], None, first=limit)


def test_u4_rows_are_made_by_the_transform_where_the_paths_start() -> None:
    """The nearest folder above from which the transform is found."""
    found = task(fewshot=2).data
    assert found.name == "ultra/datasets/tydiqa/data/tydiqa.jsonl"
    assert found.recipe is not None
    assert found.recipe.folder == "ultra/datasets/tydiqa"
    assert found.recipe.transform == Transform(function="transform_gen_v0.transform", shots=2, task="tydiqa_tydiqa_gen")


def test_a_file_may_say_what_its_questions_share() -> None:
    """UltraEval has no such field; ours is a column or a template, as in task files of our own."""
    assert (task(cluster="passage").cluster, task().cluster) == ("passage", "")


def test_u6_examples_are_the_same_however_many_are_asked() -> None:
    """A limit changes nobody's examples, and they are drawn for each question anew."""
    rows = [{"input": f"Q{at} "} for at in range(12)]
    whole, few = (made(task(fewshot=3), *rows, limit=limit).problems for limit in (None, 4))
    assert few == whole[:4]
    shown = [problem.messages[0].content.split("\n\n") for problem in whole]
    assert all(len(set(one)) == 4 for one in shown)
    assert len({tuple(one[:-1]) for one in shown}) == 12


def test_u6_no_question_is_its_own_example() -> None:
    """Not even by way of a row that is equal to it: an example may be missing then, as in UltraEval."""
    rows = [{"input": f"Q{at // 2}", "output": "", "answers": ["x"]} for at in range(6)]
    shown = [problem.messages[0].content.split("\n\n") for problem in made(task(fewshot=3), *rows).problems]
    assert all(one[-1] not in one[:-1] for one in shown)
    assert {len(one) for one in shown} == {3, 4}


def test_u7_u9_parameters_of_a_file_become_the_tasks() -> None:
    """`sampling_num` is how often each question is asked; what the user sets himself counts more, but for that."""
    found = task(generate={"method": "generate", "params": "models/mine.json"}, found=files(models__mine=PARAMS))
    assert (found.repeats, found.temperature, found.top_p, found.max_tokens, found.stop) == (3, 0.2, 0.9, 64, ("\n",))
    assert found.generation == {"presence_penalty": 0.1}
    assert Sampling(n=5, temperature=1.0).of(found) == Sampling(
        n=3, temperature=1.0, top_p=0.9, max_tokens=64, extra={"presence_penalty": 0.1}
    )
    assert task(generate={"method": "generate", "params": PARAMS}) == found


def test_parameters_of_weighing_are_left_aside_and_told() -> None:
    """They say how UltraEval's own server is to be asked."""
    found = imported(
        WEIGHED | {"generate": {"method": "loglikelihood", "params": {"prompt_logprobs": 0, "max_tokens": 1}}}
    )
    assert found.ignored == ("generate.params.max_tokens", "generate.params.prompt_logprobs")


@pytest.mark.parametrize(
    ("evaluation", "name", "args"),
    [
        ({"type": "Prefix_Match"}, "prefix_match", {}),
        ({"type": "exact_match"}, "exact_match", {"ignore_spaces": True}),
        ({"type": "in_match"}, "in_match", {}),
        ({"type": "qa_match"}, "qa_match", {}),
        ({"type": "gaokaobench_match"}, "gaokaobench_match", {}),
        ({"type": "f1_score"}, "f1_score", {}),
        ({"type": "chrf"}, "sentence_chrf", {}),
        ({"type": "bleu", "tokenizer": "char"}, "sentence_bleu", {"tokenizer": "char"}),
        ({"type": "rouge", "n_gram": "L"}, "rouge", {"tokenizer": "word", "index": "f1", "n_gram": "l"}),
        ({"type": "gpt4_eval"}, "judge", {}),
    ],
)
def test_u12_u18_each_metric_has_its_own_here(evaluation: dict[str, Any], name: str, args: dict[str, Any]) -> None:
    """Under the name that the user designed."""
    found = task(**evaluated(**evaluation)).pipelines[0]
    assert found.metrics == (MetricUse(name=name, label="score", args=args),)
    assert found.filters == (Step(name="exact_match_post"),)


def test_u15_rows_say_which_wording_is_right() -> None:
    """A question for a letter has its options along, though none is weighed."""
    asked = made(task(**evaluated(type="qa_match")), {"input": "Q", "question": "?", "target_scores": {"x": 0, "y": 1}})
    assert asked.problems[0].choices == ("x", "y")
    assert asked.problems[0].extras == {"question": "?", "target_scores": {"x": 0, "y": 1}}


def test_u16_letters_of_several_questions_are_one_answer() -> None:
    """They are compared place by place."""
    asked = made(task(**evaluated(type="gaokaobench_match")), {"input": "Q", "answers": ["A", "C"]})
    assert asked.problems[0].references == ("AC",)


def test_u12_of_several_right_answers_any_counts() -> None:
    """Texts that look like lists stay texts."""
    asked = made(task(), {"input": "Q", "answers": ["[1, 2]", "<b>&'\""]})
    assert asked.problems[0].references == ("[1, 2]", "<b>&'\"")


@pytest.mark.parametrize(
    ("row", "head", "tests"),
    [
        ({"prompt": "def f():\n", "test": "def check(g): g()", "entry_point": "f"}, "def f():\n", "def check(g): g()\ncheck(f)"),
        (
            {"text": "T", "code": "", "task_id": 1, "test_setup_code": "x", "test_list": ["assert f()", "assert g()"],
             "challenge_test_list": [], "prompt": "no"},
            "", "assert f()\nassert g()",
        ),
    ],
)  # fmt: skip
def test_u17_programs_of_both_benchmarks(row: dict[str, Any], head: str, tests: str) -> None:
    """HumanEval's reply goes on with its prompt, MBPP's stands alone; MBPP's setup code is not run."""
    found = task(**evaluated(type="function_execution"))
    problem = made(found, {"input": "Q", **row}).problems[0]
    assert problem.extras == {"program_head": head, "program_tests": tests}
    (measure,) = found.pipelines[0].metrics
    assert (measure.name, measure.args["code"], measure.args["seconds"]) == ("code", "{program_head}{answer}", 3.0)


@pytest.mark.parametrize(
    ("number", "aggregation", "type_", "reduction", "sizes"),
    [
        (None, None, "exact_match", None, ()),
        (1, None, "exact_match", None, ()),
        (4, None, "exact_match", "take_first", ()),
        (4, {"type": "mean"}, "exact_match", "mean", ()),
        (4, None, "function_execution", "mean", ()),
        (10, {"type": "pass_k"}, "function_execution", "pass@k", (1, 2, 10)),
        (None, {"type": "pass_k"}, "function_execution", "pass@k", ()),
    ],
)
def test_u19_values_of_one_instance_become_one(
    number: int | None, aggregation: dict[str, str] | None, type_: str, reduction: str | None, sizes: tuple[int, ...]
) -> None:
    """Of several replies UltraEval's metrics see the first, programs all, and pass_k has the k there are samples for."""
    metric = {"score": {"evaluation": {"type": type_}} | ({"aggregation": aggregation} if aggregation else {})}
    params = {"sampling_num": number} if number else ""
    (found,) = task(metric=metric, generate={"method": "generate", "params": params}).pipelines[0].metrics
    assert (found.reduction, found.k) == (reduction, sizes)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"generate": {"method": "beam"}}, "its method is 'beam', neither generate nor loglikelihood"),
        ({"fewshot": -1}, "it shows -1 examples"),
        (
            {"generate": {"method": "generate", "params": "nowhere.json"}},
            "its file of parameters 'nowhere.json' is missing",
        ),
        ({"postprocess": "own_post"}, "its postprocess 'own_post' reads no replies"),
        ({"postprocess": "general_torch_ppl"}, "its postprocess 'general_torch_ppl' reads no replies"),
        (WEIGHED | {"postprocess": "bbh_post"}, "its postprocess 'bbh_post' reads no likelihoods of options"),
        ({"metric": {}}, "it has no metric"),
        (evaluated(type="own"), "its metric 'own' is not known here"),
        (evaluated(type="chrf", beta=3), "its metric 'chrf' takes no argument 'beta'"),
        (evaluated(type="rouge", tokenizer="intl"), "its rouge cuts texts by 'intl'; here are '13a', 'char', 'zh'"),
        (evaluated(type="log_prob"), "its metric 'log_prob' looks at options, but its method does not"),
        (WEIGHED | evaluated(type="bleu"), "its metric 'bleu' looks at replies, but its method does not"),
        (
            {"metric": {"a": {"evaluation": {"type": "chrf"}, "aggregation": {"type": "max"}}}},
            "its aggregation 'max' is not known",
        ),
    ],
)
def test_what_cannot_be_done_is_named(change: dict[str, Any], reason: str) -> None:
    """With the task, and with every reason at once."""
    with pytest.raises(Unsupported) as raised:
        task(**change)
    assert any(one.startswith(reason) for one in raised.value.reasons), raised.value.reasons


def test_parameters_that_are_no_json_are_named() -> None:
    """With the file."""
    found = files()
    found.files["ultra/p.json"] = b"{"
    with pytest.raises(Unsupported, match=r"its parameters 'p.json' are no JSON that could be read"):
        task(generate={"method": "generate", "params": "p.json"}, found=found)


def test_u4_python_is_run_only_with_trust() -> None:
    """Every task needs it, because its transform makes its rows; other reasons are told along with it."""
    with pytest.raises(Unsupported) as raised:
        imported({"postprocess": "own_post"}, trusted=False)
    assert raised.value.reasons == (
        "its rows are made by Python (datasets/tydiqa/transform_gen_v0.py), which is run only with --trust-python",
        "its postprocess 'own_post' reads no replies",
    )


ACCURACY = {"accuracy": {"evaluation": {"type": "exact_match"}}}
MEAN = (GroupMean(metric="accuracy", weight_by_size=False),)


def config(task: str, **change: Any) -> dict[str, Any]:
    return (
        FIELDS
        | {"task_name": task, "path": f"datasets/law/data/{task}.jsonl", "transform": "t.py", "metric": ACCURACY}
        | change
    )


LIST = msgspec.json.encode([config("law_a_gen"), config("law_b_gen"), config("sea_c_gen")])
FILES = MemoryTaskFiles(
    {
        "u/t.py": b"",
        "u/run.json": LIST,
        "u/datasets/Law/config/a_gen.json": msgspec.json.encode(config("a")),
        "u/datasets/Law/config/b_c_gen.json": msgspec.json.encode(config("b_c")),
        "u/datasets/Law/config/a_ppl.json": msgspec.json.encode(config("a", **WEIGHED)),
        "u/datasets/Law/data/a.json": b"rows",
    }
)
LIBRARY = Library(FILES.read, FILES, ("u",), trusted=True)


def names(tasks: list[ImportedTask]) -> list[str]:
    return [one.task.name for one in tasks]


def test_u2_a_list_is_a_run_with_a_mean_for_every_dataset_of_several_tasks() -> None:
    """Each task weighs the same in it, however many rows it has."""
    found = ultraeval_tasks.from_file(FILES, "u/run.json", LIST, trusted=True)
    assert names(found.tasks) == ["law_a_gen", "law_b_gen", "sea_c_gen"]
    assert found.groups == [TaskGroup(name="law", members=("law_a_gen", "law_b_gen"), means=MEAN)]


def test_u19_the_mean_of_pass_k_is_of_every_k() -> None:
    """By the names that the report has for them."""
    metric = {"pass_k": {"evaluation": {"type": "function_execution"}, "aggregation": {"type": "pass_k"}}}
    both = [
        config(name, metric=metric, generate={"method": "generate", "params": {"sampling_num": 2}})
        for name in ("a", "b")
    ]
    (group,) = ultraeval_tasks.from_file(FILES, "u/run.json", msgspec.json.encode(both), trusted=True).groups
    assert [mean.metric for mean in group.means] == ["pass@1(pass_k)", "pass@2(pass_k)"]


def test_one_bad_task_of_a_list_hides_no_other() -> None:
    """All refusals stand in one sentence, each with its task."""
    data = msgspec.json.encode([config("a", fewshot=-1), config("b"), config("c", postprocess="own")])
    with pytest.raises(Unsupported) as raised:
        ultraeval_tasks.from_file(FILES, "u/run.json", data, trusted=True)
    assert "The task 'run' cannot be imported" in raised.value.sentence
    assert [reason.split("'")[1] for reason in raised.value.reasons] == ["law_a_gen", "law_c_gen"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("law_a_gen", ["law_a_gen"]),
        ("law_b-c_gen", ["law_b-c_gen"]),
        ("law_a_ppl", ["law_a_ppl"]),
        ("law", ["law_a_gen", "law_b-c_gen"]),
        ("law_gen", ["law_a_gen", "law_b-c_gen"]),
        ("law_ppl", ["law_a_ppl"]),
    ],
)
def test_u2_tasks_and_datasets_of_a_folder_have_names(name: str, found: list[str]) -> None:
    """A dataset's name alone means its generating tasks, as in UltraEval."""
    collection = ultraeval_tasks.from_name(FILES, ("u",), name, trusted=True)
    assert collection is not None
    assert names(collection.tasks) == found


def test_a_name_that_no_folder_knows_is_left_to_others() -> None:
    """Nothing is found, and nothing but the dataset's own folder was read."""
    assert ultraeval_tasks.from_name(FILES, ("u",), "sea_c_gen") is None
    assert ultraeval_tasks.from_name(FILES, ("u",), "law_z_gen") is None


def test_a_library_knows_files_names_and_groups() -> None:
    """Task files are told from data files by what is in them."""
    assert [task.name for task in LIBRARY.find("u/run.json").tasks] == ["law_a_gen", "law_b_gen", "sea_c_gen"]
    whole = LIBRARY.find_all(["law", "law_ppl"])
    assert [task.name for task in whole.tasks] == ["law_a_gen", "law_b-c_gen", "law_a_ppl"]
    assert [group.name for group in whole.groups] == ["law"]
