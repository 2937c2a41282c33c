"""`generate.params` → sampling parameters of a TaskSpec."""

from pathlib import PurePath
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.tasks.lm_eval.import_findings import ImportFindings
from model_accuracy_eval.tasks.lm_eval.yaml_files import TaskFileReader

Params = dict[str, Any]

_PRESETS: dict[str, Params] = {
    "vllm_sample": {"temperature": 0.3, "top_p": 0.8, "max_tokens": 300, "sampling_num": 1},
    "vllm_sample_v1": {"temperature": 0.1, "top_p": 0.95, "max_tokens": 300, "sampling_num": 1},
    "vllm_sample_bbh": {
        "temperature": 0.3, "top_p": 0.8, "max_tokens": 1024, "sampling_num": 1, "presence_penalty": 0.0,
    },
    "vllm_logprobs": {"prompt_logprobs": 0, "max_tokens": 1},
    "vllm_beamsearch": {
        "use_beam_search": True, "best_of": 10, "temperature": 0, "top_p": 1, "top_k": -1, "early_stopping": "never",
        "sampling_num": 1,
    },
}  # fmt: skip
"""The files in UltraEval's `models/model_params/`, for task files elsewhere."""
_NOT_SAMPLING = {"batch_size", "request_id", "prompt_logprobs"}
"""Parameters of UltraEval's own machinery."""
_TASK_FIELDS = ("temperature", "top_p", "max_tokens")
"""Parameters for which a TaskSpec has a field."""
_REPEATS = "sampling_num"
_NUMBERS = {
    "temperature": "a number from 0 on",
    "top_p": "a number from 0 on",
    "max_tokens": "a whole number from 1 on",
    _REPEATS: "a whole number from 1 on",
}


def params(entry: str | Params, root: str | None, files: TaskFileReader, findings: ImportFindings) -> Params:
    """The parameters, which `generate.params` holds or names a file of."""
    if not entry:
        return {}
    return _checked(_read(entry, root, files, findings) if isinstance(entry, str) else entry, findings)


def _read(name: str, root: str | None, files: TaskFileReader, findings: ImportFindings) -> Params:
    """The parameters in the file, or UltraEval's own of that name if there is no such file."""
    try:
        content = msgspec.json.decode(files.read(str(PurePath(root or ".", name))))
    except BadData:
        content = _PRESETS.get(PurePath(name).stem)
    except msgspec.DecodeError as error:
        findings.refuse(f"its parameters '{name}' are no JSON that could be read ({error})")
        return {}
    if not isinstance(content, dict):
        findings.refuse(f"its file of parameters '{name}' is missing, or holds no parameters")
        return {}
    return content


def _checked(entries: Params, findings: ImportFindings) -> Params:
    """The parameters without those that have to be numbers and are not."""
    wrong = {name: value for name, value in entries.items() if name in _NUMBERS and not _is_number(name, value)}
    for name, value in wrong.items():
        findings.refuse(f"its parameter {name} is {value!r}, but has to be {_NUMBERS[name]}")
    return {name: value for name, value in entries.items() if name not in wrong}


def _is_number(name: str, value: Any) -> bool:
    if name in _TASK_FIELDS[:2]:
        return value is None or (isinstance(value, int | float) and value >= 0)
    return value is None or (isinstance(value, int) and value > 0)


def repeats(params: Params) -> int | None:
    """How many samples; None means as many as the run asks for."""
    return int(params[_REPEATS]) if params.get(_REPEATS) else None


def task_fields(params: Params) -> Params:
    """The fields of a TaskSpec."""
    others = {
        name: value for name, value in params.items() if value is not None and name not in _NOT_SAMPLING | {_REPEATS}
    }
    stop = others.pop("stop", ())
    known: Params = {name: others.pop(name) for name in _TASK_FIELDS if name in others}
    return {
        **known,
        "repeats": repeats(params),
        "stop": (stop,) if isinstance(stop, str) else tuple(stop),
        "generation": others,
    }
