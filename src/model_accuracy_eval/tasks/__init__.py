"""The table of datasets: name → where its TaskSpec stands. Modules are opened when they are asked for."""

from importlib import import_module

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.records import GroupMean, TaskGroup, TaskSpec

_CORE = (
    "hellaswag_zeroshot", "jeopardy", "bigbench_qa_wikidata", "arc_easy", "arc_challenge", "copa", "commonsense_qa",
    "piqa", "openbook_qa", "lambada_openai", "hellaswag", "winograd", "winogrande", "bigbench_dyck_languages",
    "agi_eval_lsat_ar", "bigbench_cs_algorithms", "bigbench_operators", "bigbench_repeat_copy_logic", "squad", "coqa",
    "boolq", "bigbench_language_identification",
)  # fmt: skip
_CORE_WITHOUT_DATA = ("hellaswag_zeroshot", "hellaswag", "squad", "coqa")
"""Their files are too large for the place that the others are fetched from."""

SHELVES: dict[str, dict[str, str]] = {
    "Comes with the package": {
        "demo_arithmetic": "demo_arithmetic:TASK",
        "demo_gsm8k": "demo_gsm8k:TASK",
    },
    "Mathematics": {
        "gsm8k": "gsm8k:ZERO_SHOT",
        "gsm8k_4shot": "gsm8k:FOUR_SHOT",
        "gsm8k_nanochat": "gsm8k:NANOCHAT",
        "gsm8k_tools": "gsm8k:TOOLS",
        "mgsm": "mgsm:TASK",
        "svamp": "svamp:TASK",
    },
    "Knowledge and thought": {
        "mmlu": "mmlu:GENERATED",
        "mmlu_choice": "mmlu:CHOICE",
        "mmlu_choice_5shot": "mmlu:FIVE_SHOT",
        "mmlu_nanochat": "mmlu:NANOCHAT",
        "mmlu_pro": "mmlu_pro:TASK",
        "arc_easy": "arc:EASY",
        "arc_easy_choice": "arc:EASY_CHOICE",
        "arc_easy_nanochat": "arc:EASY_NANOCHAT",
        "arc_challenge": "arc:CHALLENGE",
        "arc_challenge_choice": "arc:CHALLENGE_CHOICE",
        "arc_challenge_nanochat": "arc:CHALLENGE_NANOCHAT",
        "bbh": "bbh:TASK",
        "gaokao_bench": "gaokao:TASK",
        "truthfulqa": "truthfulqa:GENERATED",
        "truthfulqa_choice": "truthfulqa:CHOICE",
        "truthfulqa_mc1": "truthfulqa:MC1",
        "truthfulqa_mc2": "truthfulqa:MC2",
    },
    "Following instructions": {
        "ifeval": "ifeval:TASK",
    },
    "Reading and spelling": {
        "tydiqa_tiny": "tydiqa:TASK",
        "spelling_bee": "spelling:BEE",
        "simple_spelling": "spelling:SIMPLE",
    },
    "Code": {
        "humaneval": "humaneval:TASK",
        "humaneval_base": "humaneval:BASE",
        "humaneval_plus": "humaneval:PLUS",
        "mbpp": "mbpp:TASK",
        "mbpp_sanitized": "mbpp:SANITIZED",
        "mbpp_plus": "mbpp:PLUS",
        "bigcodebench": "bigcodebench:COMPLETE",
        "bigcodebench_instruct": "bigcodebench:INSTRUCT",
        "bigcodebench_hard": "bigcodebench:HARD",
        "bigcodebench_hard_instruct": "bigcodebench:HARD_INSTRUCT",
        "cruxeval_output": "cruxeval:OUTPUT",
        "cruxeval_input": "cruxeval:INPUT",
        "humaneval_x_cpp": "humaneval_x:CPP",
        "humaneval_x_go": "humaneval_x:GO",
        "humaneval_x_java": "humaneval_x:JAVA",
        "humaneval_x_js": "humaneval_x:JAVASCRIPT",
        "humaneval_x_python": "humaneval_x:PYTHON",
        "humaneval_x_rust": "humaneval_x:RUST",
    },
    "Base models (CORE)": {f"core_{name}": f"core:TASKS.{name}" for name in _CORE},
}
"""Heading → the datasets under it."""

TASKS: dict[str, str] = {name: place for shelf in SHELVES.values() for name, place in shelf.items()}

_CORE_MEAN = GroupMean(metric="centred accuracy", weight_by_size=False)

GROUPS: dict[str, TaskGroup] = {
    "arc": TaskGroup(
        name="arc",
        members=("arc_easy", "arc_challenge"),
        means=(GroupMean(metric="accuracy", weight_by_size=False),),
    ),
    "chat_core": TaskGroup(
        name="chat_core",
        members=(
            "arc_easy_nanochat",
            "arc_challenge_nanochat",
            "mmlu_nanochat",
            "gsm8k_nanochat",
            "humaneval",
            "spelling_bee",
        ),
        means=(_CORE_MEAN,),
    ),
    "core": TaskGroup(
        name="core",
        members=tuple(f"core_{name}" for name in _CORE),
        means=(_CORE_MEAN,),
    ),
    "core_with_data": TaskGroup(
        name="core_with_data",
        members=tuple(f"core_{name}" for name in _CORE if name not in _CORE_WITHOUT_DATA),
        means=(_CORE_MEAN,),
    ),
}
"""Names that stand for several datasets."""


def find(name: str) -> TaskSpec:
    """The task of that name; an unknown one is answered with the nearest."""
    if name not in TASKS:
        raise UnknownName("dataset", name, [*TASKS, *GROUPS])
    module, _, attribute = TASKS[name].partition(":")
    attribute, _, key = attribute.partition(".")
    found = getattr(import_module(f"{__name__}.{module}"), attribute)
    task: TaskSpec = found[key] if key else found
    return task
