"""What is asked, how often, and what is kept: the infer stage on fake ports."""

import asyncio
from itertools import count
from typing import Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fake_ports import FakeRunningAdapter, ManualClock, MemoryStore, ScriptedAnswer, ScriptedChat, fake_ports
from tests.small_task import small_task

from model_accuracy_eval.errors import AdapterFailed, NoHonestScore, PublishFailed, Stopped
from model_accuracy_eval.records import (
    Choice,
    ClientLimits,
    Fault,
    Message,
    MetricUse,
    Pipeline,
    PreparedDataset,
    Problem,
    Reply,
    Request,
    RunPlan,
    Sampling,
    Service,
    Shard,
    Timings,
)
from model_accuracy_eval.run import infer, score
from model_accuracy_eval.run.deploy import LiveService
from model_accuracy_eval.run_folder import journal

TASK = small_task("sums", "", pipelines=(Pipeline(metrics=(MetricUse(name="exact", label="accuracy"),)),))


def prepared(problems: int, name: str = "sums") -> PreparedDataset:
    asked = tuple(
        Problem(id=place, messages=(Message(role="user", content=f"{name} {place}"),), references=("1",))
        for place in range(problems)
    )
    return PreparedDataset(
        task=msgspec.structs.replace(TASK, name=name), problems=asked, version="abcdef", questions="q"
    )


def plan(n: int = 5, *, temperature: float = 1.0, seed: int | None = 0, concurrency: int = 4) -> RunPlan:
    return RunPlan(
        run_id="r",
        stamp="s",
        tasks=(TASK,),
        sampling=Sampling(n=n, temperature=temperature, seed=seed),
        client_limits=ClientLimits(concurrency=concurrency),
    )


def by_seed(request: Request, choice: int) -> str:
    """A deterministic service: the answer depends on the question and the choice's seed alone."""
    return f"{request.messages[0].content} / {(request.seed or 0) + choice}"


class Unfinished(ScriptedChat):
    """The same service, whose first `half` replies end in the middle and without a finish_reason."""

    def __init__(self, half: int) -> None:
        def answer(request: Request, choice: int) -> str | Choice:
            text = by_seed(request, choice)
            if len(self.requests) > half:
                return text
            return Choice(index=choice, text=f"half of {text}", timings=Timings(e2e=0.02))

        super().__init__(answer)


def collect(the_plan: RunPlan, datasets: tuple[PreparedDataset, ...], chat: ScriptedChat, store: MemoryStore) -> None:
    live = LiveService(Service(base_url="http://fake-service"), None)
    infer.collect(the_plan, datasets, live, store, fake_ports(chat=chat))


def kept(store: MemoryStore, name: str = "sums") -> dict[tuple[int, int], str]:
    lines = list(store.lines(journal.file("vllm-api-stream-chat", name)))
    samples = {(one.problem, one.index): one.text for one in map(journal.attempt, lines)}
    assert len(samples) == len(lines), "a sample stands in the journal twice"
    return samples


@pytest.mark.parametrize("mode", ["chat", "text"])
def test_each_sample_says_whether_it_was_a_conversation(mode: Literal["chat", "text"]) -> None:
    one, store = prepared(2), MemoryStore()
    collect(
        plan(2),
        (msgspec.structs.replace(one, task=msgspec.structs.replace(one.task, mode=mode)),),
        ScriptedChat(by_seed),
        store,
    )
    lines = store.lines(journal.file("vllm-api-stream-chat", "sums"))
    assert [journal.attempt(line).method for line in lines] == [mode] * 4


@given(n=st.integers(1, 6), problems=st.integers(1, 5), served=st.integers(1, 6), concurrency=st.integers(1, 9))
def test_every_sample_is_kept_once_whatever_part_of_n_is_served(
    n: int, problems: int, served: int, concurrency: int
) -> None:
    """However many choices a request brings, each (problem, index) ends in the journal once, with the same text."""
    store = MemoryStore()
    collect(plan(n, concurrency=concurrency), (prepared(problems),), ScriptedChat(by_seed, served=served), store)
    wanted = {(p, i): f"sums {p} / {p * n + i}" for p in range(problems) for i in range(n)}
    assert kept(store) == wanted


