"""Datasets problem by problem, as the page shows them: how often each problem is right, and the answers to it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import ceil, fsum
from statistics import fmean
from typing import Literal

import msgspec

from model_accuracy_eval.records import DatasetResult, Interval, ProblemResult, VerdictReason
from model_accuracy_eval.report import figures
from model_accuracy_eval.report.languages import say
from model_accuracy_eval.report.markdown import valid_unicode
from model_accuracy_eval.report.page_replies import PackedReplies, packed
from model_accuracy_eval.scoring.figures.intervals import ClusterSums
from model_accuracy_eval.scoring.figures.reductions import ESTIMATORS

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


class ExplorerRow(msgspec.Struct, array_like=True):
    """One problem. The page's script reads the fields by their places."""

    id: int
    key: str
    """The user's own id; empty if there is none."""
    state: str
    score: str
    why: str
    """A letter for each sample."""
    teaser: str
    gold: str
    answers: list[tuple[str | None, str, int]]
    """Text, letter and number of samples of each different answer, in the order of their first appearance."""
    part: str | None
    chunk: int = -1
    """-1: the page does not have its replies."""


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
    rows: tuple[ExplorerRow, ...]
    left_out: int
    figure: str | None
    """The metric to show for a problem where none can be right or wrong."""
    questions: Mapping[int, str]

    def all_rows(self) -> Iterator[ExplorerRow]:
        """Every problem, the most telling first: those left out are without a surprise. Made when needed, for there may
        be many."""
        results = sorted(self.dataset_result.problem_results, key=_interest)
        return (_row(result, self.questions.get(result.problem, ""), self.figure) for result in results)

    def question(self, problem: int) -> tuple[str, int]:
        """As much of it as the page shows, and how many characters are left out."""
        question = valid_unicode(self.questions.get(problem, ""))
        return question[:_QUESTION], max(0, len(question) - _QUESTION)


def of(dataset_results: Sequence[DatasetResult], questions: Mapping[str, Mapping[int, str]]) -> list[Section]:
    """A section for every dataset, with as many problems as the page has space for. `questions` as in `page`."""
    most = max(_LEAST_PROBLEMS, min(MOST_PROBLEMS, _ALL_PROBLEMS // max(len(dataset_results), 1)))
    return [_section(result, questions.get(result.dataset, {}), most) for result in dataset_results]


def _section(dataset_result: DatasetResult, questions: Mapping[int, str], most: int) -> Section:
    results = dataset_result.problem_results
    first = dataset_result.rows[0] if dataset_result.rows else None
    section = Section(
        dataset_result=dataset_result,
        share=first is None or first.share,
        bars=_bars(results) if first is None or first.share else (),
        rows=(),
        left_out=max(0, len(results) - most),
        figure=None if first is None or first.share else first.metric,
        questions=questions,
    )
    return msgspec.structs.replace(section, rows=tuple(islice(section.all_rows(), most)))


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


def _row(result: ProblemResult, question: str, figure: str | None) -> ExplorerRow:
    """`figure` names the metric to show where no problem can be right or wrong."""
    state: str = _state(result)
    score, why = f"{result.c}/{result.n}", result.why
    if result.c is None:
        score = f"{100 * _mean(result):.0f} %"
    if figure is not None:
        value = result.figures.get(figure)
        state, score = "unjudged", "–" if value is None else figures.number(value)
        why = tuple("unjudged" if reason in {"right", "wrong"} else reason for reason in why)
    letters = "".join(LETTERS[reason] for reason in why)
    texts = (None if answer is None else _shorten(answer, _ANSWER) for answer in result.answers)
    answers = Counter(zip(texts, letters, strict=True))
    return ExplorerRow(
        id=result.problem,
        key=valid_unicode(" · ".join(result.key)),
        state=state,
        score=score,
        why=letters,
        teaser=_shorten(" ".join(question[: 4 * _TEASER].split()), _TEASER),
        gold=_shorten(result.references[0] if result.references else "", _ANSWER),
        answers=[(text, letter, count) for (text, letter), count in answers.items()],
        part=result.category and valid_unicode(result.category),
    )


def _shorten(text: str, most: int) -> str:
    return valid_unicode(text if len(text) <= most else text[: most - 1] + "…")


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
    datasets = []
    for section in sections:
        name = section.dataset_result.dataset
        datasets.append(ExplorerDataset(name, section.share, _placed(section.all_rows(), replies.get(name))))
    return packed([msgspec.json.encode(ExplorerIndex(_said(FILTERS), datasets, elsewhere))])


def _said(filters: Filters) -> Filters:
    return [(name, say(title)) for name, title in filters]


def _placed(rows: Iterable[ExplorerRow], replies: PackedReplies | None) -> list[ExplorerRow]:
    """The rows with the chunks that have their replies."""
    placed = list(rows)
    for row in placed:
        row.chunk = replies.places.get(row.id, -1) if replies else -1
    return placed


def compared_index(
    old: Sequence[Section], new: Sequence[Section], states: Mapping[str, Mapping[int, str]], replies: Packed
) -> str:
    """Two runs problem by problem: those of the new one, where both have them, the changed ones first."""
    before = {section.dataset_result.dataset: section for section in old}
    datasets = []
    for section in new:
        name = section.dataset_result.dataset
        state_of = states.get(name, {})
        scores = {row.id: row.score for row in before[name].all_rows()} if state_of else {}
        rows = _placed((row for row in section.all_rows() if row.id in state_of), replies.get(name))
        for row in rows:
            row.score, row.state = f"{scores[row.id]} → {row.score}", state_of[row.id]
        rows.sort(key=lambda row: ("worse", "better", "same").index(row.state))
        datasets.append(ExplorerDataset(name, section.share, rows))
    return packed([msgspec.json.encode(ExplorerIndex(_said(COMPARED_FILTERS), datasets))])


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


class CurveChart(msgspec.Struct, frozen=True):
    """pass@k and cons@k of one dataset, per cent, from k = 1 on."""

    dataset: str
    curves: dict[str, list[float]]

    def points(self, name: str, width: float, height: float) -> str:
        """One line as SVG writes it."""
        step = width / max(len(self.curves[name]) - 1, 1)
        places = enumerate(self.curves[name])
        return " ".join(f"{step * at:.1f},{height - height * value / 100:.1f}" for at, value in places)


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
        # Of so many problems, which have n samples and c right ones.
        alike = Counter((problem.n, problem.c) for problem in result.problem_results)
        known = [(n, c, count) for (n, c), count in alike.items() if c is not None]
        n = min((n for n, _ in alike), default=0)
        if n < 2 or not result.rows[:1] or not result.rows[0].share or len(known) < len(alike):
            continue
        curves = {
            f"{kind}@k": [
                100 * fsum(count * estimate(n, c, k) for n, c, count in known) / alike.total()
                for k in range(1, min(n, _MOST_K) + 1)
            ]
            for kind, estimate in ESTIMATORS.items()
        }
        charts.append(CurveChart(result.dataset, curves))
    return charts
