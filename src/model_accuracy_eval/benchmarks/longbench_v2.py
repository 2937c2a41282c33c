"""longbench_v2: 503 questions with four options over texts of 8,000 to 2 million words.

Home: https://github.com/THUDM/LongBench, arXiv:2412.15204. Licence: Apache-2.0.
A row: {"_id": "…", "domain": "Single-Document QA", "sub_domain": "Legal", "difficulty": "hard", "length": "short",
"question": "…", "choice_A": "…", …, "choice_D": "…", "answer": "C", "context": "…"}
Asked: the text, then the question and its options, with room to think before the letter, in words of our own.
Judged: the letter. Difficulties and lengths have rows of their own. Texts that do not fit into the model's context are
rejected by the service and counted so; the authors cut out their middles.
"""

from collections.abc import Sequence

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataRow, DataSource, Grouping, Prompt, PublishedScore, Step, TaskSpec

_DIFFICULTIES, _LENGTHS = ("easy", "hard"), ("short", "medium", "long")
_OPTIONS = prompt_parts.lettered("[choice_A, choice_B, choice_C, choice_D]")

TASK = TaskSpec(
    name="longbench_v2",
    about="Questions with four options that need deep reading of long texts.",
    home="https://github.com/THUDM/LongBench",
    licence="Apache-2.0",
    aliases=("longbench2",),
    published=(
        PublishedScore(
            model="o1-preview", metric="accuracy", value=57.7, source="https://github.com/THUDM/LongBench, README"
        ),
        PublishedScore(
            model="human experts", metric="accuracy", value=53.7, source="https://github.com/THUDM/LongBench, README"
        ),
    ),
    data=DataFile(
        name="longbench_v2/train.jsonl",
        source=DataSource(hf="THUDM/LongBench-v2", ms="ZhipuAI/LongBench-v2", split="train"),
    ),
    views=(Step(name="combined", args={"field": "kind", "of": ["difficulty", "length"]}),),
    fields=("question", "context", "answer", "difficulty", "length"),
    cluster="context",
    prompt=Prompt(
        question="Here is a text; a question about it follows.\n\n{{ context | trim }}\n\n"
        f"{{{{ question | trim }}}}{_OPTIONS}\n\n{prompt_parts.LETTER_ENDING}"
    ),
    reference="{{ answer }}",
    choices="{{ [choice_A, choice_B, choice_C, choice_D] | tojson }}",
    key=("_id",),
    category="kind",
    max_tokens=4096,
    baseline=0.25,
    pipelines=prompt_parts.LETTER_PIPELINES,
    grouping=Grouping(
        by="category",
        areas={f"{first} {second}": (first, second) for first in _DIFFICULTIES for second in _LENGTHS},
    ),
)

TASKS = (TASK,)


def combined(rows: list[DataRow], *, field: str, of: Sequence[str]) -> list[DataRow]:
    """With a further column: the values of some others, with blanks between them."""
    return [{**row, field: " ".join(str(row[name]) for name in of)} for row in rows]


VIEWS = {"combined": combined}
