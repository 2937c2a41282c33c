"""Previous runs, made with fake ports: compared, used as a baseline and rendered again."""

import msgspec
import pytest
from tests.fake_ports import FakeLauncher, MemoryHub, MemoryStore, ScriptedAnswer, fake_ports
from tests.unit.run.test_pipeline import ROWS, evaluate, half_right, plan, right

from model_accuracy_eval.benchmarks import demo
from model_accuracy_eval.commands.report import render
from model_accuracy_eval.errors import BadReuse, BadValue
from model_accuracy_eval.ports import Archive
from model_accuracy_eval.records import Comparison, Identity, Interval, Report, Request
from model_accuracy_eval.report import comparison
from model_accuracy_eval.run import pipeline, previous_run
from model_accuracy_eval.run_folder import kept_run, results
from model_accuracy_eval.run_folder.manifest import MANIFEST
from model_accuracy_eval.scoring.verdicts import comparison_statistics

RESULTS = "results/vllm-api-stream-chat/demo_gsm8k.json"
LINE = "demo_gsm8k: avg@5 >= baseline - 1"


def after(base: Archive, gate: str = "", answer: ScriptedAnswer = half_right) -> tuple[Report, MemoryStore]:
    return evaluate(plan(gate=gate).with_settings(baseline="base"), answer, open_archive=lambda _: base)


def wrong(_request: Request, _choice: int) -> str:
    """A model that is never right."""
    return "#### 99"


def compared(base: Archive, new: Archive) -> Comparison:
    return previous_run.compare(kept_run.opened(base), kept_run.opened(new))


def without_replies(comparison: Comparison) -> Comparison:
    replace = msgspec.structs.replace
    changes = (replace(each, flips=replace(each.flips, replies=())) for each in comparison.changes if each.flips)
    return replace(comparison, changes=tuple(changes))


def edited(store: MemoryStore, name: str, old: bytes, new: bytes) -> MemoryStore:
    assert old in store.files[name]
    changed = MemoryStore()
    changed.files = {**store.files, name: store.files[name].replace(old, new)}
    return changed.seal()


def test_a_run_beside_its_baseline_is_what_compare_says_of_the_two() -> None:
    """In memory or read back from files: the same comparison; the run's own has a wrong reply to three of what fell."""
    _, base = evaluate(plan(), right)
    report, new = after(base)
    assert report.comparison is not None
    assert without_replies(report.comparison) == compared(base, new)
    flips = report.comparison.changes[0].flips
    assert flips is not None
    assert [each.problem for each in flips.replies] == list(flips.first_lost[:3])
    assert all(each.right not in each.reply for each in flips.replies)
    (one,) = [each for each in report.comparison.changes[0].differences if each.metric == "avg@5"]
    assert (one.old, one.new, one.points) == pytest.approx((100, 30, -70))


def test_a_run_does_not_differ_from_itself() -> None:
    """± 0 in every figure, whatever its problems are; another run with the same answers may differ in others."""
    _, base = evaluate(plan(), half_right)
    one = kept_run.opened(base)
    (change,) = compared(base, base).changes
    assert {(each.points, each.interval) for each in change.differences} == {(0.0, Interval(low=0, high=0))}
    assert "± 0" in comparison.as_text(previous_run.compare(one, one), 120)
    side = results.dataset_result(base, "vllm-api-stream-chat", "demo_gsm8k")
    again = comparison_statistics.compare(side, side).differences[0]
    assert again.points == 0
    assert again.interval is not None
    assert again.interval.high > 1


def test_every_file_for_readers_shows_the_baseline() -> None:
    """run.json for programs, the summary and the page for people."""
    _, base = evaluate(plan(), right)
    report, store = after(base)
    told = msgspec.json.decode(store.files["run.json"])["comparison"]
    assert msgspec.convert(told, Comparison) == report.comparison
    line = "| demo_gsm8k | avg@5 | 100.00 | 30.00 | -70.00 |"
    assert line in store.files["summary/summary_20260326_151326.md"].decode()
    assert "Against the baseline" in store.files["report.html"].decode()
    assert "-70.00" in store.files["report.html"].decode()


