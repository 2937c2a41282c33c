"""accuracy.yaml of an adapter's repository: which models are evaluated on what, and what each has to meet.

hardware: npu
settings:                       # of every model: any setting or input by its name
  datasets: gsm8k, mmlu_pro
  gate: "mmlu_pro: avg@5 >= 40"
models:
  small:
    model: hf:org/small
    baselines: {gsm8k: 78.2}    # committed figures; `tolerance`: points that one may lie below its own
    tolerance: 2
  large:
    tier: advisory              # told, and no reason to fail
    model: hf:org/large
  tested: tests/e2e/models/configs/tested.yaml    # a file of vLLM's or vllm-ascend's tests, as it is

The whole file may also be one of theirs. It counts as it is on the default branch, so no pull request loosens it.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import yaml

from model_accuracy_eval.benchmarks import dataset_table
from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.run import setting_values
from model_accuracy_eval.run.setting_values import Given
from model_accuracy_eval.scoring.verdicts import gate_lines

FILE = "accuracy.yaml"
TIERS = ("required", "advisory")
_TOP = ("hardware", "settings", "models")
_OWN = ("tier", "baselines", "tolerance")
"""What an entry has beside settings and inputs."""
_KEPT = ("allowed-models", "gate-on", "confidence", "on-undecided", "require-gate", "max-failed-requests")
"""What the file says of these counts, whatever else is given: it decides what is a pass, and who may choose."""
_FIRST_CHOICE = "text-generation"
"""What a form says where nobody has chosen a task type."""
_USUAL_SHARE = 0.08
"""How much of a baseline a figure may lose by default in vLLM's tests."""

Entry = Mapping[str, Given]


class ModelEvaluation(NamedTuple):
    """One run that the file asks for."""

    name: str
    tier: str
    values: dict[str, Given]


class AccuracyFile(NamedTuple):
    settings: Entry
    models: Mapping[str, Entry]

    def evaluations(self, given: Entry) -> list[ModelEvaluation]:
        """The runs, with what was given beside the file: by a form, a comment or a workflow. A model or datasets that
        are given choose; a gate that is given is asked for as well."""
        models, model = self.models or {"": {}}, str(given["model"].value) if "model" in given else ""
        if model:
            chosen = {name: one for name, one in models.items() if model in (name, _text(one.get("model")))}
            models = chosen or {"": {}}
            given = {name: one for name, one in given.items() if name != "model" or not chosen}
        return [self._evaluation(name, entry, given) for name, entry in models.items()]

    def _evaluation(self, name: str, entry: Entry, given: Entry) -> ModelEvaluation:
        own = {**self.settings, **entry}
        tier, baselines, tolerance = (own.pop(key, None) for key in _OWN)
        if tier and tier.value not in TIERS:
            raise UnknownName("tier", str(tier.value), TIERS, where=f" in {tier.place}")
        values = {**own, **given, **{key: own[key] for key in _KEPT if key in own}}
        if "task-type" in own and _text(values["task-type"]) == _FIRST_CHOICE:
            values["task-type"] = own["task-type"]
        whole, asked = (_datasets(each.get("datasets")) for each in (own, values))
        lines = [*_lines(self.settings.get("gate")), *_lines(entry.get("gate")), *_at_least(baselines, tolerance)]
        kept = [line for line in lines if _is_about(line, asked) or not _is_about(line, whole)]
        values["gate"] = Given(list(dict.fromkeys([*kept, *_lines(given.get("gate"))])), FILE)
        label = name
        if name and not whole <= asked:  # a part of what the file asks for is no verdict about all of it
            label = f"{name}-{'_'.join(sorted(asked))}"
        if label and "label" not in given:
            values["label"] = Given(label, FILE)
        return ModelEvaluation(name, str(tier.value) if tier else TIERS[0], values)


def _text(given: Given | None) -> str:
    return str(given.value) if given else ""


def _datasets(given: Given | None) -> set[str]:
    """With the members of groups."""
    names = setting_values.read_given({"datasets": given})["datasets"] if given else ()
    known = {dataset_table.canonical(name) or name for name in names}
    return known.union(*(dataset_table.GROUPS[name].members for name in known if name in dataset_table.GROUPS))


def _lines(given: Given | None) -> list[str]:
    return list(setting_values.read_given({"gate": given})["gate"]) if given else []


def _is_about(line: str, datasets: set[str]) -> bool:
    names = {gate.dataset for gate in gate_lines.parse(line)} - {gate_lines.EVERY_DATASET}
    return all((dataset_table.canonical(name) or name) in datasets for name in names)


def _at_least(baselines: Given | None, tolerance: Given | None) -> Iterator[str]:
    """Gates of committed figures: `gsm8k: 78.2` or `"gsm8k: cons@5": 80`, in per cent."""
    points = tolerance.value if tolerance else 0
    if not isinstance(points, int | float) or isinstance(points, bool) or points < 0:
        raise BadValue(f"tolerance is {points!r} ({tolerance.place if tolerance else FILE}): give points, such as 2.")
    figures, place = baselines or Given({}, FILE)
    if not isinstance(figures, dict):
        raise BadValue(f"baselines is {figures!r} ({place}): give a figure for each dataset, such as {{gsm8k: 78.2}}.")
    for name, figure in figures.items():
        if not isinstance(figure, int | float) or isinstance(figure, bool):
            raise BadValue(
                f"The baseline of '{name}' is {figure!r} ({place}): give a number in per cent, such as 78.2."
            )
        if 0 < figure <= 1:
            raise BadValue(f"The baseline of '{name}' is {figure:g} ({place}): write {100 * figure:g}, in per cent.")
        least = max(figure - points, 0)
        yield f"{name if ':' in str(name) else f'{name}: avg'} >= {least:.10g}{'%' * (0 < least <= 1)}"


