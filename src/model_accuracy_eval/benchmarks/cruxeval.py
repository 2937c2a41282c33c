"""cruxeval: 800 small Python functions whose inputs and outputs are to be predicted.

Home: https://github.com/facebookresearch/cruxeval, arXiv:2401.03065. Licence: MIT.
A row: {"id": "sample_0", "code": "def f(nums): …", "input": "[1, 1, 3]", "output": "[(4, 1)]"}
Asked: cruxeval_output for what the call gives, cruxeval_input for arguments that bring the output.
Judged: by running. Any arguments that bring the output are right. The authors sample ten times at temperature 0.2.
"""

from msgspec import structs

from model_accuracy_eval.records import DataFile, DataSource, MetricUse, Pipeline, Prompt, Step, TaskSpec

_OUTPUT = """Here is a Python function and a call of it. Work out what the call gives, with no call left in it.

```python
{{ code }}
assert f({{ input }}) == ??
```

Think as long as you need. Then write the assert with the value in place of ??, between [ANSWER] and [/ANSWER]."""
_INPUT = """Here is a Python function and what a call of it gives. Find arguments that bring this output; any will do.

```python
{{ code }}
assert f(??) == {{ output }}
```

Think as long as you need. Then write the assert with the arguments in place of ??, between [ANSWER] and [/ANSWER]."""

OUTPUT = TaskSpec(
    name="cruxeval_output",
    about="What a small Python function gives for an input.",
    home="https://github.com/facebookresearch/cruxeval",
    licence="MIT",
    data=DataFile(
        name="cruxeval/cruxeval.jsonl",
        source=DataSource(
            url="github:facebookresearch/cruxeval@190faf16d175b5847b0af05d937872b1fb395942/data/cruxeval.jsonl",
            hash="8368b81047dc5014e4caf5a2f97604eff7644e0ecd7415e3ceeb184bbc2e0c96",
        ),
        instead=(DataFile(name="cruxeval/hub_test", source=DataSource(hf="cruxeval-org/cruxeval")),),
    ),
    fields=("id", "code", "output"),
    prompt=Prompt(question=_OUTPUT),
    reference="{{ output }}",
    key=("id",),
    extras=("code", "input", "output"),
    temperature=0.2,
    max_tokens=1024,
    pipelines=(
        Pipeline(
            filters=(Step(name="strip_thoughts"), Step(name="expression", args={"compared": True})),
            metrics=(MetricUse(name="tests", label="accuracy", args={"suite": "predicted_output"}),),
        ),
    ),
)

INPUT = structs.replace(
    OUTPUT,
    name="cruxeval_input",
    about="Which input makes a small Python function give an output.",
    prompt=Prompt(question=_INPUT),
    reference="{{ input }}",
    pipelines=(
        Pipeline(
            filters=(Step(name="strip_thoughts"), Step(name="expression", args={"calls": "f"})),
            metrics=(MetricUse(name="tests", label="accuracy", args={"suite": "predicted_input"}),),
        ),
    ),
)

TASKS = (OUTPUT, INPUT)