@pytest.mark.parametrize(
    ("answer", "gate", "conclusion", "exit_code"),
    [
        (right, LINE, "undecided", 7),
        (right, "demo_gsm8k: avg@5 >= baseline - 70", "passed", 0),
        (wrong, LINE, "failed", 1),
        (half_right, LINE, "undecided", 7),
        (half_right, "demo_gsm8k: avg@5 >= baseline - 80", "undecided", 7),
        (half_right, "demo_gsm8k: pass@5 >= baseline", "undecided", 7),
    ],
)
def test_gates_on_a_baseline_decide(answer: ScriptedAnswer, gate: str, conclusion: str, exit_code: int) -> None:
    """A loss beyond chance fails, and what cannot well have been lost passes; four problems show no single point."""
    _, base = evaluate(plan(), right)
    report, _ = after(base, gate, answer)
    assert (report.outcome.conclusion, report.outcome.exit_code) == (conclusion, exit_code)


@pytest.mark.parametrize(
    ("name", "old", "new", "sentence"),
    [
        ("run.json", b'"complete"', b'"stopped"', "ended as stopped"),
        ("run.json", b"{", b"[", "run.json' cannot be read"),
        (RESULTS, b'"details"', b'"others"', "demo_gsm8k.json' cannot be read"),
        (RESULTS, b'"n": 5', b'"n": "5"', "demo_gsm8k.json' cannot be read"),
    ],
)
def test_a_baseline_that_cannot_be_used_is_refused_before_anything_starts(
    name: str, old: bytes, new: bytes, sentence: str
) -> None:
    """Exit code 2, and deploy.sh was not started."""
    _, base = evaluate(plan(), right)
    launcher = FakeLauncher()
    spoiled = edited(base, name, old, new)
    ports = fake_ports(
        hub=MemoryHub({demo.WORD_PROBLEMS.data.name: ROWS}), launcher=launcher, open_archive=lambda _: spoiled
    )
    with pytest.raises(BadReuse, match=sentence) as error:
        pipeline.run(plan().with_settings(baseline="base"), ports)
    assert error.value.exit_code == 2
    assert launcher.started == []


def test_a_baseline_without_results_is_refused() -> None:
    """A folder that lost them, one that was never judged, and one that is no run."""
    _, base = evaluate(plan(), right)
    del base.files[RESULTS]
    base.seal()
    with pytest.raises(BadReuse, match="cannot be looked at problem by problem"):
        after(base)
    _, unjudged = evaluate(plan(mode="infer"), right)
    with pytest.raises(BadReuse, match="holds no figures to compare"):
        after(unjudged)
    with pytest.raises(BadReuse, match=r"is not the folder of a run: it has no run\.json"):
        after(MemoryStore())


def test_a_gate_that_could_never_be_decided_is_refused() -> None:
    """Another version, a dataset or a metric that the baseline lacks: said before anything starts."""
    _, base = evaluate(plan(), right)
    version = msgspec.json.decode(base.files["run.json"])["datasets"]["demo_gsm8k"]["version"].encode()
    for name, old, new, reason in (
        (RESULTS, version, b"ffffff", "has demo_gsm8k in version ffffff"),
        ("run.json", b'"demo_gsm8k"', b'"other"', "has no figures of demo_gsm8k"),
        (RESULTS, b'"avg@5"', b'"avg@7"', "has no avg@5 of demo_gsm8k"),
    ):
        base.files["results/vllm-api-stream-chat/other.json"] = base.files[RESULTS]
        spoiled = edited(base, name, old, new)
        with pytest.raises(BadValue, match=reason):
            after(spoiled, LINE)


def test_without_a_gate_another_version_is_only_noted() -> None:
    """The run goes on; nothing is subtracted."""
    _, base = evaluate(plan(), right)
    version = msgspec.json.decode(base.files["run.json"])["datasets"]["demo_gsm8k"]["version"].encode()
    report, _ = after(edited(base, RESULTS, version, b"ffffff"))
    assert report.comparison is not None
    assert "Version ffffff then" in report.comparison.changes[0].notes[0]


