"""What a ballot holds, and what a weighed sample is worth, on twins."""

import msgspec
import pytest

from model_accuracy_eval.errors import NoHonestScore
from model_accuracy_eval.records import (
    Attempt,
    Candidate,
    DataFile,
    Exam,
    Fault,
    Likelihood,
    Measure,
    Pipeline,
    Prompt,
    Rung,
    RunPlan,
    Sampling,
    Service,
    Sheet,
    TaskSpec,
)
from model_accuracy_eval.reporting import journal, summary
from model_accuracy_eval.stages import infer, score
from model_accuracy_eval.stages.deploy import Live
from model_accuracy_eval.tasks import exam
from model_accuracy_eval.testing import MemoryStore, ScriptedChat, twins

TASK = TaskSpec(
    name="options",
    about="",
    data=DataFile(name="options.jsonl"),
    fields=(),
    prompt=Prompt(question="{{ question }}"),
    reference="{{ answer }}",
    choices='["a", "bbb"]',
    kind="choice",
    mode="text",
    stop=("\n",),
    pipelines=(Pipeline(metrics=(Measure(name="acc"), Measure(name="acc_mutual_info"))),),
)
PLAN = RunPlan(run_id="r", stamp="s", tasks=(), k=(1,))
ROWS = [{"question": f"Q{number}", "answer": number % 2} for number in range(4)]


def built(task: TaskSpec = TASK) -> Exam:
    return exam.build(task, ROWS, [], None)


def evaluate(chat: ScriptedChat, asked: Exam, sampling: Sampling | None = None) -> Sheet:
    plan = RunPlan(run_id="r", stamp="s", tasks=(), sampling=sampling or Sampling(), k=(1,))
    ports, store = twins(chat=chat), MemoryStore()
    infer.collect(plan, (asked,), Live(Service(base_url="http://x"), None), store, ports)
    (sheet,) = score.mark(plan, (asked,), store, ports, partial=False)
    return sheet


def chat(rung: Rung = "echo") -> ScriptedChat:
    """Shorter endings are likelier."""
    return ScriptedChat(lambda _request, _choice: "", rung=rung)


def test_l22_every_option_is_weighed_once_more_after_nothing() -> None:
    """One ballot a problem; the options come first, and letters are asked for as a conversation."""
    twin = chat()
    sheet = evaluate(twin, built())
    assert len(twin.scales.ballots) == 4
    ballot = twin.scales.ballots[0]
    assert ballot.options == 2
    assert [(one.context, one.continuation) for one in ballot.candidates] == [
        ("Q0", " a"), ("Q0", " bbb"), ("", " a"), ("", " bbb"),
    ]  # fmt: skip
    assert ballot.request.text is None
    assert "A. a\nB. bbb" in ballot.request.messages[-1].content
    assert {row.metric: row.value for row in sheet.rows} == {"acc": 50.0, "acc_mutual_info": 50.0}


@pytest.mark.parametrize(
    ("rung", "known"), [("top-logprobs", {"acc"}), ("constrained", {"acc"}), ("extracted", {"acc"})]
)
def test_l20_below_texts_only_the_choice_is_known(rung: Rung, known: set[str]) -> None:
    """Unknown is no zero."""
    sheet = evaluate(chat(rung), built())
    assert {row.metric for row in sheet.rows if row.value is not None} == known
    assert {row.metric: row.value for row in sheet.rows}["acc"] == 50.0
    assert {row.mode for row in sheet.rows} == {rung}


def test_answers_are_the_likeliest_unless_somebody_says_otherwise() -> None:
    """Weighing is no sampling: temperature 0, but the user's or the task's word counts."""
    for sampling, task, wanted in (
        (Sampling(), TASK, 0.0),
        (Sampling(temperature=0.7), TASK, 0.7),
        (Sampling(), msgspec.structs.replace(TASK, temperature=0.3), 0.3),
    ):
        twin = chat("extracted")
        evaluate(twin, built(task), sampling)
        assert {ballot.request.temperature for ballot in twin.scales.ballots} == {wanted}


