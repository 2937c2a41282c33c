"""How similar an answer is to the right one: words in common, edits apart. Of several right answers the best counts."""

import re
import string
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache, partial
from typing import Any, Literal

from model_accuracy_eval import extras
from model_accuracy_eval.errors import BadData, BadValue
from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.metrics import metric_type
from model_accuracy_eval.scoring.metrics.metric_type import Metric, in_problem, of_best

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_CJK = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"


# Words in common. What counts as a word is each benchmark's own.


_Words = Callable[[str], list[str]]


def _same_words(words: _Words, answer: str, right: str) -> bool:
    return words(answer) == words(right)


def _f1(words: _Words, of_nothing: float, answer: str, right: str) -> float:
    """Harmonic mean of precision and recall over the common words. `of_nothing`: where neither text has any."""
    said, expected = Counter(words(answer)), Counter(words(right))
    size = said.total() + expected.total()
    return 2 * (said & expected).total() / size if size else of_nothing


def _squad_words(text: str) -> list[str]:
    bare = text.lower().translate(str.maketrans("", "", string.punctuation))
    return _ARTICLES.sub(" ", bare).split()


def _trivia_words(text: str) -> list[str]:
    bare = "".join(" " if letter in string.punctuation + "‘’´`" else letter for letter in text.lower())
    return _ARTICLES.sub(" ", bare).split()


_CHINESE_MARKS = (
    "！？｡。＂＃＄％＆＇（）＊＋，－／：；＜＝＞＠［＼］＾＿｀｛｜｝～｟｠｢｣"
    "､、〃》「」『』【】〔〕〖〗〘〙〚〛〜〝〞〟〰〾〿–—‘’‛“”„‟…‧﹏"
)
_NO_MARKS = str.maketrans("", "", string.punctuation + _CHINESE_MARKS)


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


# Edits, and runs of words.


