"""mmlu: 14,042 four-option questions of 57 subjects, from school knowledge to law and medicine.

Home: https://github.com/hendrycks/test, arXiv:2009.03300. Licence: MIT.
A row: {"subject": "abstract_algebra", "question": "…", "choices": ["0", "1", "2", "3"], "answer": 1}
Asked: for a reply that ends with a letter (mmlu); or which letter is likeliest, after none or after the five solved
questions of its subject in the dev file (mmlu_choice, mmlu_choice_5shot); or as nanochat asks (mmlu_nanochat).
Judged: the letter. The headline is the mean over questions, as in the original; every subject has a row of its own, and
so has each of the four areas.
"""

from msgspec import structs

from model_accuracy_eval.records import DataFile, FewShot, Grouping, Measure, Pipeline, Prompt, Step, TaskSpec
from model_accuracy_eval.tasks import letters
from model_accuracy_eval.tasks.mmlu_areas import AREAS

_HOME = "https://github.com/hendrycks/test"
_FIELDS = ("subject", "question", "choices", "answer")
_TEST = DataFile(name="mmlu/test.jsonl", sha256="fdcfe0b7c447753ab85f1f7686f87d201d4521814501d5252502282ef0237ff2")
_DEV = DataFile(name="mmlu/dev.jsonl", sha256="071a8344f0bfe8e13a2a056fd45825c8ab8ff40ff793c8396f51cbde9ea911c5")

_QUESTION = "{{ question | trim }}" + letters.listed("choices")
_HEADER = "The following are multiple choice questions (with answers) about {{ subject | replace('_', ' ') }}.\n\n"
_BY_SUBJECT = Grouping(by="category", areas=AREAS)
_ACCURACY = (Pipeline(metrics=(Measure(name="acc", label="accuracy"),)),)

GENERATED = TaskSpec(
    name="mmlu",
    about="Knowledge of 57 subjects: four options, a letter as the reply.",
    home=_HOME,
    licence="MIT",
    data=_TEST,
    fields=_FIELDS,
    prompt=Prompt(question=f"{_QUESTION}\n\n{letters.ENDING}"),
    reference=letters.letter_of("answer"),
    choices="{{ choices | tojson }}",
    category="subject",
    max_tokens=1024,
    pipelines=letters.PIPELINES,
    grouping=_BY_SUBJECT,
    baseline=0.25,
)


def _weighed(name: str, about: str, prompt: Prompt, *views: Step) -> TaskSpec:
    return TaskSpec(
        name=name,
        about=about,
        home=_HOME,
        licence="MIT",
        data=_TEST,
        views=views,
        fields=_FIELDS,
        prompt=prompt,
        reference="{{ answer }}",
        choices='["A", "B", "C", "D"]',
        category="subject",
        kind="choice",
        pipelines=_ACCURACY,
        grouping=_BY_SUBJECT,
        baseline=0.25,
    )


_IN_ONE_TEXT = Prompt(
    description=_HEADER,
    question=f"{_QUESTION}\nAnswer:",
    lettered=f"{_QUESTION}\n\n{letters.ONLY_THE_LETTER}",
)
_FIVE = FewShot(data=_DEV, count=5, sampler=Step(name="same", args={"field": "subject"}), turns=False)

CHOICE = _weighed("mmlu_choice", "Knowledge of 57 subjects: the likeliest of four letters.", _IN_ONE_TEXT)

FIVE_SHOT = _weighed(
    "mmlu_choice_5shot",
    "Knowledge of 57 subjects: the likeliest of four letters, after five solved questions of the subject.",
    structs.replace(_IN_ONE_TEXT, fewshot=_FIVE),
)

_NANOCHAT = letters.nanochat("question", "'ABCD'", "choices")

NANOCHAT = _weighed(
    "mmlu_nanochat",
    "Knowledge of 57 subjects, asked as nanochat asks: the likeliest of four letters.",
    Prompt(question=_NANOCHAT, lettered=_NANOCHAT, delimiter=""),
    Step(name="permuted"),
)
