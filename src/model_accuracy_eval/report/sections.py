"""Datasets problem by problem, as the page shows them: how often each problem is right, and the answers to it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, repeat
from math import ceil
from statistics import fmean
from typing import Literal

import msgspec

from model_accuracy_eval.records import DatasetResult, Interval, ProblemResult, VerdictReason
from model_accuracy_eval.report import figures
from model_accuracy_eval.report.markdown import valid_unicode
from model_accuracy_eval.report.page_replies import PackedReplies, packed
from model_accuracy_eval.scoring.figures.intervals import ClusterSums
from model_accuracy_eval.scoring.figures.reductions import cons_at_k, pass_at_k

MOST_PROBLEMS = 100
"""The limit for one dataset; `_ALL_PROBLEMS` is the one for all together. These problems stand in the page itself, for
print and for browsers without scripts; the others are in what the script unpacks."""
_ALL_PROBLEMS = 300
_LEAST_PROBLEMS = 10
_QUESTION = 2000
_TEASER = 110
_ANSWER = 160
_BARS = 20
"""Up to so many samples a problem, a distribution has one column for every number of right ones."""

State = Literal["unstable", "wrong", "right", "unjudged"]


class AnswerGroup(msgspec.Struct, frozen=True):
    """Samples of one problem that gave the same answer and have the same verdict."""

    text: str | None
    why: VerdictReason
    count: int


class Item(msgspec.Struct, frozen=True):
    """One problem as the page shows it."""

    id: int
    key: str
    """The user's own id; empty if there is none."""
    part: str | None
    state: State
    score: str
    teaser: str
    question: str
    left_out: int
    """Characters of the question that the page does not show."""
    gold: str
    why: tuple[VerdictReason, ...]
    answers: tuple[AnswerGroup, ...]


class Bar(msgspec.Struct, frozen=True):
    """One column of a distribution."""

    label: str
    count: int
    share: float
    """Of the highest column."""
    state: State


class Section(msgspec.Struct, frozen=True):
    """One dataset as the page shows it."""

    dataset_result: DatasetResult
    share: bool
    """Whether its problems can be right or wrong at all; with a perplexity, for example, they cannot."""
    bars: tuple[Bar, ...]
    items: tuple[Item, ...]
    left_out: int
    figure: str | None
    """The metric to show for a problem where none can be right or wrong."""
    questions: Mapping[int, str]

    def all_items(self) -> Iterator[Item]:
        """Every problem, the most telling first; made when needed, for there may be many."""
        return _items(self.dataset_result.problem_results, self.questions, self.figure)


