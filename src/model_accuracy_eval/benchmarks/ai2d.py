"""ai2d: 3,088 questions about diagrams of schoolbooks.

Home: https://allenai.org/data/diagrams, arXiv:1603.07396. Licence: CC-BY-SA.
A row: {"question": "What is c?", "options": ["leaf", "root", …], "answer": "1", "image": picture}; the answer is a
place among the options, from 0.
Asked: the picture, the question, the options after their letters, and for the letter.
Judged: the letter.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataSource, Prompt, TaskSpec

TASK = TaskSpec(
    name="ai2d",
    about="Diagrams of schoolbooks, by letters.",
    home="https://allenai.org/data/diagrams",
    licence="CC-BY-SA",
    aliases=("ai2d_test",),
    data=DataFile(name="ai2d/test.parquet", source=DataSource(hf="lmms-lab/ai2d", split="test")),
    fields=("question", "options", "answer", "image"),
    cluster="image",
    prompt=Prompt(
        question=f"{{{{ image }}}}\n{{{{ question }}}}{prompt_parts.lettered('options')}\n\n"
        f"{prompt_parts.ONLY_THE_LETTER}"
    ),
    reference=prompt_parts.letter_at("answer | int"),
    choices="{{ options | tojson }}",
    max_tokens=2048,
    pipelines=prompt_parts.LETTER_PIPELINES,
)

TASKS = (TASK,)
