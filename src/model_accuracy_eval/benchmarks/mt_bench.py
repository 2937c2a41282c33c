r"""mt_bench: 80 conversations of two turns in eight categories, marked by a judge model from 1 to 10.

Home: https://github.com/lm-sys/FastChat/tree/main/fastchat/llm_judge, arXiv:2306.05685. Licence: Apache-2.0.
A row: {"question_id": 101, "category": "reasoning", "turns": ["…", "…"], "reference": ["…", "…"]}; GPT-4's answers to
the questions of reasoning, math and coding are in a second file.
Asked: the first turn, and after the model's own reply the second.
Judged: each turn by itself, the second one with the first before it, by a prompt of our own; the judge reasons first
and ends with [[n]], of which the last counts. In reasoning, math and coding it is shown GPT-4's answers. The figure is
per cent of 10, so that 79 is 7.9 in the published tables; `turn 1` and `turn 2` are told apart, and every category has
a row. Temperatures are those of the settings, where the published script has one for each category.
"""

from model_accuracy_eval.benchmarks.bfcl import joined
from model_accuracy_eval.records import (
    DataFile,
    DataRow,
    DataSource,
    Grouping,
    JSONObject,
    MetricUse,
    Pipeline,
    Prompt,
    Step,
    TaskSpec,
)

_AT = "github:lm-sys/FastChat@0e6d3e4beaab66f4d3f93db72541a4abab8af28d/fastchat/llm_judge/data/mt_bench"
_WITH_REFERENCE = ("reasoning", "math", "coding")

_MARKING = """You mark one reply of an assistant in a conversation. Weigh whether it is right, whether it helps, \
whether it keeps to what was asked, and how well it is made. Its length is no merit. Do not be lenient.

{earlier}User: {question}

{guide}Assistant: {answer}

Say first, in a few sentences, what is good and what is not in this last reply of the assistant. Then mark it from 1 \
to 10, and end with the mark in double brackets, like this: [[5]]"""

_ARGS: JSONObject = {"prompt": _MARKING, "pattern": r"(?s).*\[\[(\d+(?:\.\d+)?)\]\]"}
_MARK = MetricUse(name="judge_score", label="score out of 10, in %", args=_ARGS)
_FILTERS = (Step(name="strip_thoughts"), Step(name="stripped"))

TASK = TaskSpec(
    name="mt_bench",
    about="Conversations of two turns, marked by a judge model from 1 to 10.",
    home="https://github.com/lm-sys/FastChat/tree/main/fastchat/llm_judge",
    licence="Apache-2.0",
    prompt_of="official",
    data=DataFile(
        name="mt_bench/question.jsonl",
        source=DataSource(
            url=f"{_AT}/question.jsonl", hash="119565adbab82227089cefdb44c8d7e2cf04dc0a0ec233634c82e7d4e2a944f7"
        ),
        more=(
            DataFile(
                name="mt_bench/reference_answer_gpt-4.jsonl",
                source=DataSource(
                    url=f"{_AT}/reference_answer/gpt-4.jsonl",
                    hash="f957a5bc977badb66885ec970e6cd08527845780313f0995764260e5777b9b3f",
                ),
            ),
        ),
    ),
    views=(Step(name="marked_conversations"),),
    fields=("question_id",),
    prompt=Prompt(question="{{ turns[0] }}", follow_ups="{{ turns[1:] | tojson }}"),
    reference="",
    turn_references="{{ answers | tojson }}",
    key=("question_id",),
    category="category",
    extras=("turn_1_guide", "turn_2_guide"),
    max_tokens=1024,
    pipelines=(
        Pipeline(turn="each", filters=_FILTERS, metrics=(_MARK,)),
        Pipeline(name="turn 1", turn=1, filters=_FILTERS, metrics=(_MARK,)),
        Pipeline(name="turn 2", turn=2, filters=_FILTERS, metrics=(_MARK,)),
    ),
    grouping=Grouping(by="category"),
)


def marked_conversations(rows: list[DataRow]) -> list[DataRow]:
    """The conversations, each with the reference answers to its turns, and with what the judge is shown of them."""
    return [_with_guides(row) for row in joined(rows, field="question_id")]


def _with_guides(row: DataRow) -> DataRow:
    shown = row["category"] in _WITH_REFERENCE and "choices" in row
    answers = row["choices"][0]["turns"] if shown else [""] * len(row["turns"])
    guides = {
        f"turn_{turn}_guide": f"A good answer to this, for you alone: {answer}\n\n" if answer else ""
        for turn, answer in enumerate(answers, start=1)
    }
    return {**row, "answers": answers, **guides}


TASKS = (TASK,)
VIEWS = {"marked_conversations": marked_conversations}
