"""Whether a prompt is answered alike cold, from the cache, beside others with the same beginning, and after a flood."""

from collections.abc import Sequence

from model_accuracy_eval.diagnosis.known_answers import Known
from model_accuracy_eval.diagnosis.neighbours import lacks_evidence
from model_accuracy_eval.diagnosis.probe import (
    Needle,
    ProbeResult,
    changed_answers,
    changing_anyway,
    known,
    question,
    unanswered,
)
from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import Fault, Reply, Request, ScoredReply

_WITHOUT = "serve without the prefix cache (vLLM: --no-enable-prefix-caching), and diagnose again"
_BLOCK, _BLOCKS = 16, 20
"""Caches keep blocks of tokens, of 16 or a multiple: prompts that end at a border of one, and beside it."""
SHOTS = "".join(f"Question: {37 * n % 101}+{n}. Answer: {37 * n % 101 + n} " for n in range(16))
"""A beginning of some blocks that many prompts have."""
_SHOWN = 8
"""Tokens of an answer that are compared."""


async def cache(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """A prompt that nobody has asked before, then again from the cache, beside another branch, and after a flood; then
    prompts of all lengths that may matter to a cache."""
    if skipped := lacks_evidence(needles):
        return skipped
    before = f"{subject.salt} {SHOTS}"
    fresh = [question(f"{before}{needle.request.messages[-1].content}") for needle in needles]
    cold = await subject.ask(fresh)
    warm = await known(subject, fresh)
    if len(warm) < len(fresh) or not any(needle.text for needle in warm):
        return ProbeResult("SKIP", "The service does not answer longer prompts, so nothing can be compared.")
    return await _later(subject, fresh, warm, cold, before) or await _at_borders(subject, needles, len(warm))


async def _later(
    subject: Subject, fresh: Sequence[Request], warm: Sequence[Needle], cold: Sequence[Reply], before: str
) -> ProbeResult | None:
    """The finding, if answers change: cold, beside branches or after a flood."""
    branches = [question(f"{before}Line {at}. Something else.") for at in range(len(warm))]
    flood = [question(f"{number} {before[:200]} {number}?", max_tokens=8) for number in range(48)]
    for when, between in (("warm", ()), ("beside another branch", branches), ("after a flood of others", flood)):
        await subject.ask(between, at_once=8)
        later = cold if when == "warm" else await subject.ask(fresh)
        changed = changed_answers(warm, later)
        if silent := unanswered(changed.asked, len(warm)):
            return silent
        if changed.is_fault and (anyway := await changing_anyway(subject, warm)):
            return anyway
        if changed.is_fault:
            return ProbeResult("FAIL", f"Prompts are answered otherwise cold than {when}: {changed.shown}.", _WITHOUT)
    return None


async def _at_borders(subject: Subject, needles: Sequence[Needle], alike: int) -> ProbeResult:
    """Prompts that end at the borders of blocks of the cache, again and again."""
    lengths, wrong = await _asked_again(subject, needles)
    if wrong:
        length, says = next(iter(wrong.items()))
        return ProbeResult(
            "FAIL",
            f"Asked a second time, {len(wrong)} of {len(lengths)} prompts are answered otherwise, "
            f"{_which(lengths, [*wrong])}; at {length} tokens {says}.",
            _WITHOUT,
        )
    borders = f"; so are prompts of {len(lengths)} lengths up to {max(lengths)} tokens" if lengths else ""
    return ProbeResult(
        "PASS", f"{alike} prompts are answered alike cold, warm, beside branches and after a flood{borders}."
    )


async def _asked_again(subject: Subject, needles: Sequence[Needle]) -> tuple[list[int], dict[int, str]]:
    """Which lengths were asked, and what is wrong the second or third time at which of them."""
    tail = max(needles, key=lambda needle: len(needle.text)).request.messages[-1].content

    def prompt(units: int, odd: int, salt: str) -> Request:
        return question(f"{salt}{' 7' * units}{'?' * odd} {tail}", max_tokens=_SHOWN)

    # How long prompts become is seen from two of them; a unit may be one token or two.
    sizes = [_length(reply) for reply in await subject.scored([prompt(0, 0, "0"), prompt(64, 0, "0")])]
    if sizes[0] is None or sizes[1] is None or sizes[1] - sizes[0] < 64:
        return [], {}
    each = (sizes[1] - sizes[0]) / 64
    wanted = [_BLOCK * blocks + more for blocks in range(1, _BLOCKS + 1) for more in (-1, 0, 1)]
    counts = [divmod(length - sizes[0], each) for length in wanted if length >= sizes[0]]
    # Each has a beginning of its own, of as many tokens: none finds another one in the cache.
    salts = [f"{(int(subject.salt) + 7919 * number) % 10**8:08}" for number in range(len(counts))]
    asked = [
        prompt(max(0, round(units) - 4), round(odd), salt) for (units, odd), salt in zip(counts, salts, strict=True)
    ]
    first, wrong, lengths = await subject.scored(asked), dict[int, str](), list[int]()
    for _ in range(2):
        for request, one, two in zip(asked, first, await subject.scored(asked), strict=True):
            length = _length(one)
            if isinstance(one, Fault) or isinstance(two, Fault) or length is None:
                continue
            lengths.append(length)
            if (found := Known(request, one).complaint(two)) and found.is_sure:
                wrong.setdefault(length, found.says)
    return sorted({*lengths}), wrong


def _length(reply: ScoredReply | Fault) -> int | None:
    return None if isinstance(reply, Fault) or reply.usage is None else reply.usage.prompt_tokens


def _which(lengths: Sequence[int], wrong: Sequence[int]) -> str:
    """What all wrong lengths have in common, and few right ones have."""
    for block in (_BLOCK << power for power in range(4, -1, -1)):
        for more, said in ((0, ""), (-1, ", less one"), (1, ", and one")):
            if len(wrong) > 1 and all((length - more) % block == 0 for length in wrong):
                return f"all of a multiple of {block} tokens{said}"
    right = [length for length in lengths if length not in wrong]
    if right and max(right) < min(wrong):
        return f"all of {min(wrong)} tokens and more"
    return f"such as those of {', '.join(map(str, wrong[:5]))} tokens"
