"""The table of probes, in the order in which they look: what they need first, and what costs least."""

from collections.abc import AsyncIterator, Callable, Collection, Sequence, Set

from model_accuracy_eval.diagnosis import decoding, lengths, protocol, sampling, seeds, surprise
from model_accuracy_eval.diagnosis.cache import cache
from model_accuracy_eval.diagnosis.company import company
from model_accuracy_eval.diagnosis.forms import forms
from model_accuracy_eval.diagnosis.hanging_up import hanging_up
from model_accuracy_eval.diagnosis.lasting import Watched
from model_accuracy_eval.diagnosis.neighbours import load
from model_accuracy_eval.diagnosis.probe import Probe, ProbeResult, needles_of
from model_accuracy_eval.diagnosis.reading import prompts
from model_accuracy_eval.diagnosis.reference import Trace, beside
from model_accuracy_eval.diagnosis.structured import structured
from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import ClientLimits, Gate

REPEATS, REFERENCE, LASTING, HANGING_UP = "repeats", "reference", "lasting", "hanging up"
STEADY = frozenset({REPEATS, LASTING})
CUT, SAMPLED, ALONE = STEADY | {"caps"}, STEADY | {"samplers"}, STEADY | {"load"}
"""Probes behind whose faults others cannot see their own."""
PROBES = (
    Probe("forms", "An answer is the same in every mixture of forms, stop strings and choices.", forms, STEADY),
    Probe("structured", "JSON by a schema and calls of tools are the same streamed, and fit.", structured, STEADY),
    Probe("caps", "An answer is cut at max_tokens, not before, not behind.", protocol.caps, STEADY),
    Probe("ends", "Answers to short questions end by themselves.", protocol.ends, STEADY),
    Probe("prompts", "All of a prompt is read, and as it stands.", prompts, STEADY),
    Probe("samplers", "Tokens are drawn as temperature, top_p and top_k say.", sampling.samplers, CUT),
    Probe("surprise", "Whole answers are drawn as their log-probabilities say.", surprise.surprise, SAMPLED),
    Probe("seeds", "Each request rolls dice of its own, and each seed the same ones.", seeds.seeds, STEADY),
    Probe("choices", "The choices of one request are drawn one by one.", seeds.choices, CUT),
    Probe("cache", "A prompt is answered alike cold, warm and after others.", cache, STEADY | {"prompts"}),
    Probe("decoding", "Tokens are written as they are read.", decoding.decoding, STEADY | {"prompts", "cache"}),
    Probe("load", "An answer does not depend on how many are in flight.", load, STEADY),
    Probe("company", "An answer does not depend on what others ask for.", company, ALONE),
    Probe(HANGING_UP, "Requests that are given up leave nothing behind.", hanging_up, ALONE - {LASTING} | {"company"}),
    Probe("lengths", "What stands at the beginning of a long prompt is seen.", lengths.recall, STEADY),
)
_CHANGE_LATER = {REPEATS, HANGING_UP}
"""Probes whose faults change later answers, which is no finding of its own then."""
LIMITS = ClientLimits(retries=1, gone_after=5.0, concurrency=64)
"""Of the client that they ask with."""
NAMES = (REPEATS, REFERENCE, *(probe.name for probe in PROBES), LASTING)


async def diagnose(
    subject: Subject,
    left: Callable[[], float],
    trace: Trace | None = None,
    only: Collection[str] = NAMES,
    gates: Sequence[Gate] = (),
    *,
    strict: bool = False,
) -> AsyncIterator[tuple[str, ProbeResult]]:
    """Every probe's finding, as soon as it is there. `left`: seconds; a probe that has none is skipped. `gates`: on the
    distance to the trace. `strict`: a greedy answer must never change, whatever explains it."""
    needles, finding = await needles_of(subject, strict=strict)
    yield REPEATS, finding
    failed = {REPEATS} if finding.state == "FAIL" else set()
    if trace is not None:
        yield REFERENCE, await beside(subject, trace, gates)
    watched = Watched(subject, needles)
    for probe in (each for each in PROBES if each.name in only):
        if left() <= 0:
            yield probe.name, ProbeResult("SKIP", "No time was left for it.", "diagnose with more --minutes")
        elif not needles:
            yield probe.name, ProbeResult("SKIP", "No question is answered alike twice.")
        elif causes := probe.behind & failed:
            yield probe.name, _behind(causes)
        else:
            finding = await probe.look(watched, needles)
            lasting = await watched.lasts()
            if lasting.state == "FAIL" and LASTING in probe.behind and not failed & _CHANGE_LATER:
                yield LASTING, lasting
                failed.add(LASTING)
                finding = _behind({LASTING})
            failed |= {probe.name} if finding.state == "FAIL" else set()
            yield probe.name, finding
    if LASTING not in failed and not failed & _CHANGE_LATER and needles and left() > 0:
        yield LASTING, await watched.lasts()


def _behind(causes: Set[str]) -> ProbeResult:
    return ProbeResult("SKIP", f"What {min(causes)} found would show here, too: mend it first.")
