"""demo_arithmetic: sums of two numbers below 100 that the example adapter's model has never seen.

Home: this package. Licence: the package's own. A row: {"question": "27+58=", "answer": "85"}
Asked: the sum alone, which is all that a model of 115 thousand parameters understands.
Judged: the last number of the reply.
"""

from model_accuracy_eval.records import DataFile, Measure, Pipeline, Prompt, Step, TaskSpec

TASK = TaskSpec(
    name="demo_arithmetic",
    about="Additions below 100: what the example adapter can do, and not quite do.",
    licence="Apache-2.0",
    data=DataFile(name="demo_arithmetic.jsonl", bundled="demo_arithmetic.jsonl"),
    fields=("question", "answer"),
    prompt=Prompt(question="{{ question }}"),
    reference="{{ answer }}",
    max_tokens=8,
    pipelines=(Pipeline(filters=(Step(name="last_number"),), metrics=(Measure(name="number", label="accuracy"),)),),
)
