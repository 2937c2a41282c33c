"""The newest state of a run, as its check shows it."""

from tests.fake_ports import ManualClock, RecordingProgress

from model_accuracy_eval.records import Counts
from model_accuracy_eval.run.run_progress import DatasetActivity, RunProgress


def test_one_dataset_is_told_by_name_with_what_was_lost() -> None:
    """Answered, rejected and failed samples, and the rate of this run without what an earlier one had answered."""
    clock, listener = ManualClock(), RecordingProgress()
    watch = RunProgress(clock.elapsed)
    screen = watch.watch(listener)
    screen.enter("infer")
    screen.begin("demo", Counts(planned=500, answered=100))
    clock.sleep(10)
    screen.update("demo", Counts(planned=500, answered=340, rejected=7, failed=3))
    title, summary = watch.newest()
    assert title == "demo: 340 of 500 answered, 7 rejected, 3 failed"
    assert summary.splitlines() == [
        "The evaluation is under way. Stage: infer.",
        "",
        f"- {title}, 25.0/s",
    ]
    assert listener.stages == ["infer"]


def test_several_datasets_are_summed_in_the_title() -> None:
    """The title counts all of them, the summary each."""
    watch = RunProgress(ManualClock().elapsed)
    screen = watch.watch(RecordingProgress())
    screen.enter("infer")
    for name in ("one", "two"):
        screen.begin(name, Counts(planned=1000))
        screen.end(name, Counts(planned=1000, answered=900, failed=1))
    title, summary = watch.newest()
    assert title == "2 datasets: 1,800 of 2,000 answered, 2 failed"
    assert [line.partition(":")[0] for line in summary.splitlines()[2:]] == ["- one", "- two"]


def test_a_rate_is_that_of_the_asking() -> None:
    """A dataset waits for others, and what follows its last answer is no time of its own."""
    clock = ManualClock()
    watch = RunProgress(clock.elapsed)
    screen = watch.watch(RecordingProgress())
    activity = DatasetActivity(clock.elapsed, lambda: None, may_end_early=False)
    screen.begin("second", Counts(planned=500), activity)
    clock.sleep(1000)
    activity.begin_request()
    clock.sleep(10)
    screen.end("second", Counts(planned=500, answered=500))
    clock.sleep(1000)
    assert watch.newest()[1].endswith("- second: 500 of 500 answered, 50.0/s")


def test_a_group_is_told_by_its_name() -> None:
    """Who asked for it has not named its datasets."""
    watch = RunProgress(ManualClock().elapsed)
    screen = watch.watch(RecordingProgress(), group="arc")
    screen.enter("infer")
    for name in ("arc_easy", "arc_challenge"):
        screen.begin(name, Counts(planned=1000))
    assert watch.newest()[0] == "arc: 0 of 2,000 answered"


def test_other_stages_are_told_by_what_is_done() -> None:
    """Before the first question and after the last one the stage says more than counts."""
    watch = RunProgress(ManualClock().elapsed)
    screen = watch.watch(RecordingProgress())
    told = [watch.newest()[0]]
    for stage in ("preflight", "weights", "deploy", "infer", "score"):
        screen.enter(stage)
        told.append(watch.newest()[0])
    assert told == [
        "Preparing",
        "Checking the data, the adapter and the weights",
        "Fetching the weights",
        "Deploying the adapter",
        "Asking",
        "Scoring",
    ]


def test_everything_still_reaches_the_screen() -> None:
    """Whoever watches takes nothing away from people."""
    listener = RecordingProgress()
    screen = RunProgress(ManualClock().elapsed).watch(listener)
    screen.say("a sentence")
    screen.begin("demo", Counts(planned=1))
    screen.update("demo", Counts(planned=1))
    screen.end("demo", Counts(planned=1, answered=1))
    screen.close()
    assert listener.said == ["a sentence", "demo begins"]
    assert listener.ended == {"demo": Counts(planned=1, answered=1)}
