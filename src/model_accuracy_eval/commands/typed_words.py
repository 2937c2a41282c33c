"""A command as it was typed: its words, the values of its options, and the command without some of them."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from model_accuracy_eval.settings import table


def command_line(*words: str) -> str:
    return shlex.join(["model-accuracy-eval", *words])


def pairs(words: Sequence[str]) -> list[tuple[str, str]]:
    """Every value with its option; arguments have none."""
    found: list[tuple[str, str]] = []
    option = ""
    for word in words:
        name, equals, value = word.partition("=")
        if word.startswith("-") and not equals:
            option = word
            continue
        found.append((name, value) if equals and word.startswith("-") else (option, word))
        option = ""
    return found


def listing(folder: Path) -> str:
    """Shows what there is in the nearest folder that exists."""
    return shlex.join(["ls", str(next(each for each in (folder, *folder.parents, Path()) if each.is_dir()))])


def without(words: Sequence[str], option: str) -> list[str]:
    """The words without an option and its value, wherever it stands."""
    is_switch = any(f"--{setting.name}" == option and setting.type is bool for setting in table())
    left: list[str] = []
    rest = iter(words)
    for word in rest:
        if word.partition("=")[0] != option:
            left.append(word)
        elif word == option and not is_switch:
            next(rest, None)
    return left


def value_of_option(words: Sequence[str], option: str, otherwise: str) -> str:
    return next((value for name, value in pairs(words) if name == option), otherwise)
