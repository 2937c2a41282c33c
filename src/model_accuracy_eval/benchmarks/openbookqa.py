"""openbookqa: 500 questions of elementary science that take a fact and a thought, with four options each.

Home: https://allenai.org/data/open-book-qa, arXiv:1809.02789. Licence: Apache-2.0.
A row: {"id": "8-376", "question_stem": "…", "choices": {"text": ["…", …], "label": ["A", …]}, "answerKey": "A"}
Asked: without the book, for a letter as the reply; or which option is likeliest after the question (openbookqa_choice).
Judged: the option. `acc_norm` divides its likelihood by its length.
"""

from model_accuracy_eval.benchmarks.option_questions import OptionQuestions
from model_accuracy_eval.records import DataFile, DataSource

_QUESTIONS = OptionQuestions(
    name="openbookqa",
    about="Elementary science without the book: four options.",
    question="{{ question_stem | trim }}",
    options="choices.text",
    place="choices.label.index(answerKey | trim)",
    spec={
        "home": "https://allenai.org/data/open-book-qa",
        "licence": "Apache-2.0",
        "data": DataFile(
            name="openbookqa/test",
            source=DataSource(hf="allenai/openbookqa", ms="opencompass/openbookqa", config="main"),
        ),
        "fields": ("question_stem", "choices", "answerKey"),
        "key": ("id",),
        "baseline": 0.25,
    },
)

TASKS = (
    _QUESTIONS.asked_for_a_letter(aliases=("obqa",)),
    _QUESTIONS.likeliest_text("{{ question_stem }}", prompt_of="lm-eval"),
)
