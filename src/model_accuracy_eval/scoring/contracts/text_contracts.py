"""Contracts of metrics that compare an answer with the right ones."""

from collections.abc import Mapping
from typing import Any

from model_accuracy_eval import extras
from model_accuracy_eval.scoring.contracts.contract import Case, CaseValues, Contract, problem
from model_accuracy_eval.scoring.metrics.metric_table import metric


def text_contract(name: str, rule: str, example: CaseValues, falsification: CaseValues) -> Contract:
    """A case is (answer, right answers, expected value), perhaps with settings: `choices`, `gold` and `extras` are the
    problem's; the rest is the metric's."""
    return Contract(f"metric {name}", rule, _case(name, *example), _case(name, *falsification))


def _case(
    name: str, answer: str, references: str | tuple[str, ...], expected: Any, settings: Mapping[str, Any] | None = None
) -> Case:
    args = dict(settings or {})
    right = (references,) if isinstance(references, str) else references
    options = {key: args.pop(key) for key in ("choices", "gold") if key in args} | args.pop("extras", {})

    def run() -> Any:
        row = metric(name)
        against = problem(*right, **options) if row.reads == "answers in their problem" else right
        return row.score(answer, against, **args)

    shown = "".join(f", {key} {value!r}" for key, value in args.items())
    return Case(f"{answer!r} for {' or '.join(map(repr, right))}{shown}", run, expected)


_CLASSES = {"extras": {"all_classes": ["city", "city hall", "date"]}}
_PARAMETERS = {"properties": {"x": {"type": "integer"}, "day": {"type": "string"}}, "required": ["x"]}
_FUNCTION = {
    "extras": {
        "function": [{"name": "f", "parameters": _PARAMETERS}],
        "ground_truth": [{"f": {"x": [1], "day": ["may 1", ""]}}],
    }
}
_ROTATION = {"extras": {"group": {"name": "7", "rows": 4}}}
_GRID = {
    "extras": {"solution": {"header": ["House", "Name", "Pet"], "rows": [["1", "Ann", "cat"], ["2", "Bo", "dog"]]}}
}
_HALF = '{"House 1": {"Name": "ann", "Pet": "dog"}, "House 2": {"Name": "Bo"}}'
_WHOLE = '{"house 1": {"Name": "Ann", "Pet": ["cat"]}, "House 2": {"Pet": "dog", "name": " bo"}}'
_COLOURS = {"choices": ("red", "blue"), "gold": (1,)}

