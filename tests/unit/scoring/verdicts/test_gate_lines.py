"""The lines of gates: read, matched with the figures of a run, refused with the line that was meant."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.errors import BadValue, UnknownName, UsageError
from model_accuracy_eval.records import Gate
from model_accuracy_eval.scoring.figures.scorecard import figure_units
from model_accuracy_eval.scoring.verdicts import gate_lines
from model_accuracy_eval.scoring.verdicts.gate_lines import SCENARIOS, Unit

COMPARISONS = (">=", ">", "<=", "<", "==")
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters='"'), min_size=1)
FIVE: dict[str, Unit] = dict.fromkeys(["accuracy (5 runs average)", "avg@5", "pass@5", "cons@5"], "verdict share")
ONE: dict[str, Unit] = {"accuracy": "verdict share"}
MIXED: dict[str, Unit] = {"bleu": "share", "perplexity": "number"}
PARTS: dict[str, Unit] = {**FIVE, "accuracy (5 runs average)[*]": "verdict share", "cases passed": "share"}
DATASETS = {"gsm8k": FIVE, "mmlu": ONE, "flores": MIXED}


def resolved(line: str) -> list[str]:
    found = gate_lines.resolve(gate_lines.parse(line), DATASETS, {"both": FIVE})
    assert not any(gate.drop for gate in found)  # whoever reads a plan compares figures alone
    return [str(gate) for gate in found]


@given(
    NAMES, NAMES, st.sampled_from(COMPARISONS), st.floats(-1e6, 1e6).map(lambda number: round(number, 3)), st.booleans()
)
def test_a_gate_is_what_it_says(dataset: str, metric: str, comparison: Any, threshold: float, percent: Any) -> None:
    """Written out and read again, it is the same gate, whatever characters its names have."""
    gate = Gate(dataset=dataset, metric=metric, comparison=comparison, threshold=threshold, percent=percent)
    if dataset != "scenario":
        assert gate_lines.parse(str(gate)) == (gate,)


@given(NAMES, st.sampled_from(COMPARISONS), st.integers(-1000, 1000).map(lambda tenth: tenth / 10))
def test_a_gate_on_a_baseline_is_what_it_says(metric: str, comparison: Any, points: float) -> None:
    gate = Gate(dataset="demo", metric=metric, comparison=comparison, threshold=points, from_baseline=True)
    assert gate_lines.parse(str(gate)) == (gate,)


@pytest.mark.parametrize("line", ["demo: avg@5 >= 60", "  demo :avg@5>=60  ", "demo: avg@5 >= 60.0 # as in release 1"])
def test_blanks_and_comments_are_free(line: str) -> None:
    """One gate, however it is spaced."""
    assert gate_lines.parse(line) == (Gate(dataset="demo", metric="avg@5", comparison=">=", threshold=60),)


def test_one_gate_a_line_or_several() -> None:
    """Blank lines and comments are skipped; `and` joins conditions on one dataset."""
    text = "# all of these\n\na: avg@5 >= 60\r\nb: pass@5 > 70 and cons@5 > 60  # best of five\n\n"
    assert list(map(str, gate_lines.parse(text))) == ["a: avg@5 >= 60", "b: pass@5 > 70", "b: cons@5 > 60"]
    assert gate_lines.parse("\n # nothing\n") == ()


@pytest.mark.parametrize(
    "line",
    [
        "demo",
        "avg@5 >= 60",
        "demo: >= 60",
        "demo: avg@5 60",
        "demo: avg@5 >= sixty",
        "demo: avg@5 ≥ 60",
        "demo: avg@5 >= 6.0.0",
        "demo: avg@5 >= 60#no blank",
        "demo: avg@5 >= 60 and",
        "demo: avg@5 >= baseline -",
        "demo: avg@5 >= baseline - 100.1",
        "demo: avg@5 >= 1 - baseline",
        "demo: drop >= 1 vs baselines",
    ],
)
def test_what_is_no_gate_is_refused_with_an_example(line: str) -> None:
    """The sentence shows the line and how to write it."""
    with pytest.raises(BadValue) as error:
        gate_lines.parse(f"demo: avg@5 >= 1\n{line}")
    assert f"'{line}' is not a gate" in error.value.sentence
    assert "'demo_arithmetic: avg@5 >= 60'" in error.value.sentence


def test_names_are_checked_before_anything_starts() -> None:
    """An unknown dataset or metric is answered with the nearest ones, and with the gate it stands in."""
    with pytest.raises(UnknownName, match=r"no dataset called 'gsm8' in the gate '.*'; did you mean gsm8k\?"):
        resolved("gsm8: avg@5 >= 60")
    with pytest.raises(UnknownName, match=r"no metric called 'avg@3' in the gate 'gsm8k: .*'; did you mean avg@5"):
        resolved("gsm8k: avg@3 >= 60")
    with pytest.raises(UnknownName, match="reliability-first"):
        resolved("scenario: reliability")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("gsm8k: avg >= 75", ["gsm8k: accuracy (5 runs average) >= 75"]),
        ("gsm8k: avg@n >= 75", ["gsm8k: avg@5 >= 75"]),
        ("gsm8k: pass@k >= 75", ["gsm8k: pass@5 >= 75"]),
        ("mmlu: accuracy >= 75", ["mmlu: accuracy >= 75"]),
        ("mmlu: cons@k >= 75", ["mmlu: accuracy >= 75"]),
        ("both: cons@k >= 20", ["both: cons@5 >= 20"]),
        ("*: drop <= 1 vs baseline", [
            "gsm8k: accuracy (5 runs average) >= baseline - 1", "mmlu: accuracy >= baseline - 1",
            "flores: bleu >= baseline - 1",
        ]),
        ("gsm8k: cons@5 drop < 0.5", ["gsm8k: cons@5 > baseline - 0.5"]),
    ],
)  # fmt: skip
def test_names_mean_a_figure_however_many_samples_there_are(written: str, meant: list[str]) -> None:
    assert resolved(written) == meant


@pytest.mark.parametrize("n", [1, 5])
def test_accuracy_is_that_of_partly_right_answers_too(n: int) -> None:
    """As of TextVQA, whose answers have shares of the people who gave them."""
    units = {"textvqa": figure_units(find("textvqa"), n, (n,))}
    (gate,) = gate_lines.resolve(gate_lines.parse("textvqa: accuracy >= 70"), units, {})
    assert gate.metric == next(iter(units["textvqa"]))


@pytest.mark.parametrize("line", ["gsm8k: pass@7 >= 70", "mmlu: pass@5 >= 70", "flores: accuracy >= 20"])
def test_what_a_run_does_not_have_is_not_guessed(line: str) -> None:
    """pass@5 of one sample, or the accuracy of a translation."""
    with pytest.raises(UnknownName):
        resolved(line)


@pytest.mark.parametrize(("metric", "k"), [("avg@n", ()), ("pass@k", (5,)), ("cons@k", (5,))])
@pytest.mark.parametrize("n", [1, 5])
def test_scenarios_hold_for_every_number_of_samples(metric: str, k: tuple[int, ...], n: int) -> None:
    """With the names that a real dataset's figures have."""
    units = {"gsm8k": figure_units(find("gsm8k"), n, (n,))}
    for name, conditions in SCENARIOS.items():
        gates = gate_lines.resolve(gate_lines.parse(f"scenario: {name}"), units, {})
        assert [gate.threshold for gate in gates] == [*conditions.values()]
        assert {gate.metric for gate in gates} <= set(units["gsm8k"])


