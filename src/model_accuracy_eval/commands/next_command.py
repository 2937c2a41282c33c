"""The command to type after one that could not be carried out: as it was typed, with what was wrong put right.

Words in capitals stand for what only the user knows.
"""

import difflib
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from model_accuracy_eval.benchmarks import dataset_table
from model_accuracy_eval.commands import mending_options
from model_accuracy_eval.commands.typed_words import command_line, listing, pairs
from model_accuracy_eval.errors import BadData, BadReuse, EvalError, MissingData, Refused, UnknownDataset, UsageError
from model_accuracy_eval.settings import table

_EXTRA = re.compile(r"unexpected extra arguments? \((.*)\)")
_RUNS = {"", "--reuse", "--baseline"}
"""Options and arguments whose values are runs."""
_DATA = (".jsonl", ".json", ".csv", ".tsv", ".yaml", ".yml", ".parquet", ".gz")
_PLACEHOLDERS = {
    "run": "outputs/latest",
    "base": "OLD-RUN",
    "new": "outputs/latest",
    "shards": "SHARD SHARD",
    "names": "gsm8k",
    "name": "gsm8k",
    "files": "REPLIES.jsonl",
    "file": "QUESTIONS.jsonl",
    "folder": "FOLDER",
}
"""Argument of a command → what can be typed for it."""


def of_error(error: EvalError, words: Sequence[str]) -> str:
    """`words`: the command as it was typed, without the program."""
    if error.next_step:
        return error.next_step
    if error.mistyped and (right := _without_slip(words, *error.mistyped)):
        return right
    if mended := mending_options.mended(error.sentence, words):
        step = mended if isinstance(mended, str) else retyped(words, mended)
        if step != command_line(*words):  # what is wrong may stand in a file
            return step
    return _by_kind(error, words)


def _by_kind(error: EvalError, words: Sequence[str]) -> str:
    if isinstance(error, MissingData):
        return _of_missing_file(words)
    if isinstance(error, BadReuse):
        return _of_runs(words)
    if isinstance(error, UnknownDataset | Refused):
        return command_line(*(["doctor"] if isinstance(error, Refused) else ["tasks", "list"]))
    if error.exit_code != EvalError.exit_code:
        return ""
    file = next((word for word in _values(words) if _is_data(word)), "")
    if isinstance(error, UsageError) and file:
        return _of_file(error, file, words)
    return _of_sentence(error.sentence, words)


def _of_sentence(sentence: str, words: Sequence[str]) -> str:
    """What shows the dataset or the option that the sentence names; else the help."""
    typed = [name for value in _values(words) for name in value.split(",")]
    said = {*re.findall(r"[\w.-]+", sentence)}
    for name, _, form in (each.partition("@") for each in typed):
        if name in dataset_table.TASKS and {name, form} & said:
            return command_line("tasks", "show", name)
    shown = command_line(*_commands(words), "--help")
    option = re.search(r"--[a-z][a-z-]+", sentence)
    return f"{shown} | grep -A 3 -e {option[0]}" if option else shown


def retyped(words: Sequence[str], changes: Mapping[str, str]) -> str:
    """The same command with other values of these options."""
    line = list(words)
    for option, value in changes.items():
        spellings = {option, *(setting.short for setting in table() if f"--{setting.name}" == option)}
        places = [at for at, word in enumerate(line) if word.partition("=")[0] in spellings]
        place = max(places, key=lambda at: _likeness(line[at : at + 2], value), default=None)
        if place is not None:
            del line[place : place + (1 if "=" in line[place] or not value else 2)]
        line[len(line) if place is None else place : place or len(line)] = [option, value] if value else [option]
    return command_line(*line)


def _likeness(words: Sequence[str], value: str) -> float:
    """Of several gates, the one that the new value is like is meant."""
    return difflib.SequenceMatcher(None, " ".join(words), value).ratio()


def of_parser(error: click.UsageError, words: Sequence[str], program: click.Group) -> str:
    """For what click refuses: unknown commands and options, missing arguments, values that are not allowed."""
    path, command = _command(words, program)
    return _of_option(error, words, command) or _of_words(error, words, path, command)


def parser_sentence(error: click.UsageError, words: Sequence[str], program: click.Group) -> str:
    """What click says is wrong; of options, it names the nearest in the alphabet's order, and some that are far."""
    if isinstance(error, click.NoSuchOption):
        near = _near_options(error.option_name, _command(words, program)[1])
        return click.NoSuchOption(error.option_name, possibilities=near).format_message()
    return error.format_message()


def _of_option(error: click.UsageError, words: Sequence[str], command: click.Command) -> str:
    """Empty: it is not about an option or an argument that the command has, or one that is like it."""
    if isinstance(error, click.NoSuchOption):
        wrong = error.option_name
        if any(isinstance(each, click.Argument) and each.name == wrong.strip("-") for each in command.params):
            return command_line(*(word.removeprefix(f"{wrong}=") for word in words if word != wrong))
        near = _near_options(wrong, command)
        return command_line(*(_with_option(word, wrong, near[0]) for word in words)) if near else ""
    if isinstance(error, click.MissingParameter):
        return _with_missing(error, words)
    if isinstance(error, click.BadOptionUsage):
        option = next((each for each in command.params if error.option_name in each.opts), None)
        return command_line(*words, _allowed(option) if isinstance(option, click.Option) else "VALUE")
    if isinstance(error, click.BadParameter) and isinstance(error.param, click.Option):
        return retyped(words, {error.param.opts[0]: _allowed(error.param)})
    return ""


