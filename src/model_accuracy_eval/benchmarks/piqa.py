"""piqa: 1,838 everyday aims, each with two ways to reach them, one of which works.

Home: https://yonatanbisk.com/piqa, arXiv:1911.11641. Licence: AFL-3.0.
A row: {"goal": "How do I open a jar?", "sol1": "…", "sol2": "…", "label": 1}. The validation split, because the test
split has no answers. The original set on Hugging Face is a script; these are the files of lm-eval's copy of it.
Asked: which way works, a letter as the reply; or which one is likelier after the aim (piqa_choice).
Judged: the option. `acc_norm` divides its likelihood by its length.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.benchmarks.option_questions import OptionQuestions, Wording
from model_accuracy_eval.records import DataFile, DataSource

_QUESTIONS = OptionQuestions(
    name="piqa",
    about="Everyday aims: which of two ways works.",
    question="{{ goal | trim }}",
    options="[sol1, sol2]",
    place="label | int",
    spec={
        "home": "https://yonatanbisk.com/piqa",
        "licence": "AFL-3.0",
        "data": DataFile(
            name="piqa/validation", source=DataSource(hf="baber/piqa", ms="opencompass/piqa", split="validation")
        ),
        "fields": ("goal", "sol1", "sol2", "label"),
        "baseline": 0.5,
    },
)
_AISBENCH = Wording(
    "AISBench",  # configs/datasets/piqa/piqa_gen_0_shot_chat_prompt.py
    "There is a single choice question about physical knowledge. Answer the question by replying A or B. The last line "
    "of your response should be of the form Answer: $ANSWER (without quotes) where $ANSWER is the answer to the "
    "question.\n\n{question}{listing}",
)

TASKS = (
    _QUESTIONS.asked_for_a_letter(f"Which way works? {prompt_parts.LETTER_ENDING}"),
    _QUESTIONS.likeliest_text("Question: {{ goal }}\nAnswer:", prompt_of="lm-eval"),
    _QUESTIONS.in_words("evalscope-direct"),
    _QUESTIONS.in_words("aisbench", _AISBENCH),
)