@pytest.mark.parametrize("number", ["0.75", "1", "1.0", ".5", "0.001"])
def test_a_share_is_not_taken_for_per_cent(number: str) -> None:
    """A gate of 0.75 passed a model of 20 per cent; both readings are shown, with the line for each."""
    with pytest.raises(BadValue) as error:
        resolved(f"gsm8k: avg@5 > {number}")
    share, shown = f"{100 * float(number):.12g}", f"{float(number):.12g}"
    assert f"Write 'avg@5 > {share}' for the share, or 'avg@5 > {shown}%'" in error.value.sentence
    assert resolved(f"gsm8k: avg@5 > {number}%") == [f"gsm8k: avg@5 > {shown}%"]


def test_numbers_fit_the_figure() -> None:
    """A perplexity may be anything but per cent, a share no more than 100; points may be less than one."""
    assert resolved("flores: perplexity <= 0.5") == ["flores: perplexity <= 0.5"]
    assert resolved("flores: perplexity <= 1234.5") == ["flores: perplexity <= 1234.5"]
    assert resolved("mmlu: accuracy >= baseline - 0.5") == ["mmlu: accuracy >= baseline - 0.5"]
    assert resolved("mmlu: accuracy >= 0") == ["mmlu: accuracy >= 0"]
    for line in ("flores: perplexity <= 12%", "mmlu: accuracy >= 100.1", "mmlu: accuracy >= -1"):
        with pytest.raises(BadValue, match=line.split()[-1].rstrip("%")):
            resolved(line)


def test_centred_figures_take_any_number() -> None:
    """They are below 0 where a model is worse than guessing."""
    units = {"arc_easy": figure_units(find("arc_easy"), 1, (1,))}
    (gate,) = gate_lines.resolve(gate_lines.parse("arc_easy: centred accuracy >= -0.5"), units, {})
    assert gate.threshold == -0.5


@pytest.mark.parametrize(
    ("metric", "meant"),
    [
        ("accuracy[algebra]", "accuracy (5 runs average)[algebra]"),
        ('"accuracy[C#: a > b]"', '"accuracy (5 runs average)[C#: a > b]"'),
        ("accuracy (5 runs average)[a[b]]", "accuracy (5 runs average)[a[b]]"),
    ],
)
def test_a_part_of_a_dataset_has_gates(metric: str, meant: str) -> None:
    """By any name of the headline; numbers are read as those of the whole dataset are."""

    def of_parts(line: str) -> list[str]:
        return [str(gate) for gate in gate_lines.resolve(gate_lines.parse(line), {"own": PARTS}, {})]

    assert of_parts(f"own: {metric} >= 40") == [f"own: {meant} >= 40"]
    assert of_parts(f"own: {metric} drop <= 2 vs baseline") == [f"own: {meant} >= baseline - 2"]
    with pytest.raises(BadValue, match="can be read in two ways"):
        of_parts(f"own: {metric} >= 0.4")