def _near_options(wrong: str, command: click.Command) -> list[str]:
    """The option of which the wrong one is a slip of the hand, if any; the dashes, which all have, say nothing."""
    letters = wrong.strip("-")
    names = [name.removeprefix("--") for each in command.params for name in each.opts if name.startswith("--")]
    swapped = [name for name in names if sorted(name) == sorted(letters)]
    return [f"--{name}" for name in swapped[:1] or difflib.get_close_matches(letters, names, n=1, cutoff=0.7)]


def _of_words(error: click.UsageError, words: Sequence[str], path: Sequence[str], command: click.Command) -> str:
    """The nearest command; without words that are too many; else the help of what is known."""
    if extra := _EXTRA.search(error.message):
        return command_line(*(word for word in words if word not in extra[1].split()))
    names = list(command.commands) if isinstance(command, click.Group) else []
    near = difflib.get_close_matches(words[len(path)], names, n=1) if len(words) > len(path) else []
    return command_line(*path, *near, *words[len(path) + 1 :]) if near else command_line(*path, "--help")


def _command(words: Sequence[str], program: click.Group) -> tuple[list[str], click.Command]:
    """The command that was meant, as far as it is known, and the words that name it."""
    path: list[str] = []
    command: click.Command = program
    for word in words:
        if not isinstance(command, click.Group) or word not in command.commands:
            break
        path.append(word)
        command = command.commands[word]
    return path, command


def _without_slip(words: Sequence[str], wrong: str, right: str) -> str:
    """The command with the right name; the line of the file that has the wrong one."""
    token = re.compile(rf"(?<![\w-]){re.escape(wrong)}(?![\w-])")
    if any(token.search(word) for word in words):
        return command_line(*(token.sub(lambda _: right, word) for word in words))
    file = next((word for word in _values(words) if _is_data(word)), "")
    return shlex.join(["grep", "-n", wrong, file]) if file else ""


def _with_option(word: str, wrong: str, right: str) -> str:
    name, equals, value = word.partition("=")
    return f"{right}{equals}{value}" if name == wrong else word


def _with_missing(error: click.MissingParameter, line: Sequence[str]) -> str:
    parameter = error.param
    if isinstance(parameter, click.Option):
        return command_line(*line, parameter.opts[0], _allowed(parameter))
    name = (parameter.name if parameter else None) or "VALUE"
    placeholder = _PLACEHOLDERS.get(name) or (parameter.metavar if parameter else None) or name.upper()
    return f"{command_line(*line)} {placeholder}"


_VALUES = {"gate": "DATASET: METRIC >= NUMBER", "endpoint": "http://127.0.0.1:8000", "datasets": "demo_gsm8k"}


def _allowed(option: click.Option) -> str:
    """A value that the option takes."""
    if option.name in _VALUES:
        return _VALUES[option.name]
    if isinstance(option.type, click.Choice):
        return str(option.default if option.default in option.type.choices else option.type.choices[0])
    if isinstance(option.default, int | float | str):
        return str(option.default)
    return "10" if isinstance(option.type, click.types.IntParamType) else (option.name or "value").upper()


def _of_missing_file(words: Sequence[str]) -> str:
    """A file of a similar name, or what there is in the folder where it was looked for."""
    if words[0] == "merge":
        return retyped(words, {"--data-dir": "FOLDER-WITH-ITS-DATA"})
    for option, value in pairs(words):
        for name in value.split(","):
            path = Path(name)
            if path.exists() or not path.suffix:
                continue
            there = sorted(file.name for file in path.parent.iterdir()) if path.parent.is_dir() else []
            near = difflib.get_close_matches(path.name, there, n=1)
            if near and option:
                return retyped(words, {option: value.replace(name, str(path.parent / near[0]), 1)})
            return listing(path.parent)
    return command_line("tasks", "list")


def _of_runs(words: Sequence[str]) -> str:
    """The newest run in place of what is none; where there is none at all, the command that makes one."""
    named = [value for option, value in pairs(words)[1:] if option in _RUNS]
    wrong = next((value for value in named if not Path(value, "run.json").is_file()), "")
    places = dict.fromkeys([*Path(wrong).parents, Path("outputs")])
    folders = [folder for folder in places if (folder / "latest" / "run.json").is_file()]
    if not folders and words[0] == "merge":  # its shards may lie anywhere
        return shlex.join(["find", str(Path(wrong).parent), "-maxdepth", "3", "-name", "run.json"])
    if not folders:
        with_runs = [folder for folder in places if folder != Path() and next(folder.glob("*/run.json"), None)]
        return command_line("history", str(with_runs[0])) if with_runs else command_line("demo")
    if words[0] in {"history", "view"}:
        return command_line(words[0], str(folders[0]))
    latest = str(folders[0] / "latest")
    if not wrong or latest in named:
        return command_line("history", str(folders[0]))
    return command_line(*(latest if word == wrong else word for word in words))


def _of_file(error: EvalError, file: str, words: Sequence[str]) -> str:
    """The check of a file of questions, to be typed when it is mended; the beginning of any other."""
    if isinstance(error, BadData) and words[:1] == ["rescore"]:
        return shlex.join(["head", "-c", "600", file])
    return command_line("tasks", "check", file)


def _commands(words: Sequence[str]) -> Sequence[str]:
    """`run`, or `tasks show`."""
    return words[: 2 if words[:1] == ["tasks"] else 1]


def _values(words: Sequence[str]) -> list[str]:
    return [value for _, value in pairs(words)]


def _is_data(word: str) -> bool:
    """Whether it is a file of questions, of replies or of a task."""
    return Path(word).is_file() and word.endswith(_DATA)
