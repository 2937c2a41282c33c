"""Contracts of metrics that compare an answer with the right ones."""

from typing import Any

from model_accuracy_eval.scoring.contracts.contract import Case, CaseValues, Contract, contract, problem
from model_accuracy_eval.scoring.metrics.metric_table import metric


def text_case(name: str, answer: str, references: str | tuple[str, ...], expected: Any, **args: Any) -> Case:
    """An answer and its right answers. `choices`, `gold` and `extras` are the problem's; the rest is the metric's."""
    right = (references,) if isinstance(references, str) else references
    options = {key: args.pop(key) for key in ("choices", "gold") if key in args} | args.pop("extras", {})

    def run() -> Any:
        row = metric(name)
        against = problem(*right, **options) if row.reads == "answers in their problem" else right
        return row.score(answer, against, **args)

    settings = "".join(f", {key} {value!r}" for key, value in args.items())
    return Case(input=f"{answer!r} for {' or '.join(map(repr, right))}{settings}", run=run, expected=expected)


def text_contract(name: str, rule: str, example: CaseValues, falsification: CaseValues, if_fails: str) -> Contract:
    """A case is (answer, right answers, expected value), perhaps with a mapping of settings as fourth item."""

    def case(values: CaseValues) -> Case:
        answer, references, expected, *settings = values
        return text_case(name, answer, references, expected, **(settings[0] if settings else {}))

    return contract(f"metric {name}", rule, case(example), case(falsification), if_fails)


_LOOSE = "Wrong answers count as right."
_STRICT = "Right answers count as wrong."
_LM_EVAL = "Figures differ from lm-eval's for the same replies."
_ULTRAEVAL = "Figures differ from UltraEval's for the same replies."
_COLOURS = {"choices": ("red", "blue"), "gold": (1,)}

