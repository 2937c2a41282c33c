"""The fields of one task file → a TaskSpec, or all reasons against it."""

from typing import Any

import pytest
import yaml
from tests.fake_ports import MemoryTaskFiles

from model_accuracy_eval.errors import Unsupported
from model_accuracy_eval.records import Attempt, PreparedDataset, Problem, Step, TaskSpec
from model_accuracy_eval.scoring.figures.judging import judge
from model_accuracy_eval.scoring.metrics.metric_table import pipelines
from model_accuracy_eval.tasks import preparation
from model_accuracy_eval.tasks.importers.lm_eval_files import PythonReference
from model_accuracy_eval.tasks.importers.lm_eval_tasks import convert
from model_accuracy_eval.tasks.library import Library
from model_accuracy_eval.tasks.prompts import answer_key_to_index

FIELDS: dict[str, Any] = {
    "task": "sums",
    "dataset_path": "own/sums",
    "test_split": "test",
    "doc_to_text": "Q: {{q}}\nA:",
    "doc_to_target": "{{a}}",
    "metric_list": [{"metric": "exact_match"}],
}
CHOICE: dict[str, Any] = {
    "output_type": "multiple_choice",
    "doc_to_choice": ["no", "yes"],
    "doc_to_target": "label",
    "metric_list": [{"metric": "acc"}],
}
ROWS = [{"q": f"{number}+1?", "a": str(number + 1), "label": number % 2} for number in range(6)]


def task(**fields: Any) -> TaskSpec:
    return convert({**FIELDS, **fields}).task


def built(
    shots: list[dict[str, Any]] | None = None, rows: list[dict[str, Any]] = ROWS, **fields: Any
) -> PreparedDataset:
    return preparation.build(task(**fields), rows, shots or [], None)


def reasons(*, trusted: bool = False, **fields: Any) -> tuple[str, ...]:
    with pytest.raises(Unsupported) as error:
        convert({**FIELDS, **fields}, trusted=trusted)
    return error.value.reasons


def test_l36_a_column_is_told_from_a_template() -> None:
    """A name that the row has is its value, whatever characters it holds; a name it has not stands for itself."""
    row = {"the question": "{{ 1 }}?", "a": "7"}
    (problem,) = built(rows=[row], doc_to_text="the question", doc_to_target="a").problems
    assert problem.messages[0].content == "{{ 1 }}?"
    (problem,) = built(rows=[row], doc_to_text="no such column", doc_to_target="a").problems
    assert problem.messages[0].content == "no such column"


def test_l36_options_are_weighed_behind_the_delimiter() -> None:
    """Context and continuation of every option, as lm-eval's requests have them."""
    problem = built(**CHOICE, target_delimiter=" ").problems[1]
    assert [(one.context, one.continuation) for one in problem.candidates] == [
        ("Q: 1+1?\nA:", " no"),
        ("Q: 1+1?\nA:", " yes"),
    ]
    assert problem.gold == (1,)


@pytest.mark.parametrize(
    ("target", "row", "gold"),
    [
        (1, {}, (1,)),
        ("1", {}, (1,)),
        ("answer", {"answer": 0}, (0,)),
        ("answer", {"answer": True}, (1,)),
        ("answer", {"answer": "yes"}, (1,)),
        ("answer", {"answer": [0, 1]}, (0, 1)),
        ("{{ ['yes'] | first }}", {}, (1,)),
        ([1], {}, (1,)),
        (7, {}, (7,)),
    ],
)
def test_l36_positions_and_texts_are_right_options(target: Any, row: dict[str, Any], gold: tuple[int, ...]) -> None:
    """A number, a digit that a template gives, several numbers, or the option's text; L20: out of range is never right."""
    (problem,) = built(**{**CHOICE, "doc_to_target": target}, rows=[{"q": "?", **row}]).problems
    assert problem.gold == gold


def test_a_text_of_digits_is_an_option_and_no_position() -> None:
    """What a column holds keeps its type, as in lm-eval."""
    fields: dict[str, Any] = {**CHOICE, "doc_to_choice": ["1", "2"], "doc_to_target": "answer"}
    (problem,) = built(**fields, rows=[{"q": "?", "answer": "2"}]).problems
    assert problem.gold == (1,)


