"""ocrbench: 1,000 questions about text in pictures, from single words to forms and formulas.

Home: https://github.com/Yuliang-Liu/MultimodalOCR, arXiv:2305.07895. Licence: MIT (code); the pictures are others'.
A row: {"dataset": "IIIT5K", "question": "what is written in the image?", "question_type": "Regular Text Recognition",
"answer": ["CENTRE"], "image": picture}
Asked: the picture and the question, as the authors do.
Judged: a right answer occurs in the reply, whatever its case; of formulas (HME100k) with case and without blanks. Every
kind of question has a row of its own. The authors count the right ones of 1,000: ten times the per cent here.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataSource, Grouping, MetricUse, Pipeline, Prompt, TaskSpec

TASK = TaskSpec(
    name="ocrbench",
    about="Text in pictures: words, scenes, documents, forms and formulas.",
    home="https://github.com/Yuliang-Liu/MultimodalOCR",
    licence="MIT (code)",
    prompt_of="official",
    data=DataFile(
        name="ocrbench/test.parquet", source=DataSource(hf="echo840/OCRBench", ms="evalscope/OCRBench", split="test")
    ),
    fields=("dataset", "question", "question_type", "answer", "image"),
    cluster="image",
    prompt=Prompt(question="{{ image }}\n{{ question }}"),
    reference="{{ (answer | answers)[0] }}",
    references="{{ answer | answers | tojson }}",
    category="question_type",
    extras=("dataset",),
    max_tokens=512,
    pipelines=(Pipeline(filters=prompt_parts.SHORT_FILTERS, metrics=(MetricUse(name="ocrbench", label="accuracy"),)),),
    grouping=Grouping(by="category"),
)

TASKS = (TASK,)
