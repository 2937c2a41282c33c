"""What a ballot holds, and what a weighed sample is worth, on fake ports."""

import json
from contextlib import nullcontext

import msgspec
import pytest
from tests.fake_ports import MemoryStore, ScriptedChat, fake_ports
from tests.small_task import small_task

from model_accuracy_eval.errors import NoHonestScore
from model_accuracy_eval.records import (
    Attempt,
    Candidate,
    DatasetResult,
    Fault,
    Loglikelihood,
    MetricUse,
    Pipeline,
    PreparedDataset,
    RequestMethod,
    RunPlan,
    Sampling,
    Service,
    TaskSpec,
)
from model_accuracy_eval.report import figures
from model_accuracy_eval.run import infer, score
from model_accuracy_eval.run.deploy import LiveService
from model_accuracy_eval.run_folder import journal
from model_accuracy_eval.tasks import preparation

TASK = small_task(
    "options",
    "{{ question }}",
    "{{ answer }}",
    choices='["a", "bbb"]',
    kind="choice",
    mode="text",
    stop=("\n",),
    pipelines=(Pipeline(metrics=(MetricUse(name="acc"), MetricUse(name="acc_mutual_info"))),),
)
PLAN = RunPlan(run_id="r", stamp="s", tasks=(), k=(1,))
ROWS = [{"question": f"Q{number}", "answer": number % 2} for number in range(4)]


def built(task: TaskSpec = TASK) -> PreparedDataset:
    return preparation.build(task, ROWS, [], None)


def evaluate(chat: ScriptedChat, asked: PreparedDataset, sampling: Sampling | None = None) -> DatasetResult:
    plan = RunPlan(run_id="r", stamp="s", tasks=(), sampling=sampling or Sampling(), k=(1,))
    ports, store = fake_ports(chat=chat), MemoryStore()
    infer.collect(plan, (asked,), LiveService(Service(base_url="http://x"), None), store, ports)
    return score.judge(plan, asked, store, ports, partial=False)


def chat(method: RequestMethod = "echo") -> ScriptedChat:
    """Shorter endings are likelier."""
    return ScriptedChat(lambda _request, _choice: "", method=method)


def test_l22_every_option_is_weighed_once_more_after_nothing() -> None:
    """One ballot a problem; the options come first, and letters are asked for as a conversation."""
    client = chat()
    dataset_result = evaluate(client, built())
    assert len(client.loglikelihoods.likelihood_requests) == 4
    likelihood_request = client.loglikelihoods.likelihood_requests[0]
    assert likelihood_request.options == 2
    assert [(one.context, one.continuation) for one in likelihood_request.candidates] == [
        ("Q0", " a"), ("Q0", " bbb"), ("", " a"), ("", " bbb"),
    ]  # fmt: skip
    assert likelihood_request.request.text is None
    assert "A. a\nB. bbb" in likelihood_request.request.messages[-1].content
    assert {row.metric: row.value for row in dataset_result.rows} == {"acc": 50.0, "acc_mutual_info": 50.0}


@pytest.mark.parametrize(("method", "known"), [("top-logprobs", {"acc"}), ("extracted", {"acc"})])
def test_l20_below_texts_only_the_choice_is_known(method: RequestMethod, known: set[str]) -> None:
    """Unknown is no zero, and the report says of what is unknown, and of nothing else, that it is."""
    dataset_result = evaluate(chat(method), built())
    assert {row.metric for row in dataset_result.rows if row.value is not None} == known
    assert "acc_mutual_info is unknown:" in " ".join(dataset_result.notes)
    assert {row.metric: row.value for row in dataset_result.rows}["acc"] == 50.0
    assert {row.mode for row in dataset_result.rows} == {method}


def test_answers_are_the_likeliest_unless_somebody_says_otherwise() -> None:
    """Weighing is no sampling: temperature 0, but the user's or the task's word counts."""
    for sampling, task, wanted in (
        (Sampling(), TASK, 0.0),
        (Sampling(temperature=0.7), TASK, 0.7),
        (Sampling(), msgspec.structs.replace(TASK, temperature=0.3), 0.3),
    ):
        client = chat("extracted")
        evaluate(client, built(task), sampling)
        assert {
            likelihood_request.request.temperature for likelihood_request in client.loglikelihoods.likelihood_requests
        } == {wanted}


def test_a_fault_of_one_candidate_is_the_problems() -> None:
    """It is counted as the service's refusal, and the metrics that texts could give are not spoilt by it."""

    def weight(candidate: Candidate) -> Loglikelihood | Fault:
        if candidate.context == "Q2":
            return Fault(kind="rejected", sentence="Too long.", status=400)
        return Loglikelihood(logprob=-float(len(candidate.continuation)))

    dataset_result = evaluate(ScriptedChat(lambda _request, _choice: "", weight=weight), built())
    assert (dataset_result.counts.answered, dataset_result.counts.rejected) == (3, 1)
    assert {row.metric: row.value for row in dataset_result.rows}["acc"] == 25.0