@pytest.mark.parametrize(
    ("target", "row", "right"),
    [
        ("answers", {"answers": ["a", "b"]}, ("a", "b")),
        ("answers", {"answers": 5}, ("5",)),
        ("answers", {"answers": "[x, y]"}, ("[x, y]",)),
        ("{{ answers }}", {"answers": ["it's", 'say "x"']}, ("it's", 'say "x"')),
        ("{{ answers }}", {"answers": "[x, y]"}, ("[x, y]",)),
        (["a", "b"], {}, ("a", "b")),
    ],
)
def test_l36_several_right_answers(target: Any, row: dict[str, Any], right: tuple[str, ...]) -> None:
    """A list, or a text that reads as one; a text in brackets that is no list stays a text."""
    (problem,) = built(doc_to_target=target, rows=[{"q": "?", **row}]).problems
    assert problem.references == right


def test_a_number_as_doc_to_text_weighs_contexts() -> None:
    """Each option is a context of its own, and all have the same ending."""
    fields: dict[str, Any] = {**CHOICE, "doc_to_choice": "{{ [q, a] }}", "doc_to_text": 1, "doc_to_target": "{{ a }}!"}
    problem = built(**fields).problems[0]
    assert [(one.context, one.continuation) for one in problem.candidates] == [("0+1?", " 1!"), ("1", " 1!")]
    assert (problem.gold, task(**fields).kind) == ((1,), "schema")


def test_l37_examples_come_from_their_split_or_from_the_others() -> None:
    """first_n takes the first; where examples and questions are one split, a question is not its own."""
    shots = [{"q": "9+9?", "a": "18"}]
    first: dict[str, Any] = {"num_fewshot": 1, "fewshot_config": {"sampler": "first_n"}}
    other = built(shots, fewshot_split="train", **first).problems[0].messages[0].content
    assert other == "Q: 9+9?\nA: 18\n\nQ: 0+1?\nA:"
    own = built(fewshot_split="test", **first).problems[0].messages[0].content
    assert own == "Q: 1+1?\nA: 2\n\nQ: 0+1?\nA:"


def test_l37_examples_in_the_file_itself() -> None:
    """fewshot_config.samples, worded by its own doc_to_text, parted by the delimiters that it names."""
    own: dict[str, Any] = {
        "samples": [{"x": "2+2", "a": "4"}, {"x": "3+3", "a": "6"}],
        "sampler": "first_n",
        "doc_to_text": "{{ x }} =",
        "target_delimiter": " -> ",
        "fewshot_delimiter": "; ",
    }
    asked = built(num_fewshot=2, fewshot_config=own).problems[0].messages[0].content
    assert asked == "2+2 = -> 4; 3+3 = -> 6; Q: 0+1?\nA:"


def test_l38_a_prefix_begins_the_examples_replies_too() -> None:
    """And has a blank before it only where none is there already."""
    own: dict[str, Any] = {"num_fewshot": 1, "fewshot_split": "test", "fewshot_config": {"sampler": "first_n"}}
    assert built(gen_prefix="It is", **own).problems[0].messages[0].content == (
        "Q: 1+1?\nA: It is 2\n\nQ: 0+1?\nA: It is"
    )


def test_l39_sampling_is_what_lm_eval_sends() -> None:
    """Greedy, 256 tokens and a stop at the examples' delimiter, unless the file says otherwise."""
    plain = task()
    assert (plain.stop, plain.max_tokens, plain.temperature, plain.repeats) == (("\n\n",), 256, 0.0, 1)
    given = {"until": "Q:", "max_gen_toks": 9, "temperature": 0.7, "do_sample": True, "top_p": 0.9, "min_p": 0.1}
    told = task(generation_kwargs=given, repeats=4)
    assert (told.stop, told.max_tokens, told.temperature, told.top_p) == (("Q:",), 9, 0.7, 0.9)
    assert (told.generation, told.repeats) == ({"min_p": 0.1}, 4)


def test_l3_flat_and_nested_arguments_are_the_same() -> None:
    """`kwargs` wins where both are given."""
    flat = task(metric_list=[{"metric": "exact_match", "ignore_case": True}])
    nested = task(metric_list=[{"metric": "exact_match", "kwargs": {"ignore_case": True}, "ignore_case": False}])
    assert flat == nested


def test_a_switch_is_on_with_any_text() -> None:
    """A list that is indented wrongly becomes a text behind the `true`, and lm-eval takes it for yes."""
    given = {"metric": "exact_match", "ignore_case": 'true - "." - ","', "ignore_numbers": 0}
    (measure,) = task(metric_list=[given]).pipelines[0].metrics
    assert measure.args == {"ignore_case": True, "ignore_numbers": False}


