"""`generate.params` → what is asked of the sampler."""

from pathlib import PurePath
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.tasks.lm_eval.findings import Findings
from model_accuracy_eval.tasks.lm_eval.reading import Files

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
"""What UltraEval ships under `models/model_params/`, for task files that lie somewhere else."""
_PLACELESS = {"batch_size", "request_id", "prompt_logprobs"}
"""Of the machinery of UltraEval, nothing that a sampler is told."""
_OWN = ("temperature", "top_p", "max_tokens")
"""What a TaskSpec has a field for."""
_REPEATS = "sampling_num"
_NUMBERS = {
    "temperature": "a number from 0 on",
    "top_p": "a number from 0 on",
    "max_tokens": "a whole number from 1 on",
    _REPEATS: "a whole number from 1 on",
}


def params(given: str | Params, root: str | None, files: Files, findings: Findings) -> Params:
    """The parameters themselves, or those of the file that is named."""
    if not given:
        return {}
    return _checked(_read(given, root, files, findings) if isinstance(given, str) else given, findings)


def _read(given: str, root: str | None, files: Files, findings: Findings) -> Params:
    """A file beside the task counts more than what UltraEval ships under its name."""
    try:
        read = msgspec.json.decode(files.read(str(PurePath(root or ".", given))))
    except BadData:
        read = _PRESETS.get(PurePath(given).stem)
    except msgspec.DecodeError as error:
        findings.refuse(f"its parameters '{given}' are no JSON that could be read ({error})")
        return {}
    if not isinstance(read, dict):
        findings.refuse(f"its file of parameters '{given}' is missing, or holds no parameters")
        return {}
    return read


def _checked(given: Params, findings: Findings) -> Params:
    """Without what is no number but has to be one."""
    wrong = {name: value for name, value in given.items() if name in _NUMBERS and not _is_number(name, value)}
    for name, value in wrong.items():
        findings.refuse(f"its parameter {name} is {value!r}, but has to be {_NUMBERS[name]}")
    return {name: value for name, value in given.items() if name not in wrong}


def _is_number(name: str, value: Any) -> bool:
    if name in _OWN[:2]:
        return value is None or (isinstance(value, int | float) and value >= 0)
    return value is None or (isinstance(value, int) and value > 0)


def repeats(given: Params) -> int | None:
    """None: as many samples as the run asks for."""
    return int(given[_REPEATS]) if given.get(_REPEATS) else None


def asked(given: Params) -> Params:
    """Fields of a TaskSpec."""
    left = {name: value for name, value in given.items() if value is not None and name not in _PLACELESS | {_REPEATS}}
    stop = left.pop("stop", ())
    known: Params = {name: left.pop(name) for name in _OWN if name in left}
    return {
        **known,
        "repeats": repeats(given),
        "stop": (stop,) if isinstance(stop, str) else tuple(stop),
        "generation": left,
    }
