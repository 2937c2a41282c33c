"""mmbench, mmbench_cn: questions about pictures in 20 abilities, each with two to four options; also @circular.

Home: https://github.com/open-compass/MMBench, arXiv:2307.06281. Licence: Apache-2.0.
A row: {"index": 241, "question": "…", "hint": "nan", "answer": "C", "A": "…", "B": "…", "C": "…", "D": "nan",
"category": "identity_reasoning", "image": picture, "L2-category": "…", …}
Asked: the hint if there is one, the question, the options after their letters, and for the letter.
Judged: the letter. The file has each question once for every rotation of its options, under an index that is larger by
a million. Without a suffix only the first is asked, as for the authors' plain figure. `@circular` asks all of them: a
question counts only if each of its rotations is right, as in the authors' CircularEval; beside that figure stands the
share of right answers. A question that a limit leaves without some of its rotations does not count. Every ability has a
row of its own.
"""

from collections import Counter

import msgspec

from model_accuracy_eval.benchmarks import prompt_parts
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

_ROTATION = 1_000_000
"""What the index of a rotated copy is larger by."""
_ABSENT = (None, "", "nan")
_HINT = "{% if hint not in [none, '', 'nan'] %}{{ hint }}\n{% endif %}"


def unrotated(rows: list[DataRow]) -> list[DataRow]:
    """The view: each question once, with its options as a list."""
    return [_with_choices(row) for row in rows if int(row["index"]) < _ROTATION]


def rotations(rows: list[DataRow]) -> list[DataRow]:
    """The view: each question in all rotations of its options, one after the other."""
    ordered = sorted(rows, key=lambda row: divmod(int(row["index"]), _ROTATION)[::-1])
    names = [str(int(row["index"]) % _ROTATION) for row in ordered]
    sizes = Counter(names)
    return [
        {**_with_choices(row), "group": {"name": name, "rows": sizes[name]}}
        for row, name in zip(ordered, names, strict=True)
    ]


def _with_choices(row: DataRow) -> DataRow:
    return {**row, "choices": [row[letter] for letter in "ABCD" if row.get(letter) not in _ABSENT]}


def _split(language: str) -> DataFile:
    split = DataSource(hf="lmms-lab/MMBench", config=language, split="dev")
    return DataFile(name=f"mmbench/{language}_dev.parquet", source=split)


ENGLISH = TaskSpec(
    name="mmbench",
    about="Perception and reasoning about pictures in 20 abilities, by letters.",
    home="https://github.com/open-compass/MMBench",
    licence="Apache-2.0",
    aliases=("mmbench_en", "mmbench_dev_en", "mmbench_en_dev"),
    data=_split("en"),
    views=(Step(name="unrotated"),),
    fields=("index", "question", "image", "answer", "category"),
    cluster="image",
    prompt=Prompt(
        question=f"{{{{ image }}}}\n{_HINT}{{{{ question }}}}{prompt_parts.lettered('choices')}\n\n"
        f"{prompt_parts.ONLY_THE_LETTER}"
    ),
    reference="{{ answer }}",
    choices="{{ choices | tojson }}",
    key=("index",),
    category="category",
    max_tokens=2048,
    pipelines=prompt_parts.LETTER_PIPELINES,
    grouping=Grouping(by="category"),
)
CHINESE = msgspec.structs.replace(
    ENGLISH,
    name="mmbench_cn",
    about="The same in Chinese.",
    aliases=("mmbench_dev_cn", "mmbench_cn_dev"),
    data=_split("cn"),
)


def _circular(task: TaskSpec) -> TaskSpec:
    filters = prompt_parts.LETTER_PIPELINE.filters
    metrics = (MetricUse(name="whole_group", label="circular accuracy"), MetricUse(name="exact", label="accuracy"))
    return msgspec.structs.replace(
        task,
        name=f"{task.name}@circular",
        about=f"{task.about.removesuffix('.')}, right only in all rotations of the options.",
        prompt_of="",
        aliases=(),
        views=(Step(name="rotations"),),
        extras=("group",),
        pipelines=(Pipeline(filters=filters, metrics=metrics),),
    )


CIRCULAR = (_circular(ENGLISH), _circular(CHINESE))

TASKS = (ENGLISH, CHINESE, *CIRCULAR)
VIEWS = {"unrotated": unrotated, "rotations": rotations}
