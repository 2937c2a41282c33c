"""How similar an answer is to the right one: words in common, edits apart. Of several right answers the best counts."""

import re
import string
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache, partial
from math import inf
from typing import Any, Literal

from model_accuracy_eval import extras
from model_accuracy_eval.errors import BadData, BadValue
from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.metrics import metric_type
from model_accuracy_eval.scoring.metrics.metric_type import Metric

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_CJK = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"


def _best(value: Callable[[str], float], references: Sequence[str]) -> float:
    return max(map(value, references), default=0.0)


def shared_f1(answer: Sequence[Hashable], right: Sequence[Hashable]) -> float:
    """Harmonic mean of precision and recall over the common items; two empty sequences are equal."""
    common = sum((Counter(answer) & Counter(right)).values())
    return 2 * common / (len(answer) + len(right)) if answer or right else 1.0


def _said_f1(answer: Sequence[Hashable], right: Sequence[Hashable]) -> float:
    """The same, but nothing at all is never right."""
    return shared_f1(answer, right) if answer else 0.0


def token_f1(answer: str, references: Sequence[str]) -> float:
    """F1 over the words between blanks, unchanged."""
    return _best(lambda right: _said_f1(answer.split(), right.split()), references)


def squad_words(text: str) -> list[str]:
    bare = text.lower().translate(str.maketrans("", "", string.punctuation))
    return _ARTICLES.sub(" ", bare).split()


def squad_em(answer: str, references: Sequence[str]) -> float:
    """1 if the answer equals a reference apart from case, punctuation, articles and extra blanks."""
    return _best(lambda right: float(squad_words(answer) == squad_words(right)), references)


def squad_f1(answer: str, references: Sequence[str]) -> float:
    """F1 over the words, apart from case, punctuation and articles."""
    return _best(lambda right: shared_f1(squad_words(answer), squad_words(right)), references)


def squad(answer: str, references: Sequence[str]) -> dict[str, float]:
    """Both of SQuAD's figures."""
    return {"em": squad_em(answer, references), "f1": squad_f1(answer, references)}


def edit_distance(answer: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """Levenshtein distance: the fewest insertions, deletions and substitutions."""
    row = list(range(len(right) + 1))
    for place, item in enumerate(answer, 1):
        diagonal, row[0] = row[0], place
        for column, other in enumerate(right, 1):
            cost = min(row[column] + 1, row[column - 1] + 1, diagonal + (item != other))
            diagonal, row[column] = row[column], cost
    return row[-1]


def edit_similarity(answer: str, references: Sequence[str]) -> float:
    """1 − edits / length of the longer text."""
    return _best(lambda right: 1 - edit_distance(answer, right) / max(len(answer), len(right), 1), references)


def anls(answer: str, references: Sequence[str], *, threshold: float = 0.5) -> float:
    """Edit similarity, whatever the case and the number of blanks; 0 below the threshold."""

    def plain(text: str) -> str:
        return " ".join(text.lower().split())

    similarity = edit_similarity(plain(answer), list(map(plain, references)))
    return similarity if similarity >= threshold else 0.0


def word_error_rate(answer: str, references: Sequence[str]) -> float:
    """Edits of whole words per word of the right answer; of several right answers the closest counts."""
    return min(
        (edit_distance(answer.split(), right.split()) / max(len(right.split()), 1) for right in references),
        default=1.0,
    )


def rouge(
    answer: str,
    references: Sequence[str],
    *,
    n_gram: Literal["1", "2", "l"] | int = "1",
    index: str = "f1",
    tokenizer: Literal["word", "char"] = "word",
) -> float:
    """ROUGE-1, -2 or -L: precision, recall or F1 over n-grams, or over the longest common subsequence.

    Words are runs of ASCII letters and digits in small letters, without stemming; every Chinese, Japanese or Korean
    character is a word.
    """
    size, kind = str(n_gram).lower(), index[:1].lower()
    if size not in {"1", "2", "l"} or kind not in {"f", "p", "r"} or tokenizer not in {"word", "char"}:
        raise BadValue(
            "rouge has n_gram 1, 2 or l, index f1, precision or recall, and tokenizer word or char; "
            f"there is no '{n_gram}', '{index}', '{tokenizer}'."
        )
    token = r"\S" if tokenizer == "char" else rf"[a-z0-9]+|[{_CJK}]"
    tokens = re.findall(token, answer.lower())
    return _best(lambda right: _rouge(tokens, re.findall(token, right.lower()), size, kind), references)


def _rouge(answer: list[str], right: list[str], size: str, kind: str) -> float:
    if size == "l":
        (lengths,) = deque(_common_lengths(answer, right), maxlen=1)
        common, answered, expected = lengths[-1], len(answer), len(right)
    else:
        grams, others = _grams(answer, int(size)), _grams(right, int(size))
        common, answered, expected = (grams & others).total(), grams.total(), others.total()
    total = {"p": answered, "r": expected, "f": (answered + expected) / 2}[kind]
    return common / total if common else 0.0


def _grams(words: list[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(size)), strict=False))


