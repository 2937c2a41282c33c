"""siqa: 1,954 questions about what people feel and do, and why, with three answers each.

Home: https://maartensap.com/social-iqa, arXiv:1904.09728. Licence: CC-BY-4.0.
A row: {"context": "Alex spilt the food …", "question": "What will Alex want to do next?", "answerA": "…", "answerB":
"…", "answerC": "…", "label": "2"}. The validation split, as published scores take it.
Asked: for a letter as the reply; or which answer is likeliest (siqa_choice).
Judged: the option.
"""

from model_accuracy_eval.benchmarks.option_questions import OptionQuestions, Wording
from model_accuracy_eval.records import DataFile, DataSource

_QUESTIONS = OptionQuestions(
    name="siqa",
    about="What people feel and do: three answers.",
    question="{{ context | trim }} {{ question | trim }}",
    options="[answerA, answerB, answerC]",
    place="label | int - 1",
    spec={
        "home": "https://maartensap.com/social-iqa",
        "licence": "CC-BY-4.0",
        "data": DataFile(
            name="siqa/validation", source=DataSource(hf="lighteval/siqa", ms="opencompass/siqa", split="validation")
        ),
        "fields": ("context", "question", "answerA", "answerB", "answerC", "label"),
        "cluster": "context",
        "baseline": 1 / 3,
    },
)
_AISBENCH = Wording(
    "AISBench",  # configs/datasets/siqa/siqa_gen_0_shot_chat.py
    "{{ context }}\nQuestion: {{ question }}{listing}\nAnswer:",
)

TASKS = (
    _QUESTIONS.asked_for_a_letter(aliases=("social_iqa", "social_i_qa")),
    _QUESTIONS.likeliest_text("Q: {{ context }} {{ question }}\nA:", prompt_of="lm-eval", norm=False),
    _QUESTIONS.in_words("evalscope-direct"),
    _QUESTIONS.in_words("aisbench", _AISBENCH),
)
