"""bigcodebench: Python tasks that use 139 libraries, judged by unit tests: 1,140 less those of `UNFIT`.

Home: https://github.com/bigcode-project/bigcodebench, arXiv:2406.15877. Licence: Apache-2.0.
A row: {"task_id": "BigCodeBench/0", "entry_point": "task_func", "prompt": "import …", "instruction": "…",
"prompt_wo_doc": "import …", "test": "class TestCases(unittest.TestCase): …", "libs": ["pandas"]}
Asked: bigcodebench shows head and docstring, bigcodebench_instruct describes the task in words; bigcodebench_hard and
bigcodebench_hard_instruct ask those of `HARDEST`, 148 tasks that its authors chose.
Judged: with the head's imports in front ("calibrated"), by the unit tests, in a process of their own where the
task's solution passes so. The sandbox needs an image that has the libraries: docker/bigcodebench.
"""

from collections.abc import Iterable

import msgspec

from model_accuracy_eval.benchmarks.prompt_parts import code_prompt
from model_accuracy_eval.records import DataFile, DataSource, MetricUse, Pipeline, Step, TaskSpec

UNFIT: dict[str, tuple[int, ...]] = {
    "needs a network": (101, 176, 314, 590, 1005, 1006, 1012),
    "needs a word list of NLTK that no package carries": (726, 734),
    "expects older libraries than Python 3.11 can have": (111, 276),
    "calls no program in its tests": (272,),
}
"""Tasks that are not asked, because their tests do not distinguish their own solution from a wrong one."""

# fmt: off
HARDEST = (
    13, 15, 17, 19, 34, 37, 82, 89, 92, 93, 99, 100, 101, 108, 120, 123, 124, 129, 139, 147, 161, 162, 177, 184, 187,
    199, 208, 211, 214, 227, 239, 241, 267, 273, 274, 287, 302, 308, 310, 313, 324, 326, 341, 346, 360, 367, 368, 374,
    399, 401, 409, 417, 418, 424, 443, 445, 454, 458, 461, 477, 486, 492, 501, 502, 503, 509, 511, 513, 526, 528, 530,
    532, 553, 560, 567, 574, 579, 582, 583, 587, 590, 592, 593, 594, 618, 636, 637, 654, 655, 657, 678, 720, 723, 752,
    760, 763, 765, 771, 777, 785, 800, 826, 845, 854, 857, 865, 870, 879, 897, 906, 914, 915, 916, 917, 928, 942, 945,
    952, 955, 963, 964, 969, 971, 985, 988, 990, 998, 999, 1003, 1004, 1006, 1008, 1012, 1013, 1015, 1019, 1020, 1022,
    1039, 1040, 1042, 1053, 1057, 1077, 1085, 1124, 1129, 1137,
)
# fmt: on


def _by_number(view: str, numbers: Iterable[int]) -> Step:
    return Step(name=view, args={"field": "task_id", "values": [f"BigCodeBench/{number}" for number in numbers]})


_FIT = _by_number("without", (number for numbers in UNFIT.values() for number in numbers))
_HARDEST = (_FIT, _by_number("only", HARDEST))

COMPLETE = TaskSpec(
    name="bigcodebench",
    about="Python functions that use many libraries, from their docstrings; needs an image with these.",
    home="https://github.com/bigcode-project/bigcodebench",
    licence="Apache-2.0",
    data=DataFile(
        name="bigcodebench/BigCodeBench.jsonl",
        source=DataSource(
            url="github:bigcode-project/bigcodebench-annotation@a3b89850db670d7302571142b881e4f85eef18e3/data/BigCodeBench.jsonl.gz",
            hash="720f1378fa4bed69a67432b0e5aa14684e60cd7e7a69fa12ebac1d1a592d6e2a",
        ),
    ),
    views=(_FIT,),
    fields=("task_id", "entry_point", "prompt", "prompt_wo_doc", "instruction", "canonical_solution", "test"),
    prompt=code_prompt("Complete this Python function; give it whole, with its imports.", "{{ prompt }}"),
    reference="{{ canonical_solution }}",
    key=("task_id",),
    extras=("task_id", "entry_point", "prompt", "prompt_wo_doc", "canonical_solution", "test", "libs"),
    max_tokens=1280,
    pipelines=(
        Pipeline(
            filters=(
                Step(name="strip_thoughts"),
                Step(name="python_code", args={"prompt": "prompt", "entry_point": "entry_point"}),
            ),
            metrics=(MetricUse(name="tests", label="accuracy", args={"suite": "unit_tests"}),),
        ),
    ),
)

INSTRUCT = msgspec.structs.replace(
    COMPLETE,
    name="bigcodebench_instruct",
    about="The same tasks, described in words.",
    prompt=code_prompt("Write the Python function that this describes.", "{{ instruction | trim }}"),
)

HARD = msgspec.structs.replace(
    COMPLETE, name="bigcodebench_hard", about="The 148 tasks of BigCodeBench that are hardest.", views=_HARDEST
)

HARD_INSTRUCT = msgspec.structs.replace(
    INSTRUCT, name="bigcodebench_hard_instruct", about="The hard tasks, described in words.", views=_HARDEST
)

TASKS = (COMPLETE, INSTRUCT, HARD, HARD_INSTRUCT)
