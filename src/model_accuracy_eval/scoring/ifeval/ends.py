"""Instructions about how a reply begins and ends."""

from model_accuracy_eval.scoring.ifeval.checker import Checker


def end_checker(reply: str, *, end_phrase: str) -> bool:
    """The phrase ends it, in any case; quotation marks may follow."""
    return reply.strip().strip('"').lower().endswith(end_phrase.strip().lower())


def quotation(reply: str) -> bool:
    """Straight double quotation marks around the whole."""
    text = reply.strip()
    return len(text) > 1 and text[0] == text[-1] == '"'


ROWS: dict[str, Checker] = {"startend:end_checker": end_checker, "startend:quotation": quotation}
