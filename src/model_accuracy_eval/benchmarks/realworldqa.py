r"""realworldqa: 765 questions about photographs, many of them taken from cars.

Home: https://x.ai/blog/grok-1.5v. Licence: CC-BY-ND-4.0.
A row: {"question": "How far is it?\\nA. …\\nB. …\\nPlease answer directly with only the letter …", "answer": "B",
"image": picture, …}
Asked: the picture, then the row's question, which says what to answer with.
Judged: the letter where the answer is one; else the number or the text, which may occur in the reply.
"""

import re

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataRow, DataSource, Prompt, Step, TaskSpec
from model_accuracy_eval.scoring.answers.stated_numbers import as_number


def photo_questions(rows: list[DataRow]) -> list[DataRow]:
    """The view: each row with its `kind`."""
    return [{**row, "kind": _kind(str(row["answer"]))} for row in rows]


def _kind(answer: str) -> str:
    if re.fullmatch(r"[A-F]", answer):
        return "letter"
    return "number" if as_number(answer) is not None else "text"


TASK = TaskSpec(
    name="realworldqa",
    about="Photographs of streets and rooms, by letters, numbers and words.",
    home="https://x.ai/blog/grok-1.5v",
    licence="CC-BY-ND-4.0",
    prompt_of="official",
    data=DataFile(name="realworldqa/test.parquet", source=DataSource(hf="lmms-lab/RealWorldQA", split="test")),
    views=(Step(name="photo_questions"),),
    fields=("question", "answer", "image"),
    cluster="image",
    prompt=Prompt(question="{{ image }}\n{{ question | trim }}"),
    reference="{{ answer }}",
    extras=("kind",),
    max_tokens=2048,
    pipelines=prompt_parts.kind_pipelines(),
)

TASKS = (TASK,)
VIEWS = {"photo_questions": photo_questions}
