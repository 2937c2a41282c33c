"""How a number is asked for and read: worked out step by step, and written behind #### on the last line."""

from model_accuracy_eval.records import Measure, Pipeline, Step

ENDING = "Work it out step by step. On the last line write #### followed by the answer as a plain number."

PIPELINES = (
    Pipeline(
        filters=(
            Step(name="strip_thoughts"),
            Step(name="cut_at", args={"marks": ["Question:"]}),
            Step(name="number_answer"),
        ),
        metrics=(Measure(name="number", label="accuracy"),),
    ),
)