# fmt: off
CONTRACTS = (
    text_contract("exact", "letter by letter", ("Paris", ("Rome", "Paris"), 1.0), ("paris", "Paris", 0.0), _LOOSE),
    text_contract(
        "exact_match", "equal once patterns, case, punctuation and digits are removed, in this order",
        ("$1,234", "1234", 1.0, {"regexes_to_ignore": [",", r"\$"]}),
        ("The A", "a", 0.0, {"regexes_to_ignore": ["the "], "ignore_case": True}), _LM_EVAL),
    text_contract(
        "number", "the same number, however it is written",
        ("$1,234.00", "1234", 1.0), ("10000000000000000001", "10000000000000000000", 0.0), _STRICT),
    text_contract(
        "math_equal", "the same mathematics, however it is written",
        (r"x = \frac{1}{2}", "0.5", 1.0), ("1/3", "0.33", 0.0), _STRICT),
    text_contract(
        "prefix_match", "begins with the right answer, not the other way round",
        ("Apple", "A", 1.0), ("A", "Apple", 0.0), _LOOSE),
    text_contract(
        "in_match", "in small letters one of the right answers, which stay as they are",
        (" Yes\n", ("yes", "true"), 1.0), ("Yes", "Yes", 0.0), _ULTRAEVAL),
    text_contract(
        "contains", "a right answer occurs in it",
        ("It is Paris.", "Paris", 1.0), ("It is paris.", "Paris", 0.0), _LOOSE),
    text_contract(
        "contains_words", "a right answer occurs in it as whole words, in any case",
        ("It is paris.", "Paris", 1.0), ("It is Parisian.", "Paris", 0.0), _LOOSE),
    text_contract(
        "equal_in_kind", "the same as a right answer in the way of its row's kind: number, formula, letter or text",
        ("1,000.0", "1000", 1.0, {"extras": {"kind": "number"}}),
        ("1,000.0", "1000", 0.0, {"extras": {"kind": "text"}}), _LOOSE),
    text_contract(
        "math_within", "the same mathematics, or a number that is as near as its row allows",
        ("3.2", "3.14", 1.0, {"extras": {"error": "1e-1"}}), ("3.25", "3.14", 0.0, {"extras": {"error": "1e-1"}}),
        _STRICT),
    text_contract(
        "contains_all", "share of the right answers that occur in it",
        ("It is 12 and AB.", ("12", "ab", "c"), 2 / 3), ("none", "12", 0.0), _LOOSE),
    text_contract(
        "token_f1", "F1 over words, of several right answers the best",
        ("the cat", ("a dog", "the cat sat"), 0.8), ("cat cat cat", "cat", 0.5), "Repeating a word raises the score."),
    text_contract(
        "f1_score", "the same under UltraEval's name", ("the cat", "the cat sat", 0.8), ("", "cat", 0.0), _ULTRAEVAL),
    text_contract(
        "squad", "exact match and F1 without case, punctuation and articles",
        ("The Cat!", "cat", {"em": 1.0, "f1": 1.0}), ("a big cat", "cat", {"em": 0.0, "f1": 2 / 3}), _STRICT),
    text_contract(
        "pairs", "right answer and answer unchanged, for an aggregation over all pairs",
        (" a", "A", ("A", " a")), ("x", ("A", "B"), (["A", "B"], "x")), "Aggregations get other texts."),
    text_contract(
        "squad_em", "equal without case, punctuation and articles",
        ("The Cat!", "cat", 1.0), ("theme", "me", 0.0), _LOOSE),
    text_contract(
        "squad_f1", "F1 over the words that are left",
        ("The big cat.", "big dog", 0.5), ("", "", 1.0), "Questions without an answer count as wrong."),
    text_contract(
        "edit_similarity", "1 − edits / length of the longer one",
        ("kitten", "sitting", 4 / 7), ("ab", "ba", 0.0), _LOOSE),
    text_contract(
        "anls", "the same, and 0 below one half", (" HELLO ", "hallo", 0.8), ("abcd", "abxyz", 0.0),
        "Answers with little in common with the right one earn points."),
    text_contract(
        "relaxed_number", "a number may be 5 % off, a text must be the same but for case",
        ("12.5%", "0.12", 1.0), ("105.1", "100", 0.0), _LOOSE),
    text_contract(
        "vqa_accuracy", "three of the others who were asked said it; normalised as VQA does",
        ("The stop.", ("stop",) * 4 + ("go",) * 6, 1.0), ("stop", ("stop",) + ("go",) * 9, 0.3), _LOOSE),
    text_contract(
        "ocrbench", "a right answer occurs; in a formula with its case, without blanks",
        ("It says STOP.", "stop", 1.0), ("A", "a", 0.0, {"extras": {"dataset": "HME100k"}}), _LOOSE),
    text_contract(
        "word_error_rate", "edits of words per word of the right answer",
        ("the cat sat", "the cat sat down", 0.25), ("a b c", "a", 2.0), "Long answers look better than they are."),
    text_contract(
        "rouge", "n-grams or longest common subsequence: precision, recall or F1",
        ("a b c d", "a c", 1.0, {"n_gram": "l", "index": "recall"}), ("c b a", "a b c", 1 / 3, {"n_gram": "l"}),
        "The order of words is ignored."),
    text_contract("rouge1", "F1 over words", ("a b c", "a x", 0.4), ("a a", "a", 2 / 3), _LOOSE),
    text_contract("rouge2", "F1 over pairs of words", ("a b c", "a b d", 0.5), ("b a", "a b", 0.0), _LOOSE),
    text_contract(
        "rougeL", "F1 over the longest common subsequence", ("a x b", "a b", 0.8), ("b a", "a b", 0.5), _LOOSE),
    text_contract(
        "qa_match", "the first letter that stands alone, else the option's text at the start",
        ("I say (B).", "(B)", 1.0, _COLOURS), ("answer:B", "(B)", 0.0, _COLOURS), _ULTRAEVAL),
    text_contract(
        "gaokaobench_match", "share of the letters that stand at their places",
        ("ABD", "ABC", 2 / 3), ("CAB", "ABC", 0.0), _LOOSE),
    text_contract(
        "exam_points", "one for the right letters, one half for some of them and no wrong one",
        ("AC,B", "ACD,B", 0.75), ("AB", "A", 0.0), "Naming every letter earns points."),
    text_contract(
        "scoring_rate", "points won and points possible, by which the mean over the dataset is weighted",
        ("A,B", "A,C", (2.0, 4.0), {"extras": {"score": 2}}),
        ("B", "AC", (0.0, 6.0), {"extras": {"score": 6}}), _STRICT),
    text_contract(
        "calculator_notes", "share of the notes whose result the calculator confirms",
        ("<<3*4=12>>12 and <<1+1=3>>3", "15", 0.5), ("<<nonsense=3>>", "3", 0.0), "Wrong workings count as right."),
    text_contract(
        "iou", "intersection over union of two boxes", ("[0, 0, 2, 2]", "[1, 1, 3, 3]", 1 / 7),
        ("[0, 0, 1, 1]", "[2, 2, 3, 3]", 0.0), "Boxes that do not touch overlap."),
    text_contract(
        "iou_at", "1 from the threshold on", ("0 0 2 1", "0 0 1 1", 1.0), ("no box", "0 0 1 1", 0.0), _LOOSE),
    text_contract(
        "json_equal", "the same data, whatever its blanks and order",
        ('{"b": [1], "a": 2}', '{"a":2,"b":[1]}', 1.0), ("not JSON", "neither", 0.0), _LOOSE),
)
# fmt: on


# Contracts of the figures of reading benchmarks.


_OFFICIAL = "Figures differ from the benchmark's own for the same replies."

READING_CONTRACTS = (
    text_contract(
        "drop_em", "the same lines in any order, without case, punctuation and articles; 5 is 5.0",
        ("The Bears\n5", ("5.0\nbears", "x"), 1.0), ("5", "5\nbears", 0.0), _OFFICIAL),
    text_contract(
        "drop_f1", "F1 over words, lines in their best order; 0 where none of the right numbers is there",
        ("b c\nd", "d\nb", 0.83), ("12 yards", "15 yards", 0.0), _OFFICIAL),
    text_contract(
        "triviaqa_em", "one of the names, without case and articles; punctuation is a blank",
        ("The Beatles!", ("Fab Four", "beatles"), 1.0), ("Jean-Luc", "JeanLuc", 0.0), _OFFICIAL),
    text_contract(
        "triviaqa_f1", "F1 over the words, of several names the best",
        ("John Lennon", ("Ringo", "lennon"), 2 / 3), ("", "the", 0.0), _OFFICIAL),
)  # fmt: skip
