"""The history file: what a line holds of a run, and lines that are damaged, edited or of another program."""

import json

import pytest
from msgspec.structs import replace
from tests.fake_ports import MemoryStore
from tests.unit.report.fixed_report import problem_result, row, single
from tests.unit.report.history_samples import past

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.records import Conclusion, Identity, Interval, Report
from model_accuracy_eval.report import history
from model_accuracy_eval.run_folder import history_file, results, runfile
from model_accuracy_eval.run_folder.history_file import RunHistory

ABOUT = Identity(
    repository="org/adapter",
    commit="ab" * 20,
    path="one",
    image="i@sha256:0",
    weights="hf:org/m@1",
    label="my-model@1.0",
)


def judged(conclusion: Conclusion = "passed", finished: str = "2026-03-26T15:15:20+0800") -> Report:
    """Three problems of one sample, two of them right."""
    report = single()
    whole = Interval(low=20.8, high=93.9)
    arithmetic = replace(
        report.dataset_results[0],
        rows=(row("accuracy", 200 / 3, "demo_arithmetic", interval=whole),),
        problem_results=tuple(problem_result(number, ("right" if number else "wrong",), ("1",)) for number in range(3)),
    )
    outcome = replace(report.outcome, conclusion=conclusion, sentence="So it ended.")
    return replace(
        report,
        outcome=outcome,
        dataset_results=(arithmetic,),
        finished=finished,
        plan=replace(report.plan, tasks=(find("demo_arithmetic"),), identity=ABOUT),
        environment={},
    )


def stored(report: Report, problems: int = 3, **changes: object) -> MemoryStore:
    """The folder of the run; `changes` are made to its run.json."""
    store = MemoryStore("run")
    run = json.loads(runfile.finished(report, ()))
    for result in report.dataset_results:
        store.write(results.file(report.plan.settings.label, result.dataset), results.as_json(result, report.plan))
        figures = {each.metric: each.value for each in result.rows}
        run["datasets"][result.dataset] = {
            "version": result.version, "questions": "q", "problems": problems, "metrics": figures,
        }  # fmt: skip
    store.write("run.json", json.dumps(run | changes).encode())
    return store.seal()


def test_a_line_holds_what_pairs_runs_and_no_text() -> None:
    """Figures, counts and circumstances; nothing that was asked or answered."""
    (line,) = history_file.of_run(stored(judged())).lines
    assert (line.dataset, line.n, line.problems, line.right, line.ids) == ("demo_arithmetic", 1, 3, (0, 1, 1), ())
    assert (line.repository, line.commit, line.path) == (ABOUT.repository, ABOUT.commit, ABOUT.path)
    assert (line.image, line.weights, line.model) == (ABOUT.image, ABOUT.weights, "/weights")
    assert line.sampling == {"sampling": "server", "n": 1}
    assert [(each.metric, each.paired) for each in line.figures] == [("accuracy", True)]
    assert history_file.values(line, line.figures[0]) == [0.0, 1.0, 1.0]
    assert len(history_file.encode(line)) < 800
    assert history_file.decode(history_file.encode(line), "h").lines == (line,)


@pytest.mark.parametrize(
    ("conclusion", "reason"),
    [
        ("broken", "it was broken: So it ended."),
        ("stopped", "it was stopped: So it ended."),
        ("refused", "it was refused"),
    ],
)
def test_runs_without_a_verdict_are_left_out_with_their_reason(conclusion: Conclusion, reason: str) -> None:
    """Whatever figures they have."""
    found = history_file.of_run(stored(judged(conclusion)))
    assert found.lines == ()
    assert found.left_out[0].reason.startswith(reason)


def test_a_run_that_goes_on_or_was_killed_is_left_out() -> None:
    """Its run.json says so."""
    store = MemoryStore("run")
    store.write("run.json", runfile.started(judged().plan, (), None, "2026-03-01"))
    (left_out,) = history_file.of_run(store).left_out
    assert (left_out.reason, left_out.finished) == ("it is still running, or was killed", "2026-03-01")


def reasons(found: RunHistory) -> list[str]:
    assert found.lines == ()
    return [each.reason for each in found.left_out]


def test_figures_of_a_part_are_left_out_with_numbers() -> None:
    """A run that stopped when it was decided judged some problems, or some samples of each."""
    assert reasons(history_file.of_run(stored(judged(), problems=1319))) == [
        "demo_arithmetic: only 3 of its 1319 problems were judged"
    ]
    report = judged()
    (result,) = report.dataset_results
    uneven = (*result.problem_results[:2], problem_result(2, ("right", "right"), ("1", "1")))
    report = replace(report, dataset_results=(replace(result, problem_results=uneven),))
    assert reasons(history_file.of_run(stored(report))) == [
        "demo_arithmetic: its problems have 1 to 2 samples, so its figures are those of a part"
    ]


def test_a_run_without_its_results_is_left_out() -> None:
    """run.json alone does not pair anything."""
    store = stored(judged())
    store.remove("results/my-model@1.0/demo_arithmetic.json")
    assert reasons(history_file.of_run(store.seal())) == [
        "demo_arithmetic: its results/my-model@1.0/demo_arithmetic.json is gone"
    ]


def test_damaged_lines_are_told_and_hide_no_other() -> None:
    """Half a line, the marks of a merge, another program's line, one of a newer form."""
    whole = history_file.encode(past(1, [1, 0]))
    newer = json.loads(whole) | {"schema": 2}
    source = b"\n".join([whole[:40], b"<<<<<<< HEAD", whole, b'{"a": 1}', json.dumps(newer).encode(), b"\xff\xfe", b""])
    file = history_file.decode(source, "h.jsonl")
    assert len(file.lines) == 1
    assert [sentence.partition(" cannot")[0] for sentence in file.damaged] == [
        f"h.jsonl, line {number}" for number in (1, 2, 5, 6, 7)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"right": [1]}, "other counts of right ones"),
        ({"right": [2, 0]}, "other counts of right ones"),
        ({"ids": [3]}, "it has 2 problems and 1 ids"),
        ({"ids": [3, 3]}, "it has 2 problems and 1 ids"),
        ({"finished": "noon"}, "'noon' is no time"),
    ],
)  # fmt: skip
def test_a_line_that_was_edited_is_not_believed(change: dict[str, object], words: str) -> None:
    """Its parts have to fit together."""
    edited = json.loads(history_file.encode(past(1, [1, 0]))) | change
    (sentence,) = history_file.decode(json.dumps(edited).encode(), "h").damaged
    assert words in sentence


def test_only_new_lines_are_appended_oldest_first() -> None:
    """A run that was judged again gets another line; the newest counts."""
    old, new, again = past(1, [1, 0]), past(2, [1, 1]), past(1, [0, 0], finished="2026-03-05T00:00:00+0000")
    added = history_file.new_lines(history_file.encode(old), [new, old, again, new])
    assert history_file.decode(added, "h").lines == (new, again)
    (series,) = history.history(history_file.decode(history_file.encode(old) + added, "h").lines).series
    assert [point.value for point in series.points] == [100.0, 0.0]
