"""Whether a service is fit to be evaluated: three dozen small requests, and a finding for each ability that runs use.

Only a service that does not answer fails. Everything else that it lacks has a cost, and the finding says which.
"""

from collections.abc import Iterable, Mapping

from model_accuracy_eval.doctor import endpoint_checks as checks
from model_accuracy_eval.doctor import likelihood_checks
from model_accuracy_eval.ports import Chat
from model_accuracy_eval.records import DoctorFinding, FaultKind

_NEXT_STEP: Mapping[FaultKind, str] = {
    "refused": "Start the service, or name another address.",
    "failed": "Look at the service's log; give it longer with --timeout if it is slow.",
    "rejected": "Name the model with --model-name, or the key in MODEL_ACCURACY_EVAL_API_KEY.",
}


async def examine(chat: Chat) -> tuple[DoctorFinding, ...]:
    """All findings about the service; only one if it does not answer."""
    probe = await checks.start(chat)
    fault = probe.first.fault
    if fault is not None:
        sentence = f"{fault.sentence} {_NEXT_STEP[fault.kind]}"
        return (DoctorFinding(name="answers", state="FAIL", sentence=sentence),)
    return (
        DoctorFinding(name="answers", state="PASS", sentence="A chat request gets an answer."),
        await checks.model(chat),
        await checks.context(chat),
        checks.streaming(probe.first),
        checks.finish_reason(probe.first),
        checks.usage(probe.first),
        checks.speed(probe.first),
        await checks.simple_questions(chat),
        await checks.stop(probe),
        await checks.temperature_zero(probe),
        await checks.seed(probe),
        await checks.samplers(chat),
        await checks.several_samples(probe),
        *await likelihood_checks.loglikelihoods(chat),
        await checks.pictures(chat),
    )


def failed(findings: Iterable[DoctorFinding]) -> bool:
    return any(finding.state == "FAIL" for finding in findings)


def table(findings: Iterable[DoctorFinding]) -> str:
    """One line for each finding."""
    lines = tuple(findings)
    width = max((len(finding.name) for finding in lines), default=0)
    return "\n".join(f"{finding.state}  {finding.name.ljust(width)}  {finding.sentence}" for finding in lines)
