"""hle_text: the questions of Humanity's Last Exam that have no picture, written by experts of many fields.

Home: https://lastexam.ai, arXiv:2501.14249. Licence: MIT; its authors ask not to publish questions, and grant access at
Hugging Face by account.
A row: {"id": "…", "question": "…", "image": "", "answer": "B", "answer_type": "multipleChoice", "category": "Math", …}
Asked: the question, with room to think, and with the answer alone on the last line.
Judged: by a judge model, with a prompt of our own: whether the final answer is the right one, yes or no. Calibration
of stated confidence, which the authors print beside it, is not measured. Every category has a row of its own.
"""

from model_accuracy_eval.records import DataFile, DataSource, Grouping, MetricUse, Pipeline, Prompt, Step, TaskSpec

_JUDGING = """Compare the final answer of a reply with the right answer to an exam question. Do not solve \
the question, and do not argue for another answer: only whether the two answers mean the same counts. Numbers \
may differ by rounding. A reply without a final answer, or with several, does not agree.

Question: {question}

Right answer: {reference}

Reply: {answer}

Does the reply's final answer agree with the right answer? Reply with the one word yes or no."""

TEXT = TaskSpec(
    name="hle_text",
    about="Very hard questions of experts from many fields, those without pictures, graded by a judge model.",
    home="https://lastexam.ai",
    licence="MIT",
    data=DataFile(name="hle/test.jsonl", source=DataSource(hf="cais/hle", ms="cais/hle", split="test")),
    views=(Step(name="only", args={"field": "image", "values": ["", None]}),),
    fields=("question", "answer", "category"),
    prompt=Prompt(
        question="{{ question | trim }}\n\nReason as much as you need, then end with a line that has your answer alone."
    ),
    reference="{{ answer }}",
    key=("id",),
    category="category",
    max_tokens=16384,
    pipelines=(
        Pipeline(
            filters=(Step(name="strip_thoughts"), Step(name="stripped")),
            metrics=(MetricUse(name="judge", label="accuracy", args={"prompt": _JUDGING}),),
        ),
    ),
    grouping=Grouping(by="category"),
)

TASKS = (TEXT,)
