"""Saved replies judged again: the same figures from every format of the same replies, and why a claim differs."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.fake_ports import fake_ports
from tests.saved_bytes import read

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Counts, DatasetResult, MetricUse, ProblemResult, RunPlan, SummaryRow
from model_accuracy_eval.rescoring import rescoring_result
from model_accuracy_eval.rescoring.rescore import ReadReplies, ReplyFile, rescore
from model_accuracy_eval.rescoring.rescoring_result import ClaimedFigure, Rescored, as_text
from model_accuracy_eval.scoring.figures.reductions import cons_at_k, pass_at_k

MATRICES = st.integers(1, 5).flatmap(
    lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=1, max_size=8)
)
"""Right or wrong, sample by sample of every problem."""


def said(problem: int, *, right: bool) -> str:
    return f"So it is {10 + problem if right else 99}."


def aisbench(matrix: list[list[bool]]) -> list[bytes]:
    """`predictions/<model>/<dataset>.jsonl`; gold is the whole solution."""
    rows: list[dict[str, Any]] = [
        {
            "data_abbr": "sums", "id": problem, "success": True, "uuid": "0" * 32,
            "origin_prompt": [{"role": "HUMAN", "prompt": "?"}],
            "prediction": said(problem, right=right), "gold": f"Add.\n#### {10 + problem}",
        }
        for problem, samples in enumerate(matrix)
        for right in samples
    ]  # fmt: skip
    return lines(rows)


def lines(rows: Iterable[dict[str, Any]]) -> list[bytes]:
    return [json.dumps(row).encode() + b"\n" for row in rows]


def documented(matrix: list[list[bool]]) -> bytes:
    """The documented `.json`: one object a problem."""
    told = {
        str(problem): {
            "origin_prompt": "?",
            "prediction": [said(problem, right=right) for right in samples],
            "gold": str(10 + problem),
        }
        for problem, samples in enumerate(matrix)
    }
    return json.dumps(told, indent=4).encode()


def plain(matrix: list[list[bool]]) -> list[bytes]:
    return lines(
        {"id": f"q{problem}", "predictions": [said(problem, right=right) for right in samples], "gold": 10 + problem}
        for problem, samples in enumerate(matrix)
    )


def rescored(name: str, read: ReadReplies, claimed: dict[str, float] | None = None) -> list[Rescored]:
    """By the file's own right answers."""
    plan = RunPlan(run_id="", stamp="", tasks=(), k=())
    file = ReplyFile(name=name, read=read, claimed=claimed or {})
    return [result for result, _ in rescore(file, plan, fake_ports())]


def of_lines(rows: list[bytes], claimed: dict[str, float] | None = None) -> Rescored:
    (result,) = rescored("sums", lambda: read(b"".join(rows), "sums.jsonl"), claimed)
    return result


def figures(result: Rescored) -> dict[str, float | None]:
    return {row.metric: row.value for row in result.rows}


@given(MATRICES)
def test_every_spelling_of_the_same_replies_is_worth_the_same(matrix: list[list[bool]]) -> None:
    """AISBench's two files and plain rows, against the definitions."""
    n, size = len(matrix[0]), len(matrix)
    found = figures(of_lines(aisbench(matrix)))
    (whole,) = rescored("sums", lambda: read(documented(matrix), "sums.json"))
    assert figures(whole) == found
    assert figures(of_lines(plain(matrix))) == found
    right = [sum(samples) for samples in matrix]
    if n == 1:
        assert found == {"accuracy": pytest.approx(100 * sum(right) / size)}
        return
    assert found[f"avg@{n}"] == pytest.approx(100 * sum(right) / n / size)
    assert found[f"pass@{n}"] == pytest.approx(100 * sum(c > 0 for c in right) / size)
    assert found[f"cons@{n}"] == pytest.approx(100 * sum(2 * c > n for c in right) / size)


def paired_across(matrix: list[list[bool]]) -> float:
    """pass@n as AISBench 3.1 prints it: runs one behind the other, cut in groups of n."""
    n = len(matrix[0])
    runs = [samples[run] for run in range(n) for samples in matrix]
    groups = [runs[start : start + n] for start in range(0, len(runs), n)]
    return 100 * sum(any(group) for group in groups) / len(groups)