def test_l5_l6_metrics_of_a_pipeline_win_over_the_tasks() -> None:
    """A filter_list entry is a pipeline; without metrics of its own it has the task's."""
    strict = {"name": "strict", "filter": [{"function": "regex", "regex_pattern": "x"}, {"function": "take_first"}]}
    own: dict[str, Any] = {"name": "own", "filter": [{"function": "lowercase"}], "metric_list": [{"metric": "bleu"}]}
    first, second = task(filter_list=[strict, own]).pipelines
    assert first.filters == (Step(name="regex", args={"regex_pattern": "x"}), Step(name="take_first"))
    assert ([one.name for one in first.metrics], [one.name for one in second.metrics]) == (["exact_match"], ["bleu"])


@pytest.mark.parametrize("spelled", ["choice_match", {"type": "choice_match"}])
def test_l17_a_scorer_is_taken_by_name(spelled: Any) -> None:
    """As the 0.5 documentation writes it, with and without arguments."""
    fields = {name: value for name, value in FIELDS.items() if name != "metric_list"}
    assert convert({**fields, "scorer": spelled}).task.scorer == Step(name="choice_match")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        (
            {"process_results": PythonReference("utils.judge", "here")},
            "process_results is Python (!function utils.judge), which is run only with --trust-python",
        ),
        ({"doc_to_audio": "sound"}, "it plays sounds"),
        ({"doc_to_image": "{{ image }}"}, "its doc_to_image is neither a column nor Python"),
        ({"doc_to_image": "image", "num_fewshot": 2}, "it shows images in solved examples"),
        ({"unsafe_code": True}, "its replies are programs that its own Python runs (unsafe_code)"),
        ({"metric_list": [{"metric": "wit"}]}, "its metric 'wit' is not known here"),
        ({"metric_list": [{"metric": "acc"}]}, "needs likelihoods of options, but its replies are texts"),
        ({"metric_list": [{"metric": "own.py:wit"}]}, "its metric 'own.py:wit' is Python"),
        ({"filter_list": [{"name": "x", "filter": [{"function": "magic"}]}]}, "its filter 'magic' is not known here"),
        ({"test_split": None}, "it names neither test_split nor validation_split"),
        ({"test_split": "train+test"}, "more than a name and a range of rows"),
        ({"dataset_path": None}, "it names no dataset_path"),
        ({"dataset_path": "json"}, "but dataset_kwargs has no data_files"),
        ({"output_type": "guess"}, "its output_type is 'guess'"),
        ({"doc_to_txt": "x"}, "its field 'doc_to_txt' is not known here (did you mean doc_to_text?)"),
        ({"num_fewshot": 1, "fewshot_config": {"sampler": "balanced"}}, "its sampler of examples is balanced"),
        ({"process_docs": PythonReference("utils.docs", "x")}, "which is run only with --trust-python"),
    ],
)
def test_what_cannot_be_done_is_named(fields: dict[str, Any], reason: str) -> None:
    """Every reason is told, and nothing is left out in silence."""
    told = reasons(**fields)
    assert any(reason in one for one in told), told


def test_trusted_python_makes_columns() -> None:
    """With trust, functions become columns that a recipe makes, and the templates read them."""
    fields = {
        **FIELDS,
        **CHOICE,
        "doc_to_text": PythonReference("utils.text", "/tasks"),
        "process_docs": PythonReference("a.b", "/tasks"),
    }
    found = convert(fields, trusted=True).task
    assert found.data.recipe is not None
    assert (found.data.recipe.rows, found.data.recipe.columns) == ("a.b", {"doc_to_text": "utils.text"})
    row = {"doc_to_text": "made", "label": 1}
    assert preparation.build(found, [row], [], None).problems[0].candidates[0].context == "made"


def test_data_files_are_found_by_the_tasks_names() -> None:
    """`<dataset_path>/<dataset_name>/<split>` for a hub's dataset, the file itself for `json`, and slices of a split."""
    assert task(dataset_name="main").data.name == "own/sums/main/test"
    local = {"dataset_path": "json", "dataset_kwargs": {"data_files": {"test": "my/rows.jsonl"}}}
    assert task(**local).data.name == "my/rows.jsonl"
    part = task(test_split="test[:5]")
    assert (part.data.name, part.slice.stop) == ("own/sums/test", 5)


