"""The table of probes, in the order in which they look: what they need first, and what costs least."""

from collections.abc import AsyncIterator, Callable

from model_accuracy_eval.diagnosis import decoding, lengths, neighbours, protocol, sampling, surprise
from model_accuracy_eval.diagnosis.probe import Probe, ProbeResult, Subject, needles_of
from model_accuracy_eval.diagnosis.reference import Trace, beside

REPEATS, REFERENCE = "repeats", "reference"
STEADY, STREAMED = frozenset({REPEATS}), frozenset({"streams"})
FORMS, SAMPLED, ALONE = STEADY | STREAMED | {"caps"}, STEADY | {"samplers"}, STEADY | {"load"}
"""Probes behind whose faults others cannot see their own."""
PROBES = (
    Probe("streams", "An answer is the same streamed and in one piece.", protocol.streams, STEADY),
    Probe("caps", "An answer is cut at max_tokens, not before, not behind.", protocol.caps, STEADY),
    Probe("ends", "Answers to short questions end by themselves.", protocol.ends),
    Probe("stop strings", "Stop strings end an answer, also across tokens.", protocol.stop_strings),
    Probe("samplers", "Tokens are drawn as often as temperature and top_p say.", sampling.samplers, FORMS),
    Probe("surprise", "Whole answers are drawn as their log-probabilities say.", surprise.surprise, SAMPLED),
    Probe("seeds", "Different seeds draw different answers.", sampling.seeds),
    Probe("choices", "The choices of one request are drawn one by one.", sampling.choices, FORMS),
    Probe("decoding", "Tokens are written as they are read.", decoding.decoding, STEADY),
    Probe("cache", "A prompt is answered alike cold, warm and after others.", neighbours.history, STREAMED),
    Probe("load", "An answer does not depend on how many are in flight.", neighbours.load, STEADY),
    Probe("hanging up", "Requests that are given up leave nothing behind.", neighbours.hanging_up, ALONE),
    Probe("lengths", "What stands at the beginning of a long prompt is seen.", lengths.recall),
)
NAMES = (REPEATS, REFERENCE, *(probe.name for probe in PROBES))


async def diagnose(
    subject: Subject, left: Callable[[], float], trace: Trace | None = None
) -> AsyncIterator[tuple[str, ProbeResult]]:
    """Every probe's finding, as soon as it is there. `left`: seconds; a probe that has none is skipped."""
    needles, finding = await needles_of(subject)
    yield REPEATS, finding
    failed = {REPEATS} if finding.state == "FAIL" else set()
    if trace is not None:
        yield REFERENCE, await beside(subject, trace)
    for probe in PROBES:
        if left() <= 0:
            yield probe.name, ProbeResult("SKIP", "No time was left for it.", "diagnose with more --minutes")
        elif not needles:
            yield probe.name, ProbeResult("SKIP", "No question is answered alike twice.")
        elif causes := probe.behind & failed:
            yield probe.name, ProbeResult("SKIP", f"What {min(causes)} found would show here, too: mend it first.")
        else:
            finding = await probe.look(subject, needles)
            failed |= {probe.name} if finding.state == "FAIL" else set()
            yield probe.name, finding
