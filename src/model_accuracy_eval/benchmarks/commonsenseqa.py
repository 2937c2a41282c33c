"""commonsenseqa: 1,221 questions that everyday knowledge answers, with five options each.

Home: https://www.tau-nlp.org/commonsenseqa, arXiv:1811.00937. Licence: MIT.
A row: {"id": "…", "question": "…", "question_concept": "…", "choices": {"label": ["A", …], "text": ["…", …]},
"answerKey": "A"}. The validation split, because the test split has no answers.
Asked: for a letter as the reply; or which letter is likeliest after question and options (commonsenseqa_choice).
Judged: the option.
"""

from model_accuracy_eval.benchmarks.option_questions import OptionQuestions
from model_accuracy_eval.records import DataFile, DataSource

_QUESTIONS = OptionQuestions(
    name="commonsenseqa",
    about="Everyday knowledge: five options.",
    question="{{ question | trim }}",
    options="choices.text",
    place="choices.label.index(answerKey)",
    spec={
        "home": "https://www.tau-nlp.org/commonsenseqa",
        "licence": "MIT",
        "data": DataFile(
            name="commonsenseqa/validation",
            source=DataSource(hf="tau/commonsense_qa", ms="opencompass/commonsense_qa", split="validation"),
        ),
        "fields": ("question", "choices", "answerKey"),
        "key": ("id",),
        "baseline": 0.2,
    },
)

TASKS = (
    _QUESTIONS.asked_for_a_letter(aliases=("csqa",)),
    _QUESTIONS.likeliest_letter(f"Question: {_QUESTIONS.listed()}\nAnswer:", prompt_of="lm-eval"),
    _QUESTIONS.in_words("evalscope-direct"),
)