@given(MATRICES.filter(lambda matrix: len(matrix[0]) > 1))
def test_a_pass_at_k_of_mixed_problems_is_explained(matrix: list[list[bool]]) -> None:
    """Where the wrong pairing changes the figure, the sentence says so; where it does not, there is nothing to say."""
    n = len(matrix[0])
    wrong = paired_across(matrix)
    result = of_lines(aisbench(matrix), {f"pass@{n}": wrong})
    (figure,) = [one for one in result.figures if one.metric == f"pass@{n}"]
    assert figure.claimed == wrong
    differs = abs((figure.ours or 0.0) - wrong) > 0.01
    assert ("mispaired" in figure.causes) == differs


@given(MATRICES.filter(lambda matrix: len(matrix[0]) > 1), st.integers(0, 8))
def test_an_accuracy_of_the_last_samples_alone_is_explained(matrix: list[list[bool]], right: int) -> None:
    """AISBench 3.1 reports it where its evaluator says nothing of samples; any other figure is no such thing."""
    claimed = 100 * min(right, len(matrix)) / len(matrix)
    result = of_lines(aisbench(matrix), {"accuracy": claimed})
    (figure,) = [one for one in result.figures if one.metric == "accuracy"]
    average = 100 * sum(map(sum, matrix)) / len(matrix) / len(matrix[0])
    assert figure.claimed == claimed
    assert figure.ours == pytest.approx(average)
    last = 100 * sum(samples[-1] for samples in matrix) / len(matrix)
    assert ("last run" in figure.causes) == (abs(last - claimed) < 0.01 < abs(average - claimed))


def test_the_order_of_lines_changes_nothing() -> None:
    """AISBench writes samples as they finish."""
    matrix = [[True, False], [True, True], [False, False]]
    rows = aisbench(matrix)
    assert figures(of_lines([rows[at] for at in (5, 0, 3, 2, 4, 1)])) == figures(of_lines(rows))


def test_samples_that_are_not_in_the_file_count_as_wrong_and_are_told() -> None:
    """AISBench leaves failed samples out; its own mark of a failed one counts as left out, too."""
    rows = aisbench([[True, True], [True, True]])
    result = of_lines(rows[:3], {"avg@2": 100.0})
    assert (result.samples, result.counts.missing) == (3, 1)
    assert figures(result)["avg@2"] == pytest.approx(75.0)
    assert "without missing" in next(one.causes for one in result.figures if one.metric == "avg@2")
    assert "1 samples are not in the file and count as not correct." in as_text([result])
    assert "avg@2: 75.00 .. 100.00, whatever the 1 samples without a verdict would be" in as_text([result])
    failed = json.loads(rows[3]) | {"success": False}
    assert of_lines([*rows[:3], *lines([failed])]).counts.failed == 1


def lm_eval_sample(doc: int, text: str, target: str, worth: float, *, name: str = "strict") -> dict[str, Any]:
    return {
        "doc_id": doc, "doc": {}, "target": target, "arguments": {"gen_args_0": {"arg_0": "?", "arg_1": {}}},
        "resps": [[f"… {text}"]], "filtered_resps": [text], "filter": name, "metrics": ["exact_match"],
        "exact_match": worth,
    }  # fmt: skip


def test_lm_evals_samples_are_judged_filter_by_filter() -> None:
    """Each filter has its own answers; a sample on which the two disagree is shown."""
    rows = lines(
        [
            lm_eval_sample(0, "5", "5", 1.0),
            lm_eval_sample(0, "5.", "5", 1.0, name="flexible"),
            lm_eval_sample(1, "7", "8", 0.0),
            lm_eval_sample(1, "8", "['8', 'eight']", 1.0, name="flexible"),
        ]
    )
    strict, flexible = rescored("samples_x", lambda: read(b"".join(rows), "samples_x.jsonl"))
    assert (strict.filter, figures(strict)) == ("strict", {"exact_match,strict": 50.0})
    assert strict.differing == 0
    assert figures(flexible) == {"exact_match,flexible": 50.0}
    (one,) = flexible.disagreements
    assert (one.problem, one.claimed, one.ours, one.answer) == ("0", 1.0, 0.0, "5.")
    assert "the file says 1, we 0 (read '5.', right is '5')" in as_text([flexible])


