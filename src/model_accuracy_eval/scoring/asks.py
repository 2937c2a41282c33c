"""What judging cannot know by itself, as data: a program to run, a question to a judge. A stage carries them out.

An ask that was carried out is known by its hash: the same answer to the same problem is never asked about twice.
"""

import hashlib
import re
from collections.abc import Callable, Mapping

import msgspec

from model_accuracy_eval.records.code import Execution, Program
from model_accuracy_eval.records.judge import Opinion, Question

Ask = Question | Program
Finding = Opinion | Execution
"""What a question brings, and what a program brings."""
Findings = Callable[[Ask], Finding | None]
"""What was found out before; None: nothing was."""

_PLACE = re.compile(r"\{(\w+)\}")


def nothing_found(ask: Ask) -> Finding | None:
    """For metrics that ask nothing."""
    return None


def key(ask: Ask, judge: str = "") -> str:
    """The name under which a finding is kept: a hash over all that was asked, and over who was asked."""
    who = judge if isinstance(ask, Question) else "sandbox"
    return hashlib.sha256(who.encode() + b"\n" + msgspec.json.encode(ask, order="sorted")).hexdigest()


def filled(template: str, values: Mapping[str, str]) -> str:
    """`{name}` becomes the value of that name, once: braces inside values, and of unknown names, stay as they are."""
    return _PLACE.sub(lambda place: values.get(place[1], place[0]), template)
