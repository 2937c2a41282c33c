"""A comment on a pull request that starts or stops an evaluation, with the words of the form.

/evaluate [datasets] [model=…] [gate="…"] [samples=…] [task-type=…] [commit]
/stop

The comment is data, read as a whole; who wrote it is asked first, and only an admin's words are answered.
"""

import re
import shlex
from collections.abc import Mapping
from typing import NamedTuple

from model_accuracy_eval.benchmarks import dataset_table
from model_accuracy_eval.errors import BadValue, EvalError, Refused, UnknownName
from model_accuracy_eval.github.api import GitHubRest
from model_accuracy_eval.github.runner import Runner
from model_accuracy_eval.records.report import ActionContext, is_commit
from model_accuracy_eval.report import markdown
from model_accuracy_eval.run import setting_values
from model_accuracy_eval.scoring.verdicts import gate_lines

_WORDS = {"model": "model", "gate": "gate", "samples": "num-return-sequences", "task-type": "task-type"}
"""What may stand before a `=`, as in the form, and the setting that it is."""
_SHORT_COMMIT = re.compile(r"[0-9A-Fa-f]{7,64}")
_PLAIN = re.compile(r"[\x20-\x7e]*\Z")
_USAGE = '/evaluate [datasets] [model=…] [gate="…"] [samples=…] [task-type=…] [full commit], or /stop'


class CommentCommand(NamedTuple):
    """What a comment asks for; the texts are those of the workflow's outputs."""

    name: str
    given: Mapping[str, str]
    commit: str = ""


def obey(context: ActionContext, github: GitHubRest, step: Runner) -> int:
    """Tells the workflow what to do, or the commenter why nothing is done; returns the exit code."""
    if context.event != "issue_comment" or context.pull is None:
        raise BadValue("`mode: command` reads comments on pull requests: on: issue_comment, created.")
    comment, number = step.event()["comment"], context.pull.number
    try:
        command = _allowed(str(comment["body"]), context, github)
    except EvalError as refusal:
        step.error(refusal.sentence, title="Nothing was done")
        github.react(context.repository, comment["id"], "confused")
        github.reply(context.repository, number, f"Nothing was done. {markdown.literal(refusal.sentence, 1000)}")
        return refusal.exit_code
    github.react(context.repository, comment["id"], "rocket")
    outputs = {"command": command.name, "commit": command.commit, **command.given}
    for name, text in outputs.items():
        step.output(name, text)
    return 0


def _allowed(body: str, context: ActionContext, github: GitHubRest) -> CommentCommand:
    """Who may not start anything reads that, and nothing about their words."""
    line = next(iter(body.splitlines()), "").rstrip()
    head = context.pull.head_sha if context.pull else ""
    if not is_commit(head):
        raise Refused("The head commit of the pull request is not known.")
    permission = github.permission(context.repository, context.actor.login)
    own = context.pull is not None and context.pull.author == context.actor.login
    stops = line.lower() == "/stop"
    if not permission.admin and not (stops and own and permission.level == "write"):
        raise Refused(
            "Evaluations are started and stopped by admins; authors who can write to the repository may stop theirs."
        )
    command = read(line)
    if command.commit and command.commit != head:
        raise Refused(f"The head is another commit by now: read it, then say /evaluate {head}.")
    return command._replace(commit=head)


def read(line: str) -> CommentCommand:
    """The command of a line; what is wrong with it is one sentence."""
    if line.lower() == "/stop":
        return CommentCommand("stop", {})
    name, _, rest = line.partition(" ")
    if name.lower() != "/evaluate" or not _PLAIN.match(line):
        raise BadValue(f"It is not understood: say {_USAGE}.")
    try:
        words = shlex.split(re.sub(r"\s*,\s*", ",", rest))
    except ValueError as error:
        raise BadValue(f"It is not understood, a quotation mark lacks its other: say {_USAGE}.") from error
    commit = words.pop() if words and is_commit(words[-1]) else ""
    datasets, settings = list[str](), dict[str, list[str]]()
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            datasets += word.split(",")
        elif key not in _WORDS:
            raise UnknownName("word", f"{key}=", [f"{one}=" for one in _WORDS])
        elif key in settings and key != "gate":
            raise BadValue(f"'{key}=' is there twice.")
        else:
            settings.setdefault(key, []).append(value)
    for each in datasets:
        _check_dataset(each)
    for each in settings.get("gate", ()):
        gate_lines.parse(each)
    given = {key: "\n".join(values) for key, values in settings.items()}
    setting_values.read({_WORDS[key]: value for key, value in given.items()}, "the comment")
    return CommentCommand("evaluate", {"datasets": ",".join(datasets), **given}, commit)


def _check_dataset(name: str) -> None:
    """Names of the table alone: a comment brings no files and no addresses."""
    if _SHORT_COMMIT.fullmatch(name) and not name.isalpha():
        raise BadValue("A commit is written in full, 40 digits and small letters, once and at the end.")
    if dataset_table.canonical(name) is None and dataset_table.canonical(name.rpartition("@")[0]) is None:
        raise dataset_table.NAMES.unknown(name)