def edit_distance(answer: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """Levenshtein distance: the fewest insertions, deletions and substitutions."""
    row = list(range(len(right) + 1))
    for place, item in enumerate(answer, 1):
        diagonal, row[0] = row[0], place
        for column, other in enumerate(right, 1):
            cost = min(row[column] + 1, row[column - 1] + 1, diagonal + (item != other))
            diagonal, row[column] = row[column], cost
    return row[-1]


def edit_similarity(answer: str, right: str) -> float:
    """1 − edits / length of the longer text."""
    return 1 - edit_distance(answer, right) / max(len(answer), len(right), 1)


def anls(answer: str, right: str, *, threshold: float = 0.5) -> float:
    """Edit similarity, whatever the case and the number of blanks; 0 below the threshold."""
    similarity = edit_similarity(*(" ".join(text.lower().split()) for text in (answer, right)))
    return similarity if similarity >= threshold else 0.0


def word_error_rate(answer: str, references: Sequence[str]) -> float:
    """Edits of whole words per word of the right answer; of several right answers the closest counts."""
    rights = map(str.split, references)
    return min((edit_distance(answer.split(), right) / max(len(right), 1) for right in rights), default=1.0)


def rouge(
    answer: str,
    right: str,
    *,
    n_gram: Literal["1", "2", "l"] | int = "1",
    index: str = "f1",
    tokenizer: Literal["word", "char"] = "word",
) -> float:
    """ROUGE-1, -2 or -L: precision, recall or F1 over n-grams, or over the longest common subsequence.

    _Words are runs of ASCII letters and digits in small letters, without stemming; every Chinese, Japanese or Korean
    character is a word.
    """
    size, kind = str(n_gram).lower(), index[:1].lower()
    if size not in {"1", "2", "l"} or kind not in {"f", "p", "r"} or tokenizer not in {"word", "char"}:
        raise BadValue(
            "rouge has n_gram 1, 2 or l, index f1, precision or recall, and tokenizer word or char; "
            f"there is no '{n_gram}', '{index}', '{tokenizer}'."
        )
    token = r"\S" if tokenizer == "char" else rf"[a-z0-9]+|[{_CJK}]"
    said, expected = (re.findall(token, text.lower()) for text in (answer, right))
    if size == "l":
        (lengths,) = deque(_common_lengths(said, expected), maxlen=1)
        common, of_said, of_expected = lengths[-1], len(said), len(expected)
    else:
        grams, others = (
            Counter(zip(*(words[start:] for start in range(int(size))), strict=False)) for words in (said, expected)
        )
        common, of_said, of_expected = (grams & others).total(), grams.total(), others.total()
    total = {"p": of_said, "r": of_expected, "f": (of_said + of_expected) / 2}[kind]
    return common / total if common else 0.0


def _common_lengths(one: list[str], other: list[str]) -> Iterator[list[int]]:
    """For each beginning of one text, the lengths of the longest subsequences that beginnings of the other share."""
    row = [0] * (len(other) + 1)
    yield row
    for word in one:
        above, row = row, [0]
        for column, right in enumerate(other):
            row.append(above[column] + 1 if word == right else max(above[column + 1], row[column]))
        yield row


# DROP's figures, which align several answers.


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _drop_word(word: str) -> str:
    """Small letters without punctuation and articles; a number as Python writes it."""
    bare = word.lower()
    if not _is_number(bare):
        bare = "".join(letter for letter in bare if letter not in string.punctuation)
    bare = str(float(bare)) if _is_number(bare) else bare
    return " ".join(_ARTICLES.sub(" ", bare).split())


def _drop_answers(text: str) -> list[str]:
    """The answers in a text: its lines, normalised."""
    lines = [line for line in text.split("\n") if line.strip()] or [""]
    return [" ".join(filter(None, map(_drop_word, re.split("[ -]", line)))) for line in lines]


def _bag_f1(answer: set[str], right: set[str]) -> float:
    """F1 over the words as a set; 0 if the right answer has numbers and the answer none of them."""
    numbers = {word for word in right if _is_number(word)}
    if numbers and not numbers & answer:
        return 0.0
    common = len(answer & right)
    precision = common / len(answer) if answer else 1.0
    recall = common / len(right) if right else 1.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


_LEAST_GAIN = 1e-9
"""Smaller ones are roundings."""


def best_pairs(values: Sequence[Sequence[float]]) -> float:
    """The greatest sum of values of which no two share a row or a column; there are at least as many columns as rows.

    Row by row: the new one takes its best column; a row that had it moves to another, as long as all gain by it.
    """
    row_of: dict[int, int] = {}
    for row, gains in enumerate(values):
        gain, column_before = list(gains), [-1] * len(gains)
        is_better = True
        while is_better:
            is_better = False
            for taken, other in row_of.items():
                for column, value in enumerate(values[other]):
                    moved = gain[taken] - values[other][taken] + value
                    if moved > gain[column] + _LEAST_GAIN:
                        gain[column], column_before[column], is_better = moved, taken, True
        column = max((one for one in range(len(gain)) if one not in row_of), key=gain.__getitem__)
        while (taken := column_before[column]) >= 0:
            row_of[column], column = row_of[taken], taken
        row_of[column] = row
    return sum(values[row][column] for column, row in sorted(row_of.items()))


def drop_em(answer: str, right: str) -> bool:
    """1 if the lines of the answer are those of a right answer, in any order, apart from case, punctuation, articles
    and how numbers are written."""
    answers, rights = _drop_answers(answer), _drop_answers(right)
    return bool(right.strip()) and set(answers) == set(rights) and len(answers) == len(rights)


def drop_f1(answer: str, right: str) -> float:
    """F1 over words, mean over the lines of the answer and of the right one in their best order, to two decimals."""
    answers, rights = _drop_answers(answer), _drop_answers(right)
    values = [[_bag_f1(set(one.split()), set(other.split())) for one in answers] for other in rights]
    if len(answers) < len(rights):
        values = [list(column) for column in zip(*values, strict=True)]
    # To even hundredths where it is in the middle, as NumPy rounds.
    return round(100 * best_pairs(values) / max(len(answers), len(rights))) / 100 if right.strip() else 0.0


# The metrics of LongBench, to the digit as its own script computes them, whose words of Chinese are jieba's.
#
# Its ROUGE-L is that of the package `rouge`: every sentence of one text is compared with every sentence of the other,
# and what they have in common is a set of words. Where that package gives up (a sentence of a thousand words is too
# deep for its recursion, and the script then counts 0), the figure here is the one that it was meant to be.


_NUMBER = re.compile(r"\d+")
_NOT_CODE = ("`", "#", "//")
"""A line with one of these is a fence or a comment."""


def rouge_l(answer: str, right: str, *, chinese: bool = False) -> float:
    """F1 of the words in the longest common subsequences of all pairs of sentences."""
    texts = (" ".join(_cutter().cut(text)) if chinese else text for text in (answer, right))
    # Words between blanks; a sentence of blanks alone has one empty word.
    said, expected = ([part.split() or [""] for part in text.split(".") if part] for text in texts)
    if not said or not expected:
        return 0.0
    common = set().union(*(_common_words(sentence, other) for sentence in expected for other in said))
    precision, recall = (
        len(common) / len({word for sentence in text for word in sentence}) for text in (said, expected)
    )
    return 2 * precision * recall / (precision + recall + 1e-8)


def _common_words(right: list[str], answer: list[str]) -> set[str]:
    """The words of a longest common subsequence; of several, the one that leaves the answer's end first."""
    table = list(_common_lengths(right, answer))
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
    named = [each for each in classes if each in answer]
    return max((_class_share([*named], right) for right in problem.references), default=0.0)


def _class_share(named: list[str], right: str) -> float:
    """Names that are only a part of the right name do not count; as in the script, not every one of several is seen."""
    for name in named:  # what follows a name that is removed moves up, and the next one is passed over
        if name in right and name != right:
            named.remove(name)
    return 1 / len(named) if right in named else 0.0


def number_share(answer: str, right: str) -> float:
    """The share of the answer's numbers that are the first number of the right answer, digit by digit."""
    numbers, first = _NUMBER.findall(answer), _NUMBER.search(right)
    return numbers.count(first[0]) / max(len(numbers), 1) if first else 0.0


def next_line(answer: str, right: str) -> float:
    """How similar the first line of code in the answer is, in whole per cents."""
    lines = answer.lstrip("\n").split("\n")
    line = next((line for line in lines if not any(mark in line for mark in _NOT_CODE)), "")
    if not line or not right:
        return float(line == right)
    return round(100 * SequenceMatcher(None, line, right).ratio()) / 100


def _same(about: str, words: _Words) -> Metric:
    return of_best(partial(_same_words, words), about=about, yes_or_no=True)


def _shared(about: str, words: _Words, *, of_nothing: float = 0.0, needs: tuple[str, ...] = ()) -> Metric:
    return of_best(partial(_f1, words, of_nothing), about=f"F1 over the words{about}", needs=needs)


_CHINESE = ("jieba",)
_SQUAD_EM = _same("1 if the answer equals a reference but for case, punctuation, articles and blanks", _squad_words)
_SQUAD_F1 = _shared(", apart from case, punctuation and articles", _squad_words, of_nothing=1.0)


def squad(answer: str, references: Sequence[str]) -> dict[str, float]:
    """Both of SQuAD's figures."""
    return {"em": _SQUAD_EM.score(answer, references), "f1": _SQUAD_F1.score(answer, references)}


TEXT_METRICS = {
    "token_f1": _shared(" between blanks, unchanged", str.split),
    "f1_score": _shared(" between blanks, unchanged", str.split),
    "squad": Metric(score=squad, parts=("em", "f1")),
    "squad_em": _SQUAD_EM,
    "squad_f1": _SQUAD_F1,
    "edit_similarity": of_best(edit_similarity),
    "anls": of_best(anls),
    "word_error_rate": Metric(score=word_error_rate, share=False, higher_is_better=False, limits=metric_type.from_zero),
    "rouge": of_best(rouge),
    "rouge1": of_best(partial(rouge, n_gram="1")),
    "rouge2": of_best(partial(rouge, n_gram="2")),
    "rougeL": of_best(partial(rouge, n_gram="l")),
    "drop_em": of_best(drop_em, yes_or_no=True),
    "drop_f1": of_best(drop_f1),
    "triviaqa_em": _same("1 if the answer is one of the names but for case, articles and punctuation", _trivia_words),
    "triviaqa_f1": _shared(", of several names the best", _trivia_words),
    "words_f1": _shared(", without case, punctuation and articles", _squad_words),
    "words_f1_zh": _shared(" of Chinese, without punctuation", _chinese_words, needs=_CHINESE),
    "sentence_rouge_l": of_best(rouge_l),
    "sentence_rouge_l_zh": of_best(partial(rouge_l, chinese=True), needs=_CHINESE),
    "one_class": in_problem(score=one_class),
    "number_share": of_best(number_share),
    "next_line": of_best(next_line),
}
