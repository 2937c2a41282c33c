"""Files of other programs, judged on a dataset's rows: what counts, what is left out, what is refused."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.fake_ports import MemoryHub, ScriptedSandbox, fake_ports
from tests.unit.rescoring.test_own_runs import run_and_rescore, verdict

from model_accuracy_eval import rescore
from model_accuracy_eval.benchmarks import dataset_table as tasks
from model_accuracy_eval.errors import BadData, BadValue, MissingData
from model_accuracy_eval.records import Problem
from model_accuracy_eval.rescoring import agreement
from model_accuracy_eval.rescoring.rescoring_result import Rescored
from model_accuracy_eval.rescoring.saved_replies import SavedProblem
from model_accuracy_eval.run import engines
from model_accuracy_eval.run_folder.run_folder import RunFolder

SUMS = [{"question": f"How much is {number} + 1?", "answer": f"#### {number + 1}"} for number in range(20)]
SUM_TASK = tasks.find("demo_gsm8k")
CAPITALS: list[dict[str, Any]] = [
    {"id": f"c{number}", "question": f"Capital of {number}?", "answerKey": "ABCD"[number % 4],
     "choices": {"label": list("ABCD"), "text": [f"{town} {number}" for town in ("Ulm", "Bonn", "(Kiel)", "Trier (A)")]}}
    for number in range(20)
]  # fmt: skip
CAPITAL_TASK = tasks.find("arc_easy")
ENDINGS = [
    {"query": f"After {number} comes", "choices": [f"{number + 1}", "nothing at all"], "gold": 0} for number in range(8)
]
ENDING_TASK = tasks.find("core_copa")


def lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


DATA = {SUM_TASK.data.name: lines(SUMS), CAPITAL_TASK.data.name: lines(CAPITALS), ENDING_TASK.data.name: lines(ENDINGS)}


@pytest.fixture(autouse=True)
def data(monkeypatch: pytest.MonkeyPatch) -> None:
    """These rows, and a sandbox that looks for a mark."""
    parts = fake_ports(hub=MemoryHub(DATA), open_store=RunFolder, open_sandbox=lambda: ScriptedSandbox(verdict))
    monkeypatch.setattr(engines, "ports", lambda *_, **__: parts)


def judged(tmp_path: Path, rows: Sequence[Mapping[str, Any]], name: str = "replies", **options: Any) -> Rescored:
    file = tmp_path / f"{name}.jsonl"
    file.write_bytes(lines(rows))
    (result,) = rescore(file, **options)
    return result


def figures(result: Rescored) -> dict[str, float | None]:
    return {row.metric: row.value for row in result.rows}


def sums(*numbers: int, **more: Any) -> list[dict[str, Any]]:
    return [{"id": number, "prediction": f"#### {number + 1}", "gold": f"{number + 1}", **more} for number in numbers]


# What counts.


def test_failed_and_missing_samples_count(tmp_path: Path) -> None:
    """Five right, five failed, one of the middle not there, nine wrong: a quarter."""
    rows = [*sums(*range(5)), *sums(*range(5, 10), success=False)]
    rows += [{"id": number, "prediction": "#### 99", "gold": f"{number + 1}"} for number in range(11, 20)]
    result = judged(tmp_path, rows, task="demo_gsm8k")
    counts = result.counts
    assert figures(result) == {"accuracy": 25.0}
    assert (counts.planned, counts.answered, counts.failed, counts.missing) == (20, 14, 5, 1)
    assert any(note.startswith("1 of 20 problems are not in the file") for note in result.notes)


def test_failures_in_a_file_of_their_own_count(tmp_path: Path) -> None:
    """AISBench leaves them there also when a later try was answered, and those do not count."""
    failed: list[dict[str, Any]] = [
        {"data_abbr": "demo_gsm8k", "id": number, "input": [], "error_info": "HTTP 500"} for number in (3, 7, 8)
    ]
    (tmp_path / "demo_gsm8k_failed.jsonl").write_bytes(lines(failed))
    rows = [{"data_abbr": "demo_gsm8k", "success": True, **row} for row in sums(*range(7), *range(9, 20))]
    result = judged(tmp_path, rows, name="demo_gsm8k")
    assert (result.counts.answered, result.counts.failed, result.counts.missing) == (18, 2, 0)
    assert figures(result) == {"accuracy": 90.0}


@pytest.mark.parametrize(
    ("held", "options", "problems", "missing", "note"),
    [
        (range(6), {}, 6, 0, "The file holds the first 6 of 20 problems: the figures are of these 6."),
        (range(6), {"first": 10}, 10, 4, "4 of 10 problems are not in the file"),
        (range(6), {"first": 4}, 4, 0, "2 problems of the file are left out: they are not among the first 4 of 20."),
        ((0, 2, 19), {}, 20, 17, "17 of 20 problems are not in the file"),
        ((0, 2, 19), {"subset": True}, 3, 0, "The file holds 3 of 20 problems: the figures are of these 3."),
    ],
)
def test_a_part_of_the_dataset_is_told(
    held: Sequence[int], options: dict[str, Any], problems: int, missing: int, note: str, tmp_path: Path
) -> None:
    """The first problems alone are a limited run; any other selection lacks problems, unless it is said to be one."""
    result = judged(tmp_path, sums(*held), task="demo_gsm8k", **options)
    assert (result.problems, result.counts.missing) == (problems, missing)
    assert any(found.startswith(note) for found in result.notes)
    share = 100 * len([number for number in held if number < (options.get("first") or 20)]) / problems
    assert figures(result)["accuracy"] == pytest.approx(share)


def test_samples_keep_their_numbers(tmp_path: Path) -> None:
    """Three samples of each problem, counted from 1, and one of them not there: not two."""
    rows = [{**row, "index": index} for index in (1, 2, 3) for row in sums(*range(20))]
    del rows[25]
    for row in rows:
        row |= {"data_abbr": "demo_gsm8k", "success": True}
    result = judged(tmp_path, rows, task="demo_gsm8k", k="1,3")
    assert figures(result)["avg@3"] == pytest.approx(100 * 59 / 60)
    assert figures(result)["cons@3"] == 100.0
    with pytest.raises(BadValue, match="k = 4 needs at least 4 samples of every problem, but replies holds 3 at most"):
        judged(tmp_path, rows, task="demo_gsm8k", k=4)


def test_a_reply_that_is_there_twice_is_no_second_sample(tmp_path: Path) -> None:
    """Otherwise all other problems would lack one. Whoever means it says so."""
    rows = [*sums(*range(20)), *sums(4)]
    result = judged(tmp_path, rows, task="demo_gsm8k")
    assert (figures(result)["accuracy"], result.samples, result.rows[0].bounds) == (100.0, 20, None)
    assert result.left_out == (
        "problem 4: 2 replies where others have 1, of which the first count (-n 2 takes all for samples)",
    )
    assert figures(judged(tmp_path, rows, task="demo_gsm8k", num_return_sequences=2))["avg@2"] == 52.5
    thrice = judged(tmp_path, sums(*range(20)) * 3, task="demo_gsm8k", num_return_sequences=2)
    assert (figures(thrice)["avg@2"], len(thrice.left_out)) == (100.0, 20)


def test_claims_of_two_filters_are_not_one_claim(tmp_path: Path) -> None:
    """A dataset of ours has neither filter, so that both claims stand beside its figures."""
    rows = [
        {
            "doc_id": number, "doc": {}, "target": f"#### {number + 1}", "arguments": {"gen_args_0": {"arg_0": "", "arg_1": {}}},
            "resps": [[f"#### {number + 1}"]], "filtered_resps": ["1"], "filter": name, "metrics": ["exact_match"],
            "exact_match": worth,
        }
        for name, worth in (("strict", 0.0), ("flexible", 1.0))
        for number in range(20)
    ]  # fmt: skip
    result = judged(tmp_path, rows, task="demo_gsm8k")
    assert figures(result) == {"accuracy": 100.0}
    claimed = {figure.metric: figure.claimed for figure in result.figures}
    assert claimed == {"accuracy": None, "exact_match,strict": 0.0, "exact_match,flexible": 100.0}


# Letters.


def test_letters_are_those_of_the_row(tmp_path: Path) -> None:
    """Words that are no option's are no letter, whether the options are known or not."""
    rows = [{"id": f"c{number}", "prediction": "I cannot tell", "gold": "ABCD"[number % 4]} for number in range(20)]
    for options in ({"task": "arc_easy"}, {}):
        result = judged(tmp_path, rows, **options)
        assert (figures(result)["accuracy"], result.counts.not_found) == (0.0, 20)
    assert any("does not list its options" in note for note in result.notes)


