"""Simple questions that a sane chat model answers at temperature 0, whatever its size or language.

A wrong answer fails nothing: small models err. But one whose chat template, tokenizer or weights are broken errs
everywhere, and that is cheaper to see here than after a long run.
"""

from model_accuracy_eval.doctor.asking import SUM, either, question, refused, said
from model_accuracy_eval.ports import Chat
from model_accuracy_eval.records.doctor import Finding

_GOLDEN = (
    (SUM, "42"),
    ("Repeat this word and say nothing else: marmalade", "marmalade"),
    ("Which of these is a colour: spoon, green, Tuesday? Answer with that word alone.", "green"),
)
_ROOM = 512
"""Tokens, because many models think first."""


async def simple_questions(chat: Chat) -> Finding:
    wrong = []
    for asked, right in _GOLDEN:
        reply = await chat.ask(question(asked, max_tokens=_ROOM))
        if reply.fault is not None:
            return refused("sense", reply.fault, f"That came of the question {asked!r}.")
        if right not in _last_line(said(reply)):
            wrong.append((asked, said(reply)))
    if not wrong:
        return either("sense", True, f"All {len(_GOLDEN)} simple questions are answered right.")
    asked, answer = wrong[0]
    return either(
        "sense",
        False,
        f"{len(wrong)} of {len(_GOLDEN)} simple questions are answered wrong, such as {asked!r} with "
        f"{answer[-60:]!r}: unless the model is not made for chat, look at its chat template, tokenizer and weights.",
    )


def _last_line(answer: str) -> str:
    """Where the answer stands once everything has been thought."""
    return answer.strip().rpartition("\n")[2].lower()
