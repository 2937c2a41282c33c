r"""humaneval: 164 heads of Python functions with their docstrings; humaneval_plus has some eighty times the tests.

Home: https://github.com/openai/human-eval, arXiv:2107.03374; https://github.com/evalplus/evalplus, arXiv:2305.01210.
Licence: MIT; the tests of humaneval_plus Apache-2.0.
A row: {"task_id": "HumanEval/0", "prompt": "def f(…):\n    \"\"\"…", "entry_point": "f",
"canonical_solution": "…", "test": "def check(candidate): …"}; humaneval_plus has inputs in place of tests, and the
reference solution tells what is right.
Asked: for the whole function in chats; humaneval_base lets a base model go on with the text.
Judged: by running the tests. A reply may be the function or its body alone. For humaneval_plus a program must agree
with the reference on the original inputs and on the added ones; `base` counts the original ones alone. `best of n`
takes of each problem's samples the first that passes the docstring's examples, as somebody would who knows no more.
"""

from msgspec import structs

from model_accuracy_eval.benchmarks.prompt_parts import code_prompt
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

_FILTERS = (
    Step(name="strip_thoughts"),
    Step(name="python_code", args={"prompt": "prompt", "entry_point": "entry_point"}),
)
_FIELDS = ("task_id", "prompt", "entry_point", "canonical_solution")

TASK = TaskSpec(
    name="humaneval",
    aliases=("humaneval_instruct", "openai_humaneval", "human_eval"),
    about="Python functions from their docstrings, run against their tests.",
    home="https://github.com/openai/human-eval",
    licence="MIT",
    data=DataFile(
        name="humaneval/HumanEval.jsonl",
        source=DataSource(
            url="github:openai/human-eval@6d43fb980f9fee3c892a914eda09951f772ad10d/data/HumanEval.jsonl.gz",
            hash="b796127e635a67f93fb35c04f4cb03cf06f38c8072ee7cee8833d7bee06979ef",
        ),
        instead=(
            DataFile(
                name="humaneval/hub_test", source=DataSource(hf="openai/openai_humaneval", ms="opencompass/humaneval")
            ),
        ),
    ),
    fields=(*_FIELDS, "test"),
    prompt=code_prompt("Complete this Python function; give it whole, with its imports.", "{{ prompt }}"),
    reference="{{ canonical_solution }}",
    published=(
        PublishedScore(
            model="gpt-4o-2024-11-20",
            metric="pass@1",
            value=90.2,
            source="https://github.com/openai/simple-evals (its own prompt)",
        ),
    ),
    key=("task_id",),
    extras=("prompt", "entry_point", "test"),
    max_tokens=1024,
    pipelines=(
        Pipeline(
            filters=_FILTERS,
            metrics=(
                MetricUse(name="tests", label="accuracy", args={"suite": "humaneval"}),
                MetricUse(name="best_of_n", label="best of n", args={"suite": "humaneval"}, reduction="best_shown"),
            ),
        ),
    ),
)

BASE = structs.replace(
    TASK,
    name="humaneval_base",
    aliases=(),
    published=(),
    about="The same, for base models: the function's head is text to continue.",
    prompt=Prompt(question="{{ prompt }}"),
    mode="text",
    max_tokens=512,
    stop=("\nclass ", "\ndef ", "\n#", "\nif ", "\nprint("),
)

PLUS = structs.replace(
    TASK,
    name="humaneval_plus",
    published=(),
    aliases=("HumanEval+", "humaneval_plus_instruct"),
    about="HumanEval with some eighty times the tests.",
    home="https://github.com/evalplus/evalplus",
    licence="Apache-2.0",
    data=DataFile(
        name="humaneval_plus/HumanEvalPlus.jsonl",
        source=DataSource(
            url="github:evalplus/humanevalplus_release@200defce9e3429d28ca215b6dd061c0f7f31c18b/HumanEvalPlus.jsonl.gz",
            hash="272720b90ac375502c8ed23cd791c2a93dfb22a911641a494da74a426c09f101",
        ),
    ),
    fields=(*_FIELDS, "base_input", "plus_input", "atol"),
    extras=("prompt", "entry_point", "canonical_solution", "base_input", "plus_input", "atol"),
    pipelines=(
        Pipeline(
            filters=_FILTERS,
            metrics=(
                MetricUse(name="tests", label="accuracy", args={"suite": "agreement"}),
                MetricUse(name="tests", label="base", args={"suite": "agreement", "inputs": ["base_input"]}),
            ),
        ),
    ),
)

PLUS_0_1_9 = structs.replace(
    PLUS,
    name="humaneval_plus_v0.1.9",
    aliases=("HumanEval+ v0.1.9",),
    about="humaneval_plus as it was until April 2024.",
    data=DataFile(
        name="humaneval_plus/HumanEvalPlus-v0.1.9.jsonl",
        source=DataSource(
            url="github:evalplus/humanevalplus_release@68cd26d53a0dec69f85eafe1f82a2a74155a2bd6/HumanEvalPlus.jsonl.gz",
            hash="e62f4130146963d969da64553f407a66e52d095adbfed4ee6733b4d59e14a3ed",
        ),
    ),
)

TASKS = (TASK, BASE, PLUS, PLUS_0_1_9)
