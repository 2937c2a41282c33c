"""drop: 9,536 questions on passages about games and history that take counting, adding or sorting.

Home: https://allenai.org/data/drop, arXiv:1903.00161. Licence: CC-BY-4.0.
A row: {"query_id": "…", "passage": "…", "question": "…", "answer": {"number": "4", "date": {"day": "", "month": "",
"year": ""}, "spans": []}, "validated_answers": {"number": ["4"], "date": [{…}], "spans": [[]]}}. The validation split,
because the test split has no answers. Hugging Face's `ucinlp/drop` leaves out numbers; this is lm-eval's copy, which
has them.
Asked: step by step, with the answer after "Answer:", several answers on a line each. simple-evals shows three solved
passages, which are not here.
Judged: officially: exact_match and f1 over the answers in their best order, by the best annotator; f1 is what is
usually published.
"""

from model_accuracy_eval.records import (
    DataFile,
    DataSource,
    MetricUse,
    Pipeline,
    Prompt,
    PublishedScore,
    Step,
    TaskSpec,
)

_ONE = (
    "{% macro one(number, date, spans) %}{{ number if number else (spans | join('\n')) if spans else "
    "([date.day, date.month, date.year] | select | join(' ')) }}{% endmacro %}"
)
_ALL = (
    f"{_ONE}{{% set found = [one(answer.number, answer.date, answer.spans)] %}}"
    "{% for number in validated_answers.number %}{{ found.append(one(number, validated_answers.date[loop.index0], "
    "validated_answers.spans[loop.index0])) or '' }}{% endfor %}{{ found | select | unique | list | tojson }}"
)

TASK = TaskSpec(
    name="drop",
    about="Questions on passages that take counting, adding or sorting.",
    home="https://allenai.org/data/drop",
    licence="CC-BY-4.0",
    published=(
        PublishedScore(
            model="gpt-4o-2024-11-20",
            metric="f1",
            value=81.5,
            source="https://github.com/openai/simple-evals (after three solved passages)",
        ),
    ),
    data=DataFile(name="drop/validation", source=DataSource(hf="EleutherAI/drop", split="validation")),
    fields=("passage", "question", "answer", "validated_answers"),
    prompt=Prompt(
        question="{{ passage }}\n\n{{ question | trim }}\n\nThink it through if you need to. Then write Answer: and "
        "the answer alone, a number or words of the passage; if there are several answers, one on each line."
    ),
    reference=f"{_ONE}{{{{ one(answer.number, answer.date, answer.spans) }}}}",
    references=_ALL,
    key=("query_id",),
    cluster="passage",
    max_tokens=1024,
    pipelines=(
        Pipeline(
            filters=(Step(name="short_answer", args={"lines": True}),),
            metrics=(MetricUse(name="drop_em", label="exact_match"), MetricUse(name="drop_f1", label="f1")),
        ),
    ),
)
TASKS = (TASK,)
