"""Datasets problem by problem, as the page shows them: how many are right how often, and what was said to each."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Literal

from model_accuracy_eval.records import Sheet, Tally, Why
from model_accuracy_eval.reporting import summary

MOST_PROBLEMS = 500
"""Of one dataset on the page, and `_ALL_PROBLEMS` of all together, so that it opens on a phone."""
_ALL_PROBLEMS = 1000
_LEAST_PROBLEMS = 50
_QUESTION = 2000
_TEASER = 110
_ANSWER = 160
_BARS = 20
"""Up to so many samples a problem, a distribution has one column for every number of right ones."""

State = Literal["unstable", "wrong", "right", "unjudged"]


@dataclass(frozen=True, slots=True)
class Answers:
    """Samples of one problem that gave the same answer, and are right, wrong or neither for the same reason."""

    text: str | None
    why: Why
    count: int


@dataclass(frozen=True, slots=True)
class Item:
    """One problem as the page shows it."""

    id: int
    state: State
    score: str
    teaser: str
    question: str
    left_out: int
    """Characters of the question that the page does not hold."""
    gold: str
    why: tuple[Why, ...]
    answers: tuple[Answers, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """One column of a distribution."""

    label: str
    count: int
    share: float
    """Of the highest column."""
    state: State


@dataclass(frozen=True, slots=True)
class Section:
    """One dataset as the page shows it."""

    sheet: Sheet
    share: bool
    """Whether its problems are right or wrong at all: a text that is weighed is neither."""
    bars: tuple[Bar, ...]
    items: tuple[Item, ...]
    left_out: int


def of(sheets: Sequence[Sheet], problems: Mapping[str, Mapping[int, str]]) -> list[Section]:
    """Every dataset's, with as many problems as there is room for. `problems`: questions by dataset and id."""
    room = max(_LEAST_PROBLEMS, min(MOST_PROBLEMS, _ALL_PROBLEMS // max(len(sheets), 1)))
    return [_section(sheet, problems.get(sheet.dataset, {}), room) for sheet in sheets]


def _section(sheet: Sheet, questions: Mapping[int, str], room: int) -> Section:
    """The problems that tell most come first, so that those left out are the ones without a surprise."""
    first = sheet.rows[0] if sheet.rows else None
    share = first is None or first.share
    tallies = sorted(sheet.tallies, key=_interest)[:room]
    items = [_item(tally, questions.get(tally.problem, "")) for tally in tallies]
    if first is not None and not share:
        items = [_unjudged(item, tally.figures.get(first.metric)) for item, tally in zip(items, tallies, strict=True)]
    return Section(
        sheet=sheet,
        share=share,
        bars=_bars(sheet.tallies) if share else (),
        items=tuple(items),
        left_out=len(sheet.tallies) - len(tallies),
    )


def _unjudged(item: Item, figure: float | None) -> Item:
    """With the problem's own figure, where it has one; what was lost stays lost."""
    return replace(
        item,
        state="unjudged",
        score="–" if figure is None else summary.number(figure),
        why=tuple(map(_neither, item.why)),
        answers=tuple(replace(one, why=_neither(one.why)) for one in item.answers),
    )


def _neither(why: Why) -> Why:
    return "unjudged" if why in ("right", "wrong") else why


def _interest(tally: Tally) -> tuple[int, float, int]:
    """Problems with lost samples, then unstable ones (half right first), then wrong, then right ones."""
    if not {"failed", "rejected", "missing"}.isdisjoint(tally.why):
        return 0, 0.0, tally.problem
    return ("unstable", "wrong", "right").index(_state(tally)) + 1, abs(_mean(tally) - 0.5), tally.problem


def _mean(tally: Tally) -> float:
    return sum(tally.values) / tally.n if tally.n else 0.0


def _state(tally: Tally) -> State:
    mean = _mean(tally)
    return "right" if mean >= 1 else "wrong" if mean <= 0 else "unstable"


def _bars(tallies: Sequence[Tally]) -> tuple[Bar, ...]:
    """How many problems have none, some, all of their samples right; by tenths where single columns would not fit."""
    if not tallies:
        return ()
    most = max(tally.n for tally in tallies)
    single = most <= _BARS and all(tally.c is not None for tally in tallies)
    last = most if single else 11
    labels = [str(c) for c in range(last + 1)]
    if not single:
        labels = ["0", *(f"≤{10 * tenth}" for tenth in range(1, 10)), "<100", "100"]
    places = Counter(tally.c if single else _tenth(_mean(tally)) for tally in tallies)
    highest = max(places.values())
    states: list[State] = ["wrong", *["unstable"] * (last - 1), "right"]  # type: ignore[list-item]
    return tuple(
        Bar(label, places[place], places[place] / highest, state)
        for place, (label, state) in enumerate(zip(labels, states, strict=True))
    )


def _tenth(mean: float) -> int:
    return 11 if mean >= 1 else ceil(round(10 * mean, 9))


def _item(tally: Tally, question: str) -> Item:
    teaser = " ".join(question[: 4 * _TEASER].split())
    return Item(
        id=tally.problem,
        state=_state(tally),
        score=f"{100 * _mean(tally):.0f} %" if tally.c is None else f"{tally.c}/{tally.n}",
        teaser=_short(teaser, _TEASER),
        question=question[:_QUESTION],
        left_out=max(0, len(question) - _QUESTION),
        gold=_short(tally.references[0] if tally.references else "", _ANSWER),
        why=tally.why,
        answers=_grouped(tally),
    )


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _grouped(tally: Tally) -> tuple[Answers, ...]:
    """Equal answers once, with their number, in the order in which they first came."""
    found: dict[tuple[str | None, Why], int] = {}
    for answer, why in zip(tally.answers, tally.why, strict=True):
        key = (None if answer is None else _short(answer, _ANSWER), why)
        found[key] = found.get(key, 0) + 1
    return tuple(Answers(text, why, count) for (text, why), count in found.items())
