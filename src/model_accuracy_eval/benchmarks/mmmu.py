"""mmmu, mmmu_pro, mmmu_pro_4, mmmu_pro_vision: questions of university exams about pictures, in 30 subjects.

Home: https://github.com/MMMU-Benchmark/MMMU, arXiv:2311.16502 and arXiv:2409.02813. Licence: Apache-2.0.
A row: {"id": "validation_Art_1", "question": "Whose is <image 1>?", "options": "['Goya', '<image 2>']", "answer": "B",
"question_type": "multiple-choice", "image_1": picture, …, "image_7": null, …}; of MMMU-Pro: up to ten options and a
column `subject`; of its vision part: {"image": a picture of question and options, "options": "[…]", "answer": "C", …}.
Asked: question and options with the pictures where `<image 1>` and its like stand, for the letter; open questions for
a word or phrase. The authors ask with "Answer with the option's letter from the given choices directly."
Judged: the letter; a reply without one is wrong, where the authors' script draws one. Of an open question the
number, or a text that occurs in the reply. Every subject has a row of its own.
"""

import msgspec

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.benchmarks.prompt_parts import answers, as_python
from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import DataFile, DataRow, DataSource, Grouping, Prompt, Step, TaskSpec
from model_accuracy_eval.scoring.answers.stated_numbers import as_number

_PICTURES = ", ".join(f"image_{number}" for number in range(1, 8))
_OPTIONS = f"{prompt_parts.lettered('choices')}\n\n{prompt_parts.ONLY_THE_LETTER}"


def exam_questions(rows: list[DataRow]) -> list[DataRow]:
    """The view: each row with its `choices` as a list, its `answers`, its `kind` and its `subject`."""
    return [{**row, **_exam_question(row, f"row {number}")} for number, row in enumerate(rows, start=1)]


def _exam_question(row: DataRow, where: str) -> DataRow:
    choices = as_python(row["options"]) if isinstance(row["options"], str) else row["options"]
    if not isinstance(choices, list):
        raise BadData(f"{where}: the field 'options' is no list of options, but {row['options']!r}.")
    right = answers(row["answer"])
    kind = "letter" if choices else "number" if all(as_number(one) is not None for one in right) else "text"
    # "validation_Art_1", "test_Art_Theory_12": in MMMU's rows the subject stands in the id alone.
    subject = row.get("subject") or " ".join(str(row["id"]).split("_")[1:-1])
    return {"choices": list(map(str, choices)), "answers": right, "kind": kind, "subject": subject}


VALIDATION = TaskSpec(
    name="mmmu",
    about="University exams about pictures in 30 subjects, mostly by letters.",
    home="https://github.com/MMMU-Benchmark/MMMU",
    licence="Apache-2.0",
    aliases=("mmmu_val", "mmmu_dev_val"),
    data=DataFile(name="mmmu/validation.parquet", source=DataSource(hf="lmms-lab/MMMU", split="validation")),
    views=(Step(name="exam_questions"),),
    fields=("id", "question", "options", "answer"),
    cluster="{{ (image_1 if image_1 is defined else image) or '' }}",
    prompt=Prompt(
        question=f"{{% filter placed([{_PICTURES}]) %}}{{{{ question }}}}{{% if choices %}}{_OPTIONS}{{% else %}}\n\n"
        f"{prompt_parts.SHORT_ENDING}{{% endif %}}{{% endfilter %}}"
    ),
    reference="{{ answers[0] }}",
    references="{{ answers | tojson }}",
    choices="{{ choices | tojson }}",
    key=("id",),
    category="subject",
    extras=("kind",),
    max_tokens=2048,
    pipelines=prompt_parts.kind_pipelines(),
    grouping=Grouping(by="category"),
)


def _pro(
    name: str,
    about: str,
    config: str,
    *,
    file: str,
    prompt: Prompt = VALIDATION.prompt,
    fields: tuple[str, ...] = VALIDATION.fields,
) -> TaskSpec:
    return msgspec.structs.replace(
        VALIDATION,
        name=name,
        about=about,
        aliases=(),
        data=DataFile(
            name=f"mmmu_pro/{file}.parquet",
            source=DataSource(hf="MMMU/MMMU_Pro", ms="AI-ModelScope/MMMU_Pro", config=config, split="test"),
        ),
        fields=fields,
        prompt=prompt,
    )


PRO = _pro(
    "mmmu_pro",
    "MMMU's questions that need their picture, with up to ten options.",
    "standard (10 options)",
    file="standard_10",
)
PRO_FOUR = _pro(
    "mmmu_pro_4",
    "The same with up to four options.",
    "standard (4 options)",
    file="standard_4",
)
PRO_VISION = _pro(
    "mmmu_pro_vision",
    "The same as pictures of question and options, and no text beside them.",
    "vision",
    file="vision",
    prompt=Prompt(question=f"{{{{ image }}}}\nAnswer the question in the picture. {prompt_parts.ONLY_THE_LETTER}"),
    fields=("id", "image", "options", "answer"),
)
TASKS = (VALIDATION, PRO, PRO_FOUR, PRO_VISION)
VIEWS = {"exam_questions": exam_questions}
