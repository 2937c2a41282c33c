"""The history of runs: what stands in one series, what is told of it, and which runs are in none."""

import math
from typing import Any

import pytest
from msgspec.structs import replace
from tests.unit.report.history_samples import FALLEN, FLAKY, fallen_after, past, runs

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.records import Interval
from model_accuracy_eval.report import history
from model_accuracy_eval.report.history import HistoryChoice
from model_accuracy_eval.run_folder.history_file import HistoryLine, LeftOut, PastFigure


def test_each_figure_stands_beside_the_one_before_and_the_best() -> None:
    """In order of time, whatever the order of the lines; only the first metric of a dataset."""
    (series,) = history.history([past(3, [1, 1, 0, 0]), past(1, [1, 0, 0, 0]), past(2, [1, 1, 1, 0])]).series
    told = [(point.finished[:10], point.value, point.change, point.best) for point in series.points]
    assert told == [
        ("2026-03-01", 25.0, None, 25.0),
        ("2026-03-02", 75.0, 50.0, 75.0),
        ("2026-03-03", 50.0, -25.0, 75.0),
    ]
    assert series.metric == "avg@1"
    _, _, _, *lines, _, _, _ = history.as_text(history.history([*runs(1), past(2, [1] * 120)])).splitlines()
    assert [line.split()[-1] for line in lines] == ["66.67*", "0.0"]
    assert lines[1].split()[-2] == "100.00*"


def test_the_order_is_that_of_the_moments_not_of_the_texts() -> None:
    """A run in Shanghai that ended at 12 o'clock was there before one in London that ended at 5."""
    london = past(1, [1], finished="2026-03-01T05:00:00+0000")
    shanghai = past(2, [0], finished="2026-03-01T12:00:00+0800")
    (series,) = history.history([london, shanghai]).series
    assert [point.value for point in series.points] == [0.0, 100.0]


@pytest.mark.parametrize(
    "other",
    [
        {"model": "/other"},
        {"model": None},
        {"label": "other"},
        {"version": "ffffff"},
        {"dataset": "mmlu"},
        {"sampling": {"sampling": "plain"}},
        {"sampling": {"sampling": "server", "temperature": 0.2}},
        {"sampling": {"sampling": "server", "service": {"top_k": 40}}},
        {"ids": (0, 3)},
    ],
    ids=str,
)
def test_what_answers_another_question_is_another_series(other: dict[str, Any]) -> None:
    """Two models never stand in one line, nor do other samplers, versions, or problems (a shard, a limit)."""
    found = history.history([past(1, [1, 1]), past(2, [0, 0], **other)])
    assert [len(each.points) for each in found.series] == [1, 1]
    assert [each.points[0].change for each in found.series] == [None, None]


def test_a_run_that_is_there_twice_counts_once() -> None:
    """As a folder and as a zip, in a folder and in the file; judged again, the newest verdict counts."""
    again = past(1, [1, 1], finished="2026-03-09T10:00:00+0000")
    (series,) = history.history([past(1, [1, 0]), again, past(1, [1, 0])]).series
    assert [point.value for point in series.points] == [100.0]


def test_the_alarm_names_the_runs_and_the_problems() -> None:
    """Fourteen problems are solved no more after the twelfth run; three that flip all the time are set apart."""
    (series,) = history.history(fallen_after(12, 17)).series
    (fall,) = series.falls
    assert (fall.after, fall.first) == (f"3{12:031x}", f"3{13:031x}")
    assert fall.problems == FALLEN
    assert len(FALLEN) == 14
    assert {each.id for each in series.flaky} <= set(FLAKY)
    assert fall.points == pytest.approx(-100 * 14 / 120, abs=2)
    assert fall.interval.low < fall.points < fall.interval.high < 0
    text = history.as_text(history.history(fallen_after(12, 17)))
    assert "REGRESSED between 30000000 (2026-03-12) and 30000000 (2026-03-13)" in text
    assert f"these 14 problems: {', '.join(map(str, FALLEN))}" in text
    assert "problems flip from run to run without a trend, the most unsteady first:" in text


