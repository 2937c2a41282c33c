r"""apps: 5,000 problems of programming contests and exercises, of three difficulties.

Home: https://github.com/hendrycks/apps, arXiv:2105.09938. Licence: MIT.
A row: {"id": 0, "question": "…", "input_output": "{\"inputs\": […], \"outputs\": […], \"fn_name\": …}",
"difficulty": "interview", "starter_code": "", "solutions": "[…]"}; rows without cases are not asked.
At the hub a row has problem_id in place of id.
Asked: in the benchmark's own form. Judged: in all cases, with four seconds for each; "accuracy" is the benchmark's
strict accuracy, "cases passed" its test case average. Outputs are compared as its own runner does, from equal texts
down to sets of rounded numbers.
"""

from msgspec import structs

from model_accuracy_eval.records import DataFile, DataSource, Grouping, MetricUse, Pipeline, Prompt, Step, TaskSpec

_QUESTION = """QUESTION:
{{ question }}
{% if starter_code %}{{ starter_code }}
{% endif %}{% if '"fn_name": "' in input_output %}Use Call-Based format{% else %}Use Standard Input format{% endif %}
ANSWER:
"""
"""The form is APPS's own (eval/generate_gpt_codes.py): figures are comparable with it alone."""
_WITHOUT_CASES = Step(name="without", args={"field": "input_output", "values": ["", None]})
_METRICS = (
    MetricUse(name="tests", label="accuracy", args={"suite": "apps"}),
    MetricUse(name="tests_cases", label="cases passed", args={"suite": "apps"}),
)

TASK = TaskSpec(
    name="apps",
    about="Problems of programming contests and exercises, of three difficulties.",
    home="https://github.com/hendrycks/apps",
    licence="MIT",
    data=DataFile(
        name="apps/test.jsonl",
        instead=(DataFile(name="apps/hub/test", source=DataSource(hf="codeparrot/apps", config="all", split="test")),),
    ),
    views=(_WITHOUT_CASES,),
    fields=("question", "difficulty"),
    prompt=Prompt(question=_QUESTION),
    reference="",
    category="difficulty",
    key=("id",),
    extras=("input_output",),
    grouping=Grouping(figures=("cases passed",)),
    max_tokens=1024,
    pipelines=(Pipeline(filters=(Step(name="strip_thoughts"), Step(name="script")), metrics=_METRICS),),
)

TASKS = (
    TASK,
    *(
        structs.replace(
            TASK,
            name=f"apps_{level}",
            about=f"Its problems of the difficulty {level}.",
            views=(_WITHOUT_CASES, Step(name="only", args={"field": "difficulty", "values": [level]})),
            grouping=None,
        )
        for level in ("introductory", "interview", "competition")
    ),
)