def _common_lengths(one: list[str], other: list[str]) -> Iterator[list[int]]:
    """For each beginning of one text, the lengths of the longest subsequences that beginnings of the other share."""
    row = [0] * (len(other) + 1)
    yield row
    for word in one:
        above, row = row, [0]
        for column, right in enumerate(other):
            row.append(above[column] + 1 if word == right else max(above[column + 1], row[column]))
        yield row


OVERLAP_METRICS = {
    "token_f1": Metric(score=token_f1),
    "f1_score": Metric(score=token_f1),
    "squad": Metric(score=squad, parts=("em", "f1")),
    "squad_em": Metric(score=squad_em, yes_or_no=True),
    "squad_f1": Metric(score=squad_f1),
    "edit_similarity": Metric(score=edit_similarity),
    "anls": Metric(score=anls),
    "word_error_rate": Metric(score=word_error_rate, share=False, higher_is_better=False, limits=metric_type.from_zero),
    "rouge": Metric(score=rouge),
    "rouge1": Metric(score=partial(rouge, n_gram="1")),
    "rouge2": Metric(score=partial(rouge, n_gram="2")),
    "rougeL": Metric(score=partial(rouge, n_gram="l")),
}


# The official figures of reading benchmarks: DROP's, which align several answers, and TriviaQA's.


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


def _best_pairs(values: Sequence[Sequence[float]]) -> float:
    """The greatest sum of values of which no two share a row or a column: the assignment problem, by augmenting paths.

    There are at least as many columns as rows.
    """
    rows, columns = len(values), len(values[0])
    row_price, column_price = [0.0] * (rows + 1), [0.0] * (columns + 1)
    row_of = [0] * (columns + 1)
    for row in range(1, rows + 1):
        row_of[0], column = row, 0
        slack, before, done = [inf] * (columns + 1), [0] * (columns + 1), [False] * (columns + 1)
        while row_of[column]:
            done[column] = True
            current, least, following = row_of[column], inf, 0
            for other in range(1, columns + 1):
                if done[other]:
                    continue
                price = -values[current - 1][other - 1] - row_price[current] - column_price[other]
                if price < slack[other]:
                    slack[other], before[other] = price, column
                if slack[other] < least:
                    least, following = slack[other], other
            for other in range(columns + 1):
                if done[other]:
                    row_price[row_of[other]] += least
                    column_price[other] -= least
                else:
                    slack[other] -= least
            column = following
        while column:
            row_of[column], column = row_of[before[column]], before[column]
    return sum(values[row_of[column] - 1][column - 1] for column in range(1, columns + 1) if row_of[column])


def _best_of_lines(value: Callable[[list[str], list[str]], float], answer: str, references: Sequence[str]) -> float:
    answers = _drop_answers(answer)
    return _best(lambda right: value(answers, _drop_answers(right)), list(filter(str.strip, references)))


