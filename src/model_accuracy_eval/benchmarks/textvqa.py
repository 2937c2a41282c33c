"""textvqa: 5,000 questions about photographs that only who reads the words in them can answer.

Home: https://textvqa.org, arXiv:1904.08920. Licence: CC-BY-4.0.
A row: {"question_id": 34602, "question": "what brand is it?", "image": picture, "answers": ["nous", …], …}; ten people
answered each.
Asked: the picture, the question, and for a single word or phrase.
Judged: by VQA accuracy: an answer that three of the people gave is right, one of fewer in part; compared in small
letters, without articles and punctuation, number words as digits.
"""

from msgspec import structs

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataSource, MetricUse, Pipeline, Prompt, TaskSpec

TASK = TaskSpec(
    name="textvqa",
    about="Words in photographs, against the answers of ten people.",
    home="https://textvqa.org",
    licence="CC-BY-4.0",
    aliases=("textvqa_val",),
    data=DataFile(name="textvqa/validation.parquet", source=DataSource(hf="lmms-lab/textvqa", split="validation")),
    fields=("question", "image", "answers"),
    cluster="image",
    prompt=Prompt(question=f"{{{{ image }}}}\n{{{{ question | capitalize }}}}\n{prompt_parts.SHORT_ENDING}"),
    reference="{{ answers[0] }}",
    references="{{ answers | tojson }}",
    key=("question_id",),
    max_tokens=512,
    pipelines=(
        Pipeline(filters=prompt_parts.SHORT_FILTERS, metrics=(MetricUse(name="vqa_accuracy", label="accuracy"),)),
    ),
)

AISBENCH = structs.replace(
    TASK,
    name="textvqa@aisbench",  # configs/datasets/textvqa/textvqa_gen.py
    aliases=(),
    prompt_of="AISBench",
    prompt=Prompt(question="{{ question }} Answer the question using a single word or phrase.{{ image }}"),
)

TASKS = (TASK, AISBENCH)
