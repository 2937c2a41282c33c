"""Gates on runs that have ended: decided as `run` decides them, and kept in the run's files."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import pytest
from tests.fake_ports import MemoryHub, MemoryStore, ScriptedAnswer
from tests.unit.run.test_pipeline import evaluate, half_right, plan, right

from model_accuracy_eval.benchmarks import demo
from model_accuracy_eval.commands.report import render, with_gates, write_verdict
from model_accuracy_eval.errors import BadReuse, BadValue, UnknownName
from model_accuracy_eval.ports import Archive
from model_accuracy_eval.records import Grouping, Report, RunPlan
from model_accuracy_eval.records.plan import Shard
from model_accuracy_eval.run_folder import kept_run, manifest, runfile

RESULTS = "results/vllm-api-stream-chat/demo_gsm8k.json"


def kept(answer: ScriptedAnswer = half_right, the_plan: RunPlan | None = None) -> MemoryStore:
    return evaluate(the_plan or plan(), answer)[1]


def opening(base: MemoryStore) -> Callable[[str], Archive]:
    return lambda _path: base


def decide(store: MemoryStore, *gates: str, base: MemoryStore | None = None, **values: Any) -> Report:
    more = {"baseline": "base"} if base else {}
    return with_gates(
        kept_run.opened(store).report(), {"gate": gates, **more, **values} if gates else values, opening(base or store)
    )


@pytest.mark.parametrize(
    ("gate", "conclusion", "exit_code"),
    [
        ("demo_gsm8k: avg@5 >= 2", "passed", 0),
        ("demo_gsm8k: avg@5 >= 90", "failed", 1),
        ("demo_gsm8k: avg >= 30", "undecided", 7),
        ("*: accuracy >= 2 and cons@k < 100", "passed", 0),
        ("scenario: balanced", "failed", 1),
        ("GSM8K demo: avg >= 1", "", 2),
    ],
)
def test_kept_figures_are_judged_as_those_of_a_run_are(gate: str, conclusion: str, exit_code: int) -> None:
    """The same decisions, limits and sentences that the run itself would have come to."""
    if not conclusion:
        with pytest.raises(UnknownName):
            decide(kept(), gate)
        return
    late = decide(kept(), gate)
    assert (late.outcome.conclusion, late.outcome.exit_code) == (conclusion, exit_code)
    early, _ = evaluate(msgspec.structs.replace(plan(), gates=late.plan.gates), half_right)
    assert late.gates == early.gates
    assert late.outcome.sentence == early.outcome.sentence


def test_the_verdict_is_the_runs_own_from_then_on() -> None:
    """run.json, page, plan and manifest have it, they say that it came later, and rendering again changes nothing."""
    store = kept()
    write_verdict(decide(store, "demo_gsm8k: avg@5 >= 90"), store)
    run = runfile.read(store.files["run.json"], "memory")
    assert (run.status, run.exit_code, run.stage) == ("failed", 1, "gates")
    assert [entry.gate for entry in run.gates] == ["demo_gsm8k: avg@5 >= 90"]
    assert "given when the run had ended" in store.files["report.html"].decode()
    assert b"demo_gsm8k: avg@5 &gt;= 90" in store.files["report.html"]
    stated = manifest.parse(store.files["manifest.sha256"])
    assert manifest.differences(stated, store.names(), store.parts).changed == ()
    before = dict(store.files)
    render(kept_run.opened(store).report(), store, store.read(manifest.MANIFEST))
    assert store.files == before
    assert decide(store, on_undecided="fail").gates == decide(store, "demo_gsm8k: avg@5 >= 90").gates


def test_a_verdict_that_was_not_written_whole_is_none() -> None:
    """A crash between the files leaves a folder that says so, not one of two minds."""
    store = kept()
    written: list[str] = []

    def write(name: str, data: bytes | Iterable[bytes]) -> None:
        if name == "run.json":
            raise OSError(28, "No space left on device")
        written.append(name)
        store.files[name] = data if isinstance(data, bytes) else b"".join(data)

    verdict = decide(store, "demo_gsm8k: avg@5 >= 90")
    store.write = write  # type: ignore[method-assign]
    with pytest.raises(OSError, match="No space"):
        write_verdict(verdict, store)
    assert written == ["configs/20260326_151326_gated.py"]
    with pytest.raises(BadReuse, match="has no manifest.sha256, because that could not be written"):
        render(kept_run.opened(store).report(), store, store.read(manifest.MANIFEST))


def test_late_settings_say_how_sure_a_gate_has_to_be() -> None:
    """`point` decides what `reruns` leaves open, and `on_undecided` says what an open gate counts as."""
    store, gate = kept(), "demo_gsm8k: avg@5 >= 28"
    assert decide(store, gate).outcome.exit_code == 7
    assert decide(store, gate, gate_on="point").outcome.exit_code == 0
    assert decide(store, gate, on_undecided="fail").outcome.exit_code == 1
    assert decide(store, gate, on_undecided="pass").outcome.exit_code == 0
    assert decide(store, gate, confidence="60").outcome.exit_code == 7
    limits = [decide(store, gate, confidence=each).gates[0].limits for each in ("60", "95")]
    assert limits[0] is not None
    assert limits[1] is not None
    assert limits[1].low < limits[0].low < 30 < limits[0].high < limits[1].high


def test_a_kept_run_is_held_against_a_baseline() -> None:
    """As a run with that baseline is; another n, another temperature or another version is refused with both."""
    base, new = kept(right), kept(half_right)
    late = decide(new, "*: drop <= 5 vs baseline", base=base)
    assert late.comparison is not None
    assert late.gates[0].decision == "undecided"
    assert late.gates[0].limits is not None
    for other, sentence in (
        (kept(right, plan(n=3)), "was run with n 3, and this run has 5"),
        (
            kept(right, msgspec.structs.replace(plan(), sampling=msgspec.structs.replace(plan().sampling, top_p=0.5))),
            "was run with top_p 0.5, and this run has None",
        ),
    ):
        with pytest.raises(BadValue, match=sentence):
            decide(new, "*: drop <= 5 vs baseline", base=other)
    with pytest.raises(BadValue, match="speaks of a baseline: name that run with --baseline"):
        decide(new, "*: drop <= 5 vs baseline")


def test_a_comparison_that_was_kept_is_checked_before_a_gate_believes_it() -> None:
    """Without gates a run may be shown beside one of another n; a gate that is added later may not rest on that."""
    base = kept(right, plan(n=3))
    store = MemoryStore()
    more = {"open_archive": opening(base), "open_store": lambda _root: store}
    report, _ = evaluate(plan().with_settings(baseline="base"), half_right, **more)
    assert report.comparison is not None
    with pytest.raises(BadValue, match="was run with n 3, and this run has 5"):
        with_gates(kept_run.opened(store).report(), {"gate": ["*: drop <= 90 vs baseline"]}, opening(base))


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (lambda each: each.with_settings(mode="infer", on_undecided="block"), "has no figures that a gate"),
        (lambda each: msgspec.structs.replace(each, shard=Shard(index=0, count=2)), "is the shard 0/2"),
    ],
)
def test_what_has_no_figures_of_its_own_has_no_verdict(edit: Callable[[RunPlan], RunPlan], sentence: str) -> None:
    """Replies that nobody judged, and a part of a run."""
    with pytest.raises(BadReuse, match=sentence):
        decide(kept(half_right, edit(plan())), "demo_gsm8k: avg@5 >= 90")


def test_a_run_that_was_stopped_passes_nothing() -> None:
    """Its figures are incomplete, however good they look."""
    store = kept()
    store.files["run.json"] = store.files["run.json"].replace(b'"complete"', b'"stopped"', 1)
    store.seal()
    with pytest.raises(BadReuse, match="ended as stopped"):
        decide(store, "demo_gsm8k: avg@5 >= 2")


def test_what_was_not_computed_is_named_with_the_command_that_does() -> None:
    """pass@2 of a run for k = 5; without any gate there is nothing to decide."""
    with pytest.raises(BadReuse, match=r"no figures for k = 2: .* run --mode eval --reuse memory --gate"):
        decide(kept(), "demo_gsm8k: pass@2 >= 90")
    with pytest.raises(UnknownName, match="no metric called 'pass@9'"):
        decide(kept(), "demo_gsm8k: pass@9 >= 90")
    with pytest.raises(BadValue, match="There is no gate to decide"):
        decide(kept(), gate_on="point")
    with pytest.raises(BadValue, match="can be read in two ways"):
        decide(kept(), "demo_gsm8k: avg@5 >= 0.75")


LEVELS = b"".join(
    b'{"question": "What is %d + 1?", "answer": "#### %d", "level": "%s"}\n' % (at, at + 1, b"C#" if at % 2 else b"A")
    for at in range(8)
)


def parted(gate: str) -> tuple[RunPlan, MemoryHub]:
    """A run over a dataset with two parts, of which `half_right` knows one."""
    task = msgspec.structs.replace(demo.WORD_PROBLEMS, category="level", grouping=Grouping())
    return msgspec.structs.replace(plan(gate=gate), tasks=(task,)), MemoryHub({demo.WORD_PROBLEMS.data.name: LEVELS})


def test_parts_have_gates_in_runs_and_afterwards() -> None:
    """Each part by its own figure; on a baseline, by its own problems."""
    lines = '"demo_gsm8k": "accuracy (5 runs average)[C#]" < 30\ndemo_gsm8k: accuracy (5 runs average)[A] > 30'
    the_plan, hub = parted(lines)
    report, store = evaluate(the_plan, half_right, hub=hub)
    assert [gate.decision for gate in report.gates] == ["passed", "passed"]
    late = decide(
        store, 'demo_gsm8k: "accuracy[C#]" < 30 and avg@5[A] > 30 and accuracy[A] >= baseline - 90', base=store
    )
    assert [gate.sentence for gate in late.gates[:2]] == [gate.sentence for gate in report.gates]
    assert late.gates[2].decision == "passed"
    assert late.gates[2].limits is not None
    assert [each.gate for each in runfile.read(store.files["run.json"], "memory").gates] == lines.replace(
        '"demo_gsm8k"', "demo_gsm8k"
    ).split("\n")
    with pytest.raises(UnknownName, match=r"accuracy\[B\]"):
        decide(store, "demo_gsm8k: accuracy[B] > 30")


def test_a_part_that_the_data_does_not_have_is_refused_before_anything_starts() -> None:
    """With those that it has."""
    for part in ("B", "*"):
        the_plan, hub = parted(f"demo_gsm8k: accuracy (5 runs average)[{part}] > 30")
        with pytest.raises(UnknownName, match=r"no part of demo_gsm8k called .* known: A, C#"):
            evaluate(the_plan, half_right, hub=hub)
