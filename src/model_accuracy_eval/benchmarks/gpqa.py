"""gpqa_diamond, gpqa_main: 198 and 448 questions by doctors of biology, physics and chemistry, which a search engine
does not answer.

Home: https://github.com/idavidrein/gpqa, arXiv:2311.12022. Licence: CC-BY-4.0; its authors ask that no question be
shown where models may learn it. On Hugging Face the terms are to be accepted and a token is needed.
A row: {"Record ID": "rec…", "Question": "…", "Correct Answer": "…", "Incorrect Answer 1": "…", "Incorrect Answer 2":
"…", "Incorrect Answer 3": "…", "High-level domain": "Physics", "Subdomain": "…", …}
Asked: with the four answers in an order that the question's text decides, the same in every run and for every limit;
for a letter as the reply, in our words or in simple-evals' (which AISBench asks in, too); or which answer is likeliest
(gpqa_diamond_choice).
Judged: the option. Every domain has a row of its own. Other tools draw other orders: simple-evals by Python's generator
with the seed 0, lm-eval without a seed.
"""

import hashlib
import random

from model_accuracy_eval.benchmarks.option_questions import OptionQuestions
from model_accuracy_eval.records import DataFile, DataRow, DataSource, Grouping, PublishedScore, Step, TaskSpec

_FIELDS = ("Question", "Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
_PUBLISHED = tuple(
    PublishedScore(model=model, metric="accuracy", value=value, source="https://github.com/openai/simple-evals")
    for model, value in (("gpt-4o-2024-11-20", 46.0), ("gpt-4.1-mini-2025-04-14", 65.0), ("o4-mini-high", 81.3))
)


def _tasks(subset: str, count: int, ms: str) -> tuple[TaskSpec, ...]:
    is_diamond = subset == "diamond"
    questions = OptionQuestions(
        name=f"gpqa_{subset}",
        about=f"Questions of doctors of science that no search answers: {subset} set, four options.",
        question="{{ Question | trim }}",
        options="options",
        place="place",
        spec={
            "home": "https://github.com/idavidrein/gpqa",
            "licence": "CC-BY-4.0",
            "data": DataFile(
                name=f"gpqa/gpqa_{subset}.csv",
                source=DataSource(hf="Idavidrein/gpqa", ms=ms, config=f"gpqa_{subset}", split="train"),
            ),
            "views": (Step(name="shuffled_options"),),
            "fields": (*_FIELDS, "High-level domain"),
            "key": ("Record ID",),
            "category": "High-level domain",
            "grouping": Grouping(by="category"),
            "baseline": 0.25,
        },
    )
    aliases = ("gpqa", "gpqa_diamond_generative_n_shot", "gpqa_diamond_cot_zeroshot") if is_diamond else ()
    context = (
        "What is the correct answer to this question:{{ Question }}\nChoices:{% for option in options %}\n"
        "({{ 'ABCD'[loop.index0] }}) {{ option }}{% endfor %}\nAnswer:"
    )
    return (
        questions.asked_for_a_letter(aliases=aliases, max_tokens=4096),
        questions.likeliest_letter(
            context,
            prompt_of="lm-eval",
            choices='["(A)", "(B)", "(C)", "(D)"]',
            aliases=(f"gpqa_{subset}_zeroshot",),
        ),
        questions.in_words("simple-evals", published=_PUBLISHED if is_diamond else (), max_tokens=4096),
        questions.in_words("evalscope", max_tokens=4096),
    )


TASKS = (*_tasks("diamond", 198, ""), *_tasks("main", 448, ""))


def shuffled_options(rows: list[DataRow]) -> list[DataRow]:
    """With `options`, the four answers in an order of the question's own, and `place`, that of the right one."""
    return [{**row, **_shuffled(row)} for row in rows]


def _shuffled(row: DataRow) -> DataRow:
    texts = [str(row[column]).strip() for column in _FIELDS[1:]]
    seed = int.from_bytes(hashlib.sha256(str(row["Question"]).strip().encode()).digest()[:8], "big")
    order = list(range(len(texts)))
    random.Random(seed).shuffle(order)  # noqa: S311 - an order, no secret
    return {"options": [texts[at] for at in order], "place": order.index(0)}


VIEWS = {"shuffled_options": shuffled_options}
