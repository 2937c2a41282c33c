"""Every file of a report, byte by byte, and the promises that readers of them rely on."""

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests import golden_files
from tests.fake_ports import MemoryStore
from tests.unit.report.fixed_report import datasets, many, problem_result, report, single

from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.records import DatasetResult, FigureBounds, Outcome, Report, VerdictReason
from model_accuracy_eval.report import figures, tables, terminal
from model_accuracy_eval.report.remarks import service_notes
from model_accuracy_eval.run_folder import results, runfile

REPORTS = {"many": many(), "single": single()}
CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\x00"), max_size=20)


def cells(whole: Report) -> list[tuple[str, ...]]:
    return figures.table(figures.all_rows(whole), whole.plan.settings.label)


@pytest.mark.parametrize("name", REPORTS)
def test_the_summary_files_look_as_they_did(name: str) -> None:
    """CSV, Markdown and plain text."""
    whole = REPORTS[name]
    golden_files.check(f"{name}/summary.csv", tables.as_csv(cells(whole)))
    golden_files.check(f"{name}/summary.md", tables.as_markdown(cells(whole)))
    golden_files.check(f"{name}/summary.txt", tables.summary_as_text(whole))


@pytest.mark.parametrize("name", REPORTS)
def test_the_terminal_text_looks_as_it_did(name: str) -> None:
    """The table, what to know about it, the verdict, where all is."""
    golden_files.check(f"{name}/terminal.txt", terminal.as_text(REPORTS[name]))


@pytest.mark.parametrize("name", REPORTS)
def test_the_results_files_look_as_they_did(name: str) -> None:
    """One a dataset; the second shows a dataset without figures."""
    whole = REPORTS[name]
    for place, dataset_result in enumerate(whole.dataset_results):
        golden_files.check(f"{name}/results_{place}.json", results.as_json(dataset_result, whole.plan))


def test_the_run_files_look_as_they_did() -> None:
    """While the run goes on, and at its end."""
    whole = many()
    golden_files.check("many/run_started.json", runfile.started(whole.plan, datasets(), None, whole.started))
    golden_files.check(
        "many/run.json", runfile.finished(whole, service_notes(whole.plan, whole.service, whole.replicas))
    )


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(1, 2, "1.00 .. 2.00"), (9.107, None, ">= 9.11"), (None, -0.5, "<= -0.50"), (None, None, "anything")],
)
def test_a_figure_without_limits_on_one_side_says_so(low: float | None, high: float | None, text: str) -> None:
    """A perplexity that lacks texts has no greatest value."""
    assert figures.range_of(FigureBounds(low=low, high=high, samples=1)) == text


@given(st.lists(st.lists(CELLS, min_size=5, max_size=5), min_size=1, max_size=5))
def test_a_csv_reader_gets_every_cell_back(table: list[list[str]]) -> None:
    """Commas and quotes in a name break nothing."""
    assert list(csv.reader(io.StringIO(tables.as_csv(table)))) == table


@given(st.lists(st.lists(CELLS, min_size=5, max_size=5), min_size=1, max_size=5))
def test_a_markdown_table_keeps_its_columns(table: list[list[str]]) -> None:
    """A bar in a name is escaped."""
    head, rule, *lines = tables.as_markdown(table).rstrip("\n").split("\n")
    for line in (head, *lines):
        assert line.replace("\\|", "").count("|") == 6
    assert rule.count("|") == 6
    assert len(lines) == len(table) - 1


@given(st.lists(st.lists(CELLS, min_size=5, max_size=5), min_size=1, max_size=5))
def test_a_plain_table_is_straight(table: list[list[str]]) -> None:
    """Every line is equally wide, with a rule under the header."""
    lines = tables.as_plain(table).split("\n")
    assert len({tables.shown_width(line) for line in lines}) == 1
    assert len(lines) == len(table) + 1


@given(st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n), min_size=1, max_size=6))))
def test_the_details_give_the_figures(drawn: tuple[int, list[int]]) -> None:
    """Counting the correct samples of the details by hand gives c and the three figures of every problem."""
    n, correct = drawn
    right: VerdictReason = "right"
    wrong: VerdictReason = "wrong"
    problem_results = tuple(
        problem_result(place, (right,) * c + (wrong,) * (n - c), ("18",) * c + ("7",) * (n - c))
        for place, c in enumerate(correct)
    )
    dataset_result = replace(many().dataset_results[0], problem_results=problem_results)
    whole = json.loads(results.as_json(dataset_result, report((dataset_result,), n=n).plan))
    for place, detail in enumerate(whole["details"]):
        assert (detail["id"], detail["example_abbr"]) == (place, f"demo_gsm8k_{place}")
        c = sum(detail["correct"])
        assert (c, len(detail["correct"])) == (detail["c"], detail["n"]) == (correct[place], n)
        assert detail["correct"] == [
            pred == answer for pred, answer in zip(detail["pred"], detail["answer"], strict=True)
        ]
        assert detail[f"avg@{n}"] == pytest.approx(100 * c / n)
        assert detail[f"pass@{n}"] == 100 * (c > 0)
        assert detail[f"cons@{n}"] == 100 * (2 * c > n)


