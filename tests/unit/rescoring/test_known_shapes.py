"""Files in the forms that real tools write: each is recognised by its content, and read as it was meant."""

import json
from typing import Any, NamedTuple

import pytest
from tests.saved_bytes import SavedBytes, read

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Loglikelihood
from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.rescoring.shapes.reply_files import KNOWN_SHAPES, open_replies

R = SavedReply


class Example(NamedTuple):
    """A file, and the replies in it."""

    shape: str
    content: Any
    """A list of rows is written as lines, anything else as one value."""
    replies: list[SavedReply]


USER = {"role": "user", "content": "2+2?"}
PROGRAM = "def f():\n    return 'ü'\n"
MMLU_PRO = {
    "question_id": 70, "question": "Which?", "options": ["one", "two"], "answer": "B", "answer_index": 1,
    "cot_content": "", "category": "business", "src": "x", "pred": "A", "model_outputs": "The answer is (A).",
}  # fmt: skip
INSPECT = {
    "id": 1, "epoch": 2, "input": [{"role": "system", "content": "Be brief."}, USER], "choices": ["3", "4"],
    "target": "B", "messages": [USER],
    "output": {
        "model": "m",
        "choices": [
            {
                "message": {
                    "role": "assistant",
                    "content": [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "ANSWER: B"}],
                },
                "stop_reason": "max_tokens",
            }
        ],
    },
    "scores": {"choice": {"value": "C", "answer": "B"}, "other": {"value": {"f1": 0.5, "why": "so"}}},
    "attachments": {},
}  # fmt: skip
LOG = {"version": 2, "status": "success", "eval": {"task": "inspect_evals/mmlu"}, "samples": [INSPECT]}
INSPECT_REPLY = R(
    problem="1", index=1, text="ANSWER: B", reasoning="Hm.", finish_reason="length", question="2+2?",
    options=("3", "4"), gold=("B",), dataset="mmlu", claimed={"choice": 1.0, "f1": 0.5},
)  # fmt: skip