@pytest.mark.parametrize(
    "filtered", [[["-3.0", "True"], ["-3.5", "False"]], [[["-3.0", "True"]], [["-3.5", "False"]]]], ids=["0.4", "0.5"]
)
def test_lm_evals_loglikelihoods_of_options_are_compared_again(filtered: list[object]) -> None:
    """acc by the sum of logarithms, acc_norm by the length of the option; 0.5 keeps each reply as a list of one."""
    sample = {
        "doc_id": 0, "doc": {}, "target": "1", "filter": "none", "metrics": ["acc", "acc_norm"], "acc": 0.0,
        "acc_norm": 1.0, "resps": [[["-3.0", "True"]], [["-3.5", "False"]]],
        "filtered_resps": filtered,
        "arguments": {
            "gen_args_0": {"arg_0": "Q", "arg_1": " 3"},
            "gen_args_1": {"arg_0": "Q", "arg_1": " four"},
        },
    }  # fmt: skip
    result = of_lines(lines([sample]))
    assert figures(result) == {"acc": 0.0, "acc_norm": 100.0}
    assert result.differing == 0


# Claimed figures beside ours: every claim is answered, and a results file is read as far as it has figures.


ACCURACY = MetricUse(name="exact", label="accuracy")


def result(matrix: list[list[bool]], *, others: dict[str, float] | None = None) -> DatasetResult:
    """As a run leaves it, with nothing but the mean over the samples."""
    n = len(matrix[0])
    mean = 100 * sum(map(sum, matrix)) / n / len(matrix)
    figures = {"accuracy" if n == 1 else f"accuracy ({n} runs average)": mean, **(others or {})}
    return DatasetResult(
        dataset="sums",
        version="-",
        rows=tuple(
            SummaryRow(dataset="sums", version="-", metric=name, value=value) for name, value in figures.items()
        ),
        problem_results=tuple(
            ProblemResult(
                problem=number,
                n=n,
                c=sum(row),
                values=tuple(map(float, row)),
                answers=("1",) * n,
                why=tuple("right" if right else "wrong" for right in row),
                references=("1",),
            )
            for number, row in enumerate(matrix)
        ),
        counts=Counts(),
    )


def compared(
    matrix: list[list[bool]], claimed: dict[str, float], values: dict[tuple[int, int], float] | None = None
) -> dict[str, ClaimedFigure]:
    return {
        figure.metric: figure for figure in rescoring_result.compare(result(matrix), ACCURACY, claimed, values or {})
    }


@given(MATRICES, st.integers(1, 9))
def test_a_claimed_figure_that_was_not_computed_is_computed_or_refused(matrix: list[list[bool]], k: int) -> None:
    """For every k that the samples allow, whatever k our figures have; a larger one is answered by a sentence."""
    n, right = len(matrix[0]), [sum(row) for row in matrix]
    figures = compared(matrix, {f"pass@{k}": 1.0, f"cons@{k}": 1.0, f"avg@{k}": 1.0})
    for kind, estimator in (("pass", pass_at_k), ("cons", cons_at_k)):
        figure = figures[f"{kind}@{k}"]
        if k > n:
            assert (figure.ours, figure.causes) == (None, ()) or "other figure" in figure.causes
            assert figure.causes or figure.why == (
                f"{kind}@{k} needs {k} samples of every problem, and the file holds {n}."
            )
        else:
            ours = 100 * sum(estimator(n, c, k) for c in right) / len(right)
            assert figure.ours == pytest.approx(ours)
    if k <= n:
        assert figures[f"avg@{k}"].ours == pytest.approx(100 * sum(right) / n / len(right))


@given(MATRICES, st.sampled_from(["accuracy", "acc", "score", "exact"]))
def test_accuracy_is_known_by_its_usual_names(matrix: list[list[bool]], name: str) -> None:
    """`acc` of lm-eval, `score` of OpenCompass."""
    mean = 100 * sum(map(sum, matrix)) / len(matrix[0]) / len(matrix)
    figure = compared(matrix, {name: mean})[name]
    assert (figure.claimed, figure.why) == (mean, "")
    assert figure.ours == pytest.approx(mean)