@pytest.mark.parametrize(
    ("about", "step"),
    [(None, "model-accuracy-eval run --reuse /runs/a"), (("deploy.sh", 1), "less /runs/a/logs/deploy.log")],
)
def test_a_cluster_without_nodes_is_no_matter_of_deploy_sh(about: tuple[str, int] | None, step: str) -> None:
    """The run goes on when there is one; where deploy.sh failed, its log says more."""
    outcome = Outcome(
        conclusion="broken",
        exit_code=4,
        stage="deploy",
        sentence="No replica has a node.",
        folder="/runs/a",
        about=about,
    )
    ended = replace(report(()), outcome=outcome)
    ended = replace(ended, plan=ended.plan.with_settings(engine="ray"))
    assert terminal.as_text(ended).splitlines()[-1] == f"Next: {step}"


def test_a_run_file_that_a_crash_left_incomplete_is_none() -> None:
    """A part of the file counts as none; a whole file that is not of this format is refused."""
    whole = runfile.started(many().plan, datasets(), None, "now")
    run = runfile.read_if_complete(whole, "folder")
    assert run is not None
    assert (run.status, run.judged, run.is_verdict) == ("running", [], False)
    for broken in (None, b"", whole[:20], b"\xff"):
        assert runfile.read_if_complete(broken, "folder") is None
    for other in (b"[]", b"{}", whole.replace(b'"schema": 1', b'"schema": 2')):
        with pytest.raises(BadReuse, match="'folder/run.json' cannot be read as this program writes it"):
            runfile.read_if_complete(other, "folder")


def test_run_json_gives_back_what_a_report_needs() -> None:
    """Outcome, service, gates and the names of the judged datasets."""
    whole = many()
    run = runfile.read(runfile.finished(whole, ()), "folder")
    assert (run.status, run.exit_code, run.sentence) == ("failed", 1, whole.outcome.sentence)
    assert tuple(entry.result() for entry in run.gates) == whole.gates
    assert run.service == whole.service
    assert (run.judged, run.is_verdict) == (["demo_gsm8k", "gsm8k"], True)
    assert (run.started, run.finished, run.seconds) == (whole.started, whole.finished, whole.seconds)


GRADED = replace(
    problem_result(4, ("right", "wrong"), ("a", "b")),
    c=None,
    values=(0.75, 0.25),
    figures={"rouge": 50.0, "perplexity": None},
    category="law",
    cut=1,
)


@pytest.mark.parametrize(
    "result",
    [*many().dataset_results, *single().dataset_results,
     replace(many().dataset_results[0], problem_results=(GRADED,)),
     replace(many().dataset_results[0], problem_results=())],
)  # fmt: skip
def test_a_results_file_gives_back_its_result(result: DatasetResult) -> None:
    store = MemoryStore()
    store.write(results.file("m", result.dataset), results.as_json(result, many().plan))
    assert results.dataset_result(store, "m", result.dataset) == result


def test_a_results_file_that_is_cut_off_anywhere_is_refused() -> None:
    """As is one with a line too many: no problem is left out without a word."""
    result = many().dataset_results[0]
    source = results.as_json(result, many().plan).splitlines(keepends=True)
    ends = [b"".join(source[:count]) for count in range(len(source))]
    for damaged in (*ends, b"".join(source) + b"{}\n"):
        store = MemoryStore()
        store.write(results.file("m", result.dataset), damaged)
        with pytest.raises(BadReuse, match="cannot be read as this program writes it"):
            results.dataset_result(store, "m", result.dataset)


def test_a_problem_that_is_no_yes_or_no_matter_has_no_figures() -> None:
    """c is null, and there is no pass@k to be misread."""
    soft = replace(problem_result(0, ("right", "wrong"), ("a", "b")), c=None)
    dataset_result = replace(many().dataset_results[0], problem_results=(soft,))
    (detail,) = json.loads(results.as_json(dataset_result, many().plan))["details"]
    assert detail["c"] is None
    assert not [key for key in detail if "@" in key]