def drop_em(answer: str, references: Sequence[str]) -> float:
    """1 if the lines of the answer are those of a right answer, in any order, apart from case, punctuation, articles
    and how numbers are written."""

    def equal(answers: list[str], right: list[str]) -> float:
        return float(set(answers) == set(right) and len(answers) == len(right))

    return _best_of_lines(equal, answer, references)


def drop_f1(answer: str, references: Sequence[str]) -> float:
    """F1 over words, mean over the lines of the answer and of the right one in their best order, to two decimals."""

    def aligned(answers: list[str], right: list[str]) -> float:
        values = [[_bag_f1(set(one.split()), set(other.split())) for one in answers] for other in right]
        if len(answers) < len(right):
            values = [list(column) for column in zip(*values, strict=True)]
        # To even hundredths where it is in the middle, as NumPy rounds.
        return round(100 * _best_pairs(values) / max(len(answers), len(right))) / 100

    return _best_of_lines(aligned, answer, references)


def _trivia_words(text: str) -> list[str]:
    bare = text.replace("_", " ").lower()
    bare = "".join(" " if letter in string.punctuation + "‘’´`" else letter for letter in bare)
    return _ARTICLES.sub(" ", bare).split()


def triviaqa_em(answer: str, references: Sequence[str]) -> float:
    """1 if the answer is one of the names, apart from case, articles, and punctuation, which counts as a blank."""
    return float(_trivia_words(answer) in map(_trivia_words, references))


def triviaqa_f1(answer: str, references: Sequence[str]) -> float:
    """F1 over the words, of several names the best."""
    words = _trivia_words(answer)
    return _best(lambda right: _said_f1(words, _trivia_words(right)), references)


READING_METRICS = {
    "drop_em": Metric(score=drop_em, yes_or_no=True),
    "drop_f1": Metric(score=drop_f1),
    "triviaqa_em": Metric(score=triviaqa_em, yes_or_no=True),
    "triviaqa_f1": Metric(score=triviaqa_f1),
}


# The metrics of LongBench, to the digit as its own script computes them, whose words of Chinese are jieba's.
#
# Its ROUGE-L is that of the package `rouge`: every sentence of one text is compared with every sentence of the other,
# and what they have in common is a set of words. Where that package gives up (a sentence of a thousand words is too
# deep for its recursion, and the script then counts 0), the figure here is the one that it was meant to be.


_NUMBER = re.compile(r"\d+")
_CHINESE_MARKS = (
    "！？｡。＂＃＄％＆＇（）＊＋，－／：；＜＝＞＠［＼］＾＿｀｛｜｝～｟｠｢｣"
    "､、〃》「」『』【】〔〕〖〗〘〙〚〛〜〝〞〟〰〾〿–—‘’‛“”„‟…‧﹏"
)
_NO_MARKS = str.maketrans("", "", string.punctuation + _CHINESE_MARKS)
_NOT_CODE = ("`", "#", "//")
"""A line with one of these is a fence or a comment."""


def words_f1(answer: str, references: Sequence[str], *, chinese: bool = False) -> float:
    """F1 over the words, without case and punctuation, and in English without articles."""
    words = _chinese_words if chinese else squad_words
    return _best(lambda right: _said_f1(words(answer), words(right)), references)


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

    said = _sentences(cut(answer))
    return _best(lambda right: _rouge_l(said, _sentences(cut(right))), references)


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
    return _best(lambda right: _class_share([each for each in classes if each in answer], right), problem.references)


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
    numbers = _NUMBER.findall(answer)
    firsts = [_NUMBER.search(right) for right in references]
    return max((numbers.count(first[0]) for first in firsts if first), default=0) / max(len(numbers), 1)


def next_line(answer: str, references: Sequence[str]) -> float:
    """How similar the first line of code in the answer is, in whole per cents."""
    lines = answer.lstrip("\n").split("\n")
    line = next((line for line in lines if not any(mark in line for mark in _NOT_CODE)), "")
    return _best(partial(_ratio, line), references)


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
