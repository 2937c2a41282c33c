"""Where OpenCompass and AISBench have the rows of a data file in their folders.

Folders are those of OpenCompass's data bundle, which AISBench's guides unpack, too. Of their rows only the
number is compared: nobody publishes what they are.
"""

import csv
import io
from collections.abc import Callable, Collection, Iterable, Mapping

from msgspec import structs

from model_accuracy_eval.benchmarks import agieval, bbh, gaokao, mmlu
from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import DataFile, DataRow


def _joined(names: Iterable[str], column: str, path: str) -> DataFile:
    """One file for each value of a column."""
    first, *more = (DataFile(name=path.format(name), adds={column: name}) for name in names)
    return structs.replace(first, more=tuple(more))


IN_FOLDERS: dict[str, DataFile] = {
    **{
        f"mmlu/{split}.jsonl": _joined(sorted(mmlu.AREAS), "subject", f"mmlu/{split}/{{}}_{split}.csv")
        for split in ("test", "dev")
    },
    **{
        f"arc/ARC-{part}-{split}.jsonl": DataFile(name=f"ARC/ARC-{part[0].lower()}/ARC-{part}-{name}.jsonl")
        for part in ("Easy", "Challenge")
        for split, name in (("test", "Test"), ("validation", "Dev"))
    },
    "commonsenseqa/validation": DataFile(name="commonsenseqa/dev_rand_split.jsonl"),
    "openbookqa/test": DataFile(name="openbookqa/Main/test.jsonl"),
    "bbh/bbh.jsonl": _joined(bbh.TASK_NAMES, "task", "BBH/data/{}.json"),
    "gaokao_bench/objective.jsonl": _joined(
        gaokao.PAPERS, "keyword", "GAOKAO-BENCH/data/Multiple-choice_Questions/{}.json"
    ),
    **{
        task.data.name: DataFile(name=f"AGIEval/data/v1/{task.data.name.removeprefix('agieval/')}")
        for task in agieval.TASKS
    },
    "humaneval/HumanEval.jsonl": DataFile(name="humaneval/human-eval-v2-20210705.jsonl"),
    "nq/nq-open-validation.jsonl": DataFile(name="nq-open/nq-open-validation.jsonl"),
}
"""The name of a data file → the file, or the first of the files, that have its rows in those folders."""


def placed(file: DataFile) -> DataFile:
    """The file, which says where it is in those folders."""
    there = IN_FOLDERS.get(file.name)
    return structs.replace(file, instead=(there, *file.instead)) if there else file


# Rows as other tools' folders have them → rows as the hubs have them.


def headless_options(rows: list[DataRow], place: str) -> list[DataRow]:
    """MMLU's own CSV files: the question, four options and the letter of the right one, without a header."""
    lines = [cells for cells in csv.reader(io.StringIO(rows[0]["value"], newline="")) if cells]
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


def one_text(rows: list[DataRow], place: str) -> list[DataRow]:
    """Files that are one text: {"value": "…"}."""
    return rows


RowsForm = Callable[[list[DataRow], str], list[DataRow]]

OF_TEXTS: Collection[RowsForm] = (headless_options, one_text)
"""They get the whole text as the only row."""

_LAYOUTS: dict[str, RowsForm] = {
    "mmlu/test/": headless_options,
    "mmlu/dev/": headless_options,
    "ARC/ARC-": stem_questions,
    "commonsenseqa/dev_rand_split.jsonl": stem_questions,
    "openbookqa/Main/": stem_questions,
    "bbh/cot-prompts/": one_text,
}
"""How the names of files begin whose rows have another form."""


def layout(name: str) -> RowsForm | None:
    """How the rows of a file that stands in for another become those of the other."""
    return next((form for start, form in _LAYOUTS.items() if name.startswith(start)), None)