def test_l37_copies_of_a_question_are_no_examples_for_it() -> None:
    """Where a draw hits several rows that equal the question, it is drawn again among the others."""
    rows = [{"q": "same", "a": "0"}] * 6 + [{"q": f"other {number}", "a": "1"} for number in range(3)]
    for problem in built(rows=rows, num_fewshot=2, fewshot_split="test").problems[:6]:
        shown = problem.messages[0].content.split("\n\n")
        assert len(shown) == 3
        assert all("other" in one for one in shown[:2])


def test_l31_functions_of_judging_are_named_by_their_files() -> None:
    """Metrics, aggregations and filters by where they stand, under the names that reports have in lm-eval."""
    judged = {
        "metric_list": [
            {"metric": PythonReference("utils.rouge", "/t"), "aggregation": PythonReference("deep.er.mean", "/t")}
        ],
        "filter_list": [
            {"name": "own", "filter": [{"function": "custom", "filter_fn": PythonReference("utils.cut", "/t")}]}
        ],
    }
    found = convert({**FIELDS, **judged}, trusted=True).task
    (pipeline,) = found.pipelines
    (measure,) = pipeline.metrics
    assert (measure.name, measure.label, measure.aggregation) == (
        "lm_eval:/t/utils.py:rouge", "rouge", "/t/deep/er.py:mean",
    )  # fmt: skip
    assert pipeline.filters == (Step(name="custom", args={"filter_fn": "/t/utils.py:cut"}),)
    assert found.extras == ("*",)


def test_l31_process_results_gives_a_figure_for_every_metric_of_the_list() -> None:
    """Each is one part of what the function gives; a known name keeps its own way to become one figure."""
    judged: dict[str, Any] = {
        "process_results": PythonReference("utils.judge", "/t"),
        "metric_list": [{"metric": "points", "aggregation": "median"}, {"metric": "f1"}],
    }
    found = convert({**FIELDS, **judged}, trusted=True).task
    assert [(one.name, one.label, one.args, one.aggregation) for one in found.pipelines[0].metrics] == [
        ("lm_eval_results:/t/utils.py:judge", "points", {"part": "points"}, "median"),
        ("lm_eval_results:/t/utils.py:judge", "f1", {"part": "f1"}, "f1"),
    ]
    rolling = convert({**FIELDS, **judged, "output_type": "loglikelihood_rolling"}, trusted=True).task
    assert rolling.pipelines[0].metrics[0].name == "lm_eval_rolling:/t/utils.py:judge"


def test_l32_metrics_of_the_evaluate_library_are_had_by_name() -> None:
    """The library is given all answers at once, so that an aggregation is left aside, and said."""
    found = convert({**FIELDS, "metric_list": [{"metric": "wer", "hf_evaluate": True, "aggregation": "mean"}]})
    (measure,) = found.task.pipelines[0].metrics
    assert (measure.name, measure.label, measure.aggregation) == ("hf_evaluate:wer", "wer", None)
    assert found.ignored == ("aggregation (the evaluate library is given all answers at once)",)


# What task files of lm-eval 0.5 say and those of 0.4 cannot.


NEXT: dict[str, Any] = {"task": "own", "dataset_path": "own/rows", "test_split": "test"}
NEXT_ROW = {"q": "What floats?", "options": ["a stone", "a cork"], "key": "B", "name": "Ann"}


def built_next(shots: list[dict[str, Any]] | None = None, **fields: Any) -> PreparedDataset:
    return preparation.build(convert({**NEXT, **fields}).task, [NEXT_ROW], shots or [], None)


def test_multiple_inputs_weigh_one_ending_after_several_contexts() -> None:
    """doc_to_text lists the contexts, doc_to_choice the ending, doc_to_target the place of the right one."""
    (problem,) = built_next(
        output_type="multiple_choice", multiple_inputs=True, doc_to_text="options", doc_to_choice=["{{name}} said so."],
        doc_to_target="{{key | answer_key_to_index}}", metric_list=[{"metric": "acc"}],
    ).problems  # fmt: skip
    assert [(one.context, one.continuation) for one in problem.candidates] == [
        ("a stone", " Ann said so."),
        ("a cork", " Ann said so."),
    ]
    assert problem.gold == (1,)


