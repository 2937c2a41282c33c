"""A reply as a service sends it → what its author says in it: without the tokens of the template, without channels and
thoughts, and without the next question that a base model goes on with."""

import re
from collections.abc import Iterator
from itertools import chain

from model_accuracy_eval.records import Problem

# Marks of templates, as they show where a service does not remove them.


_END = re.compile(
    r"<\|(?:im_end|endoftext|eot_id|eom_id|end_of_text|return|call|start|endofassistant|END_OF_TURN_TOKEN|END_RESPONSE|"
    r"end_of_solution|user|im_start\|>user|role_end)(?:\|>|\b)|<(?:end|start)_of_turn>|<turn\|>|<｜(?:end▁of▁sentence|User)｜>"
    r"|\[\|(?:endofturn|user)\|\]|\[gMASK\]|(?:</s>|<eos>|<pad>|<\|end\|>|\[EOS\])\s*\Z"
)
"""The turn is over; what follows is the next one, which the model invents."""
_ANSWERED = re.compile(r"\s*(?:\[\w{1,8}\])?[^<>\[\]【】\n]{1,80}(?=<eoa>(?!\s*\[))")
"""A first line with the marks of Chinese prompts, such as [正确答案]C<eoa>; base models go on with other questions."""
_HEAD = re.compile(
    r"\s*(?:(?:<s>|<bos>|<\|begin_of_text\|>|<\|im_start\|>\s*assistant\b|<\|assistant\|>|<\|START_RESPONSE\|>|"
    r"<\|begin_of_solution\|>|<\|start_header_id\|>\s*assistant\s*<\|end_header_id\|>|\[/INST\])\s*)+"
)
_THOUGHTS = (
    ("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"), ("<seed:think>", "</seed:think>"), ("<thoughts>", "</thoughts>"),
    ("[THINK]", "[/THINK]"), ("◁think▷", "◁/think▷"), ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"), ("<unused94>thought", "<unused95>"),
)  # fmt: skip
_MARKS = "<[◁"
"""What every mark begins with."""
_ANY_MARK = re.compile("|".join(map(re.escape, ("<|channel|>", *chain(*_THOUGHTS)))))
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)[^<]{0,60}(?:<\|constrain\|>[^<]{0,30})?<\|message\|>")
_JOINED = "assistantfinal"
"""What is left of harmony's marks where a service drops its tokens and keeps their words."""


def cleaned(text: str) -> str | None:
    """What the reply says; None where it is nothing but thoughts, such as one that was cut off before it closed."""
    if any(mark in text for mark in _MARKS):
        if _ANY_MARK.search(text, _first(text, _MARKS)):
            text = _without_any_thoughts(text)
        if (head := _HEAD.match(text)) is not None:
            text = text[head.end() :]
        if (end := _END.search(text, _first(text, "<["))) is not None:
            text = text[: end.start()]
        if (answered := _ANSWERED.match(text)) is not None:
            text = answered[0]
    elif text.startswith("analysis") and _JOINED in text:
        text = text.rpartition(_JOINED)[2]
    return text if text and not text.isspace() else None


def _first(text: str, marks: str) -> int:
    """Where one of them stands first."""
    return min((place for place in map(text.find, marks) if place >= 0), default=len(text))


def lengths(text: str, reasoning: str = "") -> tuple[int, int]:
    """How many characters of a reply are thought, and how many are what it says."""
    if not any(mark in text for mark in _MARKS):
        return len(reasoning.strip()), len(text.strip())
    # A mark alone is no thought: some templates write an empty pair of them. So blanks do not count.
    answer = _visible(_without_any_thoughts(text))
    bare = _visible(_ANY_MARK.sub("", _CHANNEL.sub("", text)))
    return _visible(reasoning) + max(0, bare - answer), answer


def _visible(text: str) -> int:
    return sum(map(len, text.split()))


def _without_any_thoughts(text: str) -> str:
    if "<|channel|>" in text:
        text = _of_final_channel(text)
    for opening, closing in _THOUGHTS:
        if opening in text or closing in text:
            text = _without_thoughts(text, opening, closing)
    return text


def _of_final_channel(text: str) -> str:
    """The messages of the channel `final`, or of the last one that is no analysis; nothing where all are thoughts."""
    found = [(str(channel[1]), channel.end()) for channel in _CHANNEL.finditer(text)]
    said = [start for name, start in found if name == "final"][-1:]
    said = said or [start for name, start in found if name != "analysis"][-1:]
    if not said:
        return "" if found else text.partition("<|channel|>")[0]
    return text[said[0] :].partition("<|end|>")[0]


