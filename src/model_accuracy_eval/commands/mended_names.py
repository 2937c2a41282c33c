"""Names of datasets and gates in a command, put right as an error's sentence asks for it."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from model_accuracy_eval.commands.typed_words import command_line, value_of_option

Mended = str | Mapping[str, str]
"""Another command, or options with their values; an empty value is that of a switch."""
_HUBS = {
    "hf": ("https://huggingface.co", "HF_ENDPOINT", "main"),
    "ms": ("https://www.modelscope.cn", "MODELSCOPE_ENDPOINT", "master"),
}
"""Where files of datasets are, and the variable that names another host."""
_FILE = re.compile(r"\.(?:jsonl?|csv|tsv|ya?ml)(?:\.gz)?$")
_SOUND_GATE = re.compile(r"^\S.*: \S+ *(?:>=|<=) *\d+(?:\.\d+)?%?$")


def gate_to_write(_match: re.Match[str], words: Sequence[str]) -> Mended:
    named = value_of_option(words, "--datasets", "DATASET").partition(",")[0]
    dataset = Path(named).stem if _FILE.search(named) else named
    return {"--gate": f"{dataset}: METRIC >= NUMBER"}


def gate_as_meant(match: re.Match[str], words: Sequence[str]) -> Mended:
    """The gate with the signs that gates have, where these are all that is wrong with it."""
    meant = match[1]
    for wrong, right in ((r"≥|⩾|=>", ">="), (r"≤|⩽|=<", "<="), (r"(?<=\d),(?=\d+%?$)", ".")):
        meant = re.sub(wrong, right, meant)
    return {"--gate": meant} if _SOUND_GATE.search(meant) else gate_to_write(match, words)


def _renamed(words: Sequence[str], dataset: str, ending: str, address: str = "") -> str:
    """The command with that ending of a hub's dataset, at the revision that was typed, or with an address in its place.
    Where it is not typed as such, what shows it."""
    typed = re.compile(rf"(?<![^,]){re.escape(dataset)}(@[^:,]+)?(?::[^,]*)?(?![^,])")
    new = [typed.sub(lambda match: address or f"{dataset}{match[1] or ''}{ending}", word) for word in words]
    return command_line(*new) if new != list(words) else command_line("tasks", "show", address or f"{dataset}{ending}")


def of_hub(match: re.Match[str], words: Sequence[str]) -> Mended:
    return _renamed(words, match[1], match[2])


def place_of_hub(match: re.Match[str], words: Sequence[str]) -> Mended:
    return _renamed(words, match[1], f":{match[3]}:{match[2]}")


def revision_of_hub(match: re.Match[str], words: Sequence[str]) -> Mended:
    return _renamed(words, match[1], "", f"{match[1]}@REVISION")


def file_of_hub(match: re.Match[str], words: Sequence[str]) -> Mended:
    hub, variable, revision = _HUBS[match[1]]
    address = f"{os.environ.get(variable) or hub}/datasets/{match[2]}/resolve/{revision}/{match[3]}"
    return _renamed(words, f"{match[1]}:{match[2]}", "", address)


def swapped_days(match: re.Match[str], words: Sequence[str]) -> Mended:
    typed = f"@{match[1]}..{match[2]}"
    return command_line(*(word.replace(typed, f"@{match[2]}..{match[1]}") for word in words))


def without_days(_match: re.Match[str], words: Sequence[str]) -> Mended:
    return command_line(*(re.sub(r"@[\d-]*\.\.[\d-]*", "", word) for word in words))
