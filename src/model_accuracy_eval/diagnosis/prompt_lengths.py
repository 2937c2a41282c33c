"""Whether the service's prompts are as long as the weights' own template and tokenizer make them.

A beginning token too few, another template or another tokenizer cost points that look like a weaker model.
"""

from collections.abc import Callable, Mapping

from model_accuracy_eval.diagnosis.probe import ProbeResult, question
from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import JSONObject, Message

Conversation = tuple[Message, ...]
CountTokens = Callable[[Conversation], int | None]
"""How many tokens a conversation is as a prompt; None: the template does not take it."""


def _conversation(*texts: str, roles: str = "ua") -> Conversation:
    names = {"s": "system", "u": "user", "a": "assistant"}
    return tuple(
        Message(role=names[roles[at % len(roles)]], content=text)  # type: ignore[arg-type]  # the three above
        for at, text in enumerate(texts)
    )


CONVERSATIONS: Mapping[str, Conversation] = {
    "a short question": _conversation("Hello"),
    "a longer question": _conversation("Natalia sold clips to 48 of her friends in April. How many did she sell?"),
    "a system message": _conversation("Answer in one word.", "Where is Paris?", roles="su"),
    "three turns": _conversation("What is 2+2?", "4", "And 3+3?"),
    "digits": _conversation("1234567890 31415926 2.71828 1,000,000"),
    "Chinese": _conversation("北京是中国的首都，请用一句话介绍它。"),
    "emoji": _conversation("🙂👩‍👩‍👧‍👦🇫🇷"),
    "code": _conversation("def f(x):\n\treturn {\n        'a': x ** 2,\n    }\n\n\nprint(f(3))"),
    "blanks": _conversation("  two before, two behind  "),
}
"""What the kinds of mistakes show in."""


async def prompt_lengths(subject: Subject, count: CountTokens, fields: JSONObject, at_once: int) -> ProbeResult:
    """`fields`: what the run's requests have, such as arguments of the template."""
    counted = {name: count(messages) for name, messages in CONVERSATIONS.items()}
    expected = {name: tokens for name, tokens in counted.items() if tokens is not None}
    requests = [question("", max_tokens=1, messages=CONVERSATIONS[name], extra=fields) for name in expected]
    replies = await subject.ask(requests, at_once)
    pairs = {
        name: (reply.usage.prompt_tokens, length)
        for (name, length), reply in zip(expected.items(), replies, strict=True)
        if reply.usage and reply.usage.prompt_tokens
    }
    if not pairs:
        return ProbeResult("SKIP", "The service counts no tokens of prompts, or the weights' template takes none.")
    others = {name: has - wants for name, (has, wants) in pairs.items() if has != wants}
    if not others:
        return ProbeResult("PASS", f"{len(pairs)} prompts have as many tokens as the weights' own template makes.")
    name = next(iter(others))
    has, wants = pairs[name]
    example = f"{name} is a prompt of {has} tokens, and {wants} by the weights' own template and tokenizer"
    if len(others) == len(pairs) > 1 and len(set(others.values())) == 1:
        more = others[name]
        how = f"{abs(more)} {'more' if more > 0 else 'fewer'}"
        return ProbeResult(
            "FAIL",
            f"Every prompt has {how} than it should: {example}.",
            "look at the beginning token (added twice, or left out), then at what the template puts before all",
        )
    kinds = ", ".join(others)
    return ProbeResult(
        "FAIL",
        f"Prompts are others than the weights' own ({kinds}): {example}.",
        "compare the chat template that is served and tokenizer.json with those of the weights",
    )
