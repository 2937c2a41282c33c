r"""math500: 500 problems of competition mathematics, the part of MATH's test that PRM800K held out.

Home: https://github.com/openai/prm800k/tree/main/prm800k/math_splits, arXiv:2305.20050. Licence: MIT.
A row: {"problem": "…", "solution": "…", "answer": "\\frac{3}{2}", "subject": "Algebra", "level": 3, "unique_id": "…"}
Asked: step by step, with the answer in \boxed{}.
Judged: the content of the last \boxed{}, else what is said to be the answer, as mathematics: \frac{3}{2} is 1.5. Every
subject has a row of its own.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataSource, Grouping, Prompt, PublishedScore, TaskSpec

_SIMPLE_EVALS = "https://github.com/openai/simple-evals, zero-shot with its own prompt, judged by a model"

TASK = TaskSpec(
    name="math500",
    about="Competition mathematics from seven subjects, judged by what the answers are worth.",
    home="https://github.com/openai/prm800k/tree/main/prm800k/math_splits",
    licence="MIT",
    aliases=("hendrycks_math500", "math_prm800k_500"),
    prompt_of="EvalScope",
    published=(
        PublishedScore(model="o1", metric="accuracy", value=96.4, source=_SIMPLE_EVALS),
        PublishedScore(model="o1-mini", metric="accuracy", value=90.0, source=_SIMPLE_EVALS),
        PublishedScore(model="o3-mini-low", metric="accuracy", value=95.8, source=_SIMPLE_EVALS),
    ),
    data=DataFile(
        name="math500/test.jsonl",
        source=DataSource(hf="HuggingFaceH4/MATH-500", ms="AI-ModelScope/MATH-500", split="test"),
    ),
    fields=("problem", "answer", "subject"),
    prompt=Prompt(question=f"{{{{ problem }}}}\n{prompt_parts.BOXED_ENDING}"),
    reference="{{ answer }}",
    key=("unique_id",),
    category="subject",
    max_tokens=8192,
    pipelines=prompt_parts.MATHS_PIPELINES,
    grouping=Grouping(by="category"),
)

TASKS = (TASK,)
