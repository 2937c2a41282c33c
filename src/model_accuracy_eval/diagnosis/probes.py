"""The table of probes, in the order in which they look: what they need first, and what costs least."""

from collections.abc import AsyncIterator, Callable

from model_accuracy_eval.diagnosis import decoding, lengths, neighbours, protocol, sampling
from model_accuracy_eval.diagnosis.probe import Probe, ProbeResult, Subject, needles_of
from model_accuracy_eval.diagnosis.reference import Trace, beside

REPEATS, REFERENCE = "repeats", "reference"
PROBES = (
    Probe("streams", "An answer is the same streamed and in one piece.", protocol.streams),
    Probe("caps", "An answer is cut at max_tokens, not before, not behind.", protocol.caps),
    Probe("ends", "Answers to short questions end by themselves.", protocol.ends),
    Probe("stop strings", "Stop strings end an answer, also across tokens.", protocol.stop_strings),
    Probe("samplers", "Tokens are drawn as often as temperature and top_p say.", sampling.samplers),
    Probe("seeds", "Different seeds draw different answers.", sampling.seeds),
    Probe("choices", "The choices of one request are drawn one by one.", sampling.choices),
    Probe("decoding", "Tokens are written as they are read.", decoding.decoding),
    Probe("cache", "A prompt is answered alike cold, warm and after others.", neighbours.history),
    Probe("load", "An answer does not depend on how many are in flight.", neighbours.load),
    Probe("hanging up", "Requests that are given up leave nothing behind.", neighbours.hanging_up),
    Probe("lengths", "What stands at the beginning of a long prompt is seen.", lengths.recall),
)
NAMES = (REPEATS, REFERENCE, *(probe.name for probe in PROBES))


async def diagnose(
    subject: Subject, left: Callable[[], float], trace: Trace | None = None
) -> AsyncIterator[tuple[str, ProbeResult]]:
    """Every probe's finding, as soon as it is there. `left`: seconds; a probe that has none is skipped."""
    needles, finding = await needles_of(subject)
    yield REPEATS, finding
    if trace is not None:
        yield REFERENCE, await beside(subject, trace)
    for probe in PROBES:
        late = left() <= 0
        skipped = ProbeResult("SKIP", "No time was left for it.", "diagnose with more --minutes")
        yield probe.name, skipped if late or not needles else await probe.look(subject, needles)
