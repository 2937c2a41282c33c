"""hallusionbench, pope: yes-or-no questions about what a picture does not show, or shows against what one knows.

Homes: https://github.com/tianyi-lab/HallusionBench (arXiv:2310.14566, licence BSD-3-Clause) and
https://github.com/RUCAIBox/POPE (arXiv:2305.10355, texts under the MIT licence).
A row: {"category": "VD", "subcategory": "chart", "question": "Is …?", "gt_answer": "1", "image": picture, …};
{"question_id": "1", "question": "Is there a dog in the image?", "answer": "no", "category": "adversarial", …}
Asked: the picture, the question, and for yes or no.
Judged: the first "yes" or "no" of the reply. Of HallusionBench these are aAcc over its rows with pictures; qAcc, which
wants a question right about all of its pictures; and fAcc, which wants all questions about a picture right. A question
or picture that a limit leaves without some of its rows does not count. Every category has a row of its own.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from model_accuracy_eval.records import (
    DataFile,
    DataRow,
    DataSource,
    Grouping,
    MetricUse,
    Pipeline,
    Prompt,
    Step,
    TaskSpec,
)

_PROMPT = Prompt(question="{{ image }}\n{{ question | trim }}\nAnswer with yes or no.")
_PIPELINES = (
    Pipeline(
        filters=(
            Step(name="strip_thoughts"),
            Step(name="lowercase"),
            Step(name="regex", args={"regex_pattern": r"\b(yes|no)\b"}),
        ),
        metrics=(MetricUse(name="exact", label="accuracy"),),
    ),
)

_QUESTION = ["category", "subcategory", "set_id", "question_id"]
_FIGURE = ["category", "subcategory", "set_id", "figure_id"]
"""Columns that are equal in all rows of one question, and of one picture."""

HALLUSIONBENCH = TaskSpec(
    name="hallusionbench",
    about="Illusions, altered charts and maps: yes or no.",
    home="https://github.com/tianyi-lab/HallusionBench",
    licence="BSD-3-Clause",
    aliases=("hallusion_bench", "hallusion_bench_image"),
    data=DataFile(name="hallusionbench/image.parquet", source=DataSource(hf="lmms-lab/HallusionBench", split="image")),
    fields=("question", "image", "gt_answer", *_QUESTION, "figure_id"),
    cluster="image",
    views=(Step(name="grouped", args={"columns": {"same_question": _QUESTION, "same_figure": _FIGURE}}),),
    prompt=_PROMPT,
    extras=("same_question", "same_figure"),
    reference="{{ 'yes' if gt_answer | string == '1' else 'no' }}",
    category="category",
    max_tokens=2048,
    pipelines=(
        msgspec.structs.replace(
            _PIPELINES[0],
            metrics=(
                *_PIPELINES[0].metrics,
                MetricUse(name="whole_group", label="qAcc", args={"group": "same_question"}),
                MetricUse(name="whole_group", label="fAcc", args={"group": "same_figure"}),
            ),
        ),
    ),
    grouping=Grouping(by="category"),
    baseline=0.5,
)
POPE = TaskSpec(
    name="pope",
    about="Whether an object is in the picture: yes or no.",
    home="https://github.com/RUCAIBox/POPE",
    licence="MIT (texts)",
    data=DataFile(name="pope/test.parquet", source=DataSource(hf="lmms-lab/POPE", split="test")),
    fields=("question", "image", "answer", "category"),
    cluster="image",
    prompt=_PROMPT,
    reference="{{ answer | lower | trim }}",
    category="category",
    max_tokens=512,
    pipelines=_PIPELINES,
    grouping=Grouping(by="category"),
    baseline=0.5,
)

TASKS = (HALLUSIONBENCH, POPE)


def grouped(rows: list[DataRow], *, columns: Mapping[str, Sequence[str]]) -> list[DataRow]:
    """With a column for each kind of group, such as the rotations of one question: its name and how many rows it has,
    as the metric `whole_group` reads them.

    `columns`: the new column → those that are equal in all rows of a group.
    """
    for column, of in columns.items():
        names = ["/".join(str(row[name]) for name in of) for row in rows]
        sizes = Counter(names)
        rows = [{**row, column: {"name": name, "rows": sizes[name]}} for row, name in zip(rows, names, strict=True)]
    return rows


VIEWS = {"grouped": grouped}
