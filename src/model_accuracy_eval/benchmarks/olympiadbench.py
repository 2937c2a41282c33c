r"""olympiadbench, olympiadbench_physics, olympiadbench_zh: problems of olympiads without pictures, whose answers can be
compared.

Home: https://github.com/OpenBMB/OlympiadBench, arXiv:2402.14008. Licence: Apache-2.0.
A row: {"id": 1606, "question": "…", "final_answer": ["$\\frac{1}{2}$"], "is_multiple_answer": false, "unit": null,
"answer_type": "Numerical", "error": null, "subfield": "Algebra", "subject": "Math", "language": "English", …}
Asked: step by step, with the answer in \boxed{}, several answers with commas between them.
Judged: as mathematics; numbers may differ by the row's `error`, where it has one. Every subfield has a row of its own.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataSource, Grouping, MetricUse, Pipeline, Prompt, Step, TaskSpec

_CHINESE = "请一步一步推理，最后将答案放在\\boxed{}中。"


def _task(name: str, about: str, config: str, ending: str, several: str) -> TaskSpec:
    return TaskSpec(
        name=name,
        about=about,
        home="https://github.com/OpenBMB/OlympiadBench",
        licence="Apache-2.0",
        data=DataFile(
            name=f"olympiadbench/{config}.jsonl",
            source=DataSource(
                hf="Hothan/OlympiadBench", ms="AI-ModelScope/OlympiadBench", config=config, split="train"
            ),
        ),
        fields=("question", "final_answer"),
        prompt=Prompt(
            question=f"{{{{ question | trim }}}}\n\n{ending}{{% if is_multiple_answer %}}{several}{{% endif %}}"
        ),
        reference="{{ final_answer[0] }}",
        key=("id",),
        category="subfield",
        extras=("error",),
        max_tokens=16384,
        pipelines=(
            Pipeline(
                filters=(Step(name="maths_answer"),),
                metrics=(MetricUse(name="math_within", label="accuracy"),),
            ),
        ),
        grouping=Grouping(by="category"),
    )


_SEVERAL = " There are several answers: write all of them there, with commas between them."

_ENGLISH = (prompt_parts.BOXED_ENDING, _SEVERAL)

TASKS = (
    _task("olympiadbench", "Mathematics of olympiads, in English.", "OE_TO_maths_en_COMP", *_ENGLISH),
    _task("olympiadbench_physics", "Physics of olympiads, in English.", "OE_TO_physics_en_COMP", *_ENGLISH),
    _task(
        "olympiadbench_zh",
        "Mathematics of olympiads, in Chinese.",
        "OE_TO_maths_zh_COMP",
        _CHINESE,
        "有多个答案时全部写入，并用英文逗号分隔。",
    ),
)