def test_letters_of_shuffled_options_are_the_file_s(tmp_path: Path) -> None:
    """The letter B of a model that saw other letters is another option."""
    rows = []
    for row in CAPITALS:
        texts = row["choices"]["text"]
        options = [*texts[1:], texts[0]]
        place = ("ABCD".index(str(row["answerKey"])) - 1) % 4
        rows.append(
            {"id": row["id"], "options": options, "prediction": f"ANSWER: {'ABCD'[place]}", "gold": "ABCD"[place]}
        )
    assert figures(judged(tmp_path, rows, task="arc_easy", fields=MAP))["accuracy"] == 100.0
    named = [{**row, "gold": row["options"]["ABCD".index(row["gold"])]} for row in rows]
    assert figures(judged(tmp_path, named, task="arc_easy", fields=MAP))["accuracy"] == 100.0
    with pytest.raises(BadData, match="contradict arc_easy: problem c0 has the options"):
        judged(tmp_path, [{**row, "options": ["1", "2"]} for row in rows], task="arc_easy", fields=MAP)


MAP = {"id": "id", "prediction": "prediction", "options": "options", "gold": "gold"}


# Log-likelihoods.


def weighed(number: int, *, tokens: bool) -> dict[str, Any]:
    more = [1] if tokens else []
    return {
        "data_abbr": "core_copa", "id": number, "success": True, "prediction": "", "gold": "0", "method": "echo",
        "origin_prompt": f"After {number} comes", "loglikelihoods": [[-1.0, *more], [-2.0, *more]],
    }  # fmt: skip


