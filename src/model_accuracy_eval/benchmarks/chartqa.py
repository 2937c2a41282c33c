"""chartqa: 2,500 questions about charts, one half by people and one half made from captions.

Home: https://github.com/vis-nlp/ChartQA, arXiv:2203.10244. Licence: GPL-3.0.
A row: {"type": "human_test", "question": "…", "answer": "14", "image": picture}
Asked: the picture, the question, and for a single word or phrase.
Judged: a number may be 5 % off, 12% is 0.12; a text must be the same but for case. Both halves have a row of their own.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataSource, Grouping, MetricUse, Pipeline, Prompt, TaskSpec

TASK = TaskSpec(
    name="chartqa",
    about="Values and names in charts; numbers may be 5 % off.",
    home="https://github.com/vis-nlp/ChartQA",
    licence="GPL-3.0",
    aliases=("chartqa_test",),
    data=DataFile(name="chartqa/test.parquet", source=DataSource(hf="lmms-lab/ChartQA", split="test")),
    fields=("type", "question", "answer", "image"),
    cluster="image",
    prompt=Prompt(question=f"{{{{ image }}}}\n{{{{ question }}}}\n{prompt_parts.SHORT_ENDING}"),
    reference="{{ answer }}",
    category="type",
    max_tokens=512,
    pipelines=(
        Pipeline(
            filters=prompt_parts.SHORT_FILTERS, metrics=(MetricUse(name="relaxed_number", label="relaxed accuracy"),)
        ),
    ),
    grouping=Grouping(by="category"),
)

TASKS = (TASK,)