def test_a_lost_sample_is_no_figure_of_what_cannot_be_told() -> None:
    """Of a metric that the service cannot tell, a rejected problem is not the only value."""

    def weight(candidate: Candidate) -> Loglikelihood | Fault:
        return Fault(kind="rejected", sentence="No.") if candidate.context == "Q2" else Loglikelihood(logprob=-1.0)

    dataset_result = evaluate(ScriptedChat(lambda _request, _choice: "", weight=weight, method="top-logprobs"), built())
    assert {row.metric: row.value for row in dataset_result.rows}["acc_mutual_info"] is None


def test_kinds_that_weigh_texts_are_refused_by_letters() -> None:
    """Options by their common beginning, too."""
    shared = msgspec.structs.replace(TASK, boundary="shared")
    with pytest.raises(NoHonestScore, match="options cannot be evaluated by extracted: acc, acc_mutual_info are"):
        evaluate(chat("extracted"), built(shared))
    assert evaluate(chat("echo"), built(shared)).counts.answered == 4


def test_a_service_without_log_likelihoods_is_refused_in_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is said of a method that was never used."""

    async def nothing(*_: object) -> None:
        raise NoHonestScore("It gives none.")

    client = chat()
    monkeypatch.setattr(client, "loglikelihood_client", nothing)
    with pytest.raises(NoHonestScore, match=r"^It gives none\.$"):
        evaluate(client, built())


@pytest.mark.parametrize(("options", "refused"), [(26, False), (27, True)])
def test_options_beyond_the_alphabet_have_no_letter(options: int, refused: bool) -> None:
    """Texts can be weighed, however many they are."""
    many = msgspec.structs.replace(TASK, choices=json.dumps([f"o{place}" for place in range(options)]))
    with pytest.raises(NoHonestScore, match=f"{options} options") if refused else nullcontext():
        evaluate(chat("extracted"), built(many))
    assert evaluate(chat("echo"), built(many)).counts.answered == 4


def test_parts_of_a_mixture_are_asked_each_in_its_own_way() -> None:
    """One is weighed, the other answers; both are kept, and going on finds how the first was weighed."""
    talk = msgspec.structs.replace(
        TASK,
        name="talk",
        kind="generate",
        mode="chat",
        choices=None,
        pipelines=(Pipeline(metrics=(MetricUse(name="exact"),)),),
    )
    weighed, told = built(), preparation.build(talk, ROWS, [], None)
    problems = [
        msgspec.structs.replace(problem, id=number, part=(part,))
        for number, (part, problem) in enumerate(
            (part, one) for part, two in enumerate((told, weighed)) for one in two.problems
        )
    ]
    task = msgspec.structs.replace(TASK, name="both", parts=(talk, TASK))
    both = PreparedDataset(task=task, problems=tuple(problems), version="abcdef", questions="q")
    client = ScriptedChat(lambda _request, _choice: "1")
    plan = RunPlan(run_id="r", stamp="s", tasks=(), sampling=Sampling(n=1), k=(1,))
    ports, store = fake_ports(chat=client), MemoryStore()
    infer.collect(plan, (both,), LiveService(Service(base_url="http://x"), None), store, ports)
    assert (len(client.requests), len(client.loglikelihoods.likelihood_requests)) == (4, 4)
    kept = [journal.loglikelihood_method(line) for line in store.lines(journal.file(plan.settings.label, "both"))]
    assert sorted(map(str, kept)) == ["None"] * 4 + ["echo"] * 4


def test_n20_contexts_that_lost_their_beginning_are_counted_and_told() -> None:
    """In the journal, in the counts and beside the figures; a context that every option shares is one."""
    store, asked = MemoryStore(), built()
    whole, cropped = Loglikelihood(logprob=-1.0, tokens=1, greedy=True), Loglikelihood(logprob=-2.0, cropped_to=4095)
    for problem in asked.problems:
        weighed = (cropped,) * 4 if problem.id else (whole,) * 4
        kept = Attempt(problem=problem.id, index=0, method="echo", loglikelihoods=weighed)
        line = journal.line(asked, problem, kept)
        assert journal.attempt(line).loglikelihoods == weighed
        assert (b"4095" in line) == bool(problem.id)
        store.append(journal.file(PLAN.settings.label, "options"), line)
    dataset_result = score.judge(PLAN, asked, store, fake_ports(), partial=False)
    assert dataset_result.counts.cropped == 3
    told = "3 contexts were longer than the 4,095 tokens that the model reads at once, and lost their beginning."
    assert told in dataset_result.notes
    assert figures.count_remarks(dataset_result.counts) == ["3 with a cropped context"]
