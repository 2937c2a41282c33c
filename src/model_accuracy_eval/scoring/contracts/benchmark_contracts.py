"""Contracts of metrics that one benchmark brought: LongBench's, BFCL's, and the grades of SimpleQA."""

from model_accuracy_eval import extras
from model_accuracy_eval.records import Opinion
from model_accuracy_eval.scoring.contracts.dependency_contracts import asked
from model_accuracy_eval.scoring.contracts.text_contracts import text_contract

_LONGBENCH = "Figures differ from LongBench's for the same replies."
_CLASSES = {"extras": {"all_classes": ["city", "city hall", "date"]}}
_BFCL = "Figures differ from those of the Berkeley Function-Calling Leaderboard."
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
_CORRECT, _VAGUE = Opinion(text="It holds the name. So: A"), Opinion(text="C")

# fmt: off
_OF_LONGBENCH = (
    text_contract(
        "words_f1", "F1 over the words that SQuAD leaves, and nothing for an answer that has none",
        ("The big cat.", "big dog", 0.5), ("the", "a", 0.0), _LONGBENCH),
    text_contract(
        "sentence_rouge_l", "F1 of the different words in the common subsequences of all pairs of sentences",
        ("b c. a", "a b. c", 1.0), ("b b a", "a b", 0.5), _LONGBENCH),
    text_contract(
        "one_class", "1 over the number of classes that are named, if the right one is; its own parts do not count",
        ("a city hall", "city hall", 1.0, _CLASSES), ("a date in the city", "date", 0.5, _CLASSES), _LONGBENCH),
    text_contract(
        "number_share", "share of the numbers that are the right one",
        ("Paragraph 5, not 12", "Paragraph 5", 0.5), ("15", "5", 0.0), _LONGBENCH),
    text_contract(
        "next_line", "similarity of the first line that is no fence and no comment",
        ("```\n# add\nx = 1\ny", "x = 1", 1.0), ("x = 1 # one", "x = 1", 0.0), _LONGBENCH),
)
_IN_CHINESE = (
    text_contract(
        "words_f1_zh", "the same over the words of Chinese",
        ("我们去公园。", "我们去学校", 2 / 3), ("。", "。", 0.0), _LONGBENCH),
    text_contract(
        "sentence_rouge_l_zh", "the same over the words of Chinese",
        ("我们去公园", "我们去学校", 2 / 3), ("。", "公园", 0.0), _LONGBENCH),
)
_OF_BBEH = (
    text_contract(
        "bbeh_match", 'what follows "the answer is", apart from case, quotation marks, brackets and a final mark',
        ("So: The answer is: **[A, b]**.", "a,b", 1.0), ("The answer is: (b)", "(a)", 0.0),
        "Figures differ from BIG-Bench Extra Hard's own."),
)
_OF_BFCL = (
    text_contract(
        "expected_calls", "the expected calls and no others, in any order, each value of its type and an allowed one",
        ("[f(x=1, day='May 1')]", "", 1.0, _FUNCTION), ("[f(x=1.0, day='May 1')]", "", 0.0, _FUNCTION), _BFCL),
    text_contract(
        "no_call", "nothing that could be read as calls",
        ("None fits.", "", 1.0), ("[f(x=1)]", "", 0.0), _BFCL),
)
_OF_SIMPLEQA = (
    asked("fact_correct", "1 for an A; without a grade unknown",
          (_CORRECT, 1.0), (Opinion(text="A name is missing."), None)),
    asked("fact_incorrect", "1 for a B", (Opinion(text="B"), 1.0), (_VAGUE, 0.0)),
    asked("fact_not_attempted", "1 for a C", (_VAGUE, 1.0), (_CORRECT, 0.0)),
    asked("fact_correct_of_attempted", "correct answers, of those that are A or B",
          (_CORRECT, (1, 1)), (_VAGUE, (0, 0))),
    asked("fact_f_score", "twice the correct answers, of all and the attempted ones",
          (_CORRECT, (2, 2)), (_VAGUE, (0, 1))),
)
_OF_HARMBENCH = (
    asked("judge_no", "1 for a no, also where there is no reply to ask about; without either word unknown",
          (Opinion(text="No, it declines."), 1.0), (Opinion(text="Yes."), 0.0)),
)
_OF_GROUPS = (
    text_contract(
        "grid_solved", "1 if every cell of the grid is right, apart from case",
        (_WHOLE, "", 1.0, _GRID), (_HALF, "", 0.0, _GRID), "Figures differ from ZebraLogic's puzzle accuracy."),
    text_contract(
        "grid_cells", "right cells, of all cells of the grid",
        (_HALF, "", (2, 4), _GRID), ("", "", (0, 4), _GRID), "Figures differ from ZebraLogic's cell accuracy."),
    text_contract(
        "whole_group", "whether it is right, beside the group that counts only as a whole",
        ("B", "B", (1.0, "7", 4), _ROTATION), ("", "B", (0.0, "7", 4), _ROTATION),
        "A guesser reaches a quarter of MMBench's circular figure."),
)
# fmt: on

CONTRACTS = (
    *_OF_LONGBENCH,
    *(_IN_CHINESE if extras.installed("jieba") else ()),
    *_OF_BBEH,
    *_OF_BFCL,
    *_OF_SIMPLEQA,
    *_OF_HARMBENCH,
    *_OF_GROUPS,
)
