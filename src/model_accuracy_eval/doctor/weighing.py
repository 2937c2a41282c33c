"""Whether the likelihood of a given text is told, which some tasks score by."""

from model_accuracy_eval.doctor.asking import either
from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.ports import Chat
from model_accuracy_eval.records.doctor import Finding


async def likelihoods(chat: Chat) -> Finding:
    try:
        scale = await chat.scale("auto", {})
    except EvalError as error:
        return either("likelihoods", False, error.sentence)
    return either("likelihoods", scale.rung != "extracted", scale.findings[-1])
