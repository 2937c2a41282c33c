"""Where OpenCompass and AISBench have the rows of a data file in their folders.

Folders are those of OpenCompass's data bundle, which AISBench's guides unpack, too. Of their rows only the
number is compared: nobody publishes what they are.
"""

import csv
import io
from collections.abc import Callable, Mapping

from msgspec import structs

from model_accuracy_eval.benchmarks import agieval, bbh, gaokao, mmlu
from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import DataFile, DataRow


def _joined(files: list[DataFile], total: int) -> DataFile:
    first, *more = files
    return structs.replace(first, more=tuple(more), total=total)


def _mmlu(split: str, total: int) -> DataFile:
    return _joined(
        [
            DataFile(
                name=f"mmlu/{split}/{subject}_{split}.csv",
                as_text="text",
                layout="headless_options",
                adds={"subject": subject},
            )
            for subject in sorted(mmlu.AREAS)
        ],
        total,
    )


_ARC = {
    f"arc/ARC-{part}-{split}.jsonl": DataFile(
        name=f"ARC/ARC-{part[0].lower()}/ARC-{part}-{name}.jsonl", layout="stem_questions", total=total
    )
    for part, split, name, total in (
        ("Easy", "test", "Test", 2376),
        ("Easy", "validation", "Dev", 570),
        ("Challenge", "test", "Test", 1172),
        ("Challenge", "validation", "Dev", 299),
    )
}

IN_FOLDERS: dict[str, DataFile] = {
    "mmlu/test.jsonl": _mmlu("test", 14042),
    "mmlu/dev.jsonl": _mmlu("dev", 285),
    **_ARC,
    "commonsenseqa/validation": DataFile(
        name="commonsenseqa/dev_rand_split.jsonl", layout="stem_questions", total=1221
    ),
    "openbookqa/test": DataFile(name="openbookqa/Main/test.jsonl", layout="stem_questions", total=500),
    "bbh/bbh.jsonl": _joined(
        [DataFile(name=f"BBH/data/{task}.json", adds={"task": task}) for task in bbh.TASK_NAMES], 6511
    ),
    "gaokao_bench/objective.jsonl": _joined(
        [
            DataFile(name=f"GAOKAO-BENCH/data/Multiple-choice_Questions/{name}.json", adds={"keyword": name})
            for name in gaokao.PAPERS
        ],
        1781,
    ),
    **{
        task.data.name: DataFile(
            name=f"AGIEval/data/v1/{task.data.name.removeprefix('agieval/')}",
            total=task.data.split.count if task.data.split else None,
        )
        for task in agieval.TASKS
    },
    "humaneval/HumanEval.jsonl": DataFile(name="humaneval/human-eval-v2-20210705.jsonl", total=164),
    "nq/nq-open-validation.jsonl": DataFile(name="nq-open/nq-open-validation.jsonl", total=3610),
}
"""The name of a data file → the file, or the first of the files, that have its rows in those folders."""


def placed(file: DataFile) -> DataFile:
    """The file, which says where it is in those folders."""
    return structs.replace(file, in_folders=IN_FOLDERS.get(file.name))


# Rows as other tools' folders have them → rows as the hubs have them.


def headless_options(rows: list[DataRow], place: str) -> list[DataRow]:
    """MMLU's own CSV files: the question, four options and the letter of the right one, without a header."""
    (whole,) = rows
    lines = [cells for cells in csv.reader(io.StringIO(whole["text"], newline="")) if cells]
    for number, cells in enumerate(lines, start=1):
        if len(cells) != 6 or cells[5].strip() not in set("ABCD"):
            raise BadData(
                f"{place}, row {number}: a question, four options and one of the letters A to D are expected, without "
                f"a header, but there are {len(cells)} cells, the last of them {cells[-1][:40]!r}."
            )
    return [
        {"question": question, "choices": options, "answer": "ABCD".index(letter.strip())}
        for question, *options, letter in lines
    ]


def stem_questions(rows: list[DataRow], place: str) -> list[DataRow]:
    """The Allen Institute's own files: {"question": {"stem": "…", "choices": [{"text": "…", "label": "A"}]}}."""
    for number, row in enumerate(rows, start=1):
        question = row.get("question")
        if not isinstance(question, Mapping) or not {"stem", "choices"} <= question.keys():
            raise BadData(f"{place}, row {number}: 'question' has no 'stem' and 'choices'.")
    return [
        {
            **row,
            "question": row["question"]["stem"],
            "question_stem": row["question"]["stem"],
            "choices": {name: [one[name] for one in row["question"]["choices"]] for name in ("text", "label")},
        }
        for row in rows
    ]


LAYOUTS: dict[str, Callable[[list[DataRow], str], list[DataRow]]] = {
    "headless_options": headless_options,
    "stem_questions": stem_questions,
}
