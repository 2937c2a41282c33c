r"""hmmt25, hmmt26: the problems of one February's Harvard-MIT Mathematics Tournament, as MathArena collects them.

Home: https://matharena.ai. Licence: CC-BY-NC-SA-4.0.
A row: {"problem_idx": 1, "problem": "…", "answer": "\\frac{1}{576}", "problem_type": ["Combinatorics"]}
Asked: step by step, with the answer in \boxed{}.
Judged: as mathematics; answers are formulas more often than numbers.
"""

import msgspec

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataSource, Prompt, TaskSpec

HMMT25 = TaskSpec(
    name="hmmt25",
    about="The 30 problems of the Harvard-MIT Mathematics Tournament of February 2025.",
    home="https://matharena.ai",
    licence="CC-BY-NC-SA-4.0",
    aliases=("hmmt", "hmmt2025", "hmmt_feb_2025"),
    prompt_of="EvalScope",
    data=DataFile(
        name="hmmt25/train.jsonl",
        source=DataSource(hf="MathArena/hmmt_feb_2025", ms="evalscope/hmmt_feb_2025", split="train"),
    ),
    fields=("problem", "answer"),
    prompt=Prompt(question=f"Problem:\n{{{{ problem }}}}\n\n{prompt_parts.BOXED_ENDING}"),
    reference="{{ answer }}",
    key=("problem_idx",),
    max_tokens=32768,
    pipelines=prompt_parts.MATHS_PIPELINES,
)

HMMT26 = msgspec.structs.replace(
    HMMT25,
    name="hmmt26",
    about="The 33 problems of the Harvard-MIT Mathematics Tournament of February 2026.",
    aliases=("hmmt_feb_2026", "hmmt2026"),
    data=DataFile(
        name="hmmt26/train.jsonl",
        source=DataSource(hf="MathArena/hmmt_feb_2026", ms="evalscope/hmmt_feb_2026", split="train"),
    ),
)

TASKS = (HMMT25, HMMT26)