def test_log_likelihoods_are_judged_or_refused(tmp_path: Path) -> None:
    """Never 0.00 for want of something."""
    whole = [weighed(number, tokens=True) for number in range(8)]
    assert figures(judged(tmp_path, whole, task="core_copa"))["accuracy"] == 100.0
    with pytest.raises(BadData, match=r"8 of 8 samples lack what core_copa is judged by \(acc_tokens\)"):
        judged(tmp_path, [weighed(number, tokens=False) for number in range(8)], task="core_copa")
    texts = [
        {"id": number, "prediction": "the first", "question": f"After {number} comes", "gold": "0"}
        for number in range(8)
    ]
    with pytest.raises(BadData, match="core_copa is judged by log-likelihoods, but replies holds texts without any"):
        judged(tmp_path, texts, task="core_copa")
    with pytest.raises(BadData, match="replies holds log-likelihoods, but demo_gsm8k judges texts"):
        judged(tmp_path, [{**row, "origin_prompt": "", "gold": str(row["id"] + 1)} for row in whole], task="demo_gsm8k")


# Files that are a dataset by themselves.


def test_without_its_rows_a_dataset_is_judged_by_the_file_s_answers(tmp_path: Path) -> None:
    """That is said, and programs are refused: they need the rows' tests."""
    del DATA[SUM_TASK.data.name]
    try:
        result = judged(tmp_path, sums(*range(5)), task="demo_gsm8k")
    finally:
        DATA[SUM_TASK.data.name] = lines(SUMS)
    assert figures(result) == {"accuracy": 100.0}
    assert result.notes[0].startswith("The right answers are those of the file. There is no data file")
    with pytest.raises(MissingData):
        judged(tmp_path, sums(*range(5)), task="humaneval")


def test_other_questions_are_judged_by_their_own_answers(tmp_path: Path) -> None:
    """If the file brings questions and answers; without questions its ids are refused."""
    rows = [
        {"id": f"own-{number}x", "question": f"And {number}?", **row}
        for number, row in enumerate([{"prediction": "#### 4", "gold": "4"}] * 3)
    ]
    result = judged(tmp_path, rows, task="demo_gsm8k")
    assert (figures(result)["accuracy"], result.problems) == (100.0, 3)
    assert "3 of 3 problems of replies are not in demo_gsm8k" in result.notes[0]
    with pytest.raises(BadData, match="such as own-0x, own-1x, own-2x: positions from 0 to 19"):
        judged(tmp_path, [{**row, "question": ""} for row in rows], task="demo_gsm8k")


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            [{"id": 1, "prediction": "x", "gold": "4"}, {"id": 1, "prediction": "x", "gold": "5"}],
            "problem 1: its 2 samples have 2 different right answers, such as '4' and '5'",
        ),
        ([{"id": 1, "prediction": "x"}], "problem 1: it has no right answer"),
    ],
)
def test_a_problem_that_contradicts_itself_is_left_out(
    rows: Sequence[Mapping[str, Any]], sentence: str, tmp_path: Path
) -> None:
    """What it would be worth is not known; where there is no other, the file is refused."""
    with pytest.raises(BadData, match=f"replies: {sentence}, and so it is with all of its 1 problems: name the"):
        judged(tmp_path, rows)
    others = [{"id": 8, "prediction": "4", "gold": "4"}, {"id": 9, "prediction": "4", "gold": "4"}]
    result = judged(tmp_path, [*others, *others, *rows] if len(rows) > 1 else [*others, *rows])
    assert result.left_out == (sentence,)
    bounds = result.rows[0].bounds
    assert bounds is not None
    assert [bounds.low, bounds.high] == pytest.approx([100 * 2 / 3, 100.0])


