"""What sentences of errors ask for, as options that are given anew or as another command.

A sentence says what is wrong; here stands what to type, so that nobody has to look up how an option is written.
"""

import re
import shlex
from collections.abc import Callable, Sequence
from math import ceil
from pathlib import Path

from model_accuracy_eval.commands.mended_names import (
    Mended,
    file_of_hub,
    gate_as_meant,
    gate_to_write,
    of_hub,
    place_of_hub,
    revision_of_hub,
    swapped_days,
    without_days,
)
from model_accuracy_eval.commands.typed_words import command_line, listing, value_of_option, without
from model_accuracy_eval.settings import table

_Rule = tuple[str, Callable[[re.Match[str], Sequence[str]], Mended]]

_SERVICE = "http://127.0.0.1:8000"
_EXAMPLES = {"int": "5", "float": "0.7", "bool": "true", "dict": "{}"}


def _option(match: re.Match[str], _words: Sequence[str]) -> Mended:
    """The option and the value are the groups of the pattern."""
    return {match[1]: match[2] if match.re.groups > 1 else ""}


def _given(**options: str) -> Callable[[re.Match[str], Sequence[str]], Mended]:
    """These options."""
    return lambda _match, _words: {f"--{name.replace('_', '-')}": value for name, value in options.items()}


def _command(match: re.Match[str], _words: Sequence[str]) -> Mended:
    return match[1]


def _run(match: re.Match[str], _words: Sequence[str]) -> Mended:
    return f"{command_line('run')} {match[1]}"


def _look(match: re.Match[str], _words: Sequence[str]) -> Mended:
    return listing(Path(match[1]))


def _beside(match: re.Match[str], _words: Sequence[str]) -> Mended:
    """What there is in the folder of that file."""
    return listing(Path(match[1]).parent)


def _left_out(match: re.Match[str], words: Sequence[str]) -> Mended:
    """The command without the option that is the group of the pattern."""
    return command_line(*without(words, match[1]))


def _setting(match: re.Match[str], _words: Sequence[str]) -> Mended:
    """A value that the setting takes."""
    setting = next(each for each in table() if each.name == match[1])
    if setting.choices:
        return {f"--{setting.name}": setting.choices[0]}
    if setting.default not in (None, (), {}, False, ""):
        return {f"--{setting.name}": str(setting.default)}
    kind = next((example for name, example in _EXAMPLES.items() if name in str(setting.bare)), setting.name.upper())
    return {f"--{setting.name}": kind}


def _share(match: re.Match[str], _words: Sequence[str]) -> Mended:
    return {"--gate": f"{match[1]}: {match[2]}"}


def _address(match: re.Match[str], _words: Sequence[str]) -> Mended:
    return {"--judge-endpoint" if match[1] else "--endpoint": f"http://{match[2]}"}


def _endpoints(match: re.Match[str], words: Sequence[str]) -> Mended:
    once = {address.rstrip("/"): address for address in match[1].split(", ")}.values()
    return command_line(*without(words, "--endpoint"), *(word for address in once for word in ("--endpoint", address)))


def _one_more_judge(_match: re.Match[str], words: Sequence[str]) -> Mended:
    return {"--judge-panel": f"{value_of_option(words, '--judge-panel', '')},MODEL".lstrip(",")}


