"""On which stack the answers were made: engine, packages, driver, chips, and the form of the weights.

What is not found is not guessed. All of it is told by others (a service, an adapter, a weights folder), so it is
bounded, and no secret is handed on.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from model_accuracy_eval.ports import RunningAdapter
from model_accuracy_eval.records import JSONObject
from model_accuracy_eval.records.plan import UNKNOWN_PART

_LONGEST = 400
_NPU = re.compile(r"^\|\s*\d+\s+(\S+)\s*\|\s*[A-Z][A-Za-z]+\s*\|", re.MULTILINE)
"""The line of `npu-smi info` that names a device: its number, its name, its health."""
_NPU_DRIVER = re.compile(r"\|\s*npu-smi\s+\S+\s+Version:\s*(\S+)")
_SECRET_OPTION = re.compile(r"(?i)(?:key|token|secret|password|auth)")


class AdapterStack(msgspec.Struct):
    """What `stack_reader` prints."""

    packages: dict[str, str] = {}
    cann: str = ""
    driver: str = ""
    npus: str = ""
    gpus: str = ""
    serving: list[str] = []


def of_adapter(running: RunningAdapter, port: int, weights: str) -> dict[str, str]:
    """Name → value, in the order in which they are shown."""
    try:
        found = msgspec.json.decode(running.stack(port), type=AdapterStack)
    except msgspec.DecodeError:  # no python3 there, or another one than that
        found = AdapterStack()
    chips, driver = _chips(found)
    return {
        name: value[:_LONGEST]
        for name, value in {
            "chips": chips or UNKNOWN_PART,
            "driver": driver or found.driver,
            "CANN": found.cann,
            **{name: found.packages[name] for name in sorted(found.packages)},
            "serves with": " ".join(_without_secrets(found.serving)),
            **_of_weights(weights),
        }.items()
        if value
    }


def _chips(found: AdapterStack) -> tuple[str, str]:
    """Such as ("8 × 910B3", "24.1.rc2")."""
    gpus = [row.rpartition(",") for row in found.gpus.splitlines() if "," in row]
    names = Counter(_NPU.findall(found.npus) or [name.strip() for name, _, _ in gpus])
    driver = _NPU_DRIVER.search(found.npus)
    shown = ", ".join(f"{number} × {name}" for name, number in names.items())
    return shown, driver[1] if driver else gpus[0][2].strip() if gpus else ""


def _without_secrets(words: list[str]) -> Iterator[str]:
    hide = False
    for word in words:
        name, equals, _ = word.partition("=")
        is_option = bool(_SECRET_OPTION.search(name)) and name.startswith("-")
        yield "***" if hide else f"{name}=***" if is_option and equals else re.sub(r"//[^/@\s]*@", "//", word)
        hide = is_option and not equals


def _of_weights(folder: str) -> dict[str, str]:
    """As the files say that transformers and vLLM read."""
    config, tokenizer = _json(folder, "config.json"), _json(folder, "tokenizer_config.json")
    quantization = config.get("quantization_config")
    method = quantization.get("quant_method") if isinstance(quantization, dict) else None
    template = tokenizer.get("chat_template")
    own = Path(folder) / "chat_template.jinja" if folder else None
    if own is not None and own.is_file():
        template = own.read_text(encoding="utf-8", errors="replace")
    return {
        "dtype": str(config.get("torch_dtype") or config.get("dtype") or ""),
        "quantization": str(method or ""),
        "chat template": hashlib.sha256(template.encode()).hexdigest()[:12] if isinstance(template, str) else "",
    }


def _json(folder: str, name: str) -> JSONObject:
    try:
        found: Any = msgspec.json.decode((Path(folder) / name).read_bytes()) if folder else None
    except (OSError, msgspec.DecodeError):
        return {}
    return found if isinstance(found, dict) else {}
