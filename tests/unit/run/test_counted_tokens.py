"""Token counts of requests for several samples: those of one sample alone are not passed off as those of all."""

import msgspec
import pytest
from tests.fake_ports import MemoryStore, ScriptedChat, fake_ports
from tests.unit.run.test_infer import by_seed, plan, prepared

from model_accuracy_eval.records import Choice, Reply, Request, Service, Timings, Usage
from model_accuracy_eval.run import infer
from model_accuracy_eval.run.deploy import LiveService
from model_accuracy_eval.run.rounds import without_partial_count
from model_accuracy_eval.run_folder import journal


def reply(counted: int | None, *chunks: int) -> Reply:
    choices = tuple(
        Choice(index=at, text="x", timings=Timings(e2e=1.0, chunks=number)) for at, number in enumerate(chunks)
    )
    return Reply(id="r", choices=choices, usage=Usage(prompt_tokens=9, completion_tokens=counted, reasoning_tokens=2))


@pytest.mark.parametrize(("counted", "chunks"), [(104, (100, 90, 80, 100, 95)), (100, (100, 100, 100)), (12, (11, 12))])
def test_a_count_of_one_choice_is_known_by_the_chunks_of_the_others(counted: int, chunks: tuple[int, ...]) -> None:
    """Each chunk with text is a token or more, so there are more chunks than tokens were counted."""
    assert without_partial_count(reply(counted, *chunks)).usage == Usage(prompt_tokens=9)


@pytest.mark.parametrize(
    ("counted", "chunks"),
    [
        (470, (100, 90, 80, 100, 95)),
        (10, (4, 4, 5)),  # an end of text in two chunks
        (104, (100,)),
        (None, (100, 90)),
        (50, (100, 90)),  # tokens in pieces: there are more chunks than tokens in single choices too
        (0, (0, 0)),
    ],
)
def test_other_counts_are_left_alone(counted: int | None, chunks: tuple[int, ...]) -> None:
    """All choices are counted, or nothing says that one alone is."""
    assert without_partial_count(reply(counted, *chunks)) == reply(counted, *chunks)


class CountsOne(ScriptedChat):
    """A service that counts the tokens of its first choice."""

    async def ask(self, request: Request) -> Reply:
        answered = await super().ask(request)
        choices = tuple(msgspec.structs.replace(each, timings=Timings(e2e=1.0, chunks=40)) for each in answered.choices)
        return msgspec.structs.replace(
            answered, choices=choices, usage=Usage(prompt_tokens=9, completion_tokens=41, reasoning_tokens=3)
        )


def test_a_count_of_one_choice_is_left_out_of_the_journal() -> None:
    """Prompt tokens stay: there is one prompt. Requests for one sample are counted rightly, and keep their counts."""
    for n, counted in ((3, None), (1, 41)):
        store, live = MemoryStore(), LiveService(Service(base_url="http://fake-service"), None)
        infer.collect(plan(n), (prepared(2),), live, store, fake_ports(chat=CountsOne(by_seed)))
        lines = store.lines(journal.file("vllm-api-stream-chat", "sums"))
        usages = [journal.answer_of(line).usage for line in lines]
        assert {(usage.prompt_tokens, usage.completion_tokens) for usage in usages if usage} == {(9, counted)}
        assert len(usages) == 2 * n