def _fewer_replicas(match: re.Match[str], _words: Sequence[str]) -> Mended:
    each, devices = int(match[1]), match[2].count(",") + 1
    return {"--replicas": str(devices // each)} if devices >= each else {"--devices-per-replica": str(devices)}


def _weights_limit(match: re.Match[str], _words: Sequence[str]) -> Mended:
    size, unit = float(match[1].replace(",", "")), match[2]
    return {"--max-weight-size": f"{ceil(size)}{'B' if unit.startswith('byte') else unit}"}


def _other_data(_match: re.Match[str], words: Sequence[str]) -> Mended:
    """Where the questions of then still are; whoever goes on may ask the new ones in a run of their own."""
    return {"--data-dir": "FOLDER-WITH-ITS-DATA"} if words[0] == "merge" else ""


def _typed_again(match: re.Match[str], words: Sequence[str]) -> Mended:
    """The same command, with these words right behind its name, where an argument is the first one."""
    return command_line(words[0], *shlex.split(match[1]), *words[1:])


_RULES: tuple[_Rule, ...] = (
    (r"which is not installed: (.+)\.$", _command),
    (r"then type: (.+)$", _command),
    (r"type it again: (.+)\.$", _typed_again),
    (r"convert it with `(sed -i [^`]*) deploy\.sh`", lambda match, words: f"{match[1]} {words[1]}/deploy.sh"),
    (r"^Name the datasets to prepare", lambda _match, _words: command_line("tasks", "prepare", "gsm8k")),
    (r"`model-accuracy-eval tasks prepare` beforehand", lambda _match, words: _prepare(words)),
    (
        r"asked something else",
        lambda _match, words: command_line("run", "--reuse", value_of_option(words, "--reuse", "RUN")),
    ),
    (r"go on with (?:it|this run) by (--reuse \S+)\.$", _run),
    (r"\brun ((?:--mode eval )?--reuse \S+)(?: judges| asks|\.$| --gate)", _run),
    (r"judge the replies again with (--mode eval --reuse \S+)\.$", _run),
    (r"(\S+), line (\d+): this is no JSON", lambda match, _words: shlex.join(["sed", "-n", f"{match[2]}p", match[1]])),
    (r"adapter folder '([^']*)' (?:is not there|has no deploy\.sh)", _look),
    (r"There is no folder '([^']+)', where --data-dir", _look),
    (r"^The weights '([^']*)' are not there", _look),
    (r"^The configuration file (\S+) cannot be read", _look),
    (r"^The weights are ([\d.,]+) (\w+).*max-weight-size", _weights_limit),
    (r"Give (--port) (\d+),", _option),
    (r"set task-type to ([\w-]+) ", lambda match, _words: {"--task-type": match[1]}),
    (r"(requirements\.txt), line (\d+), would", lambda match, words: f"sed -n {match[2]}p {words[1]}/{match[1]}"),
    (r"such as (--[\w-]+) ([^\s;]+?)\.?$", _option),
    (r"^Nothing to evaluate", _given(endpoint=_SERVICE)),
    (r"^deploy\.sh needs weights", _given(model="WEIGHTS")),
    (r"^The (judge's )?endpoint must be an .* but is '([^', ]*)", _address),
    (r"judged by a model: name it", _given(judge_endpoint="http://127.0.0.1:8001", judge_model="MODEL")),
    (r"^k = (\d+) needs at least", lambda match, _words: {"--num-return-sequences": match[1]}),
    (r"^The setting '([\w-]+)' cannot be", _setting),
    (r"^'(.*)' is not a gate: write", gate_as_meant),
    (r"can never be decided", gate_to_write),
    (r"^The gate '(.*): [^']*' can be read in two ways.*Write '(.*?)' for the share", _share),
    (r"--gate 'gsm8k: ", gate_to_write),
    (r"give one with --gate|\(require-gate\)", gate_to_write),
    (r"name that run with (--\w+)\.$", lambda match, _words: {match[1]: "outputs/latest"}),
    (r"name it by (--baseline)\.$", lambda match, _words: {match[1]: "outputs/latest"}),
    (r"allow it with (--[\w-]+)\.$", _option),
    (r"give a smaller (--port)\.$", lambda match, _words: {match[1]: "8000"}),
    (r"[Nn]ame it with (--\w+) ((?:\w+=[A-Z]+,?)+)\.?$", _option),
    (r"name another one with (--out)\.$", lambda match, _words: {match[1]: "NEW-NAME"}),
    (r"with merge (--[\w-]+)\.$", lambda match, _words: {match[1]: "VALUE"}),
    (r"With (--allow-missing), ", _option),
    (r"^The questions of '.*' are not those of the run", _other_data),
    (r"take (--runtime) (process)\.$", _option),
    (r"its image is not known: give adapter-image", _given(adapter_image="IMAGE")),
    (r"say (--resources) (NPU=\d+),", _option),
    (r"add (--engine) (ray),", _option),
    (r"^Resources are written as", _given(resources="NPU=1")),
    (r"replicas with (\d+) NPUs each need more than the devices ([\d,]+)\.$", _fewer_replicas),
    (r"^An endpoint is named twice: (.+)\. Each", _endpoints),
    (r"^A shard decides no gate, so (--stop-when-decided)", _left_out),
    (r"^(--only|--stop-when-decided) judges replies as they come", _left_out),
    (r"^Give an adapter folder or (--endpoint), not both", _left_out),
    (r"^(--replicas) starts deploy\.sh several times", _left_out),
    (r"^(--engine) ray starts deploy\.sh on a cluster", _left_out),
    (r"Name one of them: (--datasets) (\S+?)\.$", _option),
    (r"or judge without (--judge-engine)\.$", _left_out),
    (r"^(--columns) says what the columns .* leave it out\.$", _left_out),
    (r"needs (.+), and (--only) (.+) leaves it out", lambda match, _words: {match[2]: f"{match[3]},{match[1]}"}),
    (r"leave (--[\w-]+) out\.$", _left_out),
    (r"has no prompt strategy '.*'; it has ([\w-]+)(?:,|\.$)", lambda match, _words: {"--prompt-strategy": match[1]}),
    (
        r"has no prompt strategy '.*'; it has the",
        lambda _match, words: command_line(*without(words, "--prompt-strategy")),
    ),
    (r"^The shard must be r/W .* such as (\d+/\d+),", lambda match, _words: {"--shard": match[1]}),
    (r"Name an odd number of them with --judge-model and --judge-panel\.$", _one_more_judge),
    (
        r"^([\w-]+) is '.*'; it takes (?:a number with a unit, such as )?(\w+)",
        lambda match, _words: {f"--{match[1]}": match[2]},
    ),
    (r"^max-weight-size '.*' is (?:not a size|less than one byte)", _given(max_weight_size="100GB")),
    (r"^--map ", _given(map="id=task_id,prediction=response")),
    (r"^(--columns) says what a column is, as in (\S+),", _option),
    (r"^The sandbox \w+ has no images: take (--sandbox) (docker)", _option),
    (r"could never be decided: the baseline", _given(baseline="outputs/latest")),
    (r"^--diff would write over", _given(diff="DIFFERENCES.jsonl")),
    (r"is no dataset of a hub: write", _given(datasets="hf:openai/gsm8k:main:test")),
    (r"^((?:hf|ms):[^\s:@,]+),? .*Name one, such as \1(:\S+)\.$", of_hub),
    (r"^((?:hf|ms):\S+) has the split '(.*?)' in \d+ places, .*?: ([^\s,]+).* as the configuration\.$", place_of_hub),
    (r"^(hf|ms):(\S+) has .* be different questions: ([^\s,]+).* its address as the dataset\.$", file_of_hub),
    (r"^(hf|ms):(\S+) has .* hold the same rows: ([^\s,]+),.* under --data-dir\.$", file_of_hub),
    (r"^((?:hf|ms):\S+) has .* Name an earlier revision\.$", revision_of_hub),
    (r"^The time (\S+)\.\.(\S+) ends before it begins", swapped_days),
    (
        r"^The time \S+ has a day that|; leave the time out\.$|the step 'dated'",
        without_days,
    ),
    (r"^Port \d+ on .* give another one by --port", _given(port="0")),
    (r"^(\S+) is '.*', which is not a proxy: write (\S+),", lambda match, _words: f"export {match[1]}={match[2]}"),
    (r"^(\S+) (?:is not YAML|must hold settings)", lambda match, _words: shlex.join(["cat", match[1]])),
    (r"^(?:The folder |The history )?(\S+) (?:for the run )?cannot be (?:written|created): ", _beside),
    (
        r"^Model '[^']*' (?:is of an unknown kind|has no name of the form)|^The model is not given",
        _given(model="hf:OWNER/NAME"),
    ),
    (r"is not NAME=OWNER/DATASET.*such as (\S+)\.$", lambda match, _words: {"--hub-dataset": match[1]}),
    (r"(--data-dir|--task), such as (\S+)\.$", _option),
    (r"Give a (--budget) of ([\d,]+) or more", _option),
    (r"does not say how fast the service is", _given(baseline="outputs/latest")),
    (r"^These answers are programs, and there is no place", lambda _match, _words: command_line("doctor")),
)


def _prepare(words: Sequence[str]) -> str:
    return command_line("tasks", "prepare", *value_of_option(words, "--datasets", "gsm8k").split(","))


def mended(sentence: str, words: Sequence[str]) -> Mended | None:
    """What the sentence asks for; None: nothing that could be typed."""
    for pattern, rule in _RULES:
        if match := re.search(pattern, sentence):
            return rule(match, words)
    return None
