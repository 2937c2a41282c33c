r"""mathvista: 1,000 questions of mathematics about charts, figures, tables and photographs.

Home: https://github.com/lupantech/MathVista, arXiv:2310.02255. Licence: CC-BY-SA-4.0.
A row: {"pid": "1", "question": "…", "decoded_image": picture, "choices": ["3", "4"], "answer": "4", "precision": null,
"question_type": "multi_choice", "answer_type": "text", "query": "Hint: …\\nQuestion: …\\nChoices:\\n(A) 3 …", …}
Asked: the picture, then the row's `query`, which has the authors' hint for the form of the answer.
Judged: of a question with options the letter; else the number, rounded to the row's `precision`, or the text. The
authors let a model find the answer in the reply, and cut decimals off where a whole number is right; here it is found
by rules, and 3.7 is not 3, so figures may be lower than theirs.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import DataFile, DataRow, DataSource, Grouping, Prompt, Step, TaskSpec
from model_accuracy_eval.scoring.answers.stated_numbers import as_number


def picture_mathematics(rows: list[DataRow]) -> list[DataRow]:
    """The view: each row with what its right answer is, the letter of an option among options, and its `kind`."""
    return [{**row, **_keyed(row, f"row {number}")} for number, row in enumerate(rows, start=1)]


def _keyed(row: DataRow, where: str) -> DataRow:
    choices, answer = row.get("choices") or [], str(row["answer"])
    if not choices:
        kind = "number" if as_number(answer) is not None else "formula" if answer[:1] == "[" else "text"
        return {"right": answer, "kind": kind, "options": []}
    if answer not in choices:
        raise BadData(f"{where}: the right answer '{answer}' is none of the {len(choices)} options.")
    return {"right": "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[choices.index(answer)], "kind": "letter", "options": choices}


TASK = TaskSpec(
    name="mathvista",
    about="Mathematics about charts, figures, tables and photographs.",
    home="https://github.com/lupantech/MathVista",
    licence="CC-BY-SA-4.0",
    aliases=("mathvista_mini", "mathvista_testmini"),
    prompt_of="official",
    data=DataFile(
        name="mathvista/testmini.parquet",
        source=DataSource(hf="AI4Math/MathVista", ms="evalscope/MathVista", split="testmini"),
    ),
    views=(Step(name="picture_mathematics"),),
    fields=("pid", "query", "decoded_image", "answer", "question_type"),
    cluster="decoded_image",
    prompt=Prompt(question="{{ decoded_image }}\n{{ query | trim }}"),
    reference="{{ right }}",
    choices="{{ options | tojson }}",
    key=("pid",),
    category="question_type",
    extras=("kind", "precision"),
    max_tokens=2048,
    pipelines=prompt_parts.kind_pipelines(rounded="precision"),
    grouping=Grouping(by="category"),
)

TASKS = (TASK,)
VIEWS = {"picture_mathematics": picture_mathematics}
