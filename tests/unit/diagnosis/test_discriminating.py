"""What tells a wrong service from a right one, and how surely: services whose answers are wrong by chance."""

import asyncio
import random
from collections.abc import Callable, Sequence
from itertools import combinations

import msgspec
import pytest
from tests.fake_ports import MuteSubject

from model_accuracy_eval.diagnosis import bisection
from model_accuracy_eval.diagnosis.bisection import Bisection, StepVerdict
from model_accuracy_eval.diagnosis.discriminating import Apart, cases, judge, told_apart, wrong
from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Fault, Request, ScoredReply

IsWrong = Callable[[Request, random.Random], bool]


class Erring(MuteSubject):
    """Answers 42, and 17 where it errs."""

    def __init__(self, is_wrong: IsWrong = lambda request, dice: False, seed: int = 0) -> None:
        self._is_wrong, self._dice = is_wrong, random.Random(seed)
        self.asked = 0

    async def scored(self, requests: Sequence[Request], at_once: int = 1) -> list[ScoredReply | Fault]:
        return [ScoredReply(text="42", finish_reason="stop") for _ in requests]

    async def answered(self, asked: Sequence[tuple[Request, bool]], at_once: int = 1) -> list[ScoredReply | Fault]:
        self.asked += len(asked)
        return [
            ScoredReply(text="17" if self._is_wrong(request, self._dice) else "42", finish_reason="stop")
            for request, _ in asked
        ]


def by_chance(share: float) -> IsWrong:
    return lambda request, dice: dice.random() < share


def about_sums(request: Request, dice: random.Random) -> bool:
    return request.messages[-1].content.endswith("=")


def apart(is_wrong: IsWrong) -> Apart:
    """Of a service that errs so, beside one that never does."""

    async def found() -> Apart:
        good = Erring()
        everything = await cases(good, is_right=True)
        looks = [await wrong(good, everything) for _ in range(2)]
        return await told_apart(Erring(is_wrong), everything, looks)

    return asyncio.run(found())


def test_only_the_questions_that_are_answered_wrongly_are_asked_again() -> None:
    found = apart(about_sums)
    assert found.rates.are_apart
    assert {about_sums(case.known.request, random.Random()) for case in found.cases} == {True}
    assert found.seen.shown == (
        "107 of 192 answers are wrong (20 alone, 7 from the cache, 20 among 8, 20 among 64, 20 drawn with seeds, "
        "20 with stop strings): "
        "the text is '17' instead of '42' ('17+25=')"
    )


def test_where_any_answer_may_be_wrong_all_questions_are_asked() -> None:
    found = apart(by_chance(0.15))
    assert found.rates.are_apart
    assert len(found.cases) == 192


def test_a_service_that_is_no_other_is_not_told_apart() -> None:
    assert not apart(by_chance(0.0)).rates.are_apart


@pytest.mark.parametrize(("share", "is_wrong"), [(0.0, False), (0.02, False), (0.15, True), (0.5, True)])
def test_services_that_err_by_chance_are_judged_falsely_no_more_often_than_is_said(
    share: float, is_wrong: bool
) -> None:
    """Of a fault that hits 15 in 100 answers: 300 services each, which may be judged falsely once in 20."""
    known = apart(by_chance(0.15))
    false = sum(
        asyncio.run(judge(Erring(by_chance(share), seed), known, 0.05)).is_wrong is not is_wrong for seed in range(300)
    )
    assert false <= 15


def test_what_is_clear_is_judged_by_few_answers() -> None:
    known = apart(about_sums)
    for service, verdict in ((Erring(about_sums), True), (Erring(), False)):
        judged = asyncio.run(judge(service, known, 0.01))
        assert judged.is_wrong is verdict
        assert judged.answers.asked <= 6


def test_silence_is_no_judgement() -> None:
    assert asyncio.run(judge(MuteSubject(), apart(about_sums), 0.05)).is_wrong is None


NAMES = tuple("abcdefghijklmnopq")


def searched(first_bad: int, skipped: Sequence[int]) -> Bisection:
    search = Bisection(about="a test", names=NAMES)
    search = search.judged(NAMES[0], StepVerdict("good", "")).judged(NAMES[-1], StepVerdict("bad", ""))
    while (name := search.next) is not None:
        at = NAMES.index(name)
        search = search.judged(name, StepVerdict("skip" if at in skipped else "bad" if at >= first_bad else "good", ""))
        search = msgspec.json.decode(msgspec.json.encode(search), type=Bisection)
    return search


@pytest.mark.parametrize("first_bad", range(1, len(NAMES)))
def test_the_first_bad_one_is_found_whatever_cannot_be_judged(first_bad: int) -> None:
    """Only beside what cannot be judged more than one is left."""
    for skipped in combinations(range(1, len(NAMES) - 1), 2):
        search = searched(first_bad, skipped)
        left = search.open
        assert search.steps == 0
        assert NAMES[first_bad] in left
        assert len(left) == 1 or {NAMES.index(name) for name in left[:-1]} <= {*skipped}


def test_few_are_judged_and_the_errors_of_all_add_up_to_the_whole() -> None:
    assert len(searched(7, ()).verdicts) <= 2 + 4
    search, total = Bisection(about="", names=NAMES), 0.0
    search = search.judged("a", StepVerdict("good", "")).judged("q", StepVerdict("bad", ""))
    for name in NAMES[1:-1]:
        total += search.error
        search = search.judged(name, StepVerdict("good", ""))
    assert 0.03 < total <= 0.04


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"{}", "keeps no search"), (msgspec.json.encode(Bisection(about="others", names=NAMES)), "another search")],
)
def test_a_file_with_something_else_is_told(data: bytes, words: str) -> None:
    with pytest.raises(BadData, match=words):
        bisection.read(data, "b.json", Bisection(about="a test", names=NAMES))
