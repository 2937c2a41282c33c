"""supergpqa: 26,529 questions of 285 fields of study, most with ten options.

Home: https://supergpqa.github.io, arXiv:2502.14739. Licence: ODC-BY.
A row: {"uuid": "…", "question": "…", "options": ["…", …], "answer": "…", "answer_letter": "C", "discipline": "Science",
"field": "Physics", "subfield": "…", "difficulty": "hard", "is_calculation": true}. The only split is called train.
Asked: for a letter as the reply.
Judged: the option. Every discipline has a row of its own.
"""

from model_accuracy_eval.benchmarks.option_questions import OptionQuestions
from model_accuracy_eval.records import DataFile, DataSource, Grouping

_QUESTIONS = OptionQuestions(
    name="supergpqa",
    about="Study and research in 285 fields: up to ten options.",
    question="{{ question | trim }}",
    options="options",
    place="'ABCDEFGHIJ'.index(answer_letter)",
    spec={
        "home": "https://supergpqa.github.io",
        "licence": "ODC-BY",
        "data": DataFile(
            name="supergpqa/SuperGPQA-all.jsonl",
            source=DataSource(hf="m-a-p/SuperGPQA", ms="m-a-p/SuperGPQA", split="train"),
        ),
        "fields": ("question", "options", "answer_letter", "discipline", "field"),
        "key": ("uuid",),
        "category": "discipline",
        "grouping": Grouping(by="category"),
    },
)

TASKS = (
    _QUESTIONS.asked_for_a_letter(aliases=("super_gpqa",), max_tokens=2048),
    _QUESTIONS.in_words("evalscope"),
)