# fmt: off
_GENERAL = (
    text_contract("exact", "letter by letter", ("Paris", ("Rome", "Paris"), 1.0), ("paris", "Paris", 0.0)),
    text_contract(
        "exact_match", "equal once patterns, case, punctuation and digits are removed, in this order",
        ("$1,234", "1234", 1.0, {"regexes_to_ignore": [",", r"\$"]}),
        ("The A", "a", 0.0, {"regexes_to_ignore": ["the "], "ignore_case": True})),
    text_contract(
        "number", "the same number, however it is written",
        ("$1,234.00", "1234", 1.0), ("10000000000000000001", "10000000000000000000", 0.0)),
    text_contract(
        "math_equal", "the same mathematics, however it is written",
        (r"x = \frac{1}{2}", "0.5", 1.0), ("1/3", "0.33", 0.0)),
    text_contract(
        "prefix_match", "begins with the right answer, not the other way round",
        ("Apple", "A", 1.0), ("A", "Apple", 0.0)),
    text_contract(
        "in_match", "in small letters one of the right answers, which stay as they are",
        (" Yes\n", ("yes", "true"), 1.0), ("Yes", "Yes", 0.0)),
    text_contract(
        "contains", "a right answer occurs in it",
        ("It is Paris.", "Paris", 1.0), ("It is paris.", "Paris", 0.0)),
    text_contract(
        "contains_words", "a right answer occurs in it as whole words, in any case",
        ("It is paris.", "Paris", 1.0), ("It is Parisian.", "Paris", 0.0)),
    text_contract(
        "equal_in_kind", "the same as a right answer in the way of its row's kind: number, formula, letter or text",
        ("1,000.0", "1000", 1.0, {"extras": {"kind": "number"}}),
        ("1,000.0", "1000", 0.0, {"extras": {"kind": "text"}})),
    text_contract(
        "math_within", "the same mathematics, or a number that is as near as its row allows",
        ("3.2", "3.14", 1.0, {"extras": {"error": "1e-1"}}), ("3.25", "3.14", 0.0, {"extras": {"error": "1e-1"}})),
    text_contract(
        "contains_all", "share of the right answers that occur in it",
        ("It is 12 and AB.", ("12", "ab", "c"), 2 / 3), ("none", "12", 0.0)),
    text_contract(
        "token_f1", "F1 over words, of several right answers the best",
        ("the cat", ("a dog", "the cat sat"), 0.8), ("cat cat cat", "cat", 0.5)),
    text_contract(
        "f1_score", "the same under UltraEval's name", ("the cat", "the cat sat", 0.8), ("", "cat", 0.0)),
    text_contract(
        "squad", "exact match and F1 without case, punctuation and articles",
        ("The Cat!", "cat", {"em": 1.0, "f1": 1.0}), ("a big cat", "cat", {"em": 0.0, "f1": 2 / 3})),
    text_contract(
        "pairs", "right answer and answer unchanged, for an aggregation over all pairs",
        (" a", "A", ("A", " a")), ("x", ("A", "B"), (["A", "B"], "x"))),
    text_contract(
        "squad_em", "equal without case, punctuation and articles",
        ("The Cat!", "cat", 1.0), ("theme", "me", 0.0)),
    text_contract(
        "squad_f1", "F1 over the words that are left",
        ("The big cat.", "big dog", 0.5), ("", "", 1.0)),
    text_contract(
        "edit_similarity", "1 − edits / length of the longer one",
        ("kitten", "sitting", 4 / 7), ("ab", "ba", 0.0)),
    text_contract(
        "anls", "the same, and 0 below one half", (" HELLO ", "hallo", 0.8), ("abcd", "abxyz", 0.0)),
    text_contract(
        "relaxed_number", "a number may be 5 % off, a text must be the same but for case",
        ("12.5%", "0.12", 1.0), ("105.1", "100", 0.0)),
    text_contract(
        "vqa_accuracy", "three of the others who were asked said it; normalised as VQA does",
        ("The stop.", ("stop",) * 4 + ("go",) * 6, 1.0), ("stop", ("stop",) + ("go",) * 9, 0.3)),
    text_contract(
        "ocrbench", "a right answer occurs; in a formula with its case, without blanks",
        ("It says STOP.", "stop", 1.0), ("A", "a", 0.0, {"extras": {"dataset": "HME100k"}})),
    text_contract(
        "word_error_rate", "edits of words per word of the right answer",
        ("the cat sat", "the cat sat down", 0.25), ("a b c", "a", 2.0)),
    text_contract(
        "rouge", "n-grams or longest common subsequence: precision, recall or F1",
        ("a b c d", "a c", 1.0, {"n_gram": "l", "index": "recall"}), ("c b a", "a b c", 1 / 3, {"n_gram": "l"})),
    text_contract("rouge1", "F1 over words", ("a b c", "a x", 0.4), ("a a", "a", 2 / 3)),
    text_contract("rouge2", "F1 over pairs of words", ("a b c", "a b d", 0.5), ("b a", "a b", 0.0)),
    text_contract(
        "rougeL", "F1 over the longest common subsequence", ("a x b", "a b", 0.8), ("b a", "a b", 0.5)),
    text_contract(
        "qa_match", "the first letter that stands alone, else the option's text at the start",
        ("I say (B).", "(B)", 1.0, _COLOURS), ("answer:B", "(B)", 0.0, _COLOURS)),
    text_contract(
        "gaokaobench_match", "share of the letters that stand at their places",
        ("ABD", "ABC", 2 / 3), ("CAB", "ABC", 0.0)),
    text_contract(
        "exam_points", "one for the right letters, one half for some of them and no wrong one",
        ("AC,B", "ACD,B", 0.75), ("AB", "A", 0.0)),
    text_contract(
        "scoring_rate", "points won and points possible, by which the mean over the dataset is weighted",
        ("A,B", "A,C", (2.0, 4.0), {"extras": {"score": 2}}),
        ("B", "AC", (0.0, 6.0), {"extras": {"score": 6}})),
    text_contract(
        "calculator_notes", "share of the notes whose result the calculator confirms",
        ("<<3*4=12>>12 and <<1+1=3>>3", "15", 0.5), ("<<nonsense=3>>", "3", 0.0)),
)
_OF_READING = (
    text_contract(
        "drop_em", "the same lines in any order, without case, punctuation and articles; 5 is 5.0",
        ("The Bears\n5", ("5.0\nbears", "x"), 1.0), ("5", "5\nbears", 0.0)),
    text_contract(
        "drop_f1", "F1 over words, lines in their best order; 0 where none of the right numbers is there",
        ("b c\nd", "d\nb", 0.83), ("12 yards", "15 yards", 0.0)),
    text_contract(
        "triviaqa_em", "one of the names, without case and articles; punctuation is a blank",
        ("The Beatles!", ("Fab Four", "beatles"), 1.0), ("Jean-Luc", "JeanLuc", 0.0)),
    text_contract(
        "triviaqa_f1", "F1 over the words, of several names the best",
        ("John Lennon", ("Ringo", "lennon"), 2 / 3), ("", "the", 0.0)),
)
_OF_LONGBENCH = (
    text_contract(
        "words_f1", "F1 over the words that SQuAD leaves, and nothing for an answer that has none",
        ("The big cat.", "big dog", 0.5), ("the", "a", 0.0)),
    text_contract(
        "sentence_rouge_l", "F1 of the different words in the common subsequences of all pairs of sentences",
        ("b c. a", "a b. c", 1.0), ("b b a", "a b", 0.5)),
    text_contract(
        "one_class", "1 over the number of classes that are named, if the right one is; its own parts do not count",
        ("a city hall", "city hall", 1.0, _CLASSES), ("a date in the city", "date", 0.5, _CLASSES)),
    text_contract(
        "number_share", "share of the numbers that are the right one",
        ("Paragraph 5, not 12", "Paragraph 5", 0.5), ("15", "5", 0.0)),
    text_contract(
        "next_line", "similarity of the first line that is no fence and no comment",
        ("```\n# add\nx = 1\ny", "x = 1", 1.0), ("x = 1 # one", "x = 1", 0.0)),
)
_IN_CHINESE = (
    text_contract(
        "words_f1_zh", "the same over the words of Chinese",
        ("我们去公园。", "我们去学校", 2 / 3), ("。", "。", 0.0)),
    text_contract(
        "sentence_rouge_l_zh", "the same over the words of Chinese",
        ("我们去公园", "我们去学校", 2 / 3), ("。", "公园", 0.0)),
)
_OF_BBEH = (
    text_contract(
        "bbeh_match", 'what follows "the answer is", apart from case, quotation marks, brackets and a final mark',
        ("So: The answer is: **[A, b]**.", "a,b", 1.0), ("The answer is: (b)", "(a)", 0.0)),
)
_OF_BFCL = (
    text_contract(
        "expected_calls", "the expected calls and no others, in any order, each value of its type and an allowed one",
        ("[f(x=1, day='May 1')]", "", 1.0, _FUNCTION), ("[f(x=1.0, day='May 1')]", "", 0.0, _FUNCTION)),
    text_contract(
        "no_call", "nothing that could be read as calls",
        ("None fits.", "", 1.0), ("[f(x=1)]", "", 0.0)),
)
_OF_GROUPS = (
    text_contract(
        "grid_solved", "1 if every cell of the grid is right, apart from case",
        (_WHOLE, "", 1.0, _GRID), (_HALF, "", 0.0, _GRID)),
    text_contract(
        "grid_cells", "right cells, of all cells of the grid",
        (_HALF, "", (2, 4), _GRID), ("", "", (0, 4), _GRID)),
    text_contract(
        "whole_group", "whether it is right, beside the group that counts only as a whole",
        ("B", "B", (1.0, "7", 4), _ROTATION), ("", "B", (0.0, "7", 4), _ROTATION)),
)
# fmt: on

CONTRACTS = (
    *_GENERAL,
    *_OF_READING,
    *_OF_LONGBENCH,
    *(_IN_CHINESE if extras.installed("jieba") else ()),
    *_OF_BBEH,
    *_OF_BFCL,
    *_OF_GROUPS,
)
