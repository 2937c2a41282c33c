"""Metrics of answers that were read out of replies: one table, so longer than most files."""

from typing import Any

from model_accuracy_eval.scoring.contracts.contract import Case, Contract, problem
from model_accuracy_eval.scoring.metrics import metric


def case(name: str, answer: str, references: str | tuple[str, ...], expected: Any, **args: Any) -> Case:
    """An answer beside its right ones. `choices`, `gold` and `extras` are the problem's, all others the metric's."""
    right = (references,) if isinstance(references, str) else references
    key = {what: args.pop(what) for what in ("choices", "gold") if what in args}
    asked = problem(*right, **key, **args.pop("extras", {}))

    def run() -> Any:
        row = metric(name)
        return row.score(answer, asked if row.reads == "answers in their problem" else right, **args)

    told = "".join(f", {what} {value!r}" for what, value in args.items())
    return Case(given=f"{answer!r} for {' or '.join(map(repr, right))}{told}", run=run, expected=expected)


def _contract(name: str, rule: str, example: Case, falsification: Case, if_fails: str) -> Contract:
    return Contract(id=f"metric {name}", rule=rule, example=example, falsification=falsification, if_fails=if_fails)


_LOOSE = "Wrong answers count as right."
_STRICT = "Right answers count as wrong."

