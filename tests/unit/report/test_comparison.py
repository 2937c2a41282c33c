"""Two runs side by side, as every format shows them."""

from msgspec.structs import replace
from tests import golden_files
from tests.unit.report.fixed_report import many

from model_accuracy_eval.records import (
    Comparison,
    Counts,
    DatasetChange,
    Difference,
    Flips,
    Gate,
    GateResult,
    Interval,
    Report,
    Speed,
    Spread,
)
from model_accuracy_eval.report import comparison, page, terminal


def spread(p50: float) -> Spread:
    return Spread(mean=p50, p50=p50, p90=2 * p50, p99=3 * p50, maximum=4 * p50)


def two_runs() -> Comparison:
    """One dataset that changed, one of another version, and one in either run alone."""
    changed = DatasetChange(
        dataset="demo_gsm8k",
        old_version="0ba9da",
        new_version="0ba9da",
        problems=30,
        differences=(
            Difference(metric="avg@5", old=8.0, new=5.6, points=-2.4, interval=Interval(low=-6.125, high=1.375)),
            Difference(metric="pass@5", old=24.0, new=24.0, points=0.0, interval=Interval(low=-4.0, high=4.0)),
            Difference(metric="bleu", old=20.5, new=21.0, points=0.5),
            Difference(metric="cons@5", old=None, new=0.0),
        ),
        flips=Flips(gained=2, lost=23, first_gained=(7, 1), first_lost=tuple(range(20)), p=0.0000194),
        old_counts=Counts(planned=150, answered=150, cut=3),
        new_counts=Counts(planned=150, answered=149, failed=1, not_found=4),
        old_speed=Speed(ttft=spread(0.02), e2e=spread(1.25)),
        new_speed=Speed(e2e=spread(1.5)),
    )
    other = DatasetChange(
        dataset="gsm8k",
        old_version="a1b2c3",
        new_version="d4e5f6",
        problems=0,
        differences=(Difference(metric="avg@5", old=40.0, new=50.0),),
        old_counts=Counts(planned=5, answered=5),
        new_counts=Counts(planned=5, answered=5),
        old_speed=Speed(),
        new_speed=Speed(),
        notes=("Version a1b2c3 then and d4e5f6 now: no difference is told.",),
    )
    return Comparison(base="a" * 32, new="b" * 32, changes=(changed, other), only_base=("old",), only_new=("new",))


def against() -> Report:
    """A report with a baseline, and a gate that hangs on it."""
    whole = many()
    gate = GateResult(
        gate=Gate(dataset="demo_gsm8k", metric="avg@5", comparison=">=", threshold=-1, from_baseline=True),
        value=5.6,
        decision="undecided",
        sentence="demo_gsm8k: avg@5 >= baseline - 1 undecided.",
    )
    return replace(whole, comparison=two_runs(), gates=(*whole.gates, gate))


def test_the_comparison_looks_as_it_did() -> None:
    """On the terminal, in Markdown and for programs."""
    golden_files.check("compared/text.txt", comparison.as_text(two_runs()))
    golden_files.check("compared/markdown.md", comparison.as_markdown(two_runs()))
    golden_files.check("compared/whole.json", comparison.as_json(two_runs()))


def test_runs_without_a_common_dataset_say_so() -> None:
    """In every format for people, with what each of them has."""
    nothing = Comparison(base="a", new="b", changes=(), only_base=("x",), only_new=("y",))
    for text in (comparison.as_text(nothing), comparison.as_markdown(nothing)):
        assert "no dataset in common" in text
        assert "Only in the old run: x." in text
        assert "Only in the new run: y." in text


def test_names_from_elsewhere_are_harmless_in_markdown() -> None:
    """A dataset's name can neither mention anybody nor make a link or a heading."""
    bad = replace(two_runs().changes[0], dataset="@owner [x](http://x) <b>")
    text = comparison.as_markdown(Comparison(base="a", new="b", changes=(bad,)))
    assert "- @owner" not in text
    assert "[x](" not in text.split("\n\n")[-1]


def test_a_gate_on_a_baseline_draws_no_line_among_the_figures() -> None:
    """Its points are no figure, so it draws no line; the baseline's own figures do."""
    with_gate, without = (page.as_html(one, {}).decode() for one in (against(), many()))
    figures, figures_before = (each.split('id="figures"')[1].split("</section>")[0] for each in (with_gate, without))
    assert figures.count('class="gate"') == figures_before.count('class="gate"')
    assert figures.count('class="before"') > 0 == figures_before.count('class="before"')


def test_the_page_and_the_terminal_show_the_baseline() -> None:
    """The section is there with a baseline, and only then."""
    html = page.as_html(against(), {}).decode()
    assert '<section id="baseline"' in html
    assert "-6.12 .. +1.38" in html
    assert "baseline - 1" in html
    assert '<section id="baseline"' not in page.as_html(many(), {}).decode()
    assert comparison.as_text(two_runs()) in terminal.as_text(against())