@pytest.mark.parametrize(("others", "ours"), [({"base": 100.0}, 50.0), ({}, None)])
def test_evalplus_calls_plus_what_passes_all_tests(others: dict[str, float], ours: float | None) -> None:
    """Only where the dataset has further tests, beside the first ones (base)."""
    judged = result([[True], [False]], others=others)
    (plus,) = (it for it in rescoring_result.compare(judged, ACCURACY, {"plus": 25.0}, {}) if it.metric == "plus")
    assert plus.ours == ours


def test_pass_at_1_is_pass_at_k_in_other_letters() -> None:
    """CRUXEval writes it so in its JSON."""
    assert compared([[True, False], [True, True]], {"pass_at_1": 75.0})["pass_at_1"].ours == pytest.approx(75.0)


def test_an_unknown_name_is_answered() -> None:
    """By the figures that there are, or by the one that equals it."""
    assert compared([[True], [False]], {"bleu": 12.5})["bleu"].why == (
        "No figure here is called bleu, and none equals it: there are accuracy."
    )
    other = compared([[True], [False]], {"EM": 50.0})["EM"]
    assert (other.ours, other.causes) == (None, ("other figure",))


@given(MATRICES, st.data())
def test_other_verdicts_on_single_samples_are_a_cause(matrix: list[list[bool]], data: st.DataObject) -> None:
    """If the values in the file, counted as here, give the claim; how many differ is said."""
    theirs = [[data.draw(st.booleans()) for _ in row] for row in matrix]
    values = {(p, s): float(value) for p, row in enumerate(theirs) for s, value in enumerate(row)}
    mean = 100 * sum(values.values()) / len(values)
    figure = compared(matrix, {"accuracy": mean}, values)["accuracy"]
    raised, lowered = (
        sum(a is way and b is not way for row, other in zip(theirs, matrix, strict=True) for a, b in zip(row, other, strict=True))
        for way in (True, False)
    )  # fmt: skip
    if raised == lowered:
        assert figure.why == ""
        return
    assert "verdicts" in figure.causes
    assert len(figure.causes) > 3 or (
        f"the verdicts on {raised + lowered} of {len(values)} samples differ ({raised} higher there, {lowered} lower)"
        in figure.why
    )


def test_no_other_way_to_count_is_a_cause_where_verdicts_differ() -> None:
    """91 is not 91.125 rounded if the file itself counts 728 of 800."""
    matrix = [[number < 729] for number in range(800)]
    values = {(number, 0): float(number < 728) for number in range(800)}
    figure = compared(matrix, {"accuracy": 91.0}, values)["accuracy"]
    assert (figure.causes, "the verdicts on 1 of 800 samples differ" in figure.why) == (("verdicts",), True)
    unknown = compared(matrix, {"accuracy": 91.0})["accuracy"]
    assert (unknown.causes, unknown.why) == (
        (), "91 is not explained: it is 728 of 800, or 91.1250 rounded, and nothing in the file says which.",
    )  # fmt: skip
    assert compared(matrix, {"accuracy": 91.1})["accuracy"].causes == ("rounding",)
    far = compared(matrix, {"accuracy": 91.1}, values)["accuracy"]
    assert (far.causes, far.why[:22]) == ((), "91.1 is not explained:")


def test_causes_give_a_claim_together() -> None:
    """One verdict differs, and two samples that failed are left out: neither alone gives 7 of 8."""
    matrix = [[number < 6] for number in range(10)]
    values = {(number, 0): float(number < 7) for number in range(10)}
    judged = result(matrix)
    problems = tuple(replace(one, why=("failed",)) if one.problem >= 8 else one for one in judged.problem_results)
    judged = replace(judged, problem_results=problems)
    (figure,) = rescoring_result.compare(judged, ACCURACY, {"accuracy": 87.5}, values)
    assert figure.causes == ("verdicts and without failed",)
    assert "samples differ (1 higher there, 0 lower) and failed requests are left out; here it is 60" in figure.why