CONTRACTS = (
    _contract(
        "exact",
        "letter by letter",
        case("exact", "Paris", ("Rome", "Paris"), 1.0),
        case("exact", "paris", "Paris", 0.0),
        _LOOSE,
    ),
    _contract(
        "exact_match",
        "equal once patterns, case, punctuation and digits are taken away, in this order",
        case("exact_match", "$1,234", "1234", 1.0, regexes_to_ignore=[",", r"\$"]),
        case("exact_match", "The A", "a", 0.0, regexes_to_ignore=["the "], ignore_case=True),
        "Figures differ from lm-eval's for the same replies.",
    ),
    _contract(
        "number",
        "the same number, however it is written",
        case("number", "$1,234.00", "1234", 1.0),
        case("number", "10000000000000000001", "10000000000000000000", 0.0),
        _STRICT,
    ),
    _contract(
        "math_equal",
        "expressions of the same worth; numbers need no library, and what would take it without end is refused",
        case("math_equal", "0.50", "0.5", 1.0),
        case("math_equal", "9^{9^{9}}", "5", 0.0),
        _STRICT,
    ),
    _contract(
        "prefix_match",
        "begins with the right answer, not the other way round",
        case("prefix_match", "Apple", "A", 1.0),
        case("prefix_match", "A", "Apple", 0.0),
        _LOOSE,
    ),
    _contract(
        "in_match",
        "in small letters one of the right answers, which stay as they are",
        case("in_match", " Yes\n", ("yes", "true"), 1.0),
        case("in_match", "Yes", "Yes", 0.0),
        "Figures differ from UltraEval's for the same replies.",
    ),
    _contract(
        "contains",
        "a right answer stands in it",
        case("contains", "It is Paris.", "Paris", 1.0),
        case("contains", "It is paris.", "Paris", 0.0),
        _LOOSE,
    ),
    _contract(
        "token_f1",
        "F1 over words, of several right answers the best",
        case("token_f1", "the cat", ("a dog", "the cat sat"), 0.8),
        case("token_f1", "cat cat cat", "cat", 0.5),
        "Saying a word often pays.",
    ),
    _contract(
        "f1_score",
        "the same under the name that UltraEval has",
        case("f1_score", "the cat", "the cat sat", 0.8),
        case("f1_score", "", "cat", 0.0),
        "Figures differ from UltraEval's for the same replies.",
    ),
    _contract(
        "squad",
        "exact match and F1 without case, punctuation and articles",
        case("squad", "The Cat!", "cat", {"em": 1.0, "f1": 1.0}),
        case("squad", "a big cat", "cat", {"em": 0.0, "f1": 2 / 3}),
        _STRICT,
    ),
    _contract(
        "pairs",
        "right answer and answer as they are, for an aggregation that looks at all pairs",
        case("pairs", " a", "A", ("A", " a")),
        case("pairs", "x", ("A", "B"), (["A", "B"], "x")),
        "Aggregations see other texts than were said.",
    ),
    _contract(
        "squad_em",
        "equal without case, punctuation and articles",
        case("squad_em", "The Cat!", "cat", 1.0),
        case("squad_em", "theme", "me", 0.0),
        _LOOSE,
    ),
    _contract(
        "squad_f1",
        "F1 over what is left",
        case("squad_f1", "The big cat.", "big dog", 0.5),
        case("squad_f1", "", "", 1.0),
        "Questions without an answer are marked wrong.",
    ),
    _contract(
        "edit_similarity",
        "1 − edits / length of the longer one",
        case("edit_similarity", "kitten", "sitting", 4 / 7),
        case("edit_similarity", "ab", "ba", 0.0),
        _LOOSE,
    ),
    _contract(
        "anls",
        "the same, and 0 below one half",
        case("anls", " HELLO ", "hallo", 0.8),
        case("anls", "abcd", "abxyz", 0.0),
        "Answers that have little in common with the right one earn points.",
    ),
    _contract(
        "word_error_rate",
        "edits of words per word of the right answer",
        case("word_error_rate", "the cat sat", "the cat sat down", 0.25),
        case("word_error_rate", "a b c", "a", 2.0),
        "Long answers look better than they are.",
    ),
    _contract(
        "rouge",
        "n-grams or longest common subsequence: precision, recall or F1",
        case("rouge", "a b c d", "a c", 1.0, n_gram="l", index="recall"),
        case("rouge", "c b a", "a b c", 1 / 3, n_gram="l"),
        "The order of words is lost.",
    ),
    _contract(
        "rouge1", "F1 over words", case("rouge1", "a b c", "a x", 0.4), case("rouge1", "a a", "a", 2 / 3), _LOOSE
    ),
    _contract(
        "rouge2",
        "F1 over pairs of words",
        case("rouge2", "a b c", "a b d", 0.5),
        case("rouge2", "b a", "a b", 0.0),
        _LOOSE,
    ),
    _contract(
        "rougeL",
        "F1 over the longest common subsequence",
        case("rougeL", "a x b", "a b", 0.8),
        case("rougeL", "b a", "a b", 0.5),
        _LOOSE,
    ),
    _contract(
        "qa_match",
        "the first letter that stands alone, else the wording at the start",
        case("qa_match", "I say (B).", "(B)", 1.0, choices=("red", "blue"), gold=(1,)),
        case("qa_match", "answer:B", "(B)", 0.0, choices=("red", "blue"), gold=(1,)),
        "Figures differ from UltraEval's for the same replies.",
    ),
    _contract(
        "gaokaobench_match",
        "share of the letters that stand at their places",
        case("gaokaobench_match", "ABD", "ABC", 2 / 3),
        case("gaokaobench_match", "CAB", "ABC", 0.0),
        _LOOSE,
    ),
    _contract(
        "exam_points",
        "one for the right letters, one half for some of them and no wrong one",
        case("exam_points", "AC,B", "ACD,B", 0.75),
        case("exam_points", "AB", "A", 0.0),
        "Naming every letter pays.",
    ),
    _contract(
        "calculator_notes",
        "share of the notes whose result is what the calculator says",
        case("calculator_notes", "<<3*4=12>>12 and <<1+1=3>>3", "15", 0.5),
        case("calculator_notes", "<<nonsense=3>>", "3", 0.0),
        "Workings that do not hold count as sound.",
    ),
    _contract(
        "iou",
        "area in common by area together",
        case("iou", "[0, 0, 2, 2]", "[1, 1, 3, 3]", 1 / 7),
        case("iou", "[0, 0, 1, 1]", "[2, 2, 3, 3]", 0.0),
        "Boxes that do not touch overlap.",
    ),
    _contract(
        "iou_at",
        "1 from the threshold on",
        case("iou_at", "0 0 2 1", "0 0 1 1", 1.0),
        case("iou_at", "no box", "0 0 1 1", 0.0),
        _LOOSE,
    ),
    _contract(
        "json_equal",
        "the same data, whatever its blanks and order",
        case("json_equal", '{"b": [1], "a": 2}', '{"a":2,"b":[1]}', 1.0),
        case("json_equal", "not JSON", "neither", 0.0),
        _LOOSE,
    ),
)