@pytest.mark.parametrize("metric", ["pass@5[algebra]", "cases passed[algebra]", "accuracy[]", "bleu[algebra]"])
def test_a_figure_that_parts_do_not_have_is_refused(metric: str) -> None:
    with pytest.raises(UnknownName):
        gate_lines.resolve(gate_lines.parse(f"own: {metric} >= 40"), {"own": PARTS}, {})


def test_the_parts_of_real_datasets_can_be_named() -> None:
    """As far as their figures are known before the data is."""
    for name, metric in (("mmlu_pro", "accuracy[law]"), ("apps", "cases passed[interview]")):
        (gate,) = gate_lines.resolve(gate_lines.parse(f"x: {metric} > 9"), {"x": figure_units(find(name), 1, (1,))}, {})
        assert gate.metric == metric


def test_shares_and_numbers_that_fall_are_told_apart() -> None:
    """A line of 0.5 is odd for a share in per cent, and none for a perplexity."""
    falling = {
        (name, figure, unit)
        for name in ("lambada_target", "simpleqa")
        for figure, unit in figure_units(find(name), 1, (1,)).items()
        if unit.startswith("falling")
    }
    assert falling == {
        ("lambada_target", "perplexity", "falling number"),
        ("simpleqa", "incorrect", "falling share"),
        ("simpleqa", "not attempted", "falling share"),
    }


def test_what_is_better_when_it_is_lower_loses_by_rising() -> None:
    """`drop <= 1` of a perplexity or of an error rate; a comparison that is written out means what it says."""
    units: dict[str, Unit] = {"ter": "falling number", "word_error_rate": "falling share"}

    def turned(line: str) -> list[str]:
        return [str(gate) for gate in gate_lines.resolve(gate_lines.parse(f"x: {line}"), {"x": units}, {})]

    assert turned("drop <= 1 vs baseline") == ["x: ter <= baseline + 1"]
    assert turned("word_error_rate drop < 0.5") == ["x: word_error_rate < baseline + 0.5"]
    assert turned("drop <= 0") == ["x: ter <= baseline"]
    assert turned("ter >= baseline - 1") == ["x: ter >= baseline - 1"]
    assert turned("ter <= 0.5") == ["x: ter <= 0.5"]


def test_what_is_allowed_is_no_gate() -> None:
    lines = ["allow: samplers, template  # known", "demo_gsm8k: avg@5 >= 1\nallow: replicas"]
    assert gate_lines.allowed(lines) == {"samplers", "template", "replicas"}
    assert len([gate for line in lines for gate in gate_lines.parse(line)]) == 1


@pytest.mark.parametrize(("line", "words"), [("allow:", "names no finding"), ("allow: sampler", "samplers")])
def test_what_nobody_looks_at_cannot_be_allowed(line: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        gate_lines.parse(line)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("speed: ttft_p95 <= 800ms", "speed: ttft_p95 <= 800ms"),
        ("speed: ttft_p95 <= 0.8 s", "speed: ttft_p95 <= 800ms"),
        ("speed: tpot_p50 < 25", "speed: tpot_p50 < 25ms"),
        ("speed: tpot_p50 < 0.5ms", "speed: tpot_p50 < 0.5ms"),
        ("speed: tokens_per_s >= 1500", "speed: tokens_per_s >= 1500"),
        ("speed: tokens_per_s >= baseline - 5%", "speed: tokens_per_s >= baseline - 5%"),
        ("speed: ttft_p95 drop <= 5%", "speed: ttft_p95 <= baseline + 5%"),
    ],
)
def test_how_fast_a_service_was_has_gates(line: str, found: str) -> None:
    """Times have units, changes are per cent, and what is written again means the same."""
    assert resolved(line) == resolved(found) == [found]


@pytest.mark.parametrize(
    "line",
    [
        "gsm8k: avg@5 >= 75ms",
        "speed: ttft_p99 <= 800ms",
        "speed: tokens_per_s >= 50%",
        "speed: tokens_per_s >= 5ms",
        "speed: ttft_p95 <= fast",
        "speed: ttft_p95 <= 0.8",
    ],
)
def test_what_is_no_figure_of_speed_is_refused(line: str) -> None:
    """Units of other figures, figures that are not measured, a share of what is no share, and what may be seconds."""
    with pytest.raises(UsageError):
        resolved(line)


def test_every_dataset_is_not_the_speed() -> None:
    """Who says `*` means datasets."""
    assert not any("speed" in line for line in resolved("*: drop <= 1"))