def _without_thoughts(text: str, opening: str, closing: str) -> str:
    """Without what stands between the marks, before a closing whose opening was in the prompt's template, and behind
    an opening that nothing closes."""
    *closed, rest = text.split(closing)
    answer = ""
    for part in closed:
        before, opened, _ = part.partition(opening)
        answer = answer + before if opened else ""
    text = answer + rest
    before, opened, _ = text.partition(opening)
    return before.strip() if opened else text


# The end.


_ENDING = 600
_BRACKETS = (("(", ")"), ("{", "}"), ("[", "]"), ("<<", ">>"))
_FORMULA_MARKS = ((r"\[", r"\]"), (r"\(", r"\)"), (r"\begin{", r"\end{"))
_UNFINISHED = ("=", ":", "：", "+", "/", "^", "&", "\\", "\ufffd", ",", ",$", "，", "、")
_SENTENCE_ENDS = (".", "!", "?", "。")
_JSON = re.compile(r"\s*(?:```\s?json)?\s*\{\s*[\"']")
_LONG = 400
"""A longer reply that ends with a letter was cut off."""
_LOOP, _MOST_LOOPS = 40, 2
"""Characters at the end, and how often they may be there: a reply that goes round in circles comes to no end."""


def is_cut_off(text: str) -> bool:
    """Whether the end of a reply shows that it was cut off."""
    if goes_round(text):
        return True
    end = text[-_ENDING:].rstrip("` \n")
    if end.endswith(_SENTENCE_ENDS):
        return bool(_JSON.match(text))
    last = end.rpartition("\n")[2]
    return bool(
        any(last.count(opening) > last.count(closing) for opening, closing in _BRACKETS)
        or any(end.rfind(opening) > end.rfind(closing) for opening, closing in _FORMULA_MARKS)
        or last.rstrip("*_ ").endswith(_UNFINISHED)
        or (_JSON.match(text) and not end.endswith("}"))
        or (text.count("$$") % 2 and "$" not in text.rpartition("$$")[2])
        or (len(text) > _LONG and last[-2:].isalpha())
    )


def goes_round(text: str) -> bool:
    """Whether a reply ends with what it says again and again."""
    return text.count(text[-_ENDING:].rstrip("` \n")[-_LOOP:]) > _MOST_LOOPS


# The next question.


_QUESTIONS = frozenset((
    "question", "problem", "input", "passage", "text", "exercise", "instruction", "q", "frage", "aufgabe", "pregunta",
    "pergunta", "enunciado", "domanda", "вопрос", "задача", "问题", "题目", "问", "問題", "質問", "질문", "문제",
    "السؤال",
))  # fmt: skip
_ANSWERS = frozenset((
    "answer", "a", "output", "solution", "antwort", "réponse", "respuesta", "resposta", "risposta", "ответ", "答案",
    "答", "解答", "解", "回答", "답", "정답", "الإجابة",
))  # fmt: skip
_LONGEST_LABEL = 20
_LETTERED = re.compile(r"[\W_]{0,8}[A-J][).:]")
"""A line that answers with an option."""


def without_next_question(text: str, problem: Problem) -> str:
    """The reply up to a question in the form in which the prompt shows its solved examples.

    Without examples a question in a reply is a part of it, unless it comes behind a reply that is a single line, with
    an answer of its own. One at the very start is this question, repeated.
    """
    begin = len(text) - len(text.lstrip(" \t\r\n:："))
    found = sorted(_labels(text))
    questions = [label for label in found if label[1] in _QUESTIONS]
    if not questions or questions[-1][0] <= begin:
        return text
    shown = _labels_of_examples(problem)
    _, _, others = text[begin:].partition("\n")
    second_line = len(text) - len(others.lstrip())
    last_answer = max((start for start, label in found if label in _ANSWERS), default=-1)
    is_list = questions[0][0] <= begin
    for start, label in questions:
        if start <= begin:
            continue
        is_alone = not is_list and start <= second_line and not text[:start].rstrip().endswith((":", "："))
        if label in shown or (is_alone and (last_answer > start or _LETTERED.match(text))):
            return text[:start]
    return text


def _labels(text: str) -> Iterator[tuple[int, str]]:
    """What begins a line and is followed by a colon, without its number, and where."""
    for colon in ":：":
        place = text.find(colon)
        while place >= 0:
            start = text.rfind("\n", max(0, place - _LONGEST_LABEL), place) + 1
            yield start, text[start:place].strip(" \t0123456789").lower()
            place = text.find(colon, place + 1)


def _labels_of_examples(problem: Problem) -> set[str]:
    """What questions begin with in a prompt that has several in one text, or is a text to be continued."""
    labels: set[str] = set()
    for prompt, fewest in ((problem.text, 1), *((message.content, 2) for message in problem.messages)):
        found = [label for _, label in _labels(prompt)]
        labels |= {label for label in found if found.count(label) >= fewest}
    return labels
