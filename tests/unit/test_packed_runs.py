"""A run of many problems keeps them packed, and of many replies in its folder; what it says is the same to the digit."""

import random
from array import array
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fake_ports import MemoryStore
from tests.unit.test_merge import TASKS, World, judged_by, whole_plan

from model_accuracy_eval import rerender
from model_accuracy_eval.records import Problem, ProblemResult, disk_numbers, packed_records
from model_accuracy_eval.records.number_mapping import NumbersByNumber
from model_accuracy_eval.records.packed_records import PackedRecords, RecordsById
from model_accuracy_eval.report import page
from model_accuracy_eval.run_folder import journal
from model_accuracy_eval.scoring.figures import distributions, problem_cells, reply_tally
from model_accuracy_eval.scoring.figures.intervals import Noise
from model_accuracy_eval.scoring.figures.lost_values import LostValue
from model_accuracy_eval.scoring.figures.problem_cells import Cell, ProblemCells
from model_accuracy_eval.scoring.figures.reply_tally import RequestTokens
from model_accuracy_eval.stages import reply_chunks

SHARED = TASKS | {"shares": judged_by("edit_similarity", "shares"), "corpus": judged_by("bleu", "corpus")}


def pack_everything(patch: pytest.MonkeyPatch) -> None:
    """As if every run were a large one."""
    patch.setattr(packed_records, "AS_THEY_ARE", 0)
    patch.setattr(packed_records, "_LEARNED_FROM", 2)
    patch.setattr(problem_cells, "MOST_DIFFERENT", 1)
    patch.setattr(disk_numbers, "BLOCK", 2)
    patch.setattr(distributions, "IN_MEMORY", 1)
    patch.setattr(reply_tally, "IN_MEMORY", 1)
    patch.setattr(journal, "_MANY_LINES", 1)


@pytest.fixture(params=["in the page", "beside it"])
def replies(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "beside it":
        monkeypatch.setattr(page, "LARGEST", 0)
    monkeypatch.setitem(TASKS, "shares", SHARED["shares"])
    monkeypatch.setitem(TASKS, "corpus", SHARED["corpus"])
    return str(request.param)


@pytest.mark.parametrize("rows", [1, 12])
@pytest.mark.parametrize("kind", SHARED)
def test_every_file_of_a_run_is_the_same(kind: str, rows: int, replies: str) -> None:
    """Byte by byte: figures, intervals, verdicts, pages and hashes, also when they are made anew from the folder."""
    plain, packed, plan = MemoryStore(), MemoryStore(), whole_plan(kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reply_chunks, "page", InMemory)
        World(rows).run(plan, plain)
    with pytest.MonkeyPatch.context() as patch:
        pack_everything(patch)
        World(rows).run(plan, packed)
    assert packed.files == plain.files
    if kind != "loglikelihood":  # asked as one text, which is all that a journal has of the question
        with pytest.MonkeyPatch.context() as patch:
            pack_everything(patch)
            rerender.render(packed)
        assert packed.files == plain.files
    assert (page.REPLIES_PAGE in packed.files) == (replies == "beside it")


class InMemory:
    """What `reply_chunks` knows of pages, when none of the replies goes to the folder."""

    LARGEST = 2**40


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(st.characters(), max_size=5),
    st.tuples(st.integers(0, 3)),
    st.lists(st.floats(allow_nan=False), max_size=2),
)


@given(st.lists(st.dictionaries(st.text(max_size=3), VALUES, max_size=3), max_size=12), st.randoms())
def test_records_come_back_as_they_were(extras: list[dict[str, Any]], order: random.Random) -> None:
    """Whatever rows hold: numbers beyond 64 bits, tuples in place of lists, text that is no Unicode, -0.0."""
    problems = [Problem(id=at, messages=(), references=(str(at),), extras=each) for at, each in enumerate(extras)]
    with pytest.MonkeyPatch.context() as patch:
        pack_everything(patch)
        packed = PackedRecords(Problem, problems)
    places = order.sample(range(len(problems)), len(problems))
    assert list(map(repr, packed)) == list(map(repr, problems))
    assert list(map(repr, packed.arranged(places))) == [repr(problems[place]) for place in places]
    assert list(map(repr, packed[1::2])) == list(map(repr, problems[1::2]))
    by_id = RecordsById(packed.arranged(places), places)
    assert all(repr(by_id[place]) == repr(problems[place]) for place in places)
    assert len(problems) not in by_id