# Reading.


def read(text: str, load: Callable[[str], str | None], check: Callable[[str, str], object]) -> AccuracyFile:
    """`load` gives another file of the repository. `check` refuses the name of what is no setting or input, with its
    place."""
    with setting_values.explained(FILE):
        return _read(text, load, check)


def _read(text: str, load: Callable[[str], str | None], check: Callable[[str, str], object]) -> AccuracyFile:
    lines = setting_values.yaml_nodes(text, FILE)
    if foreign := _foreign(text, FILE):
        return AccuracyFile({}, foreign)
    for name, (_, place) in lines.items():
        if name not in _TOP:
            raise UnknownName("key", name, _TOP, where=f" in {place}")
    settings = _entry(lines.get("settings"), check)
    models: dict[str, Entry] = {}
    node, place = lines.get("models", (None, FILE))
    if isinstance(node, yaml.SequenceNode):
        for path in setting_values.constructed(node):
            models |= _foreign_file(str(path), place, load)
    elif node is not None:
        for name, (of_model, where) in setting_values.yaml_nodes(node, FILE).items():
            if isinstance(of_model, yaml.ScalarNode) and of_model.value:
                (models[name],) = _foreign_file(of_model.value, where, load).values()
            else:
                models[name] = _entry((of_model, where), check)
    return AccuracyFile(settings, models)


def _entry(found: tuple[yaml.Node, str] | None, check: Callable[[str, str], object]) -> Entry:
    if found is None:
        return {}
    entry = setting_values.yaml_values(found[0], FILE)
    for name, (_, place) in entry.items():
        if name not in _OWN:
            check(name, place)
    return entry


def _foreign_file(path: str, place: str, load: Callable[[str], str | None]) -> dict[str, Entry]:
    text = load(path)
    if text is None:
        raise BadValue(f"{place} names {path}, which the default branch does not have.")
    if not (entries := _foreign(text, path)):
        raise BadValue(f"{path} ({place}) has neither `tasks` nor `benchmarks`, as files of vLLM's tests have.")
    return entries


def _foreign(text: str, source: str) -> dict[str, Entry]:
    """The models of a file of vLLM's lm-eval tests, or of vllm-ascend's with AISBench; none if it is neither."""
    with setting_values.explained(source):
        told = yaml.safe_load(text)
    if not isinstance(told, dict):
        return {}
    try:
        if isinstance(told.get("tasks"), list):
            return {_last(told["model_name"]): _of_lm_eval(told, source)}
        cases = told.get("test_cases") or ([told] if "benchmarks" in told else [])
        return {str(case.get("name") or _last(case["model"])): _of_aisbench(case, source) for case in cases}
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise BadValue(f"{source} looks like a file of vLLM's tests, and lacks or misspells {error}.") from error


def _of_lm_eval(told: Mapping[str, Any], source: str) -> Entry:
    """Greedy, one sample; a task's first figure may lose `rtol` of itself."""
    share = float(told.get("rtol", _USUAL_SHARE))
    first = {task["name"]: float(task["metrics"][0]["value"]) for task in told["tasks"]}
    return _given(source, told["model_name"], list(first), told.get("limit"), baselines={
        name: _per_cent(value * (1 - share), value) for name, value in first.items()
    })  # fmt: skip


def _of_aisbench(case: Mapping[str, Any], source: str) -> Entry:
    """Its cases of accuracy; what is about speed is for other tools."""
    cases = [one for one in case["benchmarks"].values() if one.get("case_type") == "accuracy"]
    names = [_last(one["dataset_conf"]) for one in cases]
    lowest = [_per_cent(one["baseline"] - one["threshold"], one["baseline"]) for one in cases]
    more = {"max-tokens": "max_out_len", "concurrency": "batch_size"}
    settings = {ours: max(one[theirs] for one in cases) for ours, theirs in more.items()
                if all(theirs in one for one in cases)}  # fmt: skip
    limit = min((one["num_prompts"] for one in cases if "num_prompts" in one), default=None)
    return _given(source, case["model"], names, limit, baselines=dict(zip(names, lowest, strict=True)), **settings)


def _per_cent(line: float, figure: float) -> float:
    return max(line, 0) * (100 if figure <= 1 else 1)


def _given(source: str, model: str, datasets: list[str], limit: Any, **more: Any) -> Entry:
    values: dict[str, Any] = {
        "model": model if ":" in model or model.startswith("/") else f"hf:{model}",
        "datasets": datasets,
        "num-return-sequences": 1,
        "temperature": 0,
        **more,
    }
    if limit:
        values["limit"] = limit
    if any(map(_shows_pictures, datasets)):
        values["task-type"] = "image-text-to-text"
    return {name.replace("_", "-"): Given(value, source) for name, value in values.items()}


def _shows_pictures(dataset: str) -> bool:
    known = dataset_table.canonical(dataset)
    return known is not None and any("image" in task.prompt.question for task in dataset_table.members(known))


def _last(name: str) -> str:
    return str(name).rstrip("/").rpartition("/")[2]