def test_a_fault_of_one_candidate_is_the_problems() -> None:
    """It is counted as the service's refusal, and the metrics that texts could give are not spoilt by it."""

    def weight(candidate: Candidate) -> Likelihood | Fault:
        if candidate.context == "Q2":
            return Fault(kind="rejected", sentence="Too long.", status=400)
        return Likelihood(logprob=-float(len(candidate.continuation)))

    sheet = evaluate(ScriptedChat(lambda _request, _choice: "", weight=weight), built())
    assert (sheet.counts.answered, sheet.counts.rejected) == (3, 1)
    assert {row.metric: row.value for row in sheet.rows}["acc"] == 25.0


def test_a_lost_sample_is_no_figure_of_what_cannot_be_told() -> None:
    """Of a metric that the service cannot tell, a rejected problem is not the only value."""

    def weight(candidate: Candidate) -> Likelihood | Fault:
        return Fault(kind="rejected", sentence="No.") if candidate.context == "Q2" else Likelihood(logprob=-1.0)

    sheet = evaluate(ScriptedChat(lambda _request, _choice: "", weight=weight, rung="top-logprobs"), built())
    assert {row.metric: row.value for row in sheet.rows}["acc_mutual_info"] is None


def test_kinds_that_weigh_texts_are_refused_by_letters() -> None:
    """Options by their common beginning, too."""
    shared = msgspec.structs.replace(TASK, boundary="shared")
    with pytest.raises(NoHonestScore, match="options cannot be evaluated by constrained: acc, acc_mutual_info are"):
        evaluate(chat("constrained"), built(shared))
    assert evaluate(chat("echo"), built(shared)).counts.answered == 4


def test_parts_of_a_mixture_are_asked_each_in_its_own_way() -> None:
    """One is weighed, the other answers; both are kept, and going on finds how the first was weighed."""
    talk = msgspec.structs.replace(
        TASK,
        name="talk",
        kind="generate",
        mode="chat",
        choices=None,
        pipelines=(Pipeline(metrics=(Measure(name="exact"),)),),
    )
    weighed, told = built(), exam.build(talk, ROWS, [], None)
    problems = [
        msgspec.structs.replace(problem, id=number, part=(part,))
        for number, (part, problem) in enumerate(
            (part, one) for part, two in enumerate((told, weighed)) for one in two.problems
        )
    ]
    task = msgspec.structs.replace(TASK, name="both", parts=(talk, TASK))
    both = Exam(task=task, problems=tuple(problems), version="abcdef", questions="q")
    twin = ScriptedChat(lambda _request, _choice: "1")
    plan = RunPlan(run_id="r", stamp="s", tasks=(), sampling=Sampling(n=1), k=(1,))
    ports, store = twins(chat=twin), MemoryStore()
    infer.collect(plan, (both,), Live(Service(base_url="http://x"), None), store, ports)
    assert (len(twin.requests), len(twin.scales.ballots)) == (4, 4)
    kept = [journal.way(line) for line in store.lines(journal.file(plan.label, "both"))]
    assert sorted(map(str, kept)) == ["None"] * 4 + ["echo"] * 4


def test_n20_contexts_that_lost_their_beginning_are_counted_and_told() -> None:
    """In the journal, in the counts and beside the figures; a context that every option shares is one."""
    store, asked = MemoryStore(), built()
    whole, cropped = Likelihood(logprob=-1.0, tokens=1, greedy=True), Likelihood(logprob=-2.0, cropped_to=4095)
    for problem in asked.problems:
        weighed = (cropped,) * 4 if problem.id else (whole,) * 4
        kept = Attempt(problem=problem.id, index=0, rung="echo", weighed=weighed)
        line = journal.line(asked, problem, kept)
        assert journal.attempt(line).weighed == weighed
        assert (b"4095" in line) == bool(problem.id)
        store.append(journal.file(PLAN.label, "options"), line)
    (sheet,) = score.mark(PLAN, (asked,), store, twins(), partial=False)
    assert sheet.counts.cropped == 3
    told = "3 contexts were longer than the 4,095 tokens that the model reads at once, and lost their beginning."
    assert told in sheet.notes
    assert summary.remarkable(sheet.counts) == ["3 with a context that lost its beginning"]
