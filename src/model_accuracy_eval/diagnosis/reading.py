"""Whether all of a prompt is read, and read as it stands: a prompt that differs anywhere is another prompt.

Two prompts that a service tells apart have other log-probabilities in some digit, or another number of tokens.
"""

import random
from collections.abc import Mapping, Sequence

from model_accuracy_eval.diagnosis.probe import Needle, ProbeResult, question, short
from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import Fault, ScoredReply

PIECES: Mapping[str, tuple[str, ...]] = {
    "\\n": ("\n", "n", ""),
    "\\t": ("\t", "t"),
    "\\\\": ("\\",),
    "\\u0041": ("A", "u0041"),
    '\\"': ('"',),
    "\n\n": ("\n", " "),
    "\t": (" ",),
    "  ": (" ",),
    "&lt;": ("<",),
    "&amp;": ("&",),
    "<b>": ("", "&lt;b&gt;"),
    "%41": ("A",),
    "%20": (" ", "+"),
    "%%": ("%",),
    "%s": ("",),
    "{{1}}": ("{1}", "1"),
    "{1}": ("1", ""),
    "$$": ("$", ""),
    "$1": ("1", ""),
    "**": ("*", ""),
    "`": ("", "'"),
    "#": ("",),
    '"': ("'", ""),
    "A": ("a",),
    "é": ("e", "?"),
    "漢": ("?",),
    "🙂": ("?",),
}
"""What stands in prompts → what a layer on the way may make of it. A small tokenizer may lack what is not ASCII, or not
printed, and leave it out."""
_SIZES = (32, 128, 400, 700, 1000, 1500, 3000, 6000)
"""Characters of a prompt of digits, about as many tokens at most."""
_PARTS = {"beginning": 0.02, "middle": 0.5, "end": 0.95}


async def prompts(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """Awkward pieces of text beside what they may be taken for; then another digit at places of long prompts."""
    pairs = [(piece, other) for piece, others in PIECES.items() for other in others]
    texts = list(dict.fromkeys(piece for pair in pairs for piece in pair))
    replies = dict(zip(texts, await _read(subject, [f"12{text}+34{text}5=" for text in texts]), strict=True))
    told = [(one, two) for one, two in pairs if _is_told(replies[one]) and _is_told(replies[two])]
    for one, two in told:
        if _are_same(replies[one], replies[two]):
            return ProbeResult(
                "FAIL",
                f"{short(one)} in a prompt is read as {short(two)}: tokens and log-probabilities are the same.",
                "look at what unescapes, strips or formats the text of messages before the tokenizer",
            )
    longest = 0
    for size in _SIZES:
        unseen, tokens = await _unseen(subject, size)
        if unseen is None:
            break
        if unseen:
            return await _blind(subject, longest, size, unseen)
        longest = tokens
    if not told or not longest:
        return ProbeResult("SKIP", "The service shows no log-probabilities by which two prompts could be told apart.")
    return ProbeResult(
        "PASS",
        f"{len(told)} pairs of awkward texts are told apart, and one other digit anywhere in up to {longest:,} tokens.",
    )


async def _read(subject: Subject, texts: Sequence[str]) -> list[ScoredReply | Fault]:
    return await subject.scored([question(text, max_tokens=1) for text in texts])


def _is_told(reply: ScoredReply | Fault) -> bool:
    return not isinstance(reply, Fault) and bool(reply.tokens and reply.tokens[0].likeliest)


def _are_same(one: ScoredReply | Fault, two: ScoredReply | Fault) -> bool:
    if isinstance(one, Fault) or isinstance(two, Fault):
        return False
    if one.usage and two.usage and one.usage.prompt_tokens != two.usage.prompt_tokens:
        return False
    return one.tokens[0].likeliest == two.tokens[0].likeliest


async def _unseen(subject: Subject, size: int, other_salt: str = "") -> tuple[list[str] | None, int]:
    """Where another digit changes nothing, and how many tokens there are; None: such prompts are not answered."""
    dice = random.Random(size)  # noqa: S311 - the same text each time
    digits = "".join(str(dice.randrange(10)) for _ in range(size))
    prompts_ = [digits, *(_changed(digits, int(size * part)) for part in _PARTS.values())]
    replies = await _read(subject, [f"{subject.salt}{text}=" for text in prompts_[:1]])
    replies += await _read(subject, [f"{other_salt or subject.salt}{text}=" for text in prompts_[1:]])
    if not all(map(_is_told, replies)):
        return None, 0
    whole = replies[0]
    tokens = whole.usage.prompt_tokens if not isinstance(whole, Fault) and whole.usage else None
    return [name for name, reply in zip(_PARTS, replies[1:], strict=True) if _are_same(whole, reply)], tokens or size


def _changed(digits: str, at: int) -> str:
    return f"{digits[:at]}{(int(digits[at]) + 5) % 10}{digits[at + 1 :]}"


async def _blind(subject: Subject, good: int, size: int, unseen: Sequence[str]) -> ProbeResult:
    """The cause: what comes from a cache by its beginning is seen under another beginning."""
    where = " and ".join(unseen)
    turned = f"{(int(subject.salt) + 1) % 10**8:08}"
    still, tokens = await _unseen(subject, size + 1, turned)
    tokens = tokens or size
    if not still:
        return ProbeResult(
            "FAIL",
            f"In a prompt of {tokens:,} tokens another digit in its {where} changes nothing, unless it begins "
            "otherwise, too: it is answered from the cache of another prompt.",
            "serve without the prefix cache (vLLM: --no-enable-prefix-caching), and look at how its keys are made",
        )
    low, high = max(size // 4, 16), size
    while high - low > 1:
        middle = (low + high) // 2
        found, count = await _unseen(subject, middle)
        low, high, tokens = (low, middle, count) if found else (middle, high, tokens)
    return ProbeResult(
        "FAIL",
        f"In a prompt of {tokens:,} tokens its {where} is not seen: another digit there changes no log-probability; "
        "with one digit less it does.",
        "read prompts in one piece (vLLM: --no-enable-chunked-prefill, or a higher --max-num-batched-tokens), then "
        "look at the attention window",
    )
