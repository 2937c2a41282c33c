"""Runs that stop once their gates are decided, on fake ports: what is asked, what is said, and what nobody may say."""

from collections.abc import Callable
from itertools import product
from random import Random

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.fake_ports import MemoryHub, MemoryStore, ScriptedAnswer, ScriptedChat, fake_ports
from tests.unit.run import test_infer, test_pipeline
from tests.unit.run.test_pipeline import asked as place_of

from model_accuracy_eval.benchmarks import demo
from model_accuracy_eval.commands.report import with_gates
from model_accuracy_eval.errors import BadReuse, BadValue
from model_accuracy_eval.records import (
    Attempt,
    Choice,
    ClientLimits,
    Fault,
    GroupMean,
    Interval,
    Report,
    Request,
    RunPlan,
    TaskGroup,
    Timings,
)
from model_accuracy_eval.report import comment, terminal
from model_accuracy_eval.run import early_stop, pipeline
from model_accuracy_eval.run.ask_store import AskStore
from model_accuracy_eval.run.early_stop import Follower, PartJudge
from model_accuracy_eval.run_folder import history_file, journal, results, runfile
from model_accuracy_eval.run_folder.runfile import RunFile
from model_accuracy_eval.scoring.figures.intervals import ClusterSums
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.scoring.verdicts import gate_lines, gates
from model_accuracy_eval.scoring.verdicts.gates import GateRule

PROBLEMS = 300
ROWS = b"".join(b'{"question": "What is %d + 1?", "answer": "#### %d"}\n' % (i, i + 1) for i in range(PROBLEMS))
NAME = demo.WORD_PROBLEMS.name
LABEL = "vllm-api-stream-chat"


def plan(*gates: str, n: int = 5, run: int = 0, stop: bool = True, **settings: object) -> RunPlan:
    whole = test_pipeline.plan(gate="\n".join(f"{NAME}: {gate}" for gate in gates), n=n)
    whole = msgspec.structs.replace(whole, run_id=f"{run:032x}", client_limits=ClientLimits(concurrency=8))
    return whole.with_settings(stop_when_decided=stop, **settings)


def answering(is_right: Callable[[int, int], bool]) -> ScriptedAnswer:
    """A service that is right where the function of problem and seed says so."""

    def answer(request: Request, choice: int) -> str:
        place = place_of(request)
        return f"#### {place + 1 if is_right(place, (request.seed or 0) + choice) else -1}"

    return answer


def of_accuracy(share: float) -> ScriptedAnswer:
    return answering(lambda _place, seed: Random(seed).random() < share)


def refusing(is_refused: Callable[[int], bool]) -> ScriptedAnswer:
    """A good service that refuses the problems in such places."""

    def answer(request: Request, choice: int) -> str | Fault:
        if is_refused(place_of(request)):
            return Fault(kind="rejected", sentence="no", status=400)
        return of_accuracy(0.9)(request, choice)  # type: ignore[return-value]

    return answer


def evaluate(
    the_plan: RunPlan, answer: ScriptedAnswer, store: MemoryStore | None = None, **parts: object
) -> tuple[Report, MemoryStore, ScriptedChat]:
    store = store or MemoryStore()
    chat = ScriptedChat(answer)
    hub = MemoryHub({demo.WORD_PROBLEMS.data.name: ROWS})
    ports = fake_ports(**({"chat": chat, "hub": hub, "open_store": lambda _root: store} | parts))
    return pipeline.run(the_plan, ports), store, chat


def run_file(store: MemoryStore) -> RunFile:
    return runfile.read(store.read("run.json"), "run")


def test_a_gate_far_from_the_figure_is_decided_early() -> None:
    """Fifteen points from its line, a gate takes a part of the requests, and what says so says it everywhere."""
    report, store, chat = evaluate(plan("avg@5 >= 60"), of_accuracy(0.75))
    (gate,), (result,) = report.gates, report.dataset_results
    assert result.part is not None
    assert (gate.decision, report.outcome.exit_code) == ("passed", 0)
    assert 20 < result.part.read < 500
    assert len(chat.requests) < result.part.read + 20
    said = f"decided after {result.part.share} of the requests ({result.part.read:,} of 1,500 samples)"
    assert said in report.outcome.sentence
    assert said in comment.as_check(report).summary
    assert said in terminal.as_text(report)
    figures = {row.metric: row for row in result.rows}
    assert figures["avg@5"].estimated
    entry = run_file(store).datasets[NAME]
    assert (set((entry.metrics or {}).values()), entry.estimates["avg@5"]) == ({None}, gate.value)
    assert figures["pass@5"].value is None
    shown = f"≈ {report.gates[0].value:.2f}"
    assert f"**{shown}**" in comment.as_comment(report)
    assert f"avg@5,gen,{shown}" in (store.read(f"summary/summary_{report.plan.stamp}.csv") or b"").decode()


