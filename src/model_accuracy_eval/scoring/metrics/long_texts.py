"""The metrics of LongBench, to the digit as its own script computes them, whose words of Chinese are jieba's.

Its ROUGE-L is that of the package `rouge`: every sentence of one text is compared with every sentence of the other, and
what they have in common is a set of words. Where that package gives up (a sentence of a thousand words is too deep for
its recursion, and the script then counts 0), the figure here is the one that it was meant to be.
"""

import re
import string
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from functools import cache, partial
from typing import Any

from model_accuracy_eval import extras
from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.metrics.metric_type import Metric
from model_accuracy_eval.scoring.metrics.overlap import shared_f1, squad_words

_NUMBER = re.compile(r"\d+")
_CHINESE_MARKS = (
    "！？｡。＂＃＄％＆＇（）＊＋，－／：；＜＝＞＠［＼］＾＿｀｛｜｝～｟｠｢｣"
    "､、〃》「」『』【】〔〕〖〗〘〙〚〛〜〝〞〟〰〾〿–—‘’‛“”„‟…‧﹏"
)
_NO_MARKS = str.maketrans("", "", string.punctuation + _CHINESE_MARKS)
_NOT_CODE = ("`", "#", "//")
"""A line with one of these is a fence or a comment."""


def _best(value: Callable[[str, str], float], answer: str, references: Sequence[str]) -> float:
    return max((value(answer, right) for right in references), default=0.0)


def words_f1(answer: str, references: Sequence[str], *, chinese: bool = False) -> float:
    """F1 over the words, without case and punctuation, and in English without articles."""
    words = _chinese_words if chinese else squad_words

    def value(text: str, right: str) -> float:
        answered = words(text)
        return shared_f1(answered, words(right)) if answered else 0.0

    return _best(value, answer, references)


def _chinese_words(text: str) -> list[str]:
    words = (word.lower().translate(_NO_MARKS) for word in _cutter().cut(text))
    return [bare for word in words if (bare := "".join(word.split()))]


@cache
def _cutter() -> Any:
    """Its words are read from its own file: the cache that it keeps lies where other users can write."""
    jieba = extras.load("jieba")
    cutter = jieba.Tokenizer()
    cutter.FREQ, cutter.total = cutter.gen_pfdict(cutter.get_dict_file())
    cutter.initialized = True
    return cutter


def rouge_l(answer: str, references: Sequence[str], *, chinese: bool = False) -> float:
    """F1 of the words in the longest common subsequences of all pairs of sentences."""

    def cut(text: str) -> str:
        return " ".join(_cutter().cut(text)) if chinese else text

    return _best(lambda text, right: _rouge_l(_sentences(text), _sentences(cut(right))), cut(answer), references)


def _sentences(text: str) -> list[list[str]]:
    """Words between blanks; a sentence of blanks alone has one empty word."""
    return [part.split() or [""] for part in text.split(".") if part]


def _rouge_l(answer: list[list[str]], right: list[list[str]]) -> float:
    if not answer or not right:
        return 0.0
    common = set().union(*(_common_words(sentence, other) for sentence in right for other in answer))
    answered, expected = ({word for sentence in text for word in sentence} for text in (answer, right))
    precision, recall = len(common) / len(answered), len(common) / len(expected)
    return 2 * precision * recall / (precision + recall + 1e-8)


def _common_words(right: list[str], answer: list[str]) -> set[str]:
    """The words of a longest common subsequence; of several, the one that leaves the answer's end first."""
    table = [[0] * (len(answer) + 1)]
    for word in right:
        above, row = table[-1], [0]
        for column, other in enumerate(answer):
            row.append(above[column] + 1 if word == other else max(above[column + 1], row[column]))
        table.append(row)
    words, place, column = set(), len(right), len(answer)
    while place and column:
        if right[place - 1] == answer[column - 1]:
            words.add(right[place - 1])
            place, column = place - 1, column - 1
        elif table[place - 1][column] > table[place][column - 1]:
            place -= 1
        else:
            column -= 1
    return words


def one_class(answer: str, problem: Problem) -> float:
    """1 over the number of class names in the answer, if the right one is among them."""
    classes = problem.extras.get("all_classes")
    if not isinstance(classes, list):
        raise BadData(f"one_class needs the names of the classes, but problem {problem.id} has no list 'all_classes'.")
    return _best(
        lambda text, right: _class_share([name for name in classes if name in text], right), answer, problem.references
    )


def _class_share(named: list[str], right: str) -> float:
    """Names that are only a part of the right name do not count; as in the script, not every one of several is seen."""
    place = 0
    while place < len(named):
        if named[place] in right and named[place] != right:
            named.remove(named[place])  # what follows moves up, and the next one is passed over
        place += 1
    return 1 / len(named) if right in named else 0.0


def number_share(answer: str, references: Sequence[str]) -> float:
    """The share of the answer's numbers that are the first number of the right answer, digit by digit."""

    def value(text: str, right: str) -> float:
        numbers, expected = _NUMBER.findall(text), _NUMBER.findall(right)[:1]
        return sum([number] == expected for number in numbers) / len(numbers) if numbers else 0.0

    return _best(value, answer, references)


def next_line(answer: str, references: Sequence[str]) -> float:
    """How similar the first line of code in the answer is, in whole per cents."""
    lines = answer.lstrip("\n").split("\n")
    line = next((line for line in lines if not any(mark in line for mark in _NOT_CODE)), "")
    return _best(_ratio, line, references)


def _ratio(answer: str, right: str) -> float:
    if not answer or not right:
        return float(answer == right)
    return round(100 * SequenceMatcher(None, answer, right).ratio()) / 100


_CHINESE = ("jieba",)

LONG_TEXT_METRICS = {
    "words_f1": Metric(score=words_f1),
    "words_f1_zh": Metric(score=partial(words_f1, chinese=True), needs=_CHINESE),
    "sentence_rouge_l": Metric(score=rouge_l),
    "sentence_rouge_l_zh": Metric(score=partial(rouge_l, chinese=True), needs=_CHINESE),
    "one_class": Metric(score=one_class, reads="answers in their problem"),
    "number_share": Metric(score=number_share),
    "next_line": Metric(score=next_line),
}
