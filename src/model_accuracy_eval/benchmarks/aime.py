r"""aime24, aime25, aime26: the two papers of one year's American Invitational Mathematics Examination, 30 problems.

Home: https://artofproblemsolving.com/wiki/index.php/AIME_Problems_and_Solutions. Licence: none stated.
A row: {"problem": "…", "answer": "204", …}
Asked: step by step, with the answer in \boxed{}.
Judged: the integer in the last \boxed{}, else the last number; 033 is 33. With 30 problems one problem is worth 3.3
points, so that single samples say little: take 16 and more of each.
"""

import msgspec

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataSource, Prompt, TaskSpec

AIME24 = TaskSpec(
    name="aime24",
    about="The 30 problems of the AIME of 2024; answers are integers from 0 to 999.",
    home="https://artofproblemsolving.com/wiki/index.php/AIME_Problems_and_Solutions",
    licence="none stated",
    aliases=("aime2024",),
    prompt_of="EvalScope",
    data=DataFile(
        name="aime24/train.jsonl",
        source=DataSource(hf="HuggingFaceH4/aime_2024", ms="HuggingFaceH4/aime_2024", split="train"),
    ),
    fields=("problem", "answer"),
    prompt=Prompt(question=f"{{{{ problem }}}}\n{prompt_parts.BOXED_ENDING}"),
    reference="{{ answer }}",
    key=("id",),
    max_tokens=32768,
    pipelines=prompt_parts.NUMBER_PIPELINES,
)


def _of_year(year: int) -> TaskSpec:
    name = f"aime{year % 100}"
    return msgspec.structs.replace(
        AIME24,
        name=name,
        about=f"The 30 problems of the AIME of {year}; answers are integers from 0 to 999.",
        aliases=(f"aime{year}",),
        data=DataFile(
            name=f"{name}/test.jsonl", source=DataSource(hf=f"math-ai/{name}", ms=f"evalscope/{name}", split="test")
        ),
    )


AIME25 = _of_year(2025)
AIME26 = _of_year(2026)

AISBENCH = tuple(  # configs/datasets/aime2025/aime2025_gen_0_shot_chat_prompt.py
    msgspec.structs.replace(
        task,
        name=f"{task.name}@aisbench",
        aliases=(),
        prompt_of="AISBench",
        prompt=Prompt(question="{{ problem }}\nRemember to put your final answer within \\boxed{}."),
    )
    for task in (AIME25, AIME26)
)

TASKS = (AIME24, AIME25, AIME26, *AISBENCH)