@pytest.mark.parametrize(("told", "references"), [({}, ("A", "B")), ({"multiple_targets": False}, ("['A', 'B']",))])
def test_a_list_is_one_text_where_the_file_says_so(told: dict[str, Any], references: tuple[str, ...]) -> None:
    """Without a word about it, a text that reads as a list is several right answers, as in 0.4."""
    (problem,) = built_next(doc_to_text="q", doc_to_target="{{['A', 'B']}}", **told).problems
    assert problem.references == references


def test_entries_of_a_list_may_be_templates() -> None:
    """Options and right answers that are written down one by one."""
    (problem,) = built_next(doc_to_text="q", doc_to_target=["{{name}}", "{{options[1]}}", 'so "plain"']).problems
    assert problem.references == ("Ann", "a cork", 'so "plain"')


def test_templates_list_options_behind_letters() -> None:
    """With the parting and the style that the template wants."""
    (problem,) = built_next(
        doc_to_text="{{options | letter_choices(sep=' ', style=') ')}}", doc_to_target="key"
    ).problems
    assert problem.messages[0].content == "A) a stone B) a cork"


@pytest.mark.parametrize(
    ("key", "labels", "place"), [(" B ", None, 1), ("b", None, 1), ("3", None, 2), (3, ["1", "3"], 1)]
)
def test_the_place_of_an_answer_s_key(key: str | int, labels: list[str] | None, place: int) -> None:
    """Among its labels; without these a letter counts from A, and a number from 1."""
    assert answer_key_to_index(key, labels) == place


def test_an_example_whose_answer_is_empty_shows_none() -> None:
    """An empty doc_to_target of the examples' own: their question tells the answer already, and ends as it ends."""
    shown = {"split": "dev", "sampler": "first_n", "doc_to_text": "{{q}} {{key}}.\n\n", "doc_to_target": ""}
    fields = {"doc_to_text": "q", "doc_to_target": "key", "num_fewshot": 1, "fewshot_config": shown}
    (problem,) = built_next([{**NEXT_ROW, "q": "What sinks?", "key": "A"}], **fields).problems
    assert problem.messages[0].content == "What sinks? A.\n\nWhat floats?"


NEXT_CHOICE = {"output_type": "multiple_choice", "doc_to_text": "q", "doc_to_choice": "options", "doc_to_target": 1}


@pytest.mark.parametrize(
    "told", ["generate", {"type": "generate"}, {"generate": None, "mcqa": {}}, ["generate", "mcqa"]]
)
def test_a_file_says_in_which_format_it_is_asked(told: Any) -> None:
    """By a name, by an entry's type, or by the first of several; `name@format` chooses another one."""
    files = MemoryTaskFiles({"t.yaml": yaml.safe_dump({**NEXT, **NEXT_CHOICE, "formats": told}).encode()})
    library = Library(lambda path: b"", files)
    (task,) = library.find("t.yaml").tasks
    assert (task.name, task.kind) == ("own", "generate")
    (other,) = library.find("t.yaml@mcqa").tasks
    assert (other.name, other.kind) == ("own@mcqa", "choice")


QUICK_START = {"doc_to_text": "question", "doc_to_target": "answer", "doc_to_choice": "choices"}
CAPITAL = {
    "question": "What is the capital of France?",
    "choices": ["Berlin", "Madrid", "Paris", "London"],
    "answer": 2,
}


def in_format(formats: Any, **row: Any) -> Problem:
    """The first problem of the quick start, which has no output_type."""
    fields = {name: value for name, value in NEXT.items() if name != "output_type"}
    imported = convert({**fields, **QUICK_START, "formats": formats})
    return preparation.build(imported.task, [{**CAPITAL, **row}], [], None).problems[0]


LISTED = "Question: What is the capital of France?\nA. Berlin\nB. Madrid\nC. Paris\nD. London\n"


