"""One of UltraEval's tasks → a TaskSpec, or all reasons against it."""

from pathlib import PurePath
from posixpath import normpath

from model_accuracy_eval.errors import BadData, Unsupported
from model_accuracy_eval.records import DataFile, FewShot, JSONObject, Prompt, Recipe, Step, TaskSpec, Transform
from model_accuracy_eval.tasks.lm_eval.converting import Imported
from model_accuracy_eval.tasks.lm_eval.findings import Findings
from model_accuracy_eval.tasks.lm_eval.reading import Files
from model_accuracy_eval.tasks.lm_eval.templates import escaped
from model_accuracy_eval.tasks.ultraeval import judging, sampling
from model_accuracy_eval.tasks.ultraeval.configs import Config

_HEIGHT = 6
"""So many folders above a task file are taken for the one that its paths start from."""
_METHODS = ("generate", "loglikelihood")
_PARTING = "\n\n"
_LETTERS = "{{ [answers | join] | tojson }}"
"""One letter for each of several questions is one right answer, not several."""
_OPTIONS = "{{ target_scores | list | tojson }}"


def convert(config: Config, files: Files, *, trusted: bool) -> Imported:
    findings = Findings(trusted)
    fields = config.fields
    if fields.generate.method not in _METHODS:
        findings.refuse(f"its method is '{fields.generate.method}', neither generate nor loglikelihood")
    if fields.fewshot < 0:
        findings.refuse(f"it shows {fields.fewshot} examples")
    root = _root(config, files, findings)
    given = sampling.params(fields.generate.params, root, files, findings)
    task = TaskSpec(
        name=config.name,
        about=f"UltraEval's task {fields.task_name}, rows of {PurePath(fields.path).name}.",
        data=DataFile(name=str(PurePath(root or ".", fields.path)), recipe=_recipe(config, root)),
        views=(Step(name="programs"),) if judging.runs_programs(fields) else (),
        fields=(),
        prompt=_prompt(config),
        extras=judging.columns(fields),
        pipelines=(judging.pipeline(fields, sampling.repeats(given), findings),),
        **(_weighed(given, findings) if fields.generate.method == "loglikelihood" else _generated(config, given)),
    )
    if findings.reasons:
        raise Unsupported(config.name, findings.reasons)
    return Imported(task, tuple(findings.ignored))


def _root(config: Config, files: Files, findings: Findings) -> str | None:
    """The folder that the task's paths start from: the nearest one above the file from which its transform is found."""
    transform = config.fields.transform
    if not findings.trusted:
        findings.refuse(f"its rows are made by Python ({transform}), which is run only with --trust-python")
    folder = str(PurePath(config.file).parent)
    for height in range(_HEIGHT):
        root = normpath("/".join([folder, *[".."] * height]))
        try:
            files.read(str(PurePath(root, transform)))
        except BadData:
            continue
        return root
    findings.refuse(f"its transform '{transform}' is found neither in {folder} nor in the {_HEIGHT - 1} folders above")
    return None


def _recipe(config: Config, root: str | None) -> Recipe:
    transform = PurePath(root or ".", config.fields.transform)
    return Recipe(
        folder=str(transform.parent),
        transform=Transform(function=f"{transform.stem}.transform", shots=config.fields.fewshot, task=config.name),
    )


def _prompt(config: Config) -> Prompt:
    """Description, examples and question, with an empty line between any two; an example's answer follows at once."""
    fields = config.fields
    return Prompt(
        question="{{ input }}",
        answer="{{ output }}" + _PARTING,
        description=escaped(fields.description + _PARTING) if fields.description else "",
        delimiter="",
        fewshot=FewShot(count=fields.fewshot, sampler=Step(name="others"), delimiter="", turns=False),
    )


def _generated(config: Config, given: sampling.Params) -> JSONObject:
    return {
        "reference": "{{ answers[0] }}",
        "references": _LETTERS if judging.reads_letters(config.fields) else "{{ answers | tojson }}",
        "choices": _OPTIONS if "target_scores" in judging.columns(config.fields) else None,
        **sampling.asked(given),
    }


def _weighed(given: sampling.Params, findings: Findings) -> JSONObject:
    """What all options share of the whole prompt's likelihood makes none of them likelier, and is left out."""
    for name in sorted(given):
        findings.ignore(f"generate.params.{name}")
    return {
        "kind": "choice",
        "boundary": "shared",
        "reference": "{{ target_scores | greatest }}",
        "choices": _OPTIONS,
    }