# Which dataset it is.


def review(number: int, said: str, value: dict[str, float], **more: Any) -> dict[str, Any]:
    """A line of EvalScope's, whose file is called after dataset and subset."""
    score = {"value": value, "prediction": said, "extracted_prediction": said, **more}
    question = [{"role": "user", "content": f"How much is {number} + 1?"}]
    return {"index": number, "target": "", "messages": question, "sample_score": {"score": score}}


def test_a_review_is_of_the_dataset_that_its_file_is_called_after(tmp_path: Path) -> None:
    """Its main value is the verdict on the sample, whatever it is called."""
    rows = [review(number, str(number + 1), {"acc": float(number > 3), "pass": 1.0}) for number in range(20)]
    result = judged(tmp_path, rows, name="demo_gsm8k_main")
    assert (result.scoring, figures(result)["accuracy"], result.differing) == ("demo_gsm8k", 100.0, 4)
    assert {figure.metric: figure.claimed for figure in result.figures}["accuracy"] == 80.0


def test_values_that_one_dataset_alone_has_name_it(tmp_path: Path) -> None:
    """IFEval's levels; its rows are not here."""
    values = {"prompt_level_strict": 1.0, "inst_level_strict": 1.0, "prompt_level_loose": 1.0, "inst_level_loose": 1.0}
    with pytest.raises(MissingData, match=r"ifeval/input_data\.jsonl"):
        judged(tmp_path, [review(0, "Yes.", values, main_score_name="prompt_level_strict")], name="reviews")


def test_texts_of_no_known_dataset_are_asked_about(tmp_path: Path) -> None:
    """They would be judged as whole texts, and nearly all wrong; who wants that says so."""
    rows = [{"id": number, "prediction": "It is Ulm.", "gold": "Ulm"} for number in range(3)]
    with pytest.raises(
        BadData, match="replies does not say which dataset was asked, and its right answers are texts, su"
    ):
        judged(tmp_path, rows)
    assert figures(judged(tmp_path, [{**row, "prediction": " ulm "} for row in rows], task="text")) == {
        "accuracy": 100.0
    }
    assert (
        judged(tmp_path, [{**row, "gold": "5", "prediction": "5"} for row in rows], task="text").scoring == "the text"
    )