def mmlu_pro_row(number: int, *, answer: str, pred: str | None) -> dict[str, Any]:
    return {
        "question_id": number, "question": f"Which {number}?", "options": ["one", "two", "three", "four"],
        "answer": answer, "category": "law", "pred": pred, "model_outputs": f"The answer is ({pred})." if pred else "?",
    }  # fmt: skip


def test_a_guess_counts_as_its_tool_counts_it() -> None:
    """MMLU-Pro takes an option by chance where it reads none; the figure without these guesses stands beside."""
    rows = [mmlu_pro_row(1, answer="A", pred="A"), mmlu_pro_row(2, answer="B", pred=None)]
    result = of_lines([json.dumps(rows).encode()])
    found = {figure.metric: (figure.ours, figure.claimed, figure.causes) for figure in result.figures}
    assert found["accuracy"] == (50.0, 62.5, ("guesses",))
    assert found["accuracy of the answers read"] == (100.0, 100.0, ())
    assert result.differing == 0
    (other,) = (
        figure for figure in of_lines([json.dumps(rows).encode()], {"accuracy": 100.0}).figures if figure.claimed
    )
    assert other.causes == ("without unread",) or "values of samples" in other.causes


def test_a_mean_of_the_samples_that_have_a_value_is_a_cause() -> None:
    """The tool has no values of failed samples, and leaves them out of its figure."""
    matrix = [[True], [True], [False], [False], [False]]
    figure = compared(matrix, {"accuracy": 50.0}, {(0, 0): 1.0, (1, 0): 1.0, (2, 0): 0.0, (3, 0): 0.0})["accuracy"]
    assert figure.causes == ("values of samples",)


def test_the_samples_with_a_value_are_no_second_cause_where_they_are_those_in_the_file() -> None:
    """Both leave out the same one."""
    said = (["5", "5"], ["5", "4"], ["5", "5"], ["5"])
    rows = [
        {"id": f"q{at}", "predictions": texts, "gold": 5, "correct": [text == "5" for text in texts]}
        for at, texts in enumerate(said)
    ]
    found = {figure.metric: figure.causes for figure in of_lines(lines(rows), {"avg@2": 87.5}).figures}
    assert found["avg@2"] == ("without missing",)


@pytest.mark.parametrize(
    ("data", "figures"),
    [
        (b'{"accuracy": 62.5, "details": {"n": 3}, "type": "GEN", "ok": true}', {"accuracy": 62.5}),
        (b'{"date": "today", "pass_at_k": {"base": {"pass@1": 0.5}}}', {"pass@1": 0.5}),
        (
            b'{"pass_at_k": {"base": {"pass@1": 0.5}, "plus": {"pass@1": 0.25}}}',
            {"pass_at_k.base.pass@1": 0.5, "pass_at_k.plus.pass@1": 0.25},
        ),
    ],
)
def test_a_results_file_is_read_as_far_as_it_has_figures(data: bytes, figures: dict[str, float]) -> None:
    """Details and other things beside them are passed over; figures in objects have the last name, if it is unique."""
    assert rescoring_result.read_figures(data, "r.json") == figures


@pytest.mark.parametrize(
    "data",
    [
        b"{}",
        b'{"error": "no predictions"}',
        b'{"accuracy": NaN, "score": Infinity, "size": 1' + b"0" * 400 + b"}",
        b'{"a": {' + b",".join(b'"%d": 1' % number for number in range(201)) + b"}}",
    ],
)
def test_a_results_file_without_figures_claims_nothing(data: bytes) -> None:
    """It may lie beside the replies because the tool failed; one that the user names is refused."""
    assert rescoring_result.read_figures(data, "r.json") == {}
    with pytest.raises(BadData, match=r"^r\.json: a results file holds 1 to 200 figures"):
        rescoring_result.read_figures(data, "r.json", required=True)


@pytest.mark.parametrize("data", [b"[]", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_results_file_is_refused(data: bytes) -> None:
    """With the name of the file."""
    with pytest.raises(BadData, match=r"^r\.json: this is not a results file"):
        rescoring_result.read_figures(data, "r.json")