@pytest.mark.parametrize("answer", [2, "Paris"])
def test_the_quick_start_of_formats_is_asked_as_it_is_documented(answer: object) -> None:
    """Three names of columns and a format: letters are weighed, texts are, or a letter or answer is asked for."""
    mcqa, cloze = in_format("mcqa", answer=answer), in_format("cloze", answer=answer)
    assert [(one.context, one.continuation) for one in mcqa.candidates] == [
        (f"{LISTED}Answer:", f" {letter}") for letter in "ABCD"
    ]
    assert {(one.context, one.continuation) for one in cloze.candidates} == {
        ("Question: What is the capital of France?\nAnswer:", f" {text}")
        for text in ("Berlin", "Madrid", "Paris", "London")
    }
    assert (mcqa.gold, cloze.gold, mcqa.messages[0].content) == ((2,), (2,), f"{LISTED}Answer:")
    said = in_format("generate").messages[0].content
    assert said == (
        "Given the following question and 4 candidate answers (A, B, C and D), choose the best answer.\n"
        f'{LISTED}Your response should end with "The best answer is [answer_letter]" where the [answer_letter] is one of '
        "A, B, C or D."
    )
    assert (in_format("generate").references, in_format("cot", answer=answer).references) == (("C",), ("Paris",))
    assert "Problem: What is the capital of France?\nYour response should end" in in_format("cot").messages[0].content


def test_a_format_has_words_of_its_own() -> None:
    """Each field that is documented, such as labels, and the first of several formats."""
    own = {"instruction": "Choose.\n", "question_prefix": "Q: ", "choice_labels": ["I", "II", "III", "IV"]}
    problem = in_format({"mcqa": {**own, "answer_prompt": "Option of {{ _choice_list_or }}:"}, "generate": None})
    listed = "Q: What is the capital of France?\nI. Berlin\nII. Madrid\nIII. Paris\nIV. London\n"
    assert [(one.context, one.continuation) for one in problem.candidates][2] == (
        f"Choose.\n{listed}Option of I, II, III or IV:", " III",
    )  # fmt: skip
    numbered = in_format({"type": "generate", "choice_labels": "numbers", "instruction": None})
    assert numbered.references == ("3",)
    assert "\n3. Paris\n" in numbered.messages[0].content


def test_replies_in_a_format_are_read_as_sentences() -> None:
    """Thoughts before, marks around, and a final period are no part of the answer."""
    fields = {name: value for name, value in NEXT.items() if name != "output_type"}
    (pipeline,) = pipelines(convert({**fields, **QUICK_START, "formats": "cot"}).task)
    problem = in_format("cot")
    for reply in (
        "Not Rome.\nThe final answer is Paris.",
        "the final answer is **Paris**",
        "The final answer is paris",
    ):
        assert judge(problem, [Attempt(problem=0, index=0, text=reply)], pipeline).verdicts[0].why == "right", reply


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"formats": "poem"}, "its format 'poem' is none of mcqa, cloze, generate, cot"),
        ({"formats": "mcqa"}, "its format 'mcqa' is about options, but it has no doc_to_choice"),
        (
            {"formats": {"type": "cot", "instructions": "Choose."}},
            "its format 'cot' has fields that are not known here (instructions)",
        ),
        ({"scorer": "ChoiceMatchScorer"}, "its scorer is ChoiceMatchScorer, which is called 'choice_match' here"),
        ({"metric_list": [{"metric": "wer"}]}, "if the evaluate library has it, write hf_evaluate: true beside it"),
    ],
)
def test_what_is_called_otherwise_is_answered_with_its_name(told: dict[str, Any], reason: str) -> None:
    """Scorers by lm-eval's classes, metrics that only another library has, formats that want more."""
    with pytest.raises(Unsupported) as error:
        convert({**NEXT, "doc_to_text": "q", "doc_to_target": "key", **told})
    assert reason in error.value.sentence


def test_a_file_may_say_what_its_questions_share() -> None:
    """lm-eval has no such field; ours is a column or a template, as in task files of our own."""
    assert task(cluster="passage").cluster == "passage"
    assert not task().cluster


def test_examples_are_turns_where_the_file_says_so() -> None:
    """The description becomes the system message, as in lm-eval's chats."""
    shots = {"num_fewshot": 1, "fewshot_split": "dev", "description": "Be brief.", "fewshot_as_multiturn": True}
    (problem,) = built_next([{**NEXT_ROW, "q": "What sinks?"}], doc_to_text="q", doc_to_target="key", **shots).problems
    assert [(turn.role, turn.content) for turn in problem.messages] == [
        ("system", "Be brief."),
        ("user", "What sinks?"),
        ("assistant", "B"),
        ("user", "What floats?"),
    ]


def test_texts_whose_likelihood_is_asked_have_a_perplexity() -> None:
    """Beside those of words and bytes."""
    task = convert({**NEXT, "output_type": "loglikelihood_rolling", "doc_to_text": "", "doc_to_target": "q"}).task
    assert [use.name for use in pipelines(task)[0].metrics][-1] == "perplexity"
