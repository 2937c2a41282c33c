"""mbpp: 500 small Python tasks in one sentence each, with three asserts; mbpp_plus has inputs by the dozen.

Home: https://github.com/google-research/google-research/tree/master/mbpp, arXiv:2108.07732;
https://github.com/evalplus/evalplus, arXiv:2305.01210. Licence: CC-BY-4.0; the tests of mbpp_plus Apache-2.0.
A row: {"task_id": 11, "text": "Write a python function to …", "code": "def f(…): …", "test_list": ["assert f(…) == …"]}
Asked: with the name that the asserts call, and with all three asserts: without them the signature could not be guessed.
mbpp is the test split, task ids 11 to 510; mbpp_sanitized is what its authors checked by hand.
Judged: by running the asserts; for mbpp_plus the reference solution tells what is right for every input.
"""

from msgspec import structs

from model_accuracy_eval.benchmarks.prompt_parts import code_prompt
from model_accuracy_eval.records import DataFile, DataSource, MetricUse, Pipeline, Slice, Step, TaskSpec

_EXAMPLES = "Examples:\n{{ test_list | join('\n') }}"

TASK = TaskSpec(
    name="mbpp",
    about="Small Python tasks in one sentence and three asserts.",
    home="https://github.com/google-research/google-research/tree/master/mbpp",
    licence="CC-BY-4.0",
    data=DataFile(
        name="mbpp/mbpp.jsonl",
        source=DataSource(
            url="github:deepseek-ai/DeepSeek-Coder@2f9fd85927c669dae3c0fbb2d607274023af243e/Evaluation/MBPP/data/mbpp.jsonl",
            hash="ccf64ceae9c5403bf50a044cb6d505bfd2a2963ee58338ba268fd65beab92a9f",
        ),
    ),
    slice=Slice(start=10, stop=510),
    fields=("task_id", "text", "code", "test_list"),
    prompt=code_prompt(
        "Write a Python function called `{{ test_list | called }}` for this task: {{ text | trim }}", _EXAMPLES
    ),
    reference="{{ code }}",
    key=("task_id",),
    extras=("task_id", "code", "test_list", "test_setup_code"),
    max_tokens=1024,
    pipelines=(
        Pipeline(
            filters=(Step(name="strip_thoughts"), Step(name="python_code", args={"asserts": "test_list"})),
            metrics=(MetricUse(name="tests", label="accuracy", args={"suite": "asserts"}),),
        ),
    ),
)

SANITIZED = structs.replace(
    TASK,
    name="mbpp_sanitized",
    aliases=("sanitized_mbpp",),
    about="The tasks of MBPP that its authors checked by hand.",
    data=DataFile(
        name="mbpp/sanitized-mbpp.json",
        source=DataSource(
            url="github:mrigankpawagi/PropertyEval@b2be813dcff867cc350c61b8d3ea57ec088ce1ac/sanitized-mbpp.json",
            hash="8ac32b2799150228e2d745aed09c870b7e4444246d4727d1004576207ef40769",
        ),
    ),
    slice=Slice(),
    fields=("task_id", "prompt", "code", "test_list"),
    prompt=code_prompt(
        "Write a Python function called `{{ test_list | called }}` for this task: {{ prompt | trim }}", _EXAMPLES
    ),
    extras=("task_id", "code", "test_list", "test_imports"),
)

PLUS = structs.replace(
    TASK,
    name="mbpp_plus",
    aliases=("MBPP+", "mbpp_plus_instruct"),
    about="378 tasks of MBPP with some thirty-five times the tests.",
    home="https://github.com/evalplus/evalplus",
    licence="Apache-2.0",
    data=DataFile(
        name="mbpp_plus/MbppPlus.jsonl",
        source=DataSource(
            url="github:evalplus/mbppplus_release@dadf43da556a00f7bacd71cb154f2932757d9144/MbppPlus.jsonl.gz",
            hash="af43697e8791c4c149bdfd6b489d8b5412507551ac20e28a439f650b8225db63",
        ),
    ),
    slice=Slice(),
    fields=("task_id", "prompt", "entry_point", "canonical_solution", "base_input", "plus_input", "atol", "assertion"),
    prompt=code_prompt(
        "Write a Python function called `{{ entry_point }}` that does what this says.", "{{ prompt | trim }}"
    ),
    reference="{{ canonical_solution }}",
    extras=("task_id", "entry_point", "canonical_solution", "base_input", "plus_input", "atol", "assertion"),
    pipelines=(
        Pipeline(
            filters=(Step(name="strip_thoughts"), Step(name="python_code", args={"entry_point": "entry_point"})),
            metrics=(
                MetricUse(name="tests", label="accuracy", args={"suite": "agreement"}),
                MetricUse(name="tests", label="base", args={"suite": "agreement", "inputs": ["base_input"]}),
            ),
        ),
    ),
)

PLUS_0_1_0 = structs.replace(
    PLUS,
    name="mbpp_plus_v0.1.0",
    aliases=("MBPP+ v0.1.0",),
    about="mbpp_plus as it was until April 2024, with 399 tasks.",
    data=DataFile(
        name="mbpp_plus/MbppPlus-v0.1.0.jsonl",
        source=DataSource(
            url="github:evalplus/mbppplus_release@f995b084ce4658b7647d6f4a91cd93626faeee75/MbppPlus.jsonl.gz",
            hash="57d639e77667d88930052b2b07212011c25c0bab94dfc1f19d15e1f7f558bfa9",
        ),
    ),
)

TASKS = (TASK, SANITIZED, PLUS, PLUS_0_1_0)