def test_what_cannot_be_judged_is_never_quiet() -> None:
    """One run is not enough, two are; a figure that is no mean over problems is never judged."""

    def told(*lines: HistoryLine) -> tuple[list[str], bool, bool, str]:
        found = history.history(lines)
        return [each.state for each in found.series], found.regressed, found.undecided, history.as_text(found)

    *one, text = told(past(1, [1] * 60))
    assert (one, "Not enough runs: there is one" in text) == ([["too few runs"], False, True], True)
    *same, text = told(past(1, [1] * 60), past(2, [1] * 60, sentence="All is well."))
    assert (same, "No fall stands in 2 runs; " in text) == ([["steady"], False, False], True)
    assert text.endswith("\n\nNewest run 30000000, passed: All is well.")
    *fallen, text = told(past(1, [1] * 60), past(2, [0] * 60))
    assert fallen == [["regressed"], True, False]
    assert (
        "avg@1 fell by 100.00 points (90.50 .. 100.00); these 60 problems, solved in every run before and none" in text
    )
    other = PastFigure(metric="perplexity", value=9.0, higher_is_better=False, share=False)
    *never, text = told(*(past(day, [1], figures=(other,), right=()) for day in (1, 2)))
    assert (never, "Not judged: perplexity" in text) == ([["no mean over problems"], False, True], True)


def test_several_series_have_a_higher_limit() -> None:
    """Together they shall not alarm more often than one; a series that is not judged yet counts for nothing."""
    one = fallen_after(12, 17)
    others = [past(day, [1, 0], dataset=f"d{number}", run_id=f"{number + 5:x}{day:031x}")
              for number in range(9) for day in range(1, 7)]  # fmt: skip
    young = [past(1, [1, 0], dataset="young", run_id=f"f{1:031x}")]
    (alone,) = history.history(one).series
    among = next(each for each in history.history([*one, *others, *young]).series if each.dataset == "gsm8k")
    assert (alone.limit, round(among.limit - math.log(10), 9)) == (4.5, 4.5)
    assert among.regression is not None
    assert [point.run_id for point in among.points].index(among.falls[0].noticed) > (
        [point.run_id for point in alone.points].index(alone.falls[0].noticed)
    )


