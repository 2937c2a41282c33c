"""How similar an answer is to the right one: words in common, edits apart. Of several right answers the best counts."""

import re
import string
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Literal

from model_accuracy_eval.errors import BadValue
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


def token_f1(answer: str, references: Sequence[str]) -> float:
    """F1 over the words between blanks, unchanged."""
    return _best(lambda right: shared_f1(answer.split(), right.split()) if answer.split() else 0.0, references)


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
        common, answered, expected = _longest_common(answer, right), len(answer), len(right)
    else:
        grams, others = _grams(answer, int(size)), _grams(right, int(size))
        common, answered, expected = (grams & others).total(), grams.total(), others.total()
    total = {"p": answered, "r": expected, "f": (answered + expected) / 2}[kind]
    return common / total if common else 0.0


def _grams(words: list[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(size)), strict=False))


def _longest_common(answer: list[str], right: list[str]) -> int:
    row = [0] * (len(right) + 1)
    for item in answer:
        diagonal = 0
        for column, other in enumerate(right, 1):
            length = diagonal + 1 if item == other else max(row[column], row[column - 1])
            diagonal, row[column] = row[column], length
    return row[-1]


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