def test_what_was_not_asked_is_neither_lost_nor_wrong() -> None:
    """The counts add up, no figure has limits, and the run is no infrastructure failure."""
    report, store, _ = evaluate(plan("avg@5 >= 60"), of_accuracy(0.75))
    counts = report.dataset_results[0].counts
    assert counts.planned == counts.answered + counts.unneeded == 1500
    assert (counts.missing, counts.failed, counts.rejected) == (0, 0, 0)
    assert all(row.bounds is None for row in report.dataset_results[0].rows)
    kept = results.dataset_result(store, LABEL, NAME)
    assert {why for problem in kept.problem_results for why in problem.why} <= {"right", "wrong"}
    assert kept.part == report.dataset_results[0].part


def test_a_service_that_fails_its_gate_fails_early() -> None:
    """And `<=` gates are decided from the other side."""
    report, _, _ = evaluate(plan("avg@5 >= 75", "accuracy (5 runs average) <= 75"), of_accuracy(0.5))
    assert [gate.decision for gate in report.gates] == ["failed", "passed"]
    assert report.dataset_results[0].part is not None
    assert report.outcome.exit_code == 1


def test_near_its_line_everything_is_asked() -> None:
    """Then the run is a whole one: no part, no marks, all figures; half of the error was spent on stopping."""
    report, _, _ = evaluate(plan("avg@5 >= 75"), of_accuracy(0.75))
    assert report.dataset_results[0].part is None
    assert not any(row.estimated for row in report.dataset_results[0].rows)
    assert report.gates[0].decision == "undecided"
    assert "97.5 %" in report.gates[0].sentence


def test_the_verdict_is_read_again_from_the_journal() -> None:
    """What was decided while asking is what the files say afterwards, whatever was answered beyond it."""
    report, store, _ = evaluate(plan("avg@5 >= 60"), of_accuracy(0.75))
    again, _, chat = evaluate(plan("avg@5 >= 60", mode="eval"), of_accuracy(0.0), store)
    assert not chat.requests
    assert again.dataset_results[0].rows == report.dataset_results[0].rows
    assert again.dataset_results[0].part == report.dataset_results[0].part
    assert again.gates == report.gates


def test_the_rest_can_be_asked_afterwards() -> None:
    """Continued without the setting, the run asks what is missing and nothing twice; then it is a whole one."""
    _, store, first = evaluate(plan("avg@5 >= 60"), of_accuracy(0.75))
    report, _, second = evaluate(plan("avg@5 >= 60", stop=False), of_accuracy(0.75), store)
    whole, _, _ = evaluate(plan("avg@5 >= 60", stop=False), of_accuracy(0.75))
    assert [row.value for row in report.dataset_results[0].rows] == [row.value for row in whole.dataset_results[0].rows]
    assert report.dataset_results[0].part is None
    assert report.dataset_results[0].counts.unneeded == 0
    asked = [journal.key(line) for line in store.lines(journal.file(LABEL, NAME))]
    assert len(asked) == len(set(asked)) == 1500
    assert first.requests
    assert second.requests


