"""mmlu: 14,042 four-option questions of 57 subjects, from school knowledge to law and medicine.

Home: https://github.com/hendrycks/test, arXiv:2009.03300. Licence: MIT.
A row: {"subject": "abstract_algebra", "question": "…", "choices": ["0", "1", "2", "3"], "answer": 1}
Asked: for a reply that ends with a letter (mmlu); or which letter is likeliest, after none or after the five solved
questions of its subject in the dev file (mmlu_choice, mmlu_choice_5shot); or as nanochat asks (mmlu_nanochat). After an
@ stand the words of simple-evals, EvalScope and AISBench, each without examples, and ours that ask for thought (cot).
Judged: the letter. The headline is the mean over questions, as in the original; every subject has a row of its own, and
so has each of the four areas.
"""

from msgspec import structs

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.benchmarks.option_questions import OptionQuestions, Wording
from model_accuracy_eval.records import (
    DataFile,
    DataSource,
    FewShot,
    Grouping,
    MetricUse,
    Pipeline,
    Prompt,
    PublishedScore,
    Step,
    TaskSpec,
)

_SUBJECTS = {
    "STEM": """
        abstract_algebra anatomy astronomy college_biology college_chemistry college_computer_science
        college_mathematics college_physics computer_security conceptual_physics electrical_engineering
        elementary_mathematics high_school_biology high_school_chemistry high_school_computer_science
        high_school_mathematics high_school_physics high_school_statistics machine_learning
    """,
    "humanities": """
        formal_logic high_school_european_history high_school_us_history high_school_world_history international_law
        jurisprudence logical_fallacies moral_disputes moral_scenarios philosophy prehistory professional_law
        world_religions
    """,
    "social sciences": """
        econometrics high_school_geography high_school_government_and_politics high_school_macroeconomics
        high_school_microeconomics high_school_psychology human_sexuality professional_psychology public_relations
        security_studies sociology us_foreign_policy
    """,
    "other": """
        business_ethics clinical_knowledge college_medicine global_facts human_aging management marketing
        medical_genetics miscellaneous nutrition professional_accounting professional_medicine virology
    """,
}
AREAS = {subject: area for area, subjects in _SUBJECTS.items() for subject in subjects.split()}
"""Subject → area, as the paper's list has them: it counts anatomy among the sciences."""

_FIELDS = ("subject", "question", "choices", "answer")
_TEST = DataFile(
    name="mmlu/test.jsonl",
    instead=(
        DataFile(
            name="mmlu/test.parquet",
            source=DataSource(
                url="hf:cais/mmlu@c30699e8356da336a370243923dbaf21066bb9fe/all/test-00000-of-00001.parquet",
                hash="74a41822ce7d3def56e1682f958469c04642a5336a5ce912fa375fdb90fb25d7",
            ),
        ),
        DataFile(name="mmlu/hub_test", source=DataSource(hf="cais/mmlu", ms="cais/mmlu", config="all", split="test")),
    ),
)
_DEV = DataFile(
    name="mmlu/dev.jsonl",
    instead=(DataFile(name="mmlu/dev", source=DataSource(hf="cais/mmlu", ms="cais/mmlu", config="all", split="dev")),),
)

_QUESTION = "{{ question | trim }}" + prompt_parts.lettered("choices")
_HEADER = "The following are multiple choice questions (with answers) about {{ subject | replace('_', ' ') }}.\n\n"

GENERATED = TaskSpec(
    name="mmlu",
    aliases=("mmlu_generative", "mmlu_0_shot"),
    about="Knowledge of 57 subjects: four options, a letter as the reply.",
    home="https://github.com/hendrycks/test",
    licence="MIT",
    data=_TEST,
    fields=_FIELDS,
    prompt=Prompt(question=f"{_QUESTION}\n\n{prompt_parts.LETTER_ENDING}"),
    reference=prompt_parts.letter_at("answer"),
    choices="{{ choices | tojson }}",
    category="subject",
    max_tokens=1024,
    pipelines=prompt_parts.LETTER_PIPELINES,
    grouping=Grouping(by="category", areas=AREAS),
    baseline=0.25,
)


def _choice(name: str, about: str, prompt: Prompt, *views: Step, prompt_of: str = "lm-eval") -> TaskSpec:
    return structs.replace(
        GENERATED,
        name=name,
        aliases=(),
        prompt_of=prompt_of,
        about=about,
        views=views,
        prompt=prompt,
        reference="{{ answer }}",
        choices='["A", "B", "C", "D"]',
        kind="choice",
        max_tokens=512,
        pipelines=(Pipeline(metrics=(MetricUse(name="acc", label="accuracy"),)),),
    )


_IN_ONE_TEXT = Prompt(
    description=_HEADER,
    question=f"{_QUESTION}\nAnswer:",
    lettered=f"{_QUESTION}\n\n{prompt_parts.ONLY_THE_LETTER}",
)
_FIVE = FewShot(data=_DEV, count=5, sampler=Step(name="same", args={"field": "subject"}), turns=False)

CHOICE = _choice("mmlu_choice", "Knowledge of 57 subjects: the likeliest of four letters.", _IN_ONE_TEXT)

FIVE_SHOT = _choice(
    "mmlu_choice_5shot",
    "Knowledge of 57 subjects: the likeliest of four letters, after five solved questions of the subject.",
    structs.replace(_IN_ONE_TEXT, fewshot=_FIVE),
)

_NANOCHAT = prompt_parts.nanochat_choice("question", "'ABCD'", "choices")

NANOCHAT = _choice(
    "mmlu_nanochat",
    "Knowledge of 57 subjects, asked as nanochat asks: the likeliest of four letters.",
    Prompt(question=_NANOCHAT, lettered=_NANOCHAT, delimiter=""),
    Step(name="permuted"),
    prompt_of="nanochat",
)

_OTHERS = OptionQuestions(
    name="mmlu",
    about="Knowledge of 57 subjects: four options, a letter as the reply.",
    question="{{ question | trim }}",
    options="choices",
    place="answer",
    spec={
        "home": GENERATED.home,
        "licence": GENERATED.licence,
        "data": _TEST,
        "fields": _FIELDS,
        "category": "subject",
        "grouping": GENERATED.grouping,
        "baseline": 0.25,
    },
)
_AISBENCH = Wording(
    "AISBench",  # configs/datasets/mmlu/mmlu_gen_0_shot_cot_chat_prompt.py
    "There is a single choice question about {{ subject | replace('_', ' ') }}. Answer the question by replying A, B, "
    "C or D. \nQuestion: {{ question }}{listing}\nLet's think step by step.",
)
_SIMPLE_EVALS = tuple(
    PublishedScore(model=model, metric="accuracy", value=value, source="https://github.com/openai/simple-evals")
    for model, value in (
        ("gpt-4o-2024-11-20", 85.7),
        ("gpt-4o-mini-2024-07-18", 82.0),
        ("gpt-4.1-mini-2025-04-14", 87.5),
        ("Llama 3.1 8b, as its makers report", 68.4),
    )
)
IN_OTHER_WORDS = (
    _OTHERS.in_words("cot"),
    _OTHERS.in_words("simple-evals", published=_SIMPLE_EVALS),
    _OTHERS.in_words("evalscope"),
    _OTHERS.in_words("aisbench", _AISBENCH),
)

TASKS = (GENERATED, CHOICE, FIVE_SHOT, NANOCHAT, *IN_OTHER_WORDS)
