"""Tables of figures within the columns of a terminal: names may be folded, figures may not be lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.unit.report.fixed_report import many

from model_accuracy_eval.report import terminal
from model_accuracy_eval.report.tables import fitted, shown_width

HEAD = ("dataset", "metric", "value", "95 % interval", "if asked again")
FIGURES = ("80.80", "75.54..85.15", "77.63..83.97")


def table(*names: tuple[str, str], width: int = 80) -> list[str]:
    return fitted([HEAD, *((*name, *FIGURES) for name in names)], width).splitlines()


def test_what_fits_is_one_line_a_figure() -> None:
    """As it always was."""
    assert table(("demo_arithmetic", "accuracy (5 runs average)"), ("demo_arithmetic", "avg@5")) == [
        "dataset          metric                     value  95 % interval  if asked again",
        "---------------  -------------------------  -----  -------------  --------------",
        "demo_arithmetic  accuracy (5 runs average)  80.80  75.54..85.15     77.63..83.97",
        "demo_arithmetic  avg@5                      80.80  75.54..85.15     77.63..83.97",
    ]


def test_a_long_dataset_stands_above_its_figures() -> None:
    """Once; the next one above its own."""
    assert table(("longbench_passage_retrieval_en", "accuracy (5 runs average)"), ("中文数据集", "avg@5")) == [
        "dataset",
        "  metric                     value  95 % interval  if asked again",
        "---------------------------  -----  -------------  --------------",
        "longbench_passage_retrieval_en",
        "  accuracy (5 runs average)  80.80  75.54..85.15     77.63..83.97",
        "中文数据集",
        "  avg@5                      80.80  75.54..85.15     77.63..83.97",
    ]


@given(st.lists(st.tuples(st.text("ab数 ", max_size=60), st.text("xy据[]", max_size=60)), min_size=1, max_size=5))
def test_every_figure_stays_and_columns_stand_below_each_other(names: list[tuple[str, str]]) -> None:
    """Whatever the names are, all lines with figures end at the same column, within the width."""
    lines = [line for line in table(*names) if line.endswith(FIGURES[-1])]
    assert len(lines) == len(names)
    assert len({shown_width(line) for line in lines}) == 1
    assert shown_width(lines[0]) <= 80


@pytest.mark.parametrize("width", [80, 120])
def test_the_report_of_a_run_fits(width: int) -> None:
    """A long name, a long label and limits of lost samples: every line of the table is within the columns."""
    report = many()
    full, blank = report.dataset_results
    name = "a_dataset_of_a_team_with_a_name_that_says_everything"
    rows = tuple(replace(row, dataset=name) for row in full.rows)
    renamed = replace(full, dataset=name, rows=rows)
    plan = report.plan.with_settings(label="/mnt/weights/of/a/team/Qwen3-235B-A22B-Instruct-2507-w8a8")
    text = terminal.as_text(replace(report, plan=plan, dataset_results=(renamed, blank)), width)
    shown = text.partition(f"{name}: ")[0].splitlines()
    assert max(map(shown_width, shown[3:])) <= width
    assert text.count(report.plan.settings.label) <= 1