def test_an_interrupted_run_goes_on_in_its_order() -> None:
    """What the journal holds is read first; the decision is that of a run that was not interrupted."""
    whole, store, _ = evaluate(plan("avg@5 >= 66"), of_accuracy(0.75))
    lines = [*store.lines(journal.file(LABEL, NAME))]
    half = MemoryStore()
    half.append(journal.file(LABEL, NAME), b"".join(lines[: len(lines) // 2]))
    report, _, chat = evaluate(plan("avg@5 >= 66"), of_accuracy(0.75), half)
    part, other = report.dataset_results[0].part, whole.dataset_results[0].part
    assert part is not None
    assert other is not None
    assert (part.read, part.decisions) == (other.read, other.decisions)
    assert report.gates == whole.gates
    assert len(chat.requests) < len(lines)


@pytest.mark.parametrize("run", range(2))
def test_lost_samples_pass_no_gate(run: int) -> None:
    """A service that refuses what it is bad at: taken for wrong on the passing side, for right on the failing one."""
    half_refused = refusing(lambda place: place % 2 == 1 and place > 1)
    report, _, _ = evaluate(plan("avg@5 >= 60", run=run, max_failed_requests=10**6), half_refused)
    assert report.gates[0].decision == "undecided"
    assert report.dataset_results[0].part is None


@pytest.mark.parametrize("figure", ["avg@5", "pass@5"])
def test_a_few_lost_samples_hold_nothing_up(figure: str) -> None:
    """They are read like others, in their place, and the figure says what they might have made of it."""
    report, _, chat = evaluate(plan(f"{figure} >= 60"), refusing(lambda place: place % 20 == 3))
    (result,) = report.dataset_results
    assert report.gates[0].decision == "passed"
    assert result.counts.rejected
    assert result.part is not None
    assert len(chat.requests) < 500
    assert figure in {row.metric for row in result.rows if row.bounds}


def test_pass_at_n_is_asked_until_the_first_success() -> None:
    """Problems are read whole, and left as soon as they are solved."""
    report, store, _ = evaluate(plan("pass@5 >= 80"), of_accuracy(0.7))
    assert report.gates[0].decision == "passed"
    assert {row.metric for row in report.dataset_results[0].rows if row.value is not None} == {"pass@5"}
    by_problem: dict[int, list[int]] = {}
    for line in store.lines(journal.file(LABEL, NAME)):
        problem, index = journal.key(line)
        by_problem.setdefault(problem, []).append(index)
    assert all(indexes == list(range(len(indexes))) for indexes in by_problem.values())
    seed = {problem: problem * 5 for problem in by_problem}
    for problem, indexes in by_problem.items():
        right = [Random(seed[problem] + index).random() < 0.7 for index in indexes]
        assert not any(right[:-1]), "asked on after the first success"


@pytest.mark.parametrize("limit", [None, 200])
def test_an_estimate_is_not_subtracted_from_a_baseline(limit: int | None) -> None:
    """Against a baseline the gate is decided early, with the baseline's values as control variate; of a sample too,
    since both runs ask the same one."""
    _, before, _ = evaluate(plan(stop=False, run=1, limit=limit), of_accuracy(0.75))
    the_plan = plan("avg@5 >= baseline - 12", run=2, baseline="baseline", limit=limit)
    report, _, _ = evaluate(the_plan, of_accuracy(0.75), open_archive=lambda _path: before)
    assert report.gates[0].decision == "passed"
    assert "asked whole and asked again it would meet the condition" in report.gates[0].sentence
    assert report.dataset_results[0].part is not None
    assert report.comparison is not None
    assert all(difference.points is None for difference in report.comparison.changes[0].differences)
    assert "not subtracted" in " ".join(report.comparison.changes[0].notes)


def test_a_part_is_no_baseline() -> None:
    """A gate on the figure of a part is refused, with what would complete that run."""
    _, before, _ = evaluate(plan("avg@5 >= 60", run=1), of_accuracy(0.75))
    with pytest.raises(BadValue, match="decided after .* of the requests.*--reuse baseline"):
        evaluate(
            plan("avg@5 >= baseline - 1", run=2, baseline="baseline"),
            of_accuracy(0.75),
            open_archive=lambda _path: before,
        )


def test_a_gate_on_problems_of_the_kind_needs_all_of_them() -> None:
    """What cannot be stopped early is asked whole, and a note says why."""
    report, _, _ = evaluate(plan("avg@5 >= 20", gate_on="problems"), of_accuracy(0.9))
    assert report.dataset_results[0].part is None
    assert any("All of it was asked, because the gate" in note for note in report.dataset_results[0].notes)
    assert "(95 %)" in report.gates[0].sentence


def test_replies_that_turn_out_to_be_cut_are_read_again() -> None:
    """The first replies came without a finish_reason, and are asked for again when the service sends one: what they
    said at first decides nothing."""
    asked: list[Request] = []

    def answer(request: Request, choice: int) -> str | Choice:
        asked.append(request)
        if len(asked) <= 10:
            return Choice(index=choice, text=f"#### {place_of(request) + 1}", timings=Timings(e2e=0.02))
        return "#### -1"

    report, _, _ = evaluate(plan("avg@5 >= 60"), answer)
    assert report.gates[0].decision == "failed"
    cut = asked[1:10]  # the first request asks whether the service is ready
    assert [request for request in asked[10:] if request in cut]
    assert sum(request in cut for request in asked[10:]) == len(cut)


def test_samples_that_are_all_the_same_say_nothing_of_asking_again() -> None:
    """The proof is about these answers; at temperature 0 that is foreseen, and problems are counted from the start."""
    service = answering(lambda place, _seed: place % 5 > 0)
    report, _, _ = evaluate(plan("avg@5 >= 60"), service)
    assert report.gates[0].decision == "passed"
    assert (
        "asked whole it would meet the condition (95 %), but what asking again would give" in report.gates[0].sentence
    )
    varied, _, _ = evaluate(plan("avg@5 >= 60"), of_accuracy(0.8))
    assert "asked whole and asked again it would meet the condition (95 %)." in varied.gates[0].sentence
    warm = plan("avg@5 >= 72")
    greedy = msgspec.structs.replace(warm, sampling=msgspec.structs.replace(warm.sampling, temperature=0.0))
    asked = [evaluate(each, service)[0].dataset_results[0].part for each in (warm, greedy)]
    assert asked[0] is not None
    assert asked[1] is None or asked[1].read > asked[0].read


def test_no_other_gate_is_decided_on_a_part() -> None:
    """Neither afterwards, nor by the rules for whole runs: an estimate has no limits to decide on."""
    report, _, _ = evaluate(plan("avg@5 >= 60"), of_accuracy(0.75))
    with pytest.raises(BadReuse, match=r"decided after .* of the requests for demo_gsm8k"):
        with_gates(report, {"gate": (f"{NAME}: avg@5 >= 10",)}, lambda _path: MemoryStore())
    estimate = next(row for row in report.dataset_results[0].rows if row.metric == "avg@5")
    easy = report.plan.gates[0].__class__(dataset=NAME, metric="avg@5", comparison=">=", threshold=10)
    assert gates.result(easy, estimate, None, GateRule()).decision == "undecided"


def test_a_history_leaves_a_part_out() -> None:
    """With the reason, so that nobody wonders where the run is."""
    report, store, _ = evaluate(plan("avg@5 >= 60"), of_accuracy(0.75))
    raw = (store.read("run.json") or b"").replace(b"%Y-%m-%dT%H:%M:%S%z", b"2026-03-26T15:15:20+0800")
    store.write("run.json", raw)
    found = history_file.of_run(store.seal())
    part = report.dataset_results[0].part
    assert part is not None
    assert not found.lines
    assert f"no further than was needed ({part.share} of the requests)" in found.left_out[0].reason


def test_what_is_asked_whole_says_why() -> None:
    """A dataset without a gate, one of a group with a gate, a figure of the whole, and a gate that a part cannot open."""
    whole = msgspec.structs.replace(
        test_infer.plan(3).with_settings(stop_when_decided=True),
        k=(3,),
        groups=(TaskGroup(name="all", members=("sums",), means=(GroupMean(metric="accuracy"),)),),
    )
    for gate, why in {
        "other: avg@3 >= 50": "it has no gate",
        "all: accuracy >= 50": "the gate on all is about the whole of it",
        "sums: bleu >= 50": "bleu is known only when all of it is",
        "sums: avg@3 == 50": "the gate 'sums: avg@3 == 50' is decided only by the whole of it",
    }.items():
        the_plan = msgspec.structs.replace(whole, gates=gate_lines.parse(gate))
        assert early_stop.early_stop(the_plan, [test_infer.prepared(60)], None) == ({}, {"sums": why})


@settings(max_examples=20, phases=(Phase.generate,))  # no seed is simpler than another
@given(st.integers(0, 2**32), st.sampled_from(["avg@3", "pass@3"]), st.sampled_from([0.0, 0.05]), st.integers(1, 2))
def test_a_part_says_what_its_samples_say(seed: int, metric: str, lost: float, together: int) -> None:
    """The mean and the interval of what was read, at its least and at its most where samples were lost; no figure is
    told that the part does not give. Two questions about one text are one case."""
    dice, prepared, store = Random(seed), test_infer.prepared(60), MemoryStore()
    texts = tuple(f"text {problem.id // together}" for problem in prepared.problems)
    asked = zip(prepared.problems, texts, strict=True)
    problems = tuple(msgspec.structs.replace(problem, cluster=text) for problem, text in asked)
    prepared = msgspec.structs.replace(prepared, problems=problems)
    the_plan = msgspec.structs.replace(
        test_infer.plan(3).with_settings(stop_when_decided=True),
        run_id=str(seed),
        k=(3,),
        gates=gate_lines.parse(f"sums: {metric} >= 50"),
    )
    share, said = dice.choice([0.1, 0.9]), dict[tuple[int, int], Attempt]()
    for problem, index in product(prepared.problems, range(3)):
        fault = Fault(kind="rejected", sentence="no", status=400) if dice.random() < lost else None
        text = "" if fault else "1" if dice.random() < share else "2"
        attempt = Attempt(problem=problem.id, index=index, text=text, finish_reason="stop", fault=fault)
        said[problem.id, index] = attempt
        if fault:
            line = journal.failure_line(prepared, problem, attempt, fault)
            store.append(journal.failures_file(the_plan.settings.label, "sums"), line)
        else:
            store.append(journal.file(the_plan.settings.label, "sums"), journal.line(prepared, problem, attempt))
    following = early_stop.early_stop(the_plan, [prepared], None).followings["sums"]
    assert following.clusters == texts
    follower = Follower(the_plan, prepared, following, store, AskStore(the_plan, prepared, store))
    follower.read_again()
    assert follower.reader.is_done

    judge = PartJudge(the_plan, prepared, following, follower.reader, lambda: Scorecard(prepared.task, 3, (3,)))
    read = {place: [said[place, index] for index in indexes] for place, indexes in judge.indexes.items()}
    assert {(place, one.index) for place in read for one in read[place]} == {*follower.reader.samples_read()}
    for place, samples in read.items():
        result = judge.judge(prepared.problems[place], samples)
        assert (result.n, result.c) == (len(samples), sum(one.text == "1" for one in samples))
        assert len(result.values) == len(result.answers) == len(samples)
        assert result.why == tuple(
            "rejected" if one.fault else "right" if one.text == "1" else "wrong" for one in samples
        )
        settled = [metric] * (metric == "pass@3" or len(samples) == 3)
        assert {*result.figures} >= {*settled}
        assert len(samples) == 3 or {*result.bounds} <= {*result.figures} <= {*settled}
    part = judge.part()
    assert (part.read, part.answered, part.planned) == (sum(map(len, read.values())), 180, 180)
    assert (part.problems, part.decisions) == (len(read), follower.reader.decisions)
    assert part.left_inside == (metric == "pass@3" and any(len(samples) < 3 for samples in read.values()))
    assert part.estimated == (metric == "avg@3" or len(read) < 60)
    ends = ClusterSums(), ClusterSums()
    for place, samples in read.items():
        for sums, right in zip(ends, ({"1"}, {"1", ""}), strict=True):
            if metric == "avg@3":
                for one in samples:
                    sums.add(float(one.text in right), texts[place])
            else:
                sums.add(float(any(one.text in right for one in samples)))
    rows = {row.metric: row for row in judge.rows("v", "gen", all_equal=False)}
    low, high = (100 * sums.total / sums.problems for sums in ends)
    assert rows[metric].value == pytest.approx(low)
    assert rows[metric].estimated == part.estimated
    limits = rows[metric].bounds
    assert (limits.low, limits.high) == pytest.approx((low, high)) if limits else low == high
    if metric == "avg@3":
        interval, worst, best = rows[metric].interval, *(sums.interval() for sums in ends)
        assert interval == Interval(low=worst.low, high=best.high)  # type: ignore[union-attr]  # of many problems
    other = rows["pass@3" if metric == "avg@3" else "avg@3"]
    if metric == "avg@3" or part.left_inside:
        assert (other.value, other.interval, other.stderr, other.bounds, other.chance, other.certainty) == (None,) * 6