@given(n=st.integers(2, 6), problems=st.integers(1, 4), data=st.data())
def test_a_sample_is_what_its_seed_gives_whichever_choices_came(n: int, problems: int, data: st.DataObject) -> None:
    """Choices that are left out of a reply are asked for by their own seeds; the others keep theirs."""
    cut = data.draw(st.sets(st.integers(0, n - 1), max_size=n - 1))

    def some(request: Request, choice: int) -> str | Choice | None:
        return None if request.n > 1 and choice in cut else by_seed(request, choice)

    store = MemoryStore()
    collect(plan(n), (prepared(problems),), ScriptedChat(some), store)
    assert kept(store) == {(p, i): f"sums {p} / {p * n + i}" for p in range(problems) for i in range(n)}
    for line in store.lines(journal.file("vllm-api-stream-chat", "sums")):
        sample = journal.attempt(line)
        assert sample.seed == sample.problem * n + sample.index


@given(n=st.integers(1, 3), problems=st.integers(1, 4), half=st.integers(0, 12), concurrency=st.integers(1, 9))
def test_answers_without_a_finish_reason_stay_only_if_there_is_never_one(
    n: int, problems: int, half: int, concurrency: int
) -> None:
    """The first answers lack it, and the later ones have it: the first are asked for again. Or none ever has it."""
    chat, store = Unfinished(half), MemoryStore()
    collect(plan(n, concurrency=concurrency), (prepared(problems),), chat, store)
    wanted = {(p, i): f"sums {p} / {p * n + i}" for p in range(problems) for i in range(n)}
    if chat.sends_finish_reasons:
        assert kept(store) == wanted
    else:
        assert {text.removeprefix("half of ") for text in kept(store).values()} == set(wanted.values())
        assert len(chat.requests) == problems


def test_a_run_that_goes_on_asks_again_for_answers_without_a_finish_reason_of_a_service_that_sends_them() -> None:
    """What the first part of the run took for complete is known to be cut in the second one."""
    store = MemoryStore()
    collect(plan(1), (prepared(4),), Unfinished(99), store)
    assert {text[:4] for text in kept(store).values()} == {"half"}
    live = LiveService(Service(base_url="http://fake-service", sends_finish_reasons=True), None)
    chat = ScriptedChat(by_seed)
    chat.sends_finish_reasons = True
    infer.collect(plan(1), (prepared(4),), live, store, fake_ports(chat=chat))
    assert kept(store) == {(p, 0): f"sums {p} / {p}" for p in range(4)}
    assert len(chat.requests) == 4


def test_a_service_that_ignores_n_is_asked_one_by_one_after_it_showed() -> None:
    """After the first short reply, no further request asks for several choices."""
    chat = ScriptedChat(by_seed, served=1)
    collect(plan(5, concurrency=1), (prepared(3),), chat, MemoryStore())
    assert [request.n for request in chat.requests] == [5] + [1] * 14


def test_greedy_decoding_is_never_asked_for_several_choices() -> None:
    """At temperature 0 every sample has its own request, because servers refuse n > 1 there."""
    chat = ScriptedChat(by_seed)
    collect(plan(3, temperature=0.0), (prepared(2),), chat, MemoryStore())
    assert [request.n for request in chat.requests] == [1] * 6


@given(st.data())
def test_a_run_goes_on_where_it_stopped(data: st.DataObject) -> None:
    """With any part of the journal there, only the rest is asked, and the end is that of an undisturbed run."""
    undisturbed = MemoryStore()
    collect(plan(3), (prepared(4),), ScriptedChat(by_seed), undisturbed)
    name = journal.file("vllm-api-stream-chat", "sums")
    lines = list(undisturbed.lines(name))
    before = data.draw(st.sets(st.sampled_from(lines)))
    store = MemoryStore()
    store.files[name] = b"".join(before)
    chat = ScriptedChat(by_seed)
    collect(plan(3), (prepared(4),), chat, store)
    assert kept(store) == kept(undisturbed)
    assert sum(request.n for request in chat.requests) == len(lines) - len(before)


def test_a_failed_sample_stands_in_the_failures_file_with_its_reason() -> None:
    """What got no answer is kept apart from the journal, and asked again by the next run."""

    def broken(request: Request, choice: int) -> str | Fault:
        bad = request.messages[0].content == "sums 1"
        return Fault(kind="failed", sentence="HTTP 503", status=503) if bad else by_seed(request, choice)

    store = MemoryStore()
    collect(plan(2), (prepared(3),), ScriptedChat(broken), store)
    assert set(kept(store)) == {(0, 0), (0, 1), (2, 0), (2, 1)}
    failures = [journal.failure(line) for line in store.lines(journal.failures_file("vllm-api-stream-chat", "sums"))]
    assert [(one.problem, one.index, one.fault and one.fault.sentence) for one in failures] == [
        (1, 0, "HTTP 503"),
        (1, 1, "HTTP 503"),
    ]
    collect(plan(2), (prepared(3),), ScriptedChat(by_seed), store)
    assert len(kept(store)) == 6
    assert journal.failures_file("vllm-api-stream-chat", "sums") not in store.files


