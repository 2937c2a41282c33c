"""The page of a history: what it draws, and that nothing in it is more than text."""

from itertools import pairwise

import msgspec
import pytest
from tests.unit.report.history_samples import fallen_after, past

from model_accuracy_eval.records import Interval
from model_accuracy_eval.report import history, history_page
from model_accuracy_eval.report.history import History
from model_accuracy_eval.report.history_page import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH
from model_accuracy_eval.run_folder.history_file import HistoryLine, LeftOut

HOSTILE = "<script>document.title = 'taken'</script>\"'&"


def with_band(line: HistoryLine) -> HistoryLine:
    first, *others = line.figures
    again = Interval(low=first.value - 4, high=first.value + 4)
    return msgspec.structs.replace(line, figures=(msgspec.structs.replace(first, again=again), *others))


def text(found: History) -> str:
    return history_page.as_html(found).decode()


def test_a_regression_is_the_first_thing_on_the_page() -> None:
    """Its series stands first, with the runs and the problems; the quiet one below has none."""
    quiet = [past(day, [1, 0], dataset="a") for day in range(1, 7)]
    page = text(history.history([*quiet, *fallen_after(12, 17)]))
    assert '<h1 id="verdict-title">1 of 2 series regressed</h1>' in page
    assert page.index("<bdi>gsm8k</bdi> <span>") < page.index("<bdi>a</bdi> <span>")
    assert page.count('class="fallen"') == 1
    assert "these 14 problems: 20, 22" in page


def test_a_quiet_history_says_so() -> None:
    """Also of one run."""
    page = text(history.history([past(1, [1, 0])]))
    assert "No regression</h1>" in page
    assert "Runs so far: 1." in page


def test_what_comes_from_elsewhere_is_text() -> None:
    """Names of datasets and models, reasons; no script is let run, and nothing is loaded."""
    lines = [past(1, [1, 0], dataset=HOSTILE, model=HOSTILE, label=HOSTILE, commit=HOSTILE)]
    page = text(history.history(lines, [LeftOut(run="1" * 32, finished=HOSTILE, reason=HOSTILE)]))
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert "default-src 'none'" in page


def test_lines_and_bands_lie_in_the_drawing_and_are_broken_where_figures_are_not_exact() -> None:
    """A run with lost samples is an upright bar of its limits."""
    lines = [with_band(past(day, [1, 1, 0, 0], lost=(2,) if day == 4 else (), commit=f"{day // 3:040x}"))
             for day in range(1, 8)]  # fmt: skip
    (series,) = history.history(lines).series
    chart = history_page.chart(series)
    assert [len(line.split()) for line in chart.lines] == [3, 3]
    assert [len(band.split()) for band in chart.bands] == [6, 6]
    assert [spot.low is None for spot in chart.spots] == [day != 4 for day in range(1, 8)]
    assert chart.spots[0].x == LEFT
    assert chart.spots[-1].x == WIDTH - RIGHT
    for spot in chart.spots:
        assert TOP <= spot.y <= HEIGHT - BOTTOM
    assert [mark.text for mark in chart.commits] == ["0000000"] * 3
    assert [gate.text for gate in chart.gates] == ["gsm8k: avg@1 >= 75"]


@pytest.mark.parametrize("value", [0.0, 100.0, 1e-7, 12345678.0])
def test_any_figure_has_a_scale(value: float) -> None:
    """One run, all alike, at the ends, tiny and huge."""
    line = past(1, [1])
    figure = msgspec.structs.replace(line.figures[0], value=value, share=value <= 100, paired=False)
    (series,) = history.history([msgspec.structs.replace(line, figures=(figure,), gates=())]).series
    chart = history_page.chart(series)
    assert 1 <= len(chart.ticks) <= 8
    assert TOP <= chart.spots[0].y <= HEIGHT - BOTTOM


def test_runs_of_one_day_are_told_apart_by_their_times() -> None:
    """A day is written once."""
    lines = [past(1, [1, 0], run_id=f"{hour:032x}", finished=f"2026-03-01T{hour:02d}:30:00+0000") for hour in (8, 9)]
    (series,) = history.history([*lines, past(2, [1, 0])]).series
    assert [mark.text for mark in history_page.chart(series).dates] == ["2026-03-01", "09:30", "2026-03-02"]


def test_many_runs_keep_their_dates_apart() -> None:
    """A year of nights has as many dates as there is room for."""
    lines = [past(day % 28 + 1, [1, 0], month=day // 28 + 1, run_id=f"{day:032x}") for day in range(330)]
    (series,) = history.history(lines).series
    places = [mark.at for mark in history_page.chart(series).dates]
    assert 5 <= len(places) <= 9
    assert all(right - left >= 100 for left, right in pairwise(places))
