from html.parser import HTMLParser
from itertools import cycle, islice
from typing import Any, get_args

import pytest
from msgspec.structs import replace
from tests.packed_page import data_elements, index_of
from tests.small_task import small_task
from tests.unit.report import fixed_report

from model_accuracy_eval.records import (
    Attempt,
    Conclusion,
    Counts,
    DatasetResult,
    MetricUse,
    Outcome,
    Pipeline,
    Problem,
    ProblemResult,
    Report,
    RunPlan,
    Sampling,
    Service,
    Settings,
    Speed,
    Spread,
    SummaryRow,
    TaskSpec,
    VerdictReason,
)
from model_accuracy_eval.report import page
from model_accuracy_eval.report.page_replies import PackedReplies
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.scoring.verdicts import gate_lines, gates

HOSTILE = (
    "<script>document.title='owned'</script>"
    "</style></script></pre></td><img src=x onerror=\"document.title='owned'\">"
    "{{ 7*7 }}{% raw %}<!-- \"'> 🦆 \u202eright to left\u202c \u05e9\u05dc\u05d5\u05dd \x00\ud800"
)
VOID = {"meta", "link", "input", "img", "br"}


class Page(HTMLParser):
    """The elements and texts of a page, and whether every tag is closed in order."""

    def __init__(self, html: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(html.decode())
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "script" not in self._open and "style" not in self._open:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def all(self, tag: str, **attributes: str) -> list[dict[str, str | None]]:
        wanted = attributes.items()
        return [found for name, found in self.elements if name == tag and wanted <= found.items()]


def task(name: str = "sums") -> TaskSpec:
    metric = MetricUse(name="exact", label="accuracy")
    return small_task(name, "{{ question }}", "{{ answer }}", pipelines=(Pipeline(metrics=(metric,)),))


def problem_result(number: int, why: tuple[VerdictReason, ...], *, gold: str = "4", wrong: str = "5") -> ProblemResult:
    said: dict[str, str] = {"right": gold, "wrong": wrong}
    return fixed_report.problem_result(number, why, tuple(said.get(one) for one in why), gold)


def rows_of(problem_results: tuple[ProblemResult, ...], name: str, n: int) -> tuple[SummaryRow, ...]:
    """What the scorecard says about replies that were judged so."""
    card = Scorecard(task(name), n, (n,))
    for one in problem_results:
        asked = Problem(id=one.problem, messages=(), references=one.references)
        card.judge(
            asked, [Attempt(problem=one.problem, index=at, text=said or "") for at, said in enumerate(one.answers)]
        )
    return card.rows("0ba9da")


def dataset_result(problem_results: tuple[ProblemResult, ...], name: str = "sums", **more: Any) -> DatasetResult:
    n = problem_results[0].n if problem_results else 2
    counts = Counts(planned=n * len(problem_results), answered=n * len(problem_results))
    rows = rows_of(problem_results, name, n)
    return DatasetResult(
        dataset=name, version="0ba9da", rows=rows, problem_results=problem_results, **{"counts": counts, **more}
    )


def report(*dataset_results: DatasetResult, conclusion: Conclusion = "passed", gate: str = "", **more: Any) -> Report:
    rows = [row for one in dataset_results for row in one.rows]
    n = dataset_results[0].problem_results[0].n if dataset_results and dataset_results[0].problem_results else 2
    wanted = gate_lines.parse(gate)
    plan = RunPlan(
        run_id="0" * 32,
        stamp="20260326_151326",
        settings=Settings(adapter="acme/adapter"),
        tasks=(task(),),
        gates=wanted,
        sampling=Sampling(n=n),
        k=(n,),
    )
    return Report(
        plan=plan,
        outcome=Outcome(conclusion=conclusion, exit_code=0, stage="publish", sentence="All is said.", **more),
        dataset_results=dataset_results,
        gates=gates.results(plan, rows),
        started="2026-03-26T15:13:26+0000",
        finished="2026-03-26T15:21:44+0000",
    )


MIXED = (
    problem_result(0, ("right", "right")),
    problem_result(1, ("wrong", "wrong")),
    problem_result(2, ("right", "wrong")),
    problem_result(3, ("failed", "wrong")),
)
QUESTIONS = {"sums": {0: "2 + 2?", 1: "1 + 3?", 2: "0 + 4?", 3: "4 + 0?"}}


def test_order_and_states() -> None:
    """Problems with lost samples come first, then unstable ones, then wrong ones, then right ones."""
    html = page.as_html(report(dataset_result(MIXED)), QUESTIONS).decode()
    ids = [html.index(f'class="id">{number}<') for number in (3, 2, 1, 0)]
    assert ids == sorted(ids)
    states = [row["data-state"] for row in Page(html.encode()).all("tr") if "data-state" in row]
    assert states == ["wrong", "unstable", "wrong", "right"]


def test_hostile_text_is_text() -> None:
    """Whatever a question, an answer, a note or an error says, it opens no element and fills no template."""
    strange = dataset_result(
        (problem_result(0, ("right", "wrong"), gold=HOSTILE, wrong=HOSTILE[:60]),), notes=(HOSTILE,)
    )
    html = page.as_html(report(strange, detail=HOSTILE), {"sums": {0: HOSTILE}})
    found = Page(html)
    assert [one.get("type") for one in found.all("script")] == ["application/octet-stream", None]
    assert found.all("img") == []
    assert "{{ 7*7 }}{% raw %}" in found.text
    assert "<script>document.title='owned'</script>" in found.text


def test_page_needs_nothing_else() -> None:
    """No element names an address outside the page, and the page's policy allows none."""
    found = Page(page.as_html(report(dataset_result(MIXED)), QUESTIONS))
    addresses = [attributes.get(name) for _, attributes in found.elements for name in ("src", "href", "action")]
    assert all(one is None or one.startswith(("#", "data:")) for one in addresses)
    policy = found.all("meta", **{"http-equiv": "Content-Security-Policy"})[0]["content"] or ""
    assert policy.startswith("default-src 'none'; ")
    assert "url(" not in page.as_html(report(), {}).decode()


def test_anchors_lead_somewhere() -> None:
    """Every link of the page has its target, with and without figures."""
    for one in (report(dataset_result(MIXED)), report()):
        found = Page(page.as_html(one, QUESTIONS))
        targets = {attributes.get("id") for _, attributes in found.elements}
        assert {(link["href"] or "")[1:] for link in found.all("a")} <= targets


@pytest.mark.parametrize("conclusion", get_args(Conclusion))
def test_every_conclusion_has_its_page(conclusion: Conclusion) -> None:
    """However a run ended, and however little it left, its page says so in words."""
    for one in (
        report(conclusion=conclusion),
        report(dataset_result(()), conclusion=conclusion, detail="line 1\nline 2"),
    ):
        found = Page(page.as_html(one, {}))
        assert "All is said." in found.text
        assert len(found.all("h1")) == 1


def test_unknown_is_a_dash() -> None:
    """A dataset without figures, timings and tokens shows dashes, never zeroes or `None`."""
    text = Page(page.as_html(report(dataset_result(()), conclusion="stopped"), {})).text
    assert "None" not in text
    assert "– prompt tokens, – completion tokens" in text
    assert "No problem has all its samples." in text


def test_gate_shows_figure_and_decision() -> None:
    """A gate stands beside its figure, its interval and the decision in words."""
    text = Page(
        page.as_html(report(dataset_result(MIXED), gate="sums: avg@2 >= 99", conclusion="failed"), QUESTIONS)
    ).text
    assert "sums: avg@2 >= 99 37.50" in text
    assert "✗ failed" in text


def test_left_out_problems_are_counted() -> None:
    """A page with many problems holds the most telling ones, and says how many are left out and where all are."""
    kinds: tuple[tuple[VerdictReason, ...], ...] = (("right", "right"), ("right", "wrong"), ("wrong", "wrong"))
    problem_results = tuple(problem_result(number, why) for number, why in enumerate(islice(cycle(kinds), 1200)))
    html = page.as_html(report(dataset_result(problem_results)), {})
    text = Page(html).text
    assert len(index_of(html)["datasets"][0]["rows"]) == 1200
    assert "100 of 1,200 problems are shown without scripts; results/" in text
    assert "results/vllm-api-stream-chat/sums.json" in text


@pytest.mark.parametrize("n", [1, 2, 20, 21, 100])
def test_distribution_counts_every_problem(n: int) -> None:
    """However many samples a problem has, the columns of the distribution add up to all problems."""
    right: tuple[VerdictReason, ...] = ("right",)
    wrong: tuple[VerdictReason, ...] = ("wrong",)
    problem_results = tuple(problem_result(c, right * c + wrong * (n - c)) for c in range(n + 1))
    found = Page(page.as_html(report(dataset_result(problem_results)), {}))
    label = next(one["aria-label"] for one in found.all("svg", role="img")) or ""
    assert sum(int(part.split(": ")[1].split()[0]) for part in label.split(", ")) == n + 1


def weighed(**figures: float | None) -> DatasetResult:
    """Two texts that were weighed, one of them lost, and the figures of both together."""
    alone = {"word_perplexity": None, "logprob": -3.5}
    problem_results = (
        replace(problem_result(0, ("wrong",)), c=None, figures=alone, answers=("",)),
        replace(problem_result(1, ("failed",)), c=None, figures={}, answers=("",)),
    )
    rows = tuple(
        SummaryRow(
            dataset="texts", version="0ba9da", metric=name, value=value, share=False, higher_is_better=name == "logprob"
        )
        for name, value in figures.items()
    )
    return DatasetResult(
        dataset="texts",
        version="0ba9da",
        rows=rows,
        problem_results=problem_results,
        counts=Counts(planned=2, answered=1, failed=1),
    )


def test_only_shares_are_per_cent() -> None:
    """A perplexity beside accuracies has neither a % nor a place between 0 and 100, at a gate as little as among the
    figures; the caption tells the two apart."""
    gate = "texts: word_perplexity < 9\nsums: accuracy (2 runs average) >= 10"
    found = Page(page.as_html(report(dataset_result(MIXED), weighed(word_perplexity=12.5), gate=gate), QUESTIONS))
    assert "37.50 %" in found.text
    assert "12.50 %" not in found.text
    assert "Figures without % have a scale of their own" in found.text
    tracks = len(found.all("line", **{"class": "track"}))
    scaled = len([row for row in dataset_result(MIXED).rows if row.share])
    assert tracks == scaled + 1
    assert len(found.all("line", **{"class": "gate"})) == 2


def test_what_is_measured_is_neither_right_nor_wrong() -> None:
    """No distribution and no marks of right and wrong; a problem's own figure where it has one, and losses stay."""
    found = Page(page.as_html(report(weighed(logprob=-3.5)), {}))
    assert [row["data-state"] for row in found.all("tr") if "data-state" in row] == ["unjudged", "unjudged"]
    assert found.all("section", id="spread") == []
    assert "-3.50" in found.text
    assert "! failed" in " ".join(found.text.split("Problem by problem")[1].split("texts", 1)[1].split())


def packed(*chunks: str) -> dict[str, PackedReplies]:
    return {"sums": PackedReplies(chunks, dict.fromkeys(range(4), 0))}


def test_replies_that_fit_stand_in_the_page() -> None:
    """Every chunk is in the page under the name that the index leads to, and there is no second page."""
    one = report(dataset_result(MIXED))
    html = page.as_html(one, QUESTIONS, packed("AAAA", "BBBB"))
    assert {name: content for name, content in data_elements(html).items() if name != "index"} == {
        "chunk-0-0": "AAAA",
        "chunk-0-1": "BBBB",
    }
    assert index_of(html)["elsewhere"] == ""
    assert page.replies_page(one, QUESTIONS, packed("AAAA", "BBBB")) is None


def test_replies_that_do_not_fit_have_a_page_of_their_own() -> None:
    """The page stays below 20 MB and says where the replies are; it claims to have none of them."""
    one, large = report(dataset_result(MIXED)), packed("A" * page.LARGEST, "A")
    html = page.as_html(one, QUESTIONS, large)
    assert len(html) < 1_000_000
    assert list(data_elements(html)) == ["index"]
    assert index_of(html)["elsewhere"] == page.REPLIES_PAGE
    assert {row[-1] for row in index_of(html)["datasets"][0]["rows"]} == {-1}
    assert page.REPLIES_PAGE in Page(html).text
    beside = page.replies_page(one, QUESTIONS, large)
    assert beside is not None
    assert list(data_elements(beside)) == ["index", "chunk-0-0", "chunk-0-1"]
    assert Page(beside).all("a", href="report.html")


def test_own_ids_are_shown() -> None:
    """The ids that the user gave the rows stand beside their numbers."""
    named = replace(MIXED[0], key=("row-17", "b"))
    html = page.as_html(report(dataset_result((named,))), QUESTIONS)
    assert "row-17 · b" in Page(html).text
    assert index_of(html)["datasets"][0]["rows"][0][1] == "row-17 · b"


def test_unknown_and_huge_figures_stay_readable() -> None:
    """An unknown one has no unit, and twenty digits are not read by anybody."""
    text = Page(page.as_html(report(weighed(word_perplexity=6.409706539046696e18, logprob=None)), {})).text
    assert "6.41e+18" in text
    assert "6409706539046" not in text
    assert "- %" not in text


def test_graded_metric() -> None:
    """Where a sample is more or less right, its share stands in place of a count."""
    graded = replace(problem_result(0, ("wrong", "wrong")), c=None, values=(0.25, 0.75))
    found = Page(page.as_html(report(dataset_result((graded,))), {}))
    assert "50 %" in found.text
    assert [row["data-state"] for row in found.all("tr") if "data-state" in row] == ["unstable"]


def test_long_question_is_cut() -> None:
    """Of a very long question the page holds the beginning and says how much is left out."""
    html = page.as_html(report(dataset_result(MIXED[:1])), {"sums": {0: "why " * 5000}})
    assert "and 18,000 more characters" in Page(html).text
    assert len(html) < 100_000


def test_without_shares_nothing_is_said_of_them() -> None:
    """Neither a per cent, nor an accuracy, nor an interval; but which way is better."""
    one = report(weighed(word_perplexity=12.5, logprob=-3.5))
    five = replace(one.plan, sampling=Sampling(n=5))
    found = Page(page.as_html(replace(one, plan=five), {}))
    assert "avg@" not in found.text
    assert found.text.count("%") == found.text.count("95 %") + found.text.count("Figures without %")
    assert "The share of problems" not in found.text
    assert "word_perplexity Lower is better" in found.text
    assert "logprob Higher is better" in found.text


def test_speed_and_service() -> None:
    """Timings have units that fit them, and the model's name is the one that the service gave."""
    spread = Spread(mean=0.0042, p50=0.2, p90=2.0, p95=2.5, p99=130, maximum=3600)
    one = report(dataset_result(MIXED, speed=Speed(ttft=spread, prompt_tokens=1234)))
    one = replace(one, service=Service(base_url="http://localhost:8000", model="/models/m"))
    text = Page(page.as_html(one, QUESTIONS)).text
    assert "time to first text 4.2 ms 200 ms 2.50 s 2 min 10 s 60 min 00 s" in text
    assert "1,234 prompt tokens, – completion tokens" in text
    assert "/models/m" in text
