"""doc_to_text, doc_to_target and doc_to_choice of a task → templates of ours.

lm-eval takes each for a column's name if there is such a column, else for a template, and looks at the type of what
comes out: a number is a position, a text in brackets a list. A TaskSpec says the same with words of `tasks/prompts.py`.
"""

import re
from typing import Any

import msgspec

from model_accuracy_eval.records import DataFile, FewShot, Recipe, RequestKind, Slice, Step
from model_accuracy_eval.tasks.importers.lm_eval_files import ImportFindings, PythonReference, TaskFields, quoted

_JINJA = ("{{", "{%", "{#")


def _is_template(value: str) -> bool:
    return any(mark in value for mark in _JINJA)


def _expression(place: str, value: Any, findings: ImportFindings) -> str | None:
    """A Jinja expression for what is no template: a column, or a value made by Python."""
    if isinstance(value, PythonReference):
        return findings.column(place, value)
    if isinstance(value, str) and value and not _is_template(value):
        return f"column({msgspec.json.encode(value).decode()})"
    return None


def text(place: str, value: Any, findings: ImportFindings) -> str:
    """A template of a text."""
    expression = _expression(place, value, findings)
    return f"{{{{ {expression} }}}}" if expression else str(value)


def wording(place: str, value: Any, findings: ImportFindings) -> str:
    """As `text`, where prose is likelier than the name of a column."""
    plain = isinstance(value, str) and not value.isidentifier()
    return str(value) if plain else text(place, value, findings)


def options(value: Any, findings: ImportFindings, place: str = "doc_to_choice") -> str | None:
    """A template of a list of texts."""
    if value is None:
        return None
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return _each(value)
    expression = _expression(place, value, findings)
    return f"{{{{ {expression} | tojson }}}}" if expression else str(value)


def _each(values: list[Any]) -> str:
    """A template of a list whose entries may be templates, as 0.5 reads them; 0.4 takes their braces for text."""
    texts = list(map(str, values))
    if not any(map(_is_template, texts)):
        return msgspec.json.encode(texts).decode()
    entries = {f"_entry{place}": entry for place, entry in enumerate(texts)}
    captures = "".join(captured(name, entry) for name, entry in entries.items())
    return captures + f"{{{{ [{', '.join(entries)}] | tojson }}}}"


def position(value: Any, findings: ImportFindings) -> str:
    """A template of the right option: its position, several positions, or its text."""
    if isinstance(value, int | list):
        return repr(value)
    if isinstance(value, str) and value.isdigit():
        return value
    expression = _expression("doc_to_target", value, findings)
    return f"{{{{ {expression} | literal }}}}" if expression else str(value)


def answers(value: Any, findings: ImportFindings) -> str:
    """A template of the JSON list of all right answers."""
    if isinstance(value, list):
        return _each(value)
    expression = _expression("doc_to_target", value, findings)
    if expression:
        return f"{{{{ {expression} | answers | tojson }}}}"
    return f"{captured('_target', str(value))}{{{{ _target | answers | tojson }}}}"


def chosen(target: Any, choices: Any, findings: ImportFindings) -> str:
    """A template of the JSON list of the one right answer, where the target is its position among choices."""
    place = captured("_target", position(target, findings))
    listing = captured("_choices", options(choices, findings) or "[]")
    return f"{place}{listing}{{{{ [(_choices | options)[_target | int]] | tojson }}}}"


def captured(name: str, template: str) -> str:
    return f"{{% set {name} %}}{template}{{% endset %}}"


def escaped(source: str) -> str:
    """A text that a template gives as it is."""
    return f"{{% raw %}}{source}{{% endraw %}}" if _is_template(source) else source


class TaskTemplates(msgspec.Struct, frozen=True):
    """The templates of a task's question, options and right answers."""

    kind: RequestKind
    question: str
    answer: str
    reference: str
    references: str | None
    choices: str | None


def task_templates(fields: TaskFields, kind: RequestKind, findings: ImportFindings) -> TaskTemplates:
    question, target, choices = (fields.get(f"doc_to_{part}") for part in ("text", "target", "choice"))
    listing = options(choices, findings)
    if kind == "choice" and fields.get("multiple_inputs"):
        return _schema(question, target, choices, findings)
    if kind == "choice":
        return _choice(question, target, listing, findings)
    if kind == "generate":
        steps = [step for entry in fields.get("filter_list") or () for step in entry.get("filter") or ()]
        if listing is None and any(step.get("function") == "multi_choice_regex" for step in steps):
            listing = "{{ choices | list | tojson }}"
        right = answers(target, findings) if choices is None else chosen(target, choices, findings)
        several = None if choices is None and fields.get("multiple_targets") is False else right
        reference = text("doc_to_target", target, findings)
        return TaskTemplates(kind, text("doc_to_text", question, findings), "", reference, several, listing)
    reference = text("doc_to_target", target, findings)
    if kind == "rolling":
        return TaskTemplates(kind, reference, "", reference, None, None)
    return TaskTemplates(kind, text("doc_to_text", question, findings), "", reference, None, None)


def _choice(question: Any, target: Any, listing: str | None, findings: ImportFindings) -> TaskTemplates:
    """If doc_to_text is a number, it is the position of the right context among several."""
    if listing is None:
        findings.refuse("it compares likelihoods of options, but has no doc_to_choice")
    if isinstance(question, int):
        ending = text("doc_to_target", target, findings)
        return TaskTemplates("schema", "", ending, str(question), None, listing)
    reference = position(target, findings)
    return TaskTemplates("choice", text("doc_to_text", question, findings), "", reference, None, listing)


def _schema(question: Any, target: Any, choices: Any, findings: ImportFindings) -> TaskTemplates:
    """lm-eval 0.5's multiple_inputs: doc_to_text lists the contexts, and doc_to_choice the one ending."""
    contexts, endings = options(question, findings, "doc_to_text"), options(choices, findings)
    if contexts is None or endings is None:
        findings.refuse(
            "it compares likelihoods after contexts (multiple_inputs), but lacks doc_to_text or doc_to_choice"
        )
    ending = captured("_endings", endings or "[]") + "{{ (_endings | options)[0] }}"
    return TaskTemplates("schema", "", ending, position(target, findings), None, contexts)


def with_images(question: str, images: Any, findings: ImportFindings) -> str:
    """The template of the question with the pictures of doc_to_image where it has `<image>`: a column, several, or what
    Python returns."""
    if not images:
        return question
    columns = [
        _expression("doc_to_image", image, findings) for image in (images if isinstance(images, list) else [images])
    ]
    if None in columns:
        findings.refuse(f"its doc_to_image is neither a column nor Python, but {images!r}")
    return f"{{% filter in_order([{', '.join(map(str, columns))}]) %}}{question}{{% endfilter %}}"


# Where a task's rows and its solved examples are.


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
    written = None
    if isinstance(samples, PythonReference):  # examples that a function of the author returns
        recipe = Recipe(folder=samples.folder, loader=findings.python("fewshot_config.samples", samples))
        written = DataFile(name=f"{samples.name}()", recipe=recipe)
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
    return None if value is None else text("fewshot_doc_to_text", value, findings)


def _sampler(name: Any, findings: ImportFindings) -> Step:
    if name in (None, "default"):
        return Step(name="random")
    if name != "first_n":
        findings.refuse(f"its sampler of examples is {name}")
    return Step(name="first")