def test_a_service_that_refuses_several_choices_is_asked_one_by_one() -> None:
    """A 400 to n = 5 is tried with n = 1 before the item counts as rejected."""

    def one_only(request: Request, choice: int) -> str | Fault:
        refused = Fault(kind="rejected", sentence="HTTP 400: n must be 1", status=400)
        return refused if request.n > 1 else by_seed(request, choice)

    store = MemoryStore()
    collect(plan(5, concurrency=1), (prepared(2),), ScriptedChat(one_only), store)
    assert len(kept(store)) == 10


def always(fault: Fault) -> ScriptedAnswer:
    return lambda _request, _choice: fault


def test_a_first_wave_of_rejections_ends_the_run_with_the_services_words() -> None:
    """When nothing was accepted yet and as many were rejected as are in flight, the rest is not asked."""
    chat = ScriptedChat(always(Fault(kind="rejected", sentence="HTTP 401: Unauthorized", status=401)))
    with pytest.raises(NoHonestScore, match="rejected the first 4 requests.*Unauthorized"):
        collect(plan(1, concurrency=4), (prepared(50),), chat, MemoryStore())
    assert len(chat.requests) < 12


def test_samples_of_a_problem_that_is_left_out_are_counted_by_what_became_of_them() -> None:
    """A run that ended early leaves problems out of which samples are missing."""
    lost = {1: Fault(kind="failed", sentence="lost"), 2: Fault(kind="rejected", sentence="no")}

    def one_by_one(request: Request, _choice: int) -> str | Fault:
        return lost[2] if request.n > 1 else lost.get(request.seed or 0, "1")

    store = MemoryStore()
    collect(plan(3, concurrency=1), (prepared(1),), ScriptedChat(one_by_one), store)
    counts = score.judge(plan(5), prepared(1), store, fake_ports(), partial=True).counts
    assert (counts.answered, counts.failed, counts.rejected, counts.missing) == (1, 1, 1, 2)


def test_a_shard_of_a_few_rejections_says_nothing_of_the_whole_run() -> None:
    """A whole run as small as that has nothing else to say."""
    few, store = plan(1, concurrency=4), MemoryStore()
    chat = ScriptedChat(always(Fault(kind="rejected", sentence="too long")))
    collect(msgspec.structs.replace(few, shard=Shard(index=1, count=2)), (prepared(3),), chat, store)
    assert len(chat.requests) == 3
    with pytest.raises(NoHonestScore, match="rejected the first 3 requests"):
        collect(few, (prepared(3),), chat, MemoryStore())


def test_a_service_that_is_gone_ends_the_run() -> None:
    """Refused connections are not hammered to the end of the dataset."""
    chat = ScriptedChat(always(Fault(kind="refused", sentence="nobody listens on 8000 for 20 s")))
    with pytest.raises(AdapterFailed, match="The service is gone: nobody listens"):
        collect(plan(1), (prepared(50),), chat, MemoryStore())
    assert len(chat.requests) <= 4


SILENCE = Fault(kind="failed", sentence="no answer for 600 s (6 tries, 3600 s).", silent=True)


@pytest.mark.parametrize(("concurrency", "bound"), [(1, 16), (4, 16), (20, 40)])
def test_a_service_that_hangs_ends_the_run(concurrency: int, bound: int) -> None:
    """It is not gone, but of two waves of requests none is answered; what was answered before is kept."""

    def hanging(request: Request, choice: int) -> str | Fault:
        return by_seed(request, choice) if int(request.messages[0].content.split()[1]) < 100 else SILENCE

    chat, store = ScriptedChat(hanging), MemoryStore()
    with pytest.raises(AdapterFailed, match=rf"takes requests, but the last {bound} in a row .* no answer for 600 s"):
        collect(plan(1, concurrency=concurrency), (prepared(5000),), chat, store)
    assert len(kept(store)) == 100
    assert len(chat.requests) <= 100 + bound + concurrency


@pytest.mark.parametrize("other", [None, Fault(kind="failed", sentence="HTTP 500 (6 tries, 30 s).", status=500)])
def test_silences_between_answers_end_nothing(other: Fault | None) -> None:
    """Every second request is lost; an answer shows that the service is there, and so does a fault of another kind."""

    def halting(request: Request, choice: int) -> str | Fault:
        return SILENCE if int(request.messages[0].content.split()[1]) % 2 else other or by_seed(request, choice)

    chat = ScriptedChat(halting)
    collect(plan(1), (prepared(200),), chat, MemoryStore())
    assert len(chat.requests) == 200


