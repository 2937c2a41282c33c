r"""mmstar: 1,500 questions that cannot be answered without their picture, in six abilities.

Home: https://github.com/MMStar-Benchmark/MMStar, arXiv:2403.20330. Licence: unclear, as its parts come from others.
A row: {"index": 0, "question": "What is it?\\nOptions: A: a cat, B: a dog, …", "image": picture, "answer": "A",
"category": "coarse perception", "l2_category": "image style & quality", …}
Asked: the picture, the question as it stands in the row, and for the letter.
Judged: the letter. Every ability has a row of its own.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataSource, Grouping, Prompt, TaskSpec

TASK = TaskSpec(
    name="mmstar",
    about="Questions that need their picture, by letters.",
    home="https://github.com/MMStar-Benchmark/MMStar",
    licence="unclear",
    data=DataFile(
        name="mmstar/val.parquet", source=DataSource(hf="Lin-Chen/MMStar", ms="evalscope/MMStar", split="val")
    ),
    fields=("question", "image", "answer", "category"),
    cluster="image",
    prompt=Prompt(question=f"{{{{ image }}}}\n{{{{ question | trim }}}}\n\n{prompt_parts.ONLY_THE_LETTER}"),
    reference="{{ answer }}",
    key=("index",),
    category="category",
    max_tokens=2048,
    pipelines=prompt_parts.LETTER_PIPELINES,
    grouping=Grouping(by="category"),
)

TASKS = (TASK,)
