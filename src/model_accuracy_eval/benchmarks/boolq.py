"""boolq: 3,270 questions that people typed into a search engine, each with a passage that answers yes or no.

Home: https://github.com/google-research-datasets/boolean-questions, arXiv:1905.10044. Licence: CC-BY-SA-3.0.
A row: {"question": "is there a word with q without u", "answer": true, "passage": "…"}. The validation split, because
the test split has no answers.
Asked: yes or no after the passage; or which of the two words is likelier (boolq_choice).
Judged: the yes or no that the reply states. 62.2 % of the answers are yes, which is what guessing reaches.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.benchmarks.option_questions import OptionQuestions, Wording
from model_accuracy_eval.records import DataFile, DataSource, MetricUse, Pipeline, Prompt, Step, TaskSpec

_SPEC = {
    "home": "https://github.com/google-research-datasets/boolean-questions",
    "licence": "CC-BY-SA-3.0",
    "data": DataFile(name="boolq/validation", source=DataSource(hf="google/boolq", split="validation")),
    "fields": ("question", "answer", "passage"),
    "cluster": "passage",
    "baseline": 0.622,
}
_YES_OR_NO = "{{ 'yes' if answer else 'no' }}"
_QUESTIONS = OptionQuestions(
    name="boolq",
    about="Yes or no after a passage",
    question="Passage: {{ passage }}\nQuestion: {{ question }}",
    options="['Yes', 'NO']",
    place="0 if answer else 1",
    spec=_SPEC,
)
_AISBENCH = Wording(
    "AISBench",  # configs/datasets/SuperGLUE_BoolQ/SuperGLUE_BoolQ_gen_0_shot_cot_str.py
    "Answer the following question. The last line of your response should be of the following format: 'ANSWER: "
    "$LETTER' (without quotes) where LETTER is one of AB. Think step by step before answering.\nPassage: {{ passage }}"
    "\nQuestion: {{ question }}{listing}",
)

TASK = TaskSpec(
    name="boolq",
    about="Questions of a search engine, answered yes or no after a passage.",
    aliases=("superglue_boolq",),
    prompt=Prompt(
        question="{{ passage | trim }}\n\n{{ question | trim }}?\n\n"
        "Answer by the passage. End your reply with: ANSWER: yes, or ANSWER: no."
    ),
    reference=_YES_OR_NO,
    max_tokens=1024,
    pipelines=(
        Pipeline(
            filters=(Step(name="yes_or_no"),),
            metrics=(MetricUse(name="exact_match", label="accuracy"),),
        ),
    ),
    **_SPEC,  # type: ignore[arg-type]
)
CHOICE = TaskSpec(
    name="boolq_choice",
    about="Questions of a search engine after a passage: the likelier of yes and no.",
    prompt_of="lm-eval",
    prompt=Prompt(
        question="{{ passage }}\nQuestion: {{ question }}?\nAnswer:",
        lettered="{{ passage }}\n\n{{ question }}?\nA. no\nB. yes\n\n" + prompt_parts.ONLY_THE_LETTER,
    ),
    reference="{{ 1 if answer else 0 }}",
    choices='["no", "yes"]',
    kind="choice",
    pipelines=(Pipeline(metrics=(MetricUse(name="acc", label="accuracy"),)),),
    **_SPEC,  # type: ignore[arg-type]
)
TASKS = (TASK, CHOICE, _QUESTIONS.in_words("aisbench", _AISBENCH))
