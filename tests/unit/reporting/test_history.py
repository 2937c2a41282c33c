"""The history of runs: changes, the best so far, and which runs are left out."""

import msgspec
from tests.unit.reporting.fixed_report import datasets, many, row

from model_accuracy_eval.records import Conclusion, FigureBounds
from model_accuracy_eval.reporting import history, runfile
from model_accuracy_eval.reporting.runfile import RunFile


def run(
    day: int,
    value: float | None,
    *,
    conclusion: Conclusion = "passed",
    label: str = "main",
    version: str = "0ba9da",
    bounds: FigureBounds | None = None,
) -> RunFile:
    report = many()
    result = msgspec.structs.replace(
        report.dataset_results[0], rows=(row("avg@5", value, bounds=bounds), row("pass@5", 99.0))
    )
    ended = msgspec.structs.replace(
        report,
        outcome=msgspec.structs.replace(report.outcome, conclusion=conclusion),
        plan=msgspec.structs.replace(report.plan, run_id=f"{day:032x}").with_settings(label=label),
        dataset_results=(result,),
        datasets=(msgspec.structs.replace(datasets()[0], version=version),),
        finished=f"2026-03-{day:02d}",
    )
    return runfile.read(runfile.finished(ended), "folder")


def test_each_figure_stands_beside_the_one_before_and_the_best() -> None:
    """In order of time, whatever the order of the files; only the first metric of a dataset."""
    figures = history.history([run(3, 60.0), run(1, 50.0), run(2, 70.5)])
    assert [(figure.finished, figure.metric, figure.value, figure.change, figure.best) for figure in figures] == [
        ("2026-03-01", "avg@5", 50.0, None, 50.0),
        ("2026-03-02", "avg@5", 70.5, 20.5, 70.5),
        ("2026-03-03", "avg@5", 60.0, -10.5, 70.5),
    ]
    head, *lines = history.as_text(figures).splitlines()
    assert head.split() == [
        "finished",
        "run",
        "dataset",
        "version",
        "sampling",
        "label",
        "metric",
        "value",
        "change",
        "best",
    ]
    assert [line.split()[-3:] for line in lines[1:]] == [["70.50", "+20.50", "70.50*"], ["60.00", "-10.50", "70.50"]]
    assert len({line.index("avg@5") for line in lines}) == 1


def test_a_figure_with_lost_samples_is_shown_by_its_limits_and_is_no_record() -> None:
    """Neither its change nor that of the run after it is known."""
    limits = FigureBounds(low=90.0, high=95.0, samples=2)
    figures = history.history([run(1, 50.0), run(2, 90.0, bounds=limits), run(3, 60.0), run(4, 61.0)])
    assert [(figure.change, figure.best) for figure in figures] == [(None, 50), (None, 50), (None, 60), (1, 61)]
    assert "90.00 .. 95.00" in history.as_text(figures).splitlines()[2]


def test_only_the_same_version_and_label_are_compared() -> None:
    """Another version or label starts anew, and both can be filtered."""
    runs = [run(1, 50.0), run(2, 60.0, label="other"), run(3, 70.0, version="ffffff")]
    assert [figure.change for figure in history.history(runs)] == [None, None, None]
    assert [figure.value for figure in history.history(runs, label="other")] == [60.0]
    assert history.history(runs, dataset="gsm8k") == []


def test_runs_without_a_verdict_and_unknown_figures_are_left_out() -> None:
    """Broken and stopped runs, runs that are still going on, and datasets whose figure is unknown."""
    running = runfile.read(runfile.started(many().plan, datasets(), None, "2026-03-01"), "folder")
    runs = [run(1, 50.0, conclusion="broken"), run(2, 60.0, conclusion="stopped"), run(3, None), running]
    assert history.history(runs) == []
    undecided: tuple[Conclusion, ...] = ("passed", "failed", "undecided")
    assert len(history.history([run(day, 50.0, conclusion=each) for day, each in enumerate(undecided, 1)])) == 3
