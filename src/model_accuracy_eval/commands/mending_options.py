"""What sentences of errors ask for, as options that are given anew or as another command.

A sentence says what is wrong; here stands what to type, so that nobody has to look up how an option is written.
"""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from math import ceil
from pathlib import Path

from model_accuracy_eval.config.table import table

Mended = str | Mapping[str, str]
"""Another command, or options with their values; an empty value is that of a switch."""
_Rule = tuple[str, Callable[[re.Match[str], Sequence[str]], Mended]]

_SERVICE = "http://127.0.0.1:8000"
_EXAMPLES = {"int": "5", "float": "0.7", "bool": "true", "dict": "{}"}
_PROGRAM = "model-accuracy-eval"


def _option(match: re.Match[str], _words: Sequence[str]) -> Mended:
    """The option and the value are the groups of the pattern."""
    return {match[1]: match[2] if match.re.groups > 1 else ""}


def _given(**options: str) -> Callable[[re.Match[str], Sequence[str]], Mended]:
    """These options."""
    return lambda _match, _words: {f"--{name.replace('_', '-')}": value for name, value in options.items()}


def _command(match: re.Match[str], _words: Sequence[str]) -> Mended:
    return match[1]


def _run(match: re.Match[str], _words: Sequence[str]) -> Mended:
    return f"{_PROGRAM} run {match[1]}"


def _look(match: re.Match[str], _words: Sequence[str]) -> Mended:
    """What there is in the nearest folder that exists."""
    path = Path(match[1])
    return shlex.join(["ls", str(next(each for each in (path, *path.parents, Path()) if each.is_dir()))])


def _setting(match: re.Match[str], _words: Sequence[str]) -> Mended:
    """A value that the setting takes."""
    setting = next(each for each in table() if each.name == match[1])
    if setting.choices:
        return {f"--{setting.name}": setting.choices[0]}
    if setting.default not in (None, (), {}, False, ""):
        return {f"--{setting.name}": str(setting.default)}
    kind = next((example for name, example in _EXAMPLES.items() if name in str(setting.bare)), setting.name.upper())
    return {f"--{setting.name}": kind}


def _value(words: Sequence[str], option: str, otherwise: str) -> str:
    place = words.index(option) + 1 if option in words[:-1] else None
    return words[place] if place else otherwise


def _gate(match: re.Match[str], words: Sequence[str]) -> Mended:
    dataset = _value(words, "--datasets", "DATASET").partition(",")[0]
    return {"--gate": f"{dataset}: METRIC >= NUMBER"}


def _share(match: re.Match[str], _words: Sequence[str]) -> Mended:
    return {"--gate": f"{match[1]}: {match[2]}"}


def _address(match: re.Match[str], _words: Sequence[str]) -> Mended:
    return {"--judge-endpoint" if match[1] else "--endpoint": f"http://{match[2]}"}


def _weights_limit(match: re.Match[str], _words: Sequence[str]) -> Mended:
    size, unit = float(match[1].replace(",", "")), match[2]
    return {"--max-weight-size": f"{ceil(size)}{'B' if unit.startswith('byte') else unit}"}


_RULES: tuple[_Rule, ...] = (
    (r"which is not installed: (.+)\.$", _command),
    (r"then type: (.+)$", _command),
    (r"convert it with `(sed -i [^`]*) deploy\.sh`", lambda match, words: f"{match[1]} {words[1]}/deploy.sh"),
    (r"^Name the datasets to prepare", lambda _match, _words: f"{_PROGRAM} tasks prepare gsm8k"),
    (r"`model-accuracy-eval tasks prepare` beforehand", lambda _match, words: _prepare(words)),
    (r"asked something else", lambda _match, words: f"{_PROGRAM} run --reuse {_value(words, '--reuse', 'RUN')}"),
    (r"go on with (?:it|this run) by (--reuse \S+)\.$", _run),
    (r"\brun ((?:--mode eval )?--reuse \S+)(?: judges| asks|\.$| --gate)", _run),
    (r"judge the replies again with (--mode eval --reuse \S+)\.$", _run),
    (r"(\S+), line (\d+): this is no JSON", lambda match, _words: shlex.join(["sed", "-n", f"{match[2]}p", match[1]])),
    (r"adapter folder '([^']*)' (?:is not there|has no deploy\.sh)", _look),
    (r"There is no folder '([^']+)', where --data-dir", _look),
    (r"^The weights '([^']*)' are not there", _look),
    (r"^The configuration file (\S+) cannot be read", _look),
    (r"^The weights are ([\d.,]+) (\w+).*max-weight-size", _weights_limit),
    (r"^Port (\d+) is already in use", lambda match, _words: {"--port": str(int(match[1]) + 1)}),
    (r"set task-type to ([\w-]+) ", lambda match, _words: {"--task-type": match[1]}),
    (r"(requirements\.txt), line (\d+), would", lambda match, words: f"sed -n {match[2]}p {words[1]}/{match[1]}"),
    (r"such as (--datasets) (\w+)\.$", _option),
    (r"^Nothing to evaluate", _given(endpoint=_SERVICE)),
    (r"^deploy\.sh needs weights", _given(model="WEIGHTS")),
    (r"^The (judge's )?endpoint must be an .* but is '([^', ]*)", _address),
    (r"is judged by a model: name it", _given(judge_endpoint="http://127.0.0.1:8001", judge_model="MODEL")),
    (r"^k = (\d+) needs at least", lambda match, _words: {"--num-return-sequences": match[1]}),
    (r"^The setting '([\w-]+)' cannot be", _setting),
    (r"can never be decided|is not a gate: write", _gate),
    (r"^The gate '(.*): [^']*' can be read in two ways.*Write '(.*?)' for the share", _share),
    (r"--gate 'gsm8k: ", _gate),
    (r"give one with --gate|\(require-gate\)", _gate),
    (r"name that run with (--\w+)\.$", lambda match, _words: {match[1]: "outputs/latest"}),
    (r"name it by (--baseline)\.$", lambda match, _words: {match[1]: "outputs/latest"}),
    (r"allow it with (--[\w-]+)\.$", _option),
    (r"give a smaller (--port)\.$", lambda match, _words: {match[1]: "8000"}),
    (r"[Nn]ame it with (--\w+) ((?:\w+=[A-Z]+,?)+)\.?$", _option),
    (r"name another one with (--out)\.$", lambda match, _words: {match[1]: "NEW-NAME"}),
    (r"with merge (--[\w-]+)\.$", lambda match, _words: {match[1]: "VALUE"}),
    (r"With (--allow-missing), ", _option),
    (r"take (--runtime) (process)\.$", _option),
    (r"its image is not known: give adapter-image", _given(adapter_image="IMAGE")),
    (r"say (--resources) (NPU=\d+),", _option),
    (r"add (--engine) (ray),", _option),
)


def _prepare(words: Sequence[str]) -> str:
    return f"{_PROGRAM} tasks prepare {shlex.join(_value(words, '--datasets', 'gsm8k').split(','))}"


def mended(sentence: str, words: Sequence[str]) -> Mended | None:
    """What the sentence asks for; None: nothing that could be typed."""
    for pattern, rule in _RULES:
        if match := re.search(pattern, sentence):
            return rule(match, words)
    return None