@pytest.mark.parametrize("count", [0, 1, 99, 100, 101, 102, 300])
def test_a_list_that_has_grown_large_packs_what_it_began_with(count: int) -> None:
    """Every record is what it was, and all but those that the dictionary is made of are packed."""
    problems = [Problem(id=at, messages=(), references=(f"answer {at}",)) for at in range(count)]
    records = PackedRecords(Problem, problems, as_they_are=100)
    assert list(records) == problems
    whole = sum(records[at] is problem for at, problem in enumerate(problems))
    assert whole == (count if count <= 100 else 64)


def test_whole_numbers_do_not_become_fractions() -> None:
    """1 equals 1.0, and files show which one it was."""
    result = ProblemResult(
        problem=0, n=1, c=None, values=(1,), answers=("",), why=("right",), references=("",), figures={"x": 1.0}
    )
    with pytest.MonkeyPatch.context() as patch:
        pack_everything(patch)
        packed = PackedRecords(ProblemResult, [result] * 5)
    assert {msgspec.json.encode(each) for each in packed} == {msgspec.json.encode(result)}


def cells() -> st.SearchStrategy[Cell]:
    numbers = st.sampled_from([0.0, 1.0, 0.1, 1 / 3]) | st.floats(0, 1)
    noises = st.none() | st.tuples(*[st.builds(Noise, st.none() | numbers, st.integers(0, 2), st.integers(1, 2))] * 2)
    values = numbers | st.sampled_from([-0.0, None, 1, 0, (1.0, 2.0), ("a", "b")])
    lost = st.sampled_from([None, None, LostValue(0.0, 1.0)])
    return st.builds(Cell, values, lost, st.none() | numbers, noises)


@given(st.lists(cells(), max_size=12), st.integers(0, 12))
def test_cells_come_back_as_they_were(found: list[Cell], different: int) -> None:
    """However many of them are told apart."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(problem_cells, "MOST_DIFFERENT", different)
        kept = ProblemCells(found)
        if found:
            kept.put_last(found[0])
    expected = [*found[:-1], *found[:1]]
    assert list(map(repr, kept)) == list(map(repr, expected))
    assert [repr(kept[at]) for at in range(len(kept))] == list(map(repr, expected))


def test_what_is_read_again_is_unpacked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what was read lately; memory does not grow with what is read."""
    records = PackedRecords(Problem, (Problem(id=at, messages=(), references=()) for at in range(2_000)), as_they_are=0)
    unpacked: list[int] = []
    real = PackedRecords.unpacked

    def unpack(self: PackedRecords[Problem], place: int) -> Problem:
        unpacked.append(place)
        return real(self, place)

    monkeypatch.setattr(PackedRecords, "unpacked", unpack)
    for place in range(2_000):
        assert [records[place].id for _ in range(10)] == [place] * 10
    assert unpacked == [*range(2_000)]
    assert len(records._recent) <= 256


USAGE = st.none() | st.integers(0, 9)


@given(st.lists(st.tuples(st.integers(0, 30).map(str), USAGE, USAGE), max_size=60), st.sampled_from([3, 10**6]))
def test_a_request_counts_once(samples: list[tuple[str, int | None, int | None]], in_memory: int) -> None:
    """Its first sample says how many tokens it took; requests of which nobody knows any are no zeros."""
    made, first = RequestTokens(), dict[str, tuple[int | None, int | None]]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk_numbers, "BLOCK", 4)
        patch.setattr(reply_tally, "IN_MEMORY", in_memory)
        for name, *tokens in samples:
            made.add(name, *tokens)
            first.setdefault(name, (tokens[0], tokens[1]))
        found = made.totals()
    sums = [[number for number in column if number is not None] for column in zip(*first.values(), strict=True)] or [
        [],
        [],
    ]
    assert found == (len(first), *(sum(known) if known else None for known in sums))


@given(st.dictionaries(st.integers(-5, 2**40), st.integers(0, 99)))
def test_a_mapping_in_arrays_is_a_mapping(numbers: dict[int, int]) -> None:
    made = NumbersByNumber(array("q", numbers), array("q", numbers.values()))
    assert dict(made) == numbers
    assert all(made[key] == numbers[key] for key in numbers)
    assert made.get(-6, -1) == -1
