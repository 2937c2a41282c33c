"""Where a task's rows and its solved examples are."""

import re
from typing import Any

import msgspec

from model_accuracy_eval.records import DataFile, FewShot, Recipe, Slice, Step
from model_accuracy_eval.tasks.lm_eval import templates
from model_accuracy_eval.tasks.lm_eval.import_findings import ImportFindings, quoted
from model_accuracy_eval.tasks.lm_eval.yaml_files import PythonReference, TaskFields

_SPLIT = re.compile(r"(?P<name>[\w.-]+)(?:\[(?P<start>\d*):(?P<stop>\d*)\])?")
_FILE_FORMATS = ("json", "csv", "parquet", "text")
_SHOT_FIELDS = {
    "sampler", "split", "samples", "process_docs", "fewshot_indices", "doc_to_text", "doc_to_target", "doc_to_choice",
    "gen_prefix", "target_delimiter", "fewshot_delimiter",
}  # fmt: skip


class Split(msgspec.Struct, frozen=True):
    """A split's file, and the slice of it."""

    file: DataFile
    part: Slice


def questions(fields: TaskFields, findings: ImportFindings) -> Split:
    """The split of the questions: test, else validation."""
    name = fields.get("test_split") or fields.get("validation_split")
    if name is None:
        findings.refuse("it names neither test_split nor validation_split")
    return _split(fields, str(name), findings)


def _split(fields: TaskFields, split: str, findings: ImportFindings) -> Split:
    parts = _SPLIT.fullmatch(split)
    if parts is None:
        findings.refuse(f"the split '{split}' is more than a name and a range of rows")
        return Split(DataFile(name=split), Slice())
    start, stop = parts["start"], parts["stop"]
    part = Slice(start=int(start or 0), stop=int(stop) if stop else None)
    if isinstance(fields.get("custom_dataset"), PythonReference):
        return Split(_custom(fields, parts["name"], findings), part)
    return Split(DataFile(name=_file(fields, parts["name"], findings)), part)


def _custom(fields: TaskFields, split: str, findings: ImportFindings) -> DataFile:
    """Rows that the author's Python loads or makes; it gets the task's metadata and dataset_kwargs."""
    function: PythonReference = fields["custom_dataset"]
    recipe = Recipe(
        folder=function.folder,
        loader=findings.python("custom_dataset", function),
        loader_args={**(fields.get("metadata") or {}), **(fields.get("dataset_kwargs") or {})},
        split=split,
    )
    return DataFile(name=f"{function.name}()/{split}", recipe=recipe)


def _file(fields: TaskFields, split: str, findings: ImportFindings) -> str:
    """The data file that the task names, else `<dataset_path>/<dataset_name>/<split>` with any ending."""
    path, settings = fields.get("dataset_path"), fields.get("dataset_kwargs") or {}
    if not isinstance(path, str):
        findings.refuse("it names no dataset_path")
    files = settings.get("data_files")
    if files is None:
        if path in _FILE_FORMATS:
            findings.refuse(f"its dataset_path is '{path}', but dataset_kwargs has no data_files")
        name = fields.get("dataset_name")
        return "/".join(str(part) for part in (path, name, split) if part is not None)
    file = files.get(split) if isinstance(files, dict) else files
    if isinstance(file, list) and len(file) == 1:
        file = file[0]
    if not isinstance(file, str) or "*" in file:
        findings.refuse(f"its data_files name no single file for the split '{split}', but {file!r}")
    return str(file).removeprefix("hf://datasets/") if path in _FILE_FORMATS else f"{path}/{file}"


def examples(fields: TaskFields, findings: ImportFindings) -> FewShot:
    """Few-shot settings; without examples they still say that the prompt is one text."""
    own: TaskFields = fields.get("fewshot_config") or {}
    if unknown := set(own) - _SHOT_FIELDS:
        findings.refuse(f"fewshot_config has unknown fields: {quoted(sorted(unknown))}")
    count = fields.get("num_fewshot") or 0
    delimiter = str(own.get("fewshot_delimiter", fields.get("fewshot_delimiter", "\n\n")))
    turns = bool(fields.get("fewshot_as_multiturn"))
    if not count:
        return FewShot(count=0, delimiter=delimiter, turns=turns)
    split = own.get("split") or fields.get("fewshot_split")
    samples = None if split else own.get("samples")
    written = _written_samples(samples, findings) if isinstance(samples, PythonReference) else None
    return FewShot(
        data=written or (None if samples else _pool(fields, split, findings)),
        rows=() if written else tuple(samples or ()),
        count=count,
        without_itself=split == fields.get("test_split"),
        question=_question(own, findings),
        answer_delimiter=own.get("target_delimiter", fields.get("target_delimiter", " ")),
        sampler=_sampler(own.get("sampler"), findings),
        delimiter=delimiter,
        turns=turns,
    )


def _written_samples(function: PythonReference, findings: ImportFindings) -> DataFile:
    """Examples that a function of the author returns."""
    recipe = Recipe(folder=function.folder, loader=findings.python("fewshot_config.samples", function))
    return DataFile(name=f"{function.name}()", recipe=recipe)


def _pool(fields: TaskFields, split: str | None, findings: ImportFindings) -> DataFile | None:
    """The file of the examples, or None if it is the questions' own."""
    questions_split = fields.get("test_split") or fields.get("validation_split")
    known = (split, fields.get("training_split"), fields.get("validation_split"), fields.get("test_split"))
    pool = next(name for name in (*known, "") if name is not None)
    examples_split = _split(fields, pool, findings)
    if pool == questions_split:
        return None
    if examples_split.part != Slice():
        findings.refuse(f"the examples are a part of a split: '{pool}'")
    return examples_split.file


def _question(own: TaskFields, findings: ImportFindings) -> str | None:
    for name in ("doc_to_choice", "gen_prefix", "process_docs"):
        if name in own:
            findings.refuse(f"fewshot_config has a {name} of its own")
    if "fewshot_indices" in own:
        findings.ignore("fewshot_config.fewshot_indices (lm-eval 0.4.13 does not look at it either)")
    value: Any = own.get("doc_to_text")
    return None if value is None else templates.text("fewshot_doc_to_text", value, findings)


def _sampler(name: Any, findings: ImportFindings) -> Step:
    if name in (None, "default"):
        return Step(name="random")
    if name != "first_n":
        findings.refuse(f"its sampler of examples is {name}")
    return Step(name="first")