EXAMPLES = [
    Example(
        "programs",
        [{"task_id": "HumanEval/0", "completion": PROGRAM}, {"task_id": "HumanEval/0", "solution": PROGRAM}],
        [R(problem="HumanEval/0", dataset="HumanEval", text=PROGRAM)] * 2,
    ),
    Example(
        "programs",
        [{"task_id": "HumanEval/1", "completion": "x", "result": "timed out", "passed": False}],
        [R(problem="HumanEval/1", dataset="HumanEval", text="x", claimed={"correct": 0.0})],
    ),
    Example(
        "programs",
        [{"task_id": "a/3", "prompt": "int f(", "completion": None, "generation": "x", "text": "Write a function."}],
        [R(problem="a/3", dataset="a", text="x")],
    ),
    Example(
        "EvalPlus's results",
        {
            "date": "2024", "hash": "84f4",
            "eval": {
                "HumanEval/9": [
                    {"task_id": "HumanEval/9", "solution": "a", "base_status": "fail", "plus_status": "pass"},
                    {"task_id": "HumanEval/9", "solution": "b", "base_status": "pass", "plus_status": "timeout"},
                ]
            },
        },
        [
            R(problem="HumanEval/9", dataset="humaneval_plus", text="a", claimed={"base": 0.0, "plus": 0.0}),
            R(problem="HumanEval/9", dataset="humaneval_plus", text="b", claimed={"base": 1.0, "plus": 0.0}),
        ],
    ),
    Example(
        "EvalPlus's results",
        {
            "hash": "ebe95df0d5220f00cedd6f4bddea35e4",
            "eval": {"Mbpp/6": [{"task_id": "Mbpp/6", "solution": "a", "base_status": "pass", "plus_status": None}]},
        },
        [R(problem="Mbpp/6", dataset="mbpp_plus_v0.1.0", text="a", claimed={"base": 1.0})],
    ),
    Example(
        "IFEval's results",
        [
            {
                "follow_all_instructions": True, "follow_instruction_list": [True], "instruction_id_list": ["a:b"],
                "prompt": "Be brief.", "response": "Yes.",
            }
        ],
        [R(question="Be brief.", text="Yes.", dataset="ifeval", claimed={"prompt_level_strict_acc": 1.0})],
    ),
    Example(
        "BigCodeBench's results",
        {"date": "2024", "eval": {"BigCodeBench/8": [{"task_id": "?", "solution": "a", "status": "pass", "details": {}}]}},
        [R(problem="BigCodeBench/8", dataset="BigCodeBench", text="a", claimed={"correct": 1.0})],
    ),
    Example(
        "generations",
        {"sample_130": ["'o=9'", "1"], "sample_1": ["{}"]},
        [R(problem="sample_130", text="'o=9'"), R(problem="sample_130", text="1"), R(problem="sample_1", text="{}")],
    ),
    Example("generations", [["a", "b"], ["c"]], [R(problem="0", text="a"), R(problem="0", text="b"), R(problem="1", text="c")]),
    Example(
        "scored generations",
        {
            "raw_generations": {"sample_3": ["1", "2"]},
            "raw_scored_generations": {"sample_3": [False, True]},
            "pass_at_1": 50.0,
        },
        [
            R(problem="sample_3", text="1", claimed={"correct": 0.0}),
            R(problem="sample_3", text="2", claimed={"correct": 1.0}),
        ],
    ),
    Example(
        "AISBench's lines",
        [
            {
                "data_abbr": "gsm8k", "id": 7, "success": True, "uuid": "0", "gold": "#### 4", "prediction": "4",
                "origin_prompt": [{"role": "HUMAN", "prompt": "1+1?"}, {"role": "BOT", "prompt": "2"}, {"role": "HUMAN", "prompt": "2+2?"}],
            },
            {"data_abbr": "gsm8k", "id": 8, "success": False, "prediction": "", "error_info": "HTTP 500"},
            {"data_abbr": "gsm8k", "id": 9, "index": 1, "input": "?", "error_info": "too long", "kind": "rejected"},
        ],
        [
            R(problem="7", dataset="gsm8k", text="4", gold=("#### 4",), question="2+2?"),
            R(problem="8", dataset="gsm8k", failure="HTTP 500"),
            R(problem="9", dataset="gsm8k", index=1, question="?", failure="too long", rejected=True),
        ],
    ),
    Example(
        "predictions",
        {"0": {"origin_prompt": "2+2?", "prediction": "4", "gold": 4}, "1": {"origin_prompt": "?", "prediction": ["a", None], "gold": ["a", "b"]}},
        [
            R(problem="0", question="2+2?", text="4", gold=("4",)),
            R(problem="1", question="?", text="a", gold=("a", "b")),
            R(problem="1", question="?", gold=("a", "b"), failure="the file has null in the place of the reply"),
        ],
    ),
    Example(
        "predictions",
        {"0": {"origin_prompt": "?", "prediction": "b", "loglikelihoods": [{"logprob": -2.0, "tokens": 1, "greedy": False}, None]}},
        [R(problem="0", question="?", text="b", loglikelihoods=(Loglikelihood(logprob=-2.0, tokens=1, greedy=False), None))],
    ),
    Example(
        "plain rows",
        [{"id": "q1", "predictions": ["a", "b"], "gold": "a", "correct": [True, False]}, {"id": 2, "prediction": 4, "gold": 4}],
        [
            R(problem="q1", text="a", gold=("a",), claimed={"correct": 1.0}),
            R(problem="q1", text="b", gold=("a",), claimed={"correct": 0.0}),
            R(problem="2", text="4", gold=("4",)),
        ],
    ),
    Example(
        "lm-eval's samples",
        [
            {
                "doc_id": 0, "doc": {"question": "2+2?"}, "target": "['4', 'four']", "filter": "strict-match",
                "arguments": {"gen_args_0": {"arg_0": "Q: 2+2?", "arg_1": {}}}, "resps": [["It is 4.", "It is 5."]],
                "filtered_resps": ["4"], "metrics": ["exact_match"], "exact_match": 1.0,
            }
        ],
        [
            R(
                problem="0", question="2+2?", gold=("4", "four"), filter="strict-match", metrics=("exact_match",),
                claimed={"exact_match": 1.0}, text=text, answer=answer,
            )
            for text, answer in (("It is 4.", "4"), ("It is 5.", None))
        ],
    ),
    Example(
        "lm-eval's samples",
        [
            {
                "doc_id": 0, "doc": {}, "target": "1", "metrics": ["acc"], "acc": 0.0, "resps": [[[-3.0, True]], [[-3.5, False]]],
                "filtered_resps": [[-3.0, True], [-3.5, False]], "arguments": [["Q", " 3"], ["Q", " four"]],
            }
        ],
        [
            R(
                problem="0", gold=("1",), metrics=("acc",), claimed={"acc": 0.0}, options=("3", "four"),
                loglikelihoods=(Loglikelihood(logprob=-3.0, greedy=True), Loglikelihood(logprob=-3.5, greedy=False)),
            )
        ],
    ),
    Example("inspect's log", json.dumps(LOG), [INSPECT_REPLY]),
    Example(
        "inspect's log",
        json.dumps(
            {
                **LOG,
                "samples": [
                    {
                        "id": "a", "epoch": 1, "input": "attachment://1f", "target": ["x", "y"], "scores": None,
                        "attachments": {"1f": "A long question."}, "output": {"choices": []}, "error": {"message": "boom"},
                    },
                    {"id": "b", "epoch": 1, "input": "?", "target": "x", "output": {"completion": "x", "choices": []}},
                ],
            }
        ),
        [
            R(problem="a", index=0, question="A long question.", gold=("x", "y"), dataset="mmlu", failure="boom"),
            R(problem="b", index=0, question="?", gold=("x",), dataset="mmlu", text="x"),
        ],
    ),
    Example(
        "EvalScope's predictions",
        [
            {
                "index": 5, "model": "m", "messages": [USER, {"role": "assistant", "content": "4"}],
                "model_output": {"choices": [{"message": {"content": "4"}, "stop_reason": "stop"}], "error": None},
            },
            {"index": 6, "model": "m", "messages": [USER], "model_output": {"choices": [], "error": "HTTP 500"}},
        ],
        [
            R(problem="5", question="2+2?", text="4", finish_reason="stop"),
            R(problem="6", question="2+2?", failure="HTTP 500"),
        ],
    ),
    Example(
        "EvalScope's reviews",
        [
            {
                "index": 5, "target": "4", "messages": [USER],
                "sample_score": {
                    "score": {"value": {"acc": 1.0}, "extracted_prediction": "4", "prediction": "It is 4."},
                    "sample_id": 5, "group_id": 2,
                },
            }
        ],
        [R(problem="2", question="2+2?", text="It is 4.", answer="4", gold=("4",), main="acc", claimed={"acc": 1.0})],
    ),
    Example(
        "EvalScope's reviews",
        [
            {
                "index": 5, "target": "", "input": "Be brief.",
                "sample_score": {
                    "score": {"value": {"loose": 1.0, "strict": 0.0}, "main_score_name": "strict", "prediction": "Yes."},
                },
            }
        ],
        [R(problem="5", question="Be brief.", text="Yes.", main="strict", claimed={"loose": 1.0, "strict": 0.0})],
    ),
    Example(
        "MMLU-Pro's outputs",
        json.dumps([MMLU_PRO, {**MMLU_PRO, "question_id": 71, "pred": None}]),
        [
            R(
                problem=problem, question="Which?", options=("one", "two"), gold=("B",), part="business",
                dataset="mmlu_pro", text="The answer is (A).", answer=answer, claimed={"correct": worth}, is_guess=worth > 0,
            )
            for problem, answer, worth in (("70", "A", 0.0), ("71", None, 0.5))
        ],
    ),
    Example(
        "lines of batch",
        [
            {"task_id": "HumanEval/1", "text": "x", "tokens_generated": 5, "inference_ms": 1.0},
            {"task_id": "HumanEval/0", "text": "", "error": "out of memory"},
        ],
        [R(problem="HumanEval/1", text="x"), R(problem="HumanEval/0", failure="out of memory")],
    ),
]  # fmt: skip