def of(dataset_results: Sequence[DatasetResult], questions: Mapping[str, Mapping[int, str]]) -> list[Section]:
    """A section for every dataset, with as many problems as the page has space for. `questions` as in `page`."""
    most = max(_LEAST_PROBLEMS, min(MOST_PROBLEMS, _ALL_PROBLEMS // max(len(dataset_results), 1)))
    return [_section(result, questions.get(result.dataset, {}), most) for result in dataset_results]


def _section(dataset_result: DatasetResult, questions: Mapping[int, str], most: int) -> Section:
    """The most telling problems come first, so that those left out are the ones without a surprise."""
    results = dataset_result.problem_results
    first = dataset_result.rows[0] if dataset_result.rows else None
    figure = None if first is None or first.share else first.metric
    return Section(
        dataset_result=dataset_result,
        share=figure is None,
        bars=_bars(results) if figure is None else (),
        items=tuple(islice(_items(results, questions, figure), most)),
        left_out=max(0, len(results) - most),
        figure=figure,
        questions=questions,
    )


def _items(results: Sequence[ProblemResult], questions: Mapping[int, str], figure: str | None) -> Iterator[Item]:
    return (_item(result, questions, figure) for result in sorted(results, key=_interest))


def _interest(result: ProblemResult) -> tuple[int, float, int]:
    """Sorts problems with lost samples first, then unstable ones (half right first), then wrong, then right ones."""
    if not {"failed", "rejected", "missing"}.isdisjoint(result.why):
        return 0, 0.0, result.problem
    rank = ("unstable", "wrong", "right").index(_state(result)) + 1
    return rank, abs(_mean(result) - 0.5), result.problem


def _mean(result: ProblemResult) -> float:
    return sum(result.values) / result.n if result.n else 0.0


def _state(result: ProblemResult) -> State:
    mean = _mean(result)
    return "right" if mean >= 1 else "wrong" if mean <= 0 else "unstable"


def _bars(results: Sequence[ProblemResult]) -> tuple[Bar, ...]:
    """How many problems have none, some, all of their samples right; in tenths where single columns do not fit."""
    if not results:
        return ()
    most = max(result.n for result in results)
    single = most <= _BARS and all(result.c is not None for result in results)
    if single:
        labels = [str(c) for c in range(most + 1)]
    else:
        labels = ["0", *(f"≤{10 * tenth}" for tenth in range(1, 10)), "<100", "100"]
    counts = Counter(result.c if single else _tenth(_mean(result)) for result in results)
    highest = max(counts.values())
    last = len(labels) - 1
    return tuple(
        Bar(
            label,
            counts[place],
            counts[place] / highest,
            "wrong" if not place else "right" if place == last else "unstable",
        )
        for place, label in enumerate(labels)
    )


def _tenth(mean: float) -> int:
    return 11 if mean >= 1 else ceil(round(10 * mean, 9))


def _item(result: ProblemResult, questions: Mapping[int, str], figure: str | None) -> Item:
    """`figure` names the metric to show where no problem can be right or wrong."""
    question = questions.get(result.problem, "")
    state, score, why = _state(result), f"{result.c}/{result.n}", result.why
    if result.c is None:
        score = f"{100 * _mean(result):.0f} %"
    if figure is not None:
        value = result.figures.get(figure)
        state, score = "unjudged", "–" if value is None else figures.number(value)
        why = tuple("unjudged" if reason in {"right", "wrong"} else reason for reason in why)
    return Item(
        id=result.problem,
        key=" · ".join(result.key),
        part=result.category,
        state=state,
        score=score,
        teaser=_shorten(" ".join(question[: 4 * _TEASER].split()), _TEASER),
        question=question[:_QUESTION],
        left_out=max(0, len(question) - _QUESTION),
        gold=_shorten(result.references[0] if result.references else "", _ANSWER),
        why=why,
        answers=_groups(result.answers, why),
    )


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _groups(answers: Sequence[str | None], why: Sequence[VerdictReason]) -> tuple[AnswerGroup, ...]:
    """Equal answers once, with their number, in the order of their first appearance."""
    texts = (None if answer is None else _shorten(answer, _ANSWER) for answer in answers)
    counts = Counter(zip(texts, why, strict=True))
    return tuple(AnswerGroup(text, reason, count) for (text, reason), count in counts.items())


# The list of all problems that the page's script shows, filters and opens: one row a problem, without its replies.


LETTERS: Mapping[VerdictReason, str] = {
    "right": "r", "wrong": "w", "not found": "n", "unjudged": "u",
    "empty": "e", "rejected": "j", "failed": "f", "missing": "m",
}  # fmt: skip
"""What stands for a sample's verdict in a row; the script has the same table the other way around."""

FILTERS = (
    ("all", "All"),
    ("unstable", "Unstable"),
    ("wrong", "Wrong"),
    ("right", "Right"),
    ("lost", "Lost samples"),
    ("unread", "No answer read"),
)
COMPARED_FILTERS = (("changed", "Changed"), ("worse", "Worse"), ("better", "Better"), ("all", "All"))
Filters = Sequence[tuple[str, str]]
Packed = Mapping[str, PackedReplies]


class ExplorerRow(msgspec.Struct, array_like=True):
    """One problem. The script reads the fields by their places."""

    id: int
    key: str
    state: str
    score: str
    why: str
    """A letter for each sample."""
    teaser: str
    gold: str
    answers: list[tuple[str | None, str, int]]
    """Text, letter and number of samples of each different answer."""
    part: str | None
    chunk: int
    """-1: the page does not have its replies."""


class ExplorerDataset(msgspec.Struct):
    """One dataset of the list."""

    name: str
    share: bool
    rows: list[ExplorerRow]


class ExplorerIndex(msgspec.Struct):
    """Everything that the script knows before it opens a chunk."""

    filters: Filters
    datasets: list[ExplorerDataset]
    elsewhere: str = ""
    """The page that has the replies, if this one does not."""


def index(sections: Sequence[Section], replies: Packed, *, elsewhere: str = "") -> str:
    """Packed like a chunk: a JSON list with the index as its only entry."""
    datasets = [
        ExplorerDataset(
            section.dataset_result.dataset,
            section.share,
            [_row(item, replies.get(section.dataset_result.dataset)) for item in section.all_items()],
        )
        for section in sections
    ]
    return packed([msgspec.json.encode(ExplorerIndex(FILTERS, datasets, elsewhere))])


def compared_index(
    old: Sequence[Section], new: Sequence[Section], states: Mapping[str, Mapping[int, str]], packed_replies: Packed
) -> str:
    """Two runs problem by problem: those of the new one, where both have them, the changed ones first."""
    before = {section.dataset_result.dataset: {item.id: item for item in section.all_items()} for section in old}
    datasets = []
    for section in new:
        name = section.dataset_result.dataset
        rows = [
            _compared_row(item, before[name][item.id], states[name][item.id], packed_replies.get(name))
            for item in section.all_items()
            if item.id in states.get(name, {})
        ]
        rows.sort(key=lambda row: _COMPARED_ORDER.index(row.state))
        datasets.append(ExplorerDataset(name, section.share, rows))
    return packed([msgspec.json.encode(ExplorerIndex(COMPARED_FILTERS, datasets))])


_COMPARED_ORDER = ("worse", "better", "same")


def _compared_row(item: Item, before: Item, state: str, replies: PackedReplies | None) -> ExplorerRow:
    row = _row(item, replies)
    row.score, row.state = f"{before.score} → {item.score}", state
    return row


def _row(item: Item, replies: PackedReplies | None) -> ExplorerRow:
    return ExplorerRow(
        id=item.id,
        key=valid_unicode(item.key),
        state=item.state,
        score=item.score,
        why="".join(LETTERS[why] for why in item.why),
        teaser=valid_unicode(item.teaser),
        gold=valid_unicode(item.gold),
        answers=[
            (None if group.text is None else valid_unicode(group.text), LETTERS[group.why], group.count)
            for group in item.answers
        ],
        part=item.part and valid_unicode(item.part),
        chunk=replies.places.get(item.id, -1) if replies else -1,
    )


# The figures behind the page's charts: by part, and over k.


_MOST_K = 100
_PARTS_SHOWN = 12


class PartFigure(msgspec.Struct, frozen=True):
    """The problems of one part: a subject, a language, a level."""

    name: str
    problems: int
    value: float
    """Mean share of right samples, per cent."""
    interval: Interval | None


class PartsChart(msgspec.Struct, frozen=True):
    """One dataset by its parts, the worst first."""

    dataset: str
    shown: Sequence[PartFigure]
    folded: Sequence[PartFigure]


class Curve(msgspec.Struct, frozen=True):
    """One line of a chart: per cent, from left to right."""

    name: str
    values: Sequence[float]

    def points(self, width: float, height: float) -> str:
        """As SVG writes them."""
        step = width / max(len(self.values) - 1, 1)
        return " ".join(f"{step * at:.1f},{height - height * value / 100:.1f}" for at, value in enumerate(self.values))


class CurveChart(msgspec.Struct, frozen=True):
    """Lines over the same places."""

    title: str
    places: Sequence[str]
    curves: Sequence[Curve]


def parts(results: Iterable[DatasetResult]) -> list[PartsChart]:
    """Datasets of which several parts are known, and whose problems can be right."""
    charts = []
    for result in results:
        if not result.rows or not result.rows[0].share:
            continue
        parts: dict[str, ClusterSums] = defaultdict(ClusterSums)
        samples: dict[str, int] = defaultdict(int)
        for problem in result.problem_results:
            if problem.category is not None:
                parts[problem.category].add(fmean(problem.values), problem.cluster)
                samples[problem.category] = max(samples[problem.category], problem.n)
        if len(parts) > 1:
            # Where parts have rows, these say what is known of them.
            known = {row.metric: row.interval for row in result.rows}
            head = result.rows[0]
            figures = sorted(
                (
                    PartFigure(
                        name,
                        sums.problems,
                        100 * sums.total / sums.problems,
                        known.get(f"{head.metric}[{name}]", head.interval and sums.interval(samples[name])),
                    )
                    for name, sums in parts.items()
                ),
                key=lambda part: (part.value, part.name),
            )
            charts.append(PartsChart(result.dataset, figures[:_PARTS_SHOWN], figures[_PARTS_SHOWN:]))
    return charts


def over_k(results: Iterable[DatasetResult]) -> list[CurveChart]:
    """pass@k and cons@k for every k that the samples allow."""
    charts = []
    for result in results:
        pairs = Counter((problem.n, problem.c) for problem in result.problem_results)
        n = min((n for n, _ in pairs), default=0)
        known = [(n, c, count) for (n, c), count in pairs.items() if c is not None]
        if n < 2 or not result.rows[:1] or not result.rows[0].share or len(known) < len(pairs):
            continue
        sizes = range(1, min(n, _MOST_K) + 1)
        curves = [
            Curve(name, [100 * fmean(_repeated(known, estimate, k)) for k in sizes])
            for name, estimate in (("pass@k", pass_at_k), ("cons@k", cons_at_k))
        ]
        charts.append(CurveChart(result.dataset, [str(k) for k in sizes], curves))
    return charts


def _repeated(
    known: Iterable[tuple[int, int, int]], estimate: Callable[[int, int, int], float], k: int
) -> Iterator[float]:
    """The estimates of all problems, of which so many have n samples and c right ones."""
    return chain.from_iterable(repeat(estimate(n, c, k), count) for n, c, count in known)