def test_what_was_set_otherwise_is_said() -> None:
    """Of a baseline and in `compare` alike; figures at two temperatures are no silent comparison. The seed is none."""
    _, base = evaluate(plan(), right)
    report, _ = after(base)
    assert report.comparison is not None
    assert report.comparison.notes == ()
    asked = plan().with_settings(baseline="base")
    sampling = msgspec.structs.replace(asked.sampling, temperature=1.5, seed=7, extra={"top_k": 20})
    hotter, store = evaluate(msgspec.structs.replace(asked, sampling=sampling), half_right, open_archive=lambda _: base)
    assert hotter.comparison is not None
    (note,) = hotter.comparison.notes
    assert note.endswith(
        "in different ways: temperature as each dataset says then, 1.5 now; top_k not sent then, 20 now."
    )
    assert without_replies(hotter.comparison) == compared(base, store)


def test_a_baseline_that_was_edited_is_refused() -> None:
    """One right sample less in its results, or a kinder temperature in run.json: both would move the line."""
    _, base = evaluate(plan(), right)
    for name, old, new in ((RESULTS, b'"c": 5', b'"c": 4'), ("run.json", b'"n": 5', b'"n": 4')):
        spoiled = edited(base, name, old, new)
        spoiled.files[MANIFEST] = base.files[MANIFEST]
        with pytest.raises(BadReuse, match=rf"'memory' is not what its run left: 1 of its .* \(changed: {name}\)"):
            after(spoiled, LINE)
    del spoiled.files[MANIFEST]
    with pytest.raises(BadReuse, match=r"has no manifest\.sha256"):
        after(spoiled, LINE)


def test_datasets_of_one_run_alone_are_listed() -> None:
    """On either side."""
    _, base = evaluate(plan(), right)
    other = edited(base, "run.json", b'"demo_gsm8k"', b'"other"')
    found = compared(base, other)
    assert (found.changes, found.only_base, found.only_new) == ((), ("demo_gsm8k",), ("other",))


def again(store: MemoryStore) -> list[str]:
    return render(kept_run.opened(store).report(), store, store.read(MANIFEST))


@pytest.mark.parametrize("gate", ["", "demo_gsm8k: avg@5 >= 90\n" + LINE])
def test_a_report_that_is_rendered_again_is_the_same(gate: str) -> None:
    """Byte by byte, the manifest included; pages that were lost are there again."""
    _, base = evaluate(plan(), right)
    _, store = after(base, gate)
    before = dict(store.files)
    lost = [name for name in store.files if name.startswith("summary/") or name == "report.html"]
    for name in lost:
        del store.files[name]
    assert sorted(again(store)) == sorted(lost)
    assert store.files == before


def test_comparisons_say_that_image_or_weights_changed() -> None:
    """Of two runs that know theirs; one that knows nothing is no change."""
    _, old = evaluate(plan(), right)
    one, two = (
        edited(old, "run.json", b'"image": "",\n    "weights": ""', b'"image": "i@%d",\n    "weights": "w@%d"' % (n, n))
        for n in (1, 2)
    )
    assert compared(one, two).notes == (
        "The image has changed: i@1 then, i@2 now.",
        "The weights have changed: w@1 then, w@2 now.",
    )
    assert compared(old, two).notes == compared(one, one).notes == ()


def test_replies_about_another_commit_get_no_verdict_on_this_one() -> None:
    """A folder in the workspace may be anybody's; its own verdict keeps what it is about."""
    _, store = evaluate(plan(), right)
    store = edited(store, "run.json", b'"repository": ""', b'"repository": "acme/adapter"')
    asked = plan().with_settings(mode="eval")
    asked = msgspec.structs.replace(asked, identity=Identity(repository="acme/adapter", commit="b" * 40))
    with pytest.raises(BadReuse, match="are about acme/adapter@.*, and the verdict would be about acme/adapter@bbb"):
        previous_run.kept_identity(asked, store)
    asked = msgspec.structs.replace(asked, identity=Identity(repository="ACME/adapter"))
    assert previous_run.kept_identity(asked, store).label == "vllm-api-stream-chat"