def written(content: Any) -> bytes:
    if isinstance(content, str):
        return content.encode()
    if isinstance(content, list) and isinstance(content[0], dict):
        return b"".join(json.dumps(row).encode() + b"\n" for row in content)
    return json.dumps(content).encode()


NAMES = [f"{example.shape} {number}" for number, example in enumerate(EXAMPLES)]


@pytest.mark.parametrize("example", EXAMPLES, ids=NAMES)
def test_a_file_of_a_known_tool_is_read_as_it_is(example: Example) -> None:
    """By its content alone."""
    file = open_replies(SavedBytes(written(example.content), "file.json"))
    assert file.shape.name == example.shape
    assert list(file.replies()) == example.replies


@pytest.mark.parametrize("example", EXAMPLES, ids=NAMES)
def test_the_way_of_writing_json_changes_nothing(example: Example) -> None:
    """Indented as one list instead of lines, with a byte order mark, with Windows' line ends, in pieces of seven."""
    data = written(example.content)
    rows = example.content
    as_list = json.dumps(rows, ensure_ascii=False, indent=2).encode() if isinstance(rows, list | dict) else data
    for spelling in (as_list, b"\xef\xbb\xbf" + data, data.replace(b"\n", b"\r\n"), data + b"\n\n", b"\n" + data):
        for step in (7, 1 << 20):
            assert list(open_replies(SavedBytes(spelling, "file.json", step)).replies()) == example.replies


OF_ROWS = [
    example for example in EXAMPLES if isinstance(example.content, list) and isinstance(example.content[0], dict)
]


@pytest.mark.parametrize("example", OF_ROWS, ids=lambda example: example.shape)
def test_fields_that_nobody_asks_for_change_nothing(example: Example) -> None:
    """Nor does their order in a row."""
    rows = example.content
    others = [
        {"model": "m", **dict(reversed(row.items())), "seconds": 1.5, "notes": ["x", {"y": None}]} for row in rows
    ]
    assert read(written(others), "file.json") == example.replies


def test_every_shape_of_the_table_has_an_example() -> None:
    """So that none is there which nobody has tried."""
    assert {example.shape for example in EXAMPLES} == {shape.name for shape in KNOWN_SHAPES}


@pytest.mark.parametrize("example", EXAMPLES, ids=NAMES)
def test_a_file_that_breaks_off_is_refused_or_its_whole_rows_are_all_read(example: Example) -> None:
    """Wherever a writer was stopped, no reply is changed or made up."""
    data = written(example.content)
    for length in range(1, len(data) - 1):
        try:
            read_before = read(data[:length], "file.json")
        except BadData:
            continue
        found = [reply for reply in read_before if not reply.odd]
        assert found == example.replies[: len(found)]
        if len(found) < len(read_before):
            continue
        assert data[length : length + 1] in (b"\n", b"{"), data[:length]
