"""Where OpenCompass and AISBench have the rows of a data file in their folders.

Folders are those of OpenCompass's data bundle, which AISBench's guides unpack, too. Their rows are compared with
nothing: nobody publishes what they are.
"""

from msgspec import structs

from model_accuracy_eval.records import DataFile, TaskSpec
from model_accuracy_eval.tasks.benchmarks import agieval, bbh, gaokao, mmlu
from model_accuracy_eval.tasks.row_layouts import TEXT


def _joined(files: list[DataFile]) -> DataFile:
    first, *more = files
    return structs.replace(first, more=tuple(more))


def _mmlu(split: str) -> DataFile:
    return _joined(
        [
            DataFile(
                name=f"mmlu/{split}/{subject}_{split}.csv",
                as_text=TEXT,
                layout="headless_options",
                adds={"subject": subject},
            )
            for subject in sorted(mmlu.AREAS)
        ]
    )


_ARC = {
    f"arc/ARC-{part}-{split}.jsonl": DataFile(
        name=f"ARC/ARC-{part[0].lower()}/ARC-{part}-{name}.jsonl", layout="stem_questions"
    )
    for part in ("Easy", "Challenge")
    for split, name in (("test", "Test"), ("validation", "Dev"))
}

IN_FOLDERS: dict[str, DataFile] = {
    "mmlu/test.jsonl": _mmlu("test"),
    "mmlu/dev.jsonl": _mmlu("dev"),
    **_ARC,
    "commonsenseqa/validation": DataFile(name="commonsenseqa/dev_rand_split.jsonl", layout="stem_questions"),
    "openbookqa/test": DataFile(name="openbookqa/Main/test.jsonl", layout="stem_questions"),
    "bbh/bbh.jsonl": _joined([DataFile(name=f"BBH/data/{task}.json", adds={"task": task}) for task in bbh.TASK_NAMES]),
    "gaokao_bench/objective.jsonl": _joined(
        [
            DataFile(name=f"GAOKAO-BENCH/data/Multiple-choice_Questions/{name}.json", adds={"keyword": name})
            for name in gaokao.PAPERS
        ]
    ),
    **{
        task.data.name: DataFile(name=f"AGIEval/data/v1/{task.data.name.removeprefix('agieval/')}")
        for task in agieval.TASKS
    },
    "humaneval/HumanEval.jsonl": DataFile(name="humaneval/human-eval-v2-20210705.jsonl"),
    "nq/nq-open-validation.jsonl": DataFile(name="nq-open/nq-open-validation.jsonl"),
}
"""The name of a data file → the file, or the first of the files, that have its rows in those folders."""


def placed(task: TaskSpec) -> TaskSpec:
    """The task whose files say where they are in those folders, those of its examples included."""
    examples = task.prompt.fewshot
    if examples and examples.data:
        prompt = structs.replace(task.prompt, fewshot=structs.replace(examples, data=_placed(examples.data)))
        task = structs.replace(task, prompt=prompt)
    return structs.replace(task, data=_placed(task.data))


def _placed(file: DataFile) -> DataFile:
    return structs.replace(file, in_folders=IN_FOLDERS.get(file.name))
