"""Claimed figures beside ours: every claim is answered, and a results file is read as far as it has figures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Counts, DatasetResult, MetricUse, ProblemResult, SummaryRow
from model_accuracy_eval.rescoring import rescoring_result
from model_accuracy_eval.rescoring.rescoring_result import ClaimedFigure
from model_accuracy_eval.scoring.figures.reductions import cons_at_k, pass_at_k

MATRICES = st.integers(1, 5).flatmap(
    lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=1, max_size=8)
)
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


def test_a_mean_of_the_samples_that_have_a_value_is_a_cause() -> None:
    """The tool has no values of failed samples, and leaves them out of its figure."""
    matrix = [[True], [True], [False], [False], [False]]
    figure = compared(matrix, {"accuracy": 50.0}, {(0, 0): 1.0, (1, 0): 1.0, (2, 0): 0.0, (3, 0): 0.0})["accuracy"]
    assert figure.causes == ("values of samples",)


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
        rescoring_result.required_figures(data, "r.json")


@pytest.mark.parametrize("data", [b"[]", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_results_file_is_refused(data: bytes) -> None:
    """With the name of the file."""
    with pytest.raises(BadData, match=r"^r\.json: this is not a results file"):
        rescoring_result.read_figures(data, "r.json")
