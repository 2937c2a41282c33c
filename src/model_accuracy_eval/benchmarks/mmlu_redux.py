"""mmlu_redux: 5,700 questions of MMLU, a hundred of each subject, which people looked through; those that are right.

Home: https://github.com/aryopg/mmlu-redux, arXiv:2406.04127. Licence: CC-BY-4.0.
A row: {"question": "…", "choices": ["…", "…", "…", "…"], "answer": 1, "error_type": "ok", "source": "…",
"correct_answer": "…", "potential_reason": "…"}; the configuration of its file is its subject. Version 2.0.
Asked: the questions without an error, for a letter as the reply. EvalScope also asks those with one, with the
corrected answer where there is one.
Judged: the option. Every subject and every area has a row of its own, as in mmlu.
"""

from model_accuracy_eval.benchmarks.mmlu import AREAS
from model_accuracy_eval.benchmarks.option_questions import OptionQuestions
from model_accuracy_eval.records import DataFile, DataSource, Grouping, Step


def _data(subject: str, *more: DataFile) -> DataFile:
    return DataFile(
        name=f"mmlu_redux/{subject}",
        source=DataSource(hf="edinburgh-dawg/mmlu-redux-2.0", ms="AI-ModelScope/mmlu-redux-2.0", config=subject),
        more=more,
        adds={"subject": subject},
    )


_FIRST, *_OTHERS = sorted(AREAS)

_QUESTIONS = OptionQuestions(
    name="mmlu_redux",
    about="The questions of MMLU that people found to be right: four options.",
    question="{{ question | trim }}",
    options="choices",
    place="answer",
    spec={
        "home": "https://github.com/aryopg/mmlu-redux",
        "licence": "CC-BY-4.0",
        "data": _data(_FIRST, *map(_data, _OTHERS)),
        "views": (Step(name="only", args={"field": "error_type", "values": ["ok"]}),),
        "fields": ("subject", "question", "choices", "answer", "error_type"),
        "category": "subject",
        "grouping": Grouping(by="category", areas=AREAS),
        "baseline": 0.25,
    },
)

TASKS = (
    _QUESTIONS.asked_for_a_letter(aliases=("mmlu_redux_2.0", "mmlu_redux_generative")),
    _QUESTIONS.in_words("evalscope"),
)
