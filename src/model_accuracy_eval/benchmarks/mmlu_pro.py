"""mmlu_pro: 12,032 questions of 14 fields with up to ten options, made to need thought and not only knowledge.

Home: https://github.com/TIGER-AI-Lab/MMLU-Pro, arXiv:2406.01574. Licence: MIT.
A row: {"question_id": 70, "question": "…", "options": ["…", …], "answer": "I", "category": "business", …}
Asked: step by step, with the letter at the end.
Judged: the letter in `answer`, as the published script reads replies: the first "answer is (A)", else "answer: A", else
the last capital of A to J that stands alone; a reply without one is wrong, never a random option. `stated` reads as all
other tasks with options are read.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataSource, Grouping, Pipeline, Prompt, Step, TaskSpec

_FIELDS = ("question", "options", "answer", "category")
_METRICS = prompt_parts.LETTER_PIPELINE.metrics

TASK = TaskSpec(
    name="mmlu_pro",
    about="Knowledge and thought in 14 fields: up to ten options, a letter as the reply.",
    home="https://github.com/TIGER-AI-Lab/MMLU-Pro",
    licence="MIT",
    data=DataFile(
        name="mmlu_pro/test.jsonl",
        instead=(
            DataFile(
                name="mmlu_pro/hub_test",
                source=DataSource(hf="TIGER-Lab/MMLU-Pro", ms="TIGER-Lab/MMLU-Pro", split="test"),
            ),
        ),
    ),
    fields=_FIELDS,
    prompt=Prompt(
        question=f"{{{{ question | trim }}}}{prompt_parts.lettered('options')}\n\n{prompt_parts.LETTER_ENDING}"
    ),
    reference="{{ answer }}",
    choices="{{ options | tojson }}",
    key=("question_id",),
    category="category",
    max_tokens=2048,
    pipelines=(
        Pipeline(filters=(Step(name="strip_thoughts"), Step(name="mmlu_pro_answer")), metrics=_METRICS),
        prompt_parts.other_reading("stated", Step(name="choice_letter"), metric=_METRICS[0]),
    ),
    grouping=Grouping(by="category"),
)

TASKS = (TASK,)
