"""Files of conversations, as SmolTalk and nanochat's own JSON have them: a list of messages a row.

The service is sent everything up to the last reply, and its own is set beside that one. How near the words are says
little by itself; a judge, or a baseline of the same file, says more.
"""

from typing import Any

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import DataFile, Measure, Pipeline, Prompt, Step, TaskSpec

_ROLES = ("user", "assistant")


def check(where: str, messages: Any) -> None:
    """A system message or none, then user and assistant in turns, who has the last word; all of it text."""
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        raise BadData(f"{where}: a conversation is a list of messages with role and content.")
    turns = messages[1:] if messages and messages[0].get("role") == "system" else messages
    if len(turns) < 2:
        raise BadData(f"{where}: a conversation has 2 messages or more beside the system's, but this one {len(turns)}.")
    for place, one in enumerate(turns):
        number = place + 1 + len(messages) - len(turns)
        if one.get("role") != _ROLES[place % 2]:
            raise BadData(f"{where}: message {number} must be of {_ROLES[place % 2]}, but is of {one.get('role')!r}.")
    for number, one in enumerate(messages, start=1):
        if not isinstance(one.get("content"), str) or not one["content"].strip():
            raise BadData(f"{where}: message {number} has no text as its content.")
    if len(turns) % 2:
        raise BadData(f"{where}: the last message must be of assistant, because it is what a reply is compared with.")


def last_replies(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each conversation parted into what is sent and the reply that it had."""
    return [{**row, "earlier": row["messages"][:-1], "reply": row["messages"][-1]["content"]} for row in rows]


def task(name: str, path: str) -> TaskSpec:
    """The task of a file of conversations."""
    return TaskSpec(
        name=name,
        about="Own conversations, each with the reply that it had.",
        data=DataFile(name=path),
        views=(Step(name="last_replies"),),
        fields=("messages",),
        prompt=Prompt(dialogue="earlier", question=""),
        reference="{{ reply }}",
        max_tokens=1024,
        pipelines=(
            Pipeline(
                filters=(Step(name="strip_thoughts"), Step(name="stripped")),
                metrics=(Measure(name="token_f1"), Measure(name="exact", label="the same reply")),
            ),
        ),
    )
