"""Instructions about what a reply is made of."""

from model_accuracy_eval.scoring.ifeval.checker import Checker
from model_accuracy_eval.scoring.ifeval.pieces import pieces


def two_responses(reply: str) -> bool:
    """Two that differ, with ****** in between."""
    found = pieces(reply, "******")
    return len(found) == 2 and found[0] != found[1]


def repeat_prompt(reply: str, *, prompt_to_repeat: str) -> bool:
    """It begins with the request, word for word but for the case."""
    return reply.strip().lower().startswith(prompt_to_repeat.strip().lower())


ROWS: dict[str, Checker] = {"combination:two_responses": two_responses, "combination:repeat_prompt": repeat_prompt}
