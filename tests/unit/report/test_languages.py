"""The table of fixed words: complete in both columns, and what page, comment and terminal show in Chinese."""

import ast
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.unit.report.comment_samples import against_baseline
from tests.unit.report.fixed_report import many, single
from tests.unit.report.rendered import render

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.records import FigureBounds, Gate, Report, SummaryRow
from model_accuracy_eval.report import comment, languages, page, terminal
from model_accuracy_eval.report.endings import CONCLUSIONS
from model_accuracy_eval.scoring.figures import notes
from model_accuracy_eval.scoring.verdicts import gates

SRC = Path(languages.__file__).parent.parent
REPORT = SRC / "report"
SOURCES = [path.read_text() for path in (*REPORT.glob("*.py"), SRC / "run/outcome.py", SRC / "commands/view.py")]
TEMPLATES = "".join(path.read_text() for path in sorted((REPORT / "templates").iterdir()))
_NAMES = re.compile(r"\{(\w+)\}")
_IN_TEMPLATES = re.compile(r'\bsay(?:With)?\(\s*"((?:[^"\\]|\\.)+)"')
TERMS = """
accuracy avg pass cons runs average top_p max_tokens token min Markdown Esc head commit artifact pull request seed gen
vllm api stream chat demo_gsm8k gsm8k demo_arithmetic weights python model-accuracy-eval history outputs report run json
results engine chips vLLM torch serves with serve text-generation odd sums big server none all vllm-api-stream-chat my-model
fedcba html ffffffffffffffffffffffffffffffff
"""
"""What is the same in both languages, and what the reports of this test are about."""


def said() -> Iterator[str]:
    """Every fixed word that code and templates name."""
    for source in SOURCES:
        calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
        for first in (call.args[0] for call in calls if getattr(call.func, "id", "") == "say"):
            if isinstance(first, ast.Constant):
                yield str(first.value)
    yield from _IN_TEMPLATES.findall(TEMPLATES)


def test_both_columns_are_complete() -> None:
    """Whatever is said has its row, with the same figures in both languages; no row is left over."""
    table = languages.chinese()
    assert [words for words in said() if words not in table] == []
    assert [
        english for english, chinese in table.items() if {*_NAMES.findall(english)} != {*_NAMES.findall(chinese)}
    ] == []
    nodes = (node for source in SOURCES for node in ast.walk(ast.parse(source)))
    constants = {node.value for node in nodes if isinstance(node, ast.Constant)}
    stages = {"preflight", "weights", "deploy", "infer", "score", "diagnose", "gates", "done"}
    known = {*constants, *stages}
    assert [words for words in table if words not in known and f'"{words}"' not in TEMPLATES] == []


class _Shown(HTMLParser):
    """What a reader of a page meets: texts, and attributes that are read or shown."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._hidden = ""
        self.feed(source)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._hidden = tag if tag in {"script", "style"} else self._hidden
        self.texts += [
            value or "" for name, value in attributes if name in {"aria-label", "placeholder", "title", "data-label"}
        ]

    def handle_endtag(self, tag: str) -> None:
        self._hidden = "" if tag == self._hidden else self._hidden

    def handle_data(self, data: str) -> None:
        self.texts += [] if self._hidden else [data]


def left_in_english(text: str) -> list[str]:
    return [
        word for word in re.findall(r"(?<![\w/])[A-Za-z][A-Za-z_-]{2,}(?![\w:/@])", text) if word not in TERMS.split()
    ]


def plain(report: Report) -> Report:
    """The report, with Chinese where models, gates and notes speak."""
    return replace(
        report,
        outcome=replace(report.outcome, sentence="句。", detail="详。", folder="/runs"),
        gates=tuple(replace(gate, sentence="门。") for gate in report.gates),
        dataset_results=tuple(replace(result, notes=("注。",)) for result in report.dataset_results),
    )


@pytest.mark.parametrize("report", [many(), single(), against_baseline(many())])
def test_nothing_fixed_is_left_in_english(report: Report) -> None:
    """On the terminal, in the comment and on the page; English is what it was before."""
    before = terminal.as_text(report)
    with languages.reading("zh"):
        shown = {
            "terminal": terminal.as_text(plain(report)),
            "comment": " ".join(render(comment.as_comment(plain(report))).texts),
            "page": "\n".join(_Shown(page.as_html(plain(report), {}).decode()).texts),
        }
    assert {name: left for name, text in shown.items() if (left := left_in_english(text))} == {}
    assert "模型" in shown["terminal"]
    assert terminal.as_text(report) == before


SPEAKING = [SRC / "scoring" / path for path in ("verdicts/gates.py", "figures/run_speed.py", "figures/notes.py")]


def spoken(path: Path) -> Iterator[str]:
    """What a module says of gates and figures: the words between the numbers, its documentation aside."""
    nodes = [*ast.walk(ast.parse(path.read_text()))]
    documentation = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        words = node.value if isinstance(node, ast.Constant) and id(node) not in documentation else None
        if isinstance(words, str) and len(words.split()) > 2 and "\\" not in words:
            yield _NAMES.sub("\0", words.strip(" ,;.:({'"))


def test_every_sentence_of_gates_and_notes_has_its_template() -> None:
    """No words of theirs are missing in the table, and figures are the same in both languages."""
    table = languages.chinese_sentences()
    templates = [_NAMES.sub("\0", english) for english in table]
    missing = [words for path in SPEAKING for words in spoken(path) if not any(words in one for one in templates)]
    assert missing == []
    assert [english for english, told in table.items() if {*_NAMES.findall(english)} != {*_NAMES.findall(told)}] == []


def test_gates_and_notes_speak_chinese_on_each_surface() -> None:
    """As the run's files have them in English: a figure on its own, one with lost samples, none at all."""
    lost = gates.WithoutVerdict({"gsm8k": 3}, "f.jsonl")
    gate = Gate(dataset="gsm8k", metric="avg@5", comparison=">=", threshold=70)
    row = SummaryRow(dataset="gsm8k", version="v", metric="avg@5", value=70.5, stderr=1.0)
    unsure = replace(row, bounds=FigureBounds(low=69.0, high=71.0, samples=3))
    decided = tuple(gates.result(gate, each, None, gates.GateRule(), lost) for each in (row, unsure, None))
    report = plain(many())
    ending = replace(report.outcome, sentence=f"{decided[0].sentence} 句。")
    of_first = replace(report.dataset_results[0], notes=tuple(notes.without_finish_reason({None: 2, "stop": 1})))
    report = replace(report, gates=decided, outcome=ending, dataset_results=(of_first,))
    with languages.reading("zh"):
        shown = (terminal.as_text(report), comment.as_comment(report), page.as_html(report, {}).decode())
        title = comment.as_check(report).title
    for text in shown:
        assert all(words in text for words in ("再问一遍时", "gsm8k 的 3 个样本没有结论", "没有数值", "可能被截断"))
        assert not {"undecided:", "finish_reason although"} & set(re.findall("undecided:|finish_reason although", text))
    assert "avg@5 >= 70 未决：avg@5 为 70.50" in title


@pytest.mark.parametrize("conclusion", CONCLUSIONS)
def test_every_ending_has_words(conclusion: str) -> None:
    """In the heading of the comment, as in the table."""
    report = many()
    ended = replace(report, outcome=replace(report.outcome, conclusion=conclusion))
    with languages.reading("zh"):
        assert left_in_english(comment.as_check(plain(ended)).title) == []


def test_a_language_that_there_is_not_is_refused() -> None:
    """With those that there are."""
    with pytest.raises(UnknownName, match="no language called 'fr'"):
        languages.use("fr")
