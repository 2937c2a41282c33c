r"""mmau: 1,000 questions about sounds, music and speech that are to be heard, by letters: MMAU's test-mini.

Home: https://github.com/Sakshi113/MMAU, arXiv:2410.19168. Licence: unclear, as the sounds come from many sets.
A row: {"id": "…", "audio": sound, "question": "What is heard?", "choices": "[\"a bell\", \"a horn\"]", "answer":
"a bell", "task": "sound", "difficulty": "easy", …}
Asked: the sound, question and options, and for the letter.
Judged: the letter; a reply without one is wrong, where lmms-eval draws one. Sound, music and speech have rows of their
own. The authors revised a quarter of the questions in May 2025: figures before and after do not compare.
"""

import json

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import DataFile, DataRow, DataSource, Grouping, Prompt, Step, TaskSpec


def heard_questions(rows: list[DataRow]) -> list[DataRow]:
    """The view: the options as a list, and the letter of the right one."""
    return [{**row, **_keyed(row, f"row {number}")} for number, row in enumerate(rows, start=1)]


def _keyed(row: DataRow, where: str) -> DataRow:
    options = row["choices"]
    if isinstance(options, str):
        try:
            options = json.loads(options)
        except ValueError as error:
            raise BadData(f"{where}: 'choices' is no JSON: {error}.") from error
    known = [str(option).strip().lower() for option in options]
    right = str(row["answer"]).strip().lower()
    if known.count(right) != 1:
        raise BadData(
            f"{where}: the right answer '{row['answer']}' is {known.count(right)} of the {len(known)} options."
        )
    return {"options": list(map(str, options)), "right": known.index(right)}


TASK = TaskSpec(
    name="mmau",
    aliases=("mmau_mini", "mmau_test_mini"),
    about="Sounds, music and speech that are to be heard, by letters.",
    home="https://github.com/Sakshi113/MMAU",
    licence="unclear",
    data=DataFile(name="mmau/test_mini.parquet", source=DataSource(hf="lmms-lab/mmau", split="test_mini")),
    views=(Step(name="heard_questions"),),
    fields=("id", "audio", "question", "choices", "answer", "task"),
    cluster="audio",
    prompt=Prompt(
        question=f"{{{{ audio }}}}\n{{{{ question | trim }}}}{prompt_parts.lettered('options')}\n\n"
        f"{prompt_parts.ONLY_THE_LETTER}"
    ),
    reference=prompt_parts.letter_at("right"),
    choices="{{ options | tojson }}",
    key=("id",),
    category="task",
    max_tokens=2048,
    pipelines=prompt_parts.LETTER_PIPELINES,
    grouping=Grouping(by="category"),
)

TASKS = (TASK,)
VIEWS = {"heard_questions": heard_questions}