def test_evalplus_verdicts_on_all_tests_are_those_of_the_headline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sample by sample, so that they can be listed where they differ; the first tests alone are `base`."""
    task = tasks.find("humaneval_plus")
    rows = [
        {"task_id": f"HumanEval/{n}", "prompt": "def f(a):\n", "entry_point": "f", "canonical_solution": "    return a\n",
         "base_input": [[n]], "plus_input": [[n + 1]], "atol": 0}
        for n in range(4)
    ]  # fmt: skip
    monkeypatch.setitem(DATA, task.data.name, lines(rows))
    solved = [
        {"solution": "def f(a):\n    return a  # right", "base_status": "pass", "plus_status": plus}
        for plus in ("pass", "fail")
    ]
    whole = {"hash": "", "eval": {f"HumanEval/{n}": [{"task_id": "", **solved[n % 2]}] for n in range(4)}}
    file = tmp_path / "x_eval_results.json"
    file.write_text(json.dumps(whole))
    (result,) = rescore(file)
    claimed = {figure.metric: (figure.claimed, figure.causes) for figure in result.figures}
    assert result.scoring == "humaneval_plus"
    assert (claimed["accuracy"][0], claimed["base"][0], result.differing) == (50.0, 100.0, 2)
    whole["eval"]["HumanEval/999"] = [{"task_id": "", **solved[0]}]  # type: ignore[index]
    file.write_text(json.dumps(whole))
    (more,) = rescore(file)
    assert more.left_out == ("problem HumanEval/999: humaneval_plus has no such problem",)
    assert (more.problems, more.counts.missing, more.rows[0].bounds is not None) == (5, 1, True)
    assert {figure.metric: figure.claimed for figure in more.figures}["accuracy"] == 60.0


# Replies of this program that were taken out of their run.


@pytest.mark.parametrize(
    "name", ["demo_gsm8k", "mgsm", "arc_easy", "arc_easy_choice", "mmlu", "bbh", "humaneval", "core_copa"]
)
def test_a_journal_without_its_run_gives_the_same_rows(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the file alone, with its failures beside it."""
    report, _ = run_and_rescore(tasks.find(name), tmp_path / "run", monkeypatch)
    (own,) = report.dataset_results
    folder = Path(report.outcome.folder or "") / "predictions" / report.plan.settings.label
    for file in folder.glob("*.jsonl"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (result,) = rescore(tmp_path / f"{name}.jsonl", k="1,3" if own.problem_results[0].n > 1 else ())
    assert result.rows == own.rows
    assert result.counts == own.counts


# Rows that were corrected between the file's making and today.


def corrected(row: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A reply to the row as the file knew it, right by the file's own letter."""
    texts, gold = more.pop("options", row["choices"]["text"]), more.pop("gold", row["answerKey"])
    question = more.pop("question", row["question"])
    return {"id": row["id"], "question": question, "options": texts, "gold": gold, "prediction": f"ANSWER: {gold}"}


ASKED = {**MAP, "question": "question"}


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"question": "Capitalof 3?"}, "question"),
        ({"gold": "A"}, "right answer"),
        ({"options": ["Ulm", "Bonn", "Kiel", "Trier", "Köln"], "gold": "E"}, "options"),
    ],
)
def test_a_problem_of_another_edition_is_judged_as_the_file_has_it(
    change: dict[str, Any], what: str, tmp_path: Path
) -> None:
    """Its model was asked that; a note has the number and the first difference. Two of twenty are too many."""
    rows = [corrected(row, **(change if number == 3 else {})) for number, row in enumerate(CAPITALS)]
    result = judged(tmp_path, rows, task="arc_easy", fields=ASKED)
    assert figures(result)["accuracy"] == 100.0
    (note,) = [note for note in result.notes if "of another edition" in note]
    assert note.startswith("1 of the problems")
    assert f"such as problem c3: {what} " in note
    again = [corrected(row, **(change if number in (3, 7) else {})) for number, row in enumerate(CAPITALS)]
    result = judged(tmp_path, again, task="arc_easy", fields=ASKED)
    assert len(result.left_out) == (0 if what == "question" else 2)  # the right answer is the row's


@pytest.mark.parametrize(("count", "fits"), [(2, True), (3, False)])
def test_a_tenth_of_the_questions_may_be_reworded(count: int, fits: bool, tmp_path: Path) -> None:
    """With the same right answers; more are another dataset."""
    rows = [
        corrected(row, **({"question": f"Capital of  {number} ?"} if number < count else {}))
        for number, row in enumerate(CAPITALS)
    ]
    result = judged(tmp_path, rows, task="arc_easy", fields=ASKED)
    assert len(result.left_out) == (0 if fits else 3)
    assert any(note.startswith("2 of the problems") for note in result.notes) is fits
    bounds = result.rows[0].bounds
    assert (bounds and (bounds.low, bounds.high)) == (None if fits else (85.0, 100.0))
    assert fits or "Of the samples that are judged, accuracy is 100.00." in result.notes


@pytest.mark.parametrize("change", [{"question": "Which river flows through Bonn?"}, {"gold": "Z"}])
def test_another_problem_is_no_edition(change: dict[str, Any], tmp_path: Path) -> None:
    """Another question, or an answer that is none of the options, is left out, and costs no other."""
    rows = [corrected(row, **(change if number == 3 else {})) for number, row in enumerate(CAPITALS)]
    result = judged(tmp_path, rows, task="arc_easy", fields=ASKED)
    assert [sentence[:11] for sentence in result.left_out] == ["problem c3:"]
    claimed = tmp_path / "claimed.json"
    claimed.write_text('{"accuracy": 0.97}')
    within = judged(tmp_path, rows, task="arc_easy", fields=ASKED, claimed=claimed).figures[0]
    assert (within.causes, within.why) == ((), "0.97 is within the range that the 1 samples without a verdict leave.")
    assert (figures(result)["accuracy"], result.counts.missing) == (95.0, 1)


def test_a_question_that_ends_early_is_shown_at_its_end() -> None:
    """The two quotations differ also where one text is the beginning of the other."""
    question = "Which of these towns is the capital of the country that lies between the sea and the mountains"
    saved = SavedProblem(id="0", part="", question=question, options=(), gold=("5",), numbers=(0,))
    row = Problem(id=0, messages=(), references=("0",), row_texts=(f"{question} 0?",))
    found = agreement.check(saved, row, SUM_TASK)
    assert isinstance(found, agreement.Contradiction)
    assert (found.file, found.row) == (question[-30:], f"{question[-30:]} 0?")
