r"""mmvu: 625 questions of experts about videos from lectures and experiments, in 27 subjects, by letters.

Home: https://github.com/yale-nlp/MMVU, arXiv:2501.12380. Licence: unclear.
A row: {"id": "validation_1", "video": "https://…/videos/Chemistry/0.mp4", "question": "…", "question_type":
"multiple-choice", "choices": {"A": "10.0", …, "E": "20.0"}, "answer": "A", "metadata": {"subject": "Chemistry", …}, …}
Asked: the video by its address, which the service fetches itself; question and options; and for the letter. The 375
open questions of the validation set, which the authors let a model grade, are not asked.
Judged: the letter. Every subject has a row of its own.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataRow, DataSource, Grouping, Prompt, Step, TaskSpec


def video_questions(rows: list[DataRow]) -> list[DataRow]:
    """The view: the questions with options, these as a list, and the subject, which the metadata has."""
    return [
        {**row, "options": list(row["choices"].values()), "subject": row["metadata"]["subject"]}
        for row in rows
        if row["question_type"] == "multiple-choice"
    ]


TASK = TaskSpec(
    name="mmvu",
    aliases=("mmvu_val", "mmvu_mc"),
    about="Videos of lectures and experiments in 27 subjects, by letters.",
    home="https://github.com/yale-nlp/MMVU",
    licence="unclear",
    data=DataFile(
        name="mmvu/validation.json",
        source=DataSource(
            url="github:yale-nlp/MMVU@4d54223d912f498707c105ab645a921abce6e39a/data/validation.json",
            hash="f7c1ac4f9fa9770960b17ef16a3b6861f777ba04ae818dccd0ea6cda34d2213d",
        ),
        pictures=("video",),
    ),
    views=(Step(name="video_questions"),),
    fields=("id", "video", "question", "question_type", "choices", "answer", "metadata"),
    cluster="video",
    prompt=Prompt(
        question=f"{{{{ video }}}}\n{{{{ question | trim }}}}{prompt_parts.lettered('options')}\n\n"
        f"{prompt_parts.ONLY_THE_LETTER}"
    ),
    reference="{{ answer }}",
    choices="{{ options | tojson }}",
    key=("id",),
    category="subject",
    max_tokens=2048,
    pipelines=prompt_parts.LETTER_PIPELINES,
    grouping=Grouping(by="category"),
)

TASKS = (TASK,)
VIEWS = {"video_questions": video_questions}
