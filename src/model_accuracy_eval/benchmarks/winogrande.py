"""winogrande: 1,267 sentences with a gap, which one of two names fills; only what one knows of the world tells which.

Home: https://winogrande.allenai.org, arXiv:1907.10641. Licence: CC-BY, its code Apache-2.0.
A row: {"sentence": "Ann asked Mary … because _ was …", "option1": "Ann", "option2": "Mary", "answer": "2"}. The
validation split, because the test split has no answers; it is one file for all sizes of the training split.
Asked: which option fills the gap, a letter as the reply; or which of the two beginnings makes the rest of the sentence
likelier (winogrande_choice), as in the paper by Trinh and Le and in lm-eval.
Judged: the option.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.benchmarks.option_questions import OptionQuestions, Wording
from model_accuracy_eval.records import DataFile, DataSource, MetricUse, Pipeline, Prompt, TaskSpec

_SPEC = {
    "home": "https://winogrande.allenai.org",
    "licence": "CC-BY",
    "data": DataFile(
        name="winogrande/validation",
        source=DataSource(
            hf="allenai/winogrande", ms="opencompass/winogrande", config="winogrande_xs", split="validation"
        ),
    ),
    "fields": ("sentence", "option1", "option2", "answer"),
    "baseline": 0.5,
}
_QUESTIONS = OptionQuestions(
    name="winogrande",
    about="Sentences with a gap: which of two names fills it.",
    question="{{ sentence | trim }}",
    options="[option1, option2]",
    place="answer | int - 1",
    spec=_SPEC,
)
_AISBENCH = Wording(
    "AISBench",  # configs/datasets/winogrande/winogrande_gen_0_shot_chat_prompt.py
    "There is a single choice question about physical knowledge. Answer the question by replying A or B. The last line "
    "of your response should be of the form Answer: $ANSWER (without quotes) where $ANSWER is the answer to the "
    "question.\n\nQuestion: {question}{listing}",
)

TASK = _QUESTIONS.asked_for_a_letter(f"Which option fills the gap (_)? {prompt_parts.LETTER_ENDING}")
CHOICE = TaskSpec(
    name="winogrande_choice",
    about="Sentences with a gap: the name after which the rest of the sentence is likelier.",
    prompt_of="lm-eval",
    prompt=Prompt(
        question="",
        answer="{{ sentence.partition('_')[2] | trim }}",
    ),
    reference="{{ answer | int - 1 }}",
    choices="{% set parts = sentence.partition('_') %}{{ [parts[0] ~ option1, parts[0] ~ option2] | tojson }}",
    kind="schema",
    mode="text",
    pipelines=(Pipeline(metrics=(MetricUse(name="acc", label="accuracy"),)),),
    **_SPEC,  # type: ignore[arg-type]
)
TASKS = (TASK, CHOICE, _QUESTIONS.in_words("evalscope-direct"), _QUESTIONS.in_words("aisbench", _AISBENCH))
