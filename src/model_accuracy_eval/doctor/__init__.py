"""Whether a service is fit to be evaluated: some twenty small requests, a finding for each thing that runs lean on.

Only a service that does not answer fails. Whatever else it lacks costs something, and the finding says what.
"""

from collections.abc import Iterable, Mapping

from model_accuracy_eval.doctor import chances, limits, sense, speech, weighing
from model_accuracy_eval.doctor.asking import start
from model_accuracy_eval.ports import Chat
from model_accuracy_eval.records import FaultKind
from model_accuracy_eval.records.doctor import Finding

_NEXT: Mapping[FaultKind, str] = {
    "refused": "Start the service, or name another address.",
    "failed": "Look at the service's log; give it longer with --timeout if it is slow.",
    "rejected": "Name the model with --model-name, or the key in MODEL_ACCURACY_EVAL_API_KEY.",
}


async def examine(chat: Chat) -> tuple[Finding, ...]:
    """All findings about the service; there is one only when it does not answer."""
    talk = await start(chat)
    first = talk.first
    if first.fault is not None:
        told = f"{first.fault.sentence} {_NEXT[first.fault.kind]}"
        return (Finding(name="answers", state="FAIL", sentence=told),)
    return (
        Finding(name="answers", state="PASS", sentence="A chat request gets an answer."),
        await limits.model(chat),
        await limits.context(chat),
        speech.streaming(first),
        speech.usage(first),
        speech.speed(first),
        await sense.simple_questions(chat),
        await speech.stop(talk),
        await chances.greedy(talk),
        await chances.seed(talk),
        await chances.several(talk),
        await weighing.likelihoods(chat),
    )


def failed(findings: Iterable[Finding]) -> bool:
    return any(finding.state == "FAIL" for finding in findings)


def table(findings: Iterable[Finding]) -> str:
    """One line a finding."""
    rows = tuple(findings)
    width = max((len(row.name) for row in rows), default=0)
    return "\n".join(f"{row.state}  {row.name.ljust(width)}  {row.sentence}" for row in rows)