def test_the_text_fits_a_terminal_and_shows_the_newest_runs() -> None:
    """80 columns where no commit is known; JSON and page have all runs."""
    lines = [past(day % 28 + 1, [1, 0], month=day // 28 + 1, run_id=f"{day:032x}") for day in range(60)]
    again = Interval(low=12.34, high=100.0)
    lines = [replace(line, figures=(replace(line.figures[0], again=again),)) for line in lines]
    text = history.as_text(history.history(lines))
    table = text.splitlines()[2:-3]
    assert max(map(len, table)) <= 80
    assert table[1] == "  … 30 earlier runs"
    assert len(table) == 32
    assert len(history.history(lines).series[0].points) == 60


def test_a_regression_that_was_mended_is_told_and_stands_no_more() -> None:
    """The fourteen problems are solved again from the twenty-first run on."""
    lines = fallen_after(12, 20) + [replace(line, finished=_april(line), run_id=f"4{line.run_id[1:]}")
                                   for line in fallen_after(40, 10)]  # fmt: skip
    assert history.history(lines[:17]).regressed
    found = history.history(lines)
    (fall,) = found.series[0].falls
    assert fall.mended == f"4{1:031x}"
    assert fall.problems == FALLEN
    assert not found.regressed
    assert "Regressed until 40000000 (2026-04-01) between" in history.as_text(found)


def _april(line: HistoryLine) -> str:
    return line.finished.replace("-03-", "-04-")


def test_lost_samples_are_no_regression_and_no_record() -> None:
    """The figure is shown by its limits; its lost problems are neither right nor wrong, so the sum hardly moves."""
    lost = tuple(range(1, 40, 3))
    broken = [past(day, [0 if problem in lost else int(problem % 3 != 0) for problem in range(120)], lost=lost)
              for day in range(9, 14)]  # fmt: skip
    (series,) = history.history(runs(8) + broken).series
    assert series.falls == ()
    assert [point.change for point in series.points[8:]] == [None] * 5
    assert {round(point.best or 0, 2) for point in series.points} == {66.67}
    text = history.as_text(history.history(runs(8) + broken))
    assert "55.83 .. 66.67" in text


def test_a_figure_that_is_no_mean_over_problems_is_followed_without_alarm() -> None:
    """A perplexity has points and changes; where lower is better, the best is the lowest."""
    figure = PastFigure(metric="perplexity", value=9.0, higher_is_better=False, share=False)
    lines = [past(day, [1], figures=(replace(figure, value=value),), right=())
             for day, value in enumerate([9.0, 8.0, 12.0, 12.0, 12.0, 12.0, 12.0, 12.0], 1)]  # fmt: skip
    (series,) = history.history(lines).series
    assert [point.best for point in series.points[:3]] == [9.0, 8.0, 8.0]
    assert {point.cusum for point in series.points} == {None}
    assert (series.falls, series.flaky) == ((), ())


def test_a_share_of_which_less_is_better_rises() -> None:
    """A rate of hallucinations that goes up is a regression."""

    def figure(rate: float) -> PastFigure:
        return PastFigure(metric="rate", value=100 * rate, higher_is_better=False, paired=True, values=(rate,) * 50)

    lines = [past(day, [0] * 50, figures=(figure(0.1 if day <= 8 else 0.9),), right=()) for day in range(1, 14)]
    (series,) = history.history(lines).series
    (fall,) = series.falls
    assert (fall.first, fall.problems) == (f"3{9:031x}", None)
    text = history.as_text(history.history(lines))
    assert "rate rose by" in text
    assert "not right or wrong" in text


def test_runs_figures_and_days_can_be_chosen() -> None:
    """What is not there is refused with what is."""
    lines = [past(1, [1]), past(2, [0], dataset="mmlu"), past(3, [1], model="/other")]

    def told(**choice: str) -> list[float]:
        return [
            point.value for each in history.history(lines, (), HistoryChoice(**choice)).series for point in each.points
        ]

    assert told(dataset="mmlu") == [0.0]
    assert told(model="/other") == [100.0]
    assert told(label="other") == []
    assert told(since="2026-03-03") == [100.0]
    assert told(since=f"3{2:031x}") == [100.0, 0.0]
    assert history.history(lines, (), HistoryChoice(metric="pass@1")).series[0].metric == "pass@1"
    with pytest.raises(UnknownName, match="no figure called 'pass@9' in these runs; did you mean pass@1"):
        told(metric="pass@9")
    with pytest.raises(UnknownName, match="no run or day called '2027-01-01'"):
        told(since="2027-01-01")


def test_another_number_of_samples_or_problems_is_another_series() -> None:
    """avg@1 and avg@5 are two figures, and so are 3 of 4 and 30 of 40."""
    lines = [past(1, [1, 1]), past(2, [1, 1], n=2), past(3, [1, 1, 0]), past(4, [1, 0])]
    sizes = [(each.problems, each.sampling["n"], len(each.points)) for each in history.history(lines).series]
    assert sorted(sizes) == [(2, 1, 2), (2, 2, 1), (3, 1, 1)]


def test_runs_that_are_in_no_series_are_listed_with_their_reasons() -> None:
    """Once, however often they were found."""
    stopped = LeftOut(run="9" * 32, finished="2026-03-02", reason="it was stopped: SIGTERM.")
    text = history.as_text(history.history([past(1, [1])], [stopped, stopped]))
    assert "\n\nIn no series:\n  2026-03-02  99999999  it was stopped: SIGTERM.\n\n" in text


def test_names_from_elsewhere_cannot_draw_on_a_terminal() -> None:
    """A history file may come from anywhere."""
    text = history.as_text(history.history([past(1, [1], model="a\x1b[2Jb", dataset="x\r\ny")]))
    assert "\x1b" not in text
    assert len(text.splitlines()) == 7
