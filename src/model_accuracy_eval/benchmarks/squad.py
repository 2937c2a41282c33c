"""squad: 10,570 questions on passages of Wikipedia that hold the answer; squad_v2: 11,873, half without an answer.

Home: https://rajpurkar.github.io/SQuAD-explorer, arXiv:1606.05250, arXiv:1806.03822. Licence: CC-BY-SA-4.0.
A row: {"id": "…", "title": "…", "context": "…", "question": "…", "answers": {"text": ["…", …], "answer_start": [177,
…]}}; without an answer both lists are empty. The validation splits, because the test splits are not published.
Asked: for words of the passage; squad_v2 also allows "unanswerable".
Judged: officially: the same words apart from case, articles and punctuation (exact_match), and the words in common
(f1), by the best of the answers. A question without an answer is right as "unanswerable", and nothing else is.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataSource, Pipeline, Prompt, Step, TaskSpec

_SPEC = {
    "home": "https://rajpurkar.github.io/SQuAD-explorer",
    "licence": "CC-BY-SA-4.0",
    "fields": ("context", "question"),
    "cluster": "context",
    "key": ("id",),
    "max_tokens": 256,
}
_QUESTION = "{{ context }}\n\n{{ question | trim }}\n\n"
_METRICS = prompt_parts.SPAN_PIPELINES[0].metrics

V1 = TaskSpec(
    name="squad",
    about="Questions on passages, answered in their words.",
    aliases=("squad_v1", "squad1"),
    data=DataFile(name="squad/validation", source=DataSource(hf="rajpurkar/squad", split="validation")),
    prompt=Prompt(question=f"{_QUESTION}{prompt_parts.WORDS_OF_THE_PASSAGE}"),
    reference="{{ answers.text[0] }}",
    references="{{ answers.text | unique | list | tojson }}",
    pipelines=prompt_parts.SPAN_PIPELINES,
    **_SPEC,  # type: ignore[arg-type]
)
V2 = TaskSpec(
    name="squad_v2",
    about="Questions on passages, half of which do not answer them.",
    aliases=("squad2", "squad2.0"),
    data=DataFile(name="squad_v2/validation", source=DataSource(hf="rajpurkar/squad_v2", split="validation")),
    prompt=Prompt(
        question=f"{_QUESTION}{prompt_parts.WORDS_OF_THE_PASSAGE} If the passage does not answer the question, reply: "
        "unanswerable"
    ),
    reference="{{ answers.text[0] if answers.text else 'unanswerable' }}",
    references="{{ (answers.text or ['unanswerable']) | unique | list | tojson }}",
    pipelines=(
        Pipeline(
            filters=(Step(name="short_answer"), Step(name="unanswerable")),
            metrics=_METRICS,
        ),
    ),
    **_SPEC,  # type: ignore[arg-type]
)
TASKS = (V1, V2)