def test_a_deploy_script_that_exits_ends_the_run_with_the_end_of_its_log() -> None:
    """The exit of deploy.sh is seen while requests are in flight, and told with its code and log."""
    running = FakeRunningAdapter()

    def dying(request: Request, choice: int) -> str:
        running.code, running.log = 3, "out of memory"
        return by_seed(request, choice)

    live = LiveService(Service(base_url="http://fake-service"), running)
    with pytest.raises(AdapterFailed, match=r"exited with code 3 [^.]*\.$") as caught:
        infer.collect(
            plan(1, concurrency=1), (prepared(100_000),), live, MemoryStore(), fake_ports(chat=ScriptedChat(dying))
        )
    assert caught.value.detail == "out of memory"


def test_a_stop_ends_the_asking_and_keeps_what_came() -> None:
    """After the signal nothing more is asked; the answered samples stay in the journal."""
    clock, store = ManualClock(), MemoryStore()

    def stopping(request: Request, choice: int) -> str:
        if request.messages[0].content == "sums 10":
            clock.stop()
        return by_seed(request, choice)

    chat = ScriptedChat(stopping)
    live = LiveService(Service(base_url="http://fake-service"), None)
    with pytest.raises(Stopped):
        infer.collect(plan(1, concurrency=1), (prepared(1000),), live, store, fake_ports(chat=chat, clock=clock))
    assert 10 <= len(kept(store)) <= 12
    assert len(chat.requests) <= 12


def test_a_journal_that_cannot_be_written_ends_the_run_at_once() -> None:
    """Although all other requests are under way, and never end."""

    class Full(MemoryStore):
        def append(self, name: str, data: bytes) -> None:
            if name.endswith("sums.jsonl"):
                raise PublishFailed("No space is left.")
            super().append(name, data)

    class Endless(ScriptedChat):
        async def ask(self, request: Request) -> Reply:
            reply = await super().ask(request)
            if request.messages[0].content != "sums 0":
                await asyncio.Event().wait()
            return reply

    live = LiveService(Service(base_url="http://fake-service"), None)
    with pytest.raises(PublishFailed, match="No space is left"):
        infer.collect(plan(1), (prepared(20),), live, Full(), fake_ports(chat=Endless(by_seed)))


@pytest.mark.parametrize("full", ["sums", "others"])
def test_a_journal_that_cannot_be_written_costs_no_other_dataset(full: str) -> None:
    """What came in the same moment for another one, whose journal takes it, is kept."""

    class Full(MemoryStore):
        def append(self, name: str, data: bytes) -> None:
            if name.endswith(f"{full}.jsonl"):
                raise PublishFailed("No space is left.")
            super().append(name, data)

    store, datasets = Full(), (prepared(1), prepared(1, "others"))
    live = LiveService(Service(base_url="http://fake-service"), None)
    with pytest.raises(PublishFailed, match="No space is left"):
        infer.collect(plan(1), datasets, live, store, fake_ports(chat=ScriptedChat(by_seed)))
    assert {name: len(kept(store, name)) for name in ("sums", "others")} == {"sums": 1, "others": 1} | {full: 0}


def test_the_tail_begins_when_nothing_is_left_to_ask() -> None:
    """Four at a time and five questions: from the first answer on, fewer than four are under way."""
    clock, ended = ManualClock(), count(1)

    def answer(request: Request, choice: int) -> str:
        clock.time += 10.0 * next(ended)
        return by_seed(request, choice)

    ports = fake_ports(chat=ScriptedChat(answer), clock=clock)
    live = LiveService(Service(base_url="http://fake-service"), None)
    asked = infer.collect(plan(1, concurrency=4), (prepared(5),), live, MemoryStore(), ports)
    assert asked.tail_seconds == 120.0


def test_cut_replies_are_counted_over_all_problems() -> None:
    def cut(request: Request, _choice: int) -> Choice:
        is_cut = request.messages[-1].content in {"sums 1", "sums 3"}
        return Choice(text="1", finish_reason="length" if is_cut else "stop", timings=Timings(e2e=0.0))

    store = MemoryStore()
    collect(plan(4), (prepared(5),), ScriptedChat(cut), store)
    assert score.judge(plan(4), prepared(5), store, fake_ports(), partial=False).counts.cut == 8
