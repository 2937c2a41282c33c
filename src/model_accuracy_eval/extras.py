"""Libraries that an installation may lack, most of them those of an extra. Each is imported where it is used:

sacrebleu = extras.load("sacrebleu")    # where it is missing, a UsageError has the command that installs it
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import msgspec

from model_accuracy_eval.errors import UsageError


class Extra(msgspec.Struct, frozen=True):
    purpose: str
    name: str = ""
    """The extra of ours that brings the library; none for one that has to be installed by itself."""
    package: str = ""
    """What it is called where it is installed from, if not as it is imported."""

    @property
    def command(self) -> str:
        """Installs it."""
        return f"pip install 'model-accuracy-eval[{self.name}]'" if self.name else f"pip install {self.package}"


LIBRARIES = {
    "docker": Extra("Running containers", "action"),
    "emoji": Extra("Counting emoji as words", "ifeval"),
    "evaluate": Extra("A metric of the evaluate library", package="evaluate"),
    "github": Extra("Talking to GitHub", "action", package="PyGithub"),
    "jieba": Extra("Cutting Chinese into words", "chinese"),
    "langdetect": Extra("Telling a text's language", "ifeval"),
    "nltk": Extra("Splitting texts into sentences and words", "ifeval"),
    "punkt": Extra("Splitting texts into sentences", "ifeval"),
    "ray": Extra("Running on a cluster", "ray"),
    "requests": Extra("Talking to container engines", "action"),
    "sacrebleu": Extra("BLEU, chrF and TER", "text"),
    "tokenizers": Extra("Counting tokens as the weights do", "tokens"),
    "urllib3": Extra("Talking to container engines", "action"),
    "uvloop": Extra("A faster event loop", "fast"),
}
"""Library → what it is for, and what installs it."""


def installed(library: str) -> bool:
    return find_spec(library) is not None


def load(module: str, *, needed_by: str = "") -> Any:
    """The library, or a module inside it; where it is missing, the error says for what and how to install it."""
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError as error:
        extra = LIBRARIES[library]
        raise UsageError(
            f"{needed_by or extra.purpose} needs {extra.package or library}, which is not installed: {extra.command}.",
            next_step=extra.command,
        ) from error
