"""The fields of a task of UltraEval → a TaskSpec, or all reasons against it."""

from typing import Any

import msgspec
import pytest
from tests.fake_ports import MemoryTaskFiles
from tests.unit.tasks.importers.ultraeval.test_config_files import FIELDS

from model_accuracy_eval.errors import Unsupported
from model_accuracy_eval.records import MetricUse, PreparedDataset, Sampling, Step, TaskSpec, Transform
from model_accuracy_eval.tasks import preparation
from model_accuracy_eval.tasks.importers import ultraeval_replies
from model_accuracy_eval.tasks.importers.lm_eval_tasks import ImportedTask
from model_accuracy_eval.tasks.importers.ultraeval_tasks import convert

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
    return preparation.build(task, whole, [], limit)


def test_u4_rows_are_made_by_the_transform_where_the_paths_start() -> None:
    """The nearest folder above from which the transform is found."""
    found = task(fewshot=2).data
    assert found.name == "ultra/datasets/tydiqa/data/tydiqa.jsonl"
    assert found.recipe is not None
    assert found.recipe.folder == "ultra/datasets/tydiqa"
    assert found.recipe.transform == Transform(function="transform_gen_v0.transform", shots=2, task="tydiqa_tydiqa_gen")


def test_u5_description_examples_and_question_with_empty_lines_between() -> None:
    """In one user turn; braces of a description are no template."""
    asked = made(task(description="D {{x}}", fewshot=1), {"input": "Q0 "}, {"input": "Q1 "})
    assert [problem.messages[0].content for problem in asked.problems] == [
        "D {{x}}\n\nQ1 a1\n\nQ0 ",
        "D {{x}}\n\nQ0 a0\n\nQ1 ",
    ]
    assert len(asked.problems[0].messages) == 1
    assert made(task(), {"input": "Q0 "}).problems[0].messages[0].content == "Q0 "


def test_u5_an_example_may_have_an_empty_answer() -> None:
    """The empty line stands behind it all the same."""
    asked = made(task(fewshot=1), {"input": "Q0", "output": ""}, {"input": "Q1", "output": ""})
    assert asked.problems[0].messages[0].content == "Q1\n\nQ0"


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


@pytest.mark.parametrize(
    ("preset", "repeats", "temperature", "tokens"),
    [("vllm_sample", 1, 0.3, 300), ("vllm_sample_v1", 1, 0.1, 300), ("vllm_sample_bbh", 1, 0.3, 1024)],
)
def test_u9_ultraevals_own_parameters_are_known(preset: str, repeats: int, temperature: float, tokens: int) -> None:
    """A task file may lie outside UltraEval's folder."""
    found = task(generate={"method": "generate", "params": f"models/model_params/{preset}.json"})
    assert (found.repeats, found.temperature, found.max_tokens) == (repeats, temperature, tokens)


def test_u9_beam_search_is_asked_of_the_service() -> None:
    """Fields that only some servers know go through as they are."""
    found = task(generate={"method": "generate", "params": "vllm_beamsearch.json"})
    assert found.generation == {"use_beam_search": True, "best_of": 10, "top_k": -1, "early_stopping": "never"}


def test_without_parameters_the_run_decides() -> None:
    """As UltraEval's command line does for such tasks."""
    assert Sampling(n=4).of(task()).n == 4


def test_u8_u10_options_are_weighed_behind_the_whole_prompt() -> None:
    """Input and option without anything between them; what all share decides nothing."""
    found = task(fewshot=1, **WEIGHED)
    rows = [{"input": f"Q{at} ", "target_scores": {"yes": 1 - at, "no": at}} for at in range(2)]
    problem = made(found, *rows).problems[1]
    assert [one.context + one.continuation for one in problem.candidates] == ["Q0 a0\n\nQ1 yes", "Q0 a0\n\nQ1 no"]
    assert (found.boundary, problem.gold, problem.extras["target_scores"]) == ("shared", (1,), {"yes": 0, "no": 1})


@pytest.mark.parametrize(
    ("postprocess", "per"),
    [("", "answer"), ("general_torch_ppl", "answer"), ("general_torch_ppl_norm", "token")],
)
def test_u10_how_options_are_weighed(postprocess: str, per: str) -> None:
    """Whole, or per token."""
    found = task(**WEIGHED | {"postprocess": postprocess})
    assert found.pipelines[0].metrics == (MetricUse(name="log_prob", label="acc", args={"per": per}),)


def test_parameters_of_weighing_are_left_aside_and_told() -> None:
    """They say how UltraEval's own server is to be asked."""
    found = imported(WEIGHED | {"generate": {"method": "loglikelihood", "params": "vllm_logprobs.json"}})
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


def test_u12_all_metrics_of_a_task_are_measured() -> None:
    """The example of UltraEval's documentation has two."""
    assert [measure.label for measure in task().pipelines[0].metrics] == ["f1_score", "accuracy"]


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
            {"transform": "elsewhere/t.py"},
            "its transform 'elsewhere/t.py' is found neither in ultra/datasets/tydiqa/config",
        ),
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
        (
            {"metric": {"a": {"evaluation": {"type": "chrf"}, "aggregation": {"type": "mean", "k": 1}}}},
            "its aggregation 'mean' takes no argument 'k'",
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
