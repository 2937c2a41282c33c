"""Instructions about the language of a reply."""

from model_accuracy_eval.scoring.ifeval import detection
from model_accuracy_eval.scoring.ifeval.checker import Checker


def response_language(reply: str, *, language: str) -> bool:
    """What has no letters to tell a language by is none other."""
    return detection.language(reply) in {language, None}


ROWS: dict[str, Checker] = {"language:response_language": response_language}
