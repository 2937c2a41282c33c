"""Text → the answer in it: filters that read one reply, each from the text that the filter before it left.

None means "no answer found", which is counted apart from wrong answers.
"""

import re
from collections.abc import Callable, Mapping
from functools import wraps

from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.code.code_extractors import CODE_EXTRACTORS
from model_accuracy_eval.scoring.exam_answers import EXAM_EXTRACTORS
from model_accuracy_eval.scoring.lm_eval_filters import first_token, format_span, multi_choice_regex, regex, regex_pos
from model_accuracy_eval.scoring.ultraeval_answers import POSTPROCESS

Extractor = Callable[..., str | None]

_SIGN = r"(?:(?<![\w)\]])([-−+]))?\\?[$€£¥]?"  # the - of 10-5 and of "pages 3-7" is not a sign
_DIGITS = r"((?<!\d,)\d{1,3}(?:,\d{3})+(?![,\d]\d)(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"  # 1,2,3 is a list
_NUMBER = re.compile(_SIGN + _DIGITS)
_MARKED = re.compile(rf"####[\s:=*_$\\(]*{_SIGN}{_DIGITS}")
_BOXED = re.compile(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}")
_IN_NUMBERS = frozenset("-−+\\$€£¥,.")
_LATEX_COMMA = re.compile(r"(?<=\d)(?:\{,\}|,?\\[,!;])(?=\d{3})")


def strip_thoughts(text: str, problem: Problem) -> str | None:
    """Drops `<think>…</think>`, and everything before a `</think>` whose opening tag was in the prompt's template.

    A thought that was cut off before it closed contains no answer.
    """
    *closed, rest = text.split("</think>")
    answer = ""
    for part in closed:
        before, opening, _ = part.partition("<think>")
        answer = answer + before if opening else ""
    text = answer + rest
    before, opening, _ = text.partition("<think>")
    return before.strip() or None if opening else text


def cut_at(text: str, problem: Problem, *, marks: list[str]) -> str | None:
    """Keeps the text before the first of the marks: a next question that the model invents is not part of the answer.

    A mark at the very start is this question, repeated.
    """
    text = text.lstrip()
    ends = [place for mark in marks if (place := text.find(mark, 1)) >= 0]
    return text[: min(ends)] if ends else text


def last_number(text: str, problem: Problem) -> str | None:
    """The last number of the text, with commas and sign: "… is $1,234.50." gives 1,234.50, "-$5" gives -5."""
    text = _without_latex_commas(text)
    end = next((place for place in range(len(text) - 1, -1, -1) if text[place].isdecimal()), None)
    if end is None:
        return None
    # A number is a run of signs and digits, so the text before that run need not be searched.
    start = end
    while start and (text[start - 1] in _IN_NUMBERS or text[start - 1].isdecimal()):
        start -= 1
    return "".join(_NUMBER.findall(text, start)[-1])


def _without_latex_commas(text: str) -> str:
    return _LATEX_COMMA.sub(",", text) if "\\" in text or "{,}" in text else text


def number_answer(text: str, problem: Problem) -> str | None:
    r"""The number right after the last `####`, else in the last `\boxed{…}`, else the last number of the text.

    "#### Step 2: …" is a Markdown heading, and its 2 is not an answer.
    """
    text = _without_latex_commas(text)
    marked = _MARKED.findall(text) if "####" in text else []
    if marked:
        return "".join(marked[-1])
    boxed = _BOXED.findall(text) if "boxed" in text else []
    if boxed and (number := _NUMBER.search(boxed[-1])):
        return "".join(number.groups(""))
    return last_number(text, problem)


# Repetitions are bounded: a reply of ten thousand asterisks must not take minutes to read.
_WRAPPED = (
    r"[\s*_:：$\\(\[（]{0,8}(?:(?:boxed|text|textbf|mathrm|mathbf)\{[\s\\]{0,2}){0,3}"
    r"[\s*_(\[（]{0,4}([A-Z])(?![A-Za-z])"
)
_STATED = (
    re.compile(
        r"(?:(?i:\banswer\b(?:[^.:：\n]{0,60}?\b(?:is|be)\b)?(?:[\s*_:：]{0,8}(?:option|choice|letter)\b)?)"
        r"|答案[\s*_]{0,4}(?:应该是|是|为)?[\s:：]{0,4}(?:选项?)?|\\(?=boxed\{))" + _WRAPPED
    ),
    re.compile(r"(?:(?i:\b(?:option|choice)\b)|选(?:择|项)?)" + _WRAPPED),
)
"""Words that announce a letter; those that say "answer" come before those that only name an option."""
_ONLY = re.compile(r"^[ \t*_(\[（$]{0,8}([A-Z])[ \t*_)\]）.。:：$]{0,8}\r?$", re.MULTILINE)
_LEADING = re.compile(r"^[ \t*_(\[（]{0,8}([A-Z])(?:[)\]）.:：*_]|,(?!\s?[A-Z]\b))", re.MULTILINE)


def choice_letter(text: str, problem: Problem) -> str | None:
    """The letter of the chosen option: as stated ("the answer is (B)"), else alone on a line, else at the start of
    lines ("B. Paris"), else that of the option whose text occurs.

    Only letters that the question offers count; without known options, A to J. Lines that begin with different letters
    discuss the options and do not count, and texts count if exactly one option's text occurs in the reply.
    """
    offered = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(problem.choices) or 10]
    if re.fullmatch(r"\W*[a-z]\W*", text, re.ASCII):
        text = text.upper()
    for pattern in (*_STATED, _ONLY):
        letters = [letter for letter in pattern.findall(text) if letter in offered]
        if letters:
            return str(letters[-1])
    leading = {letter for letter in _LEADING.findall(text) if letter in offered}
    if leading:
        return leading.pop() if len(leading) == 1 else None
    return _letter_of_text(text, problem.choices, offered)


def _letter_of_text(text: str, choices: tuple[str, ...], offered: str) -> str | None:
    """The only option whose text occurs as whole words; "New York" does not count inside "New York City"."""
    texts = [choice.strip().lower() for choice in choices]
    rest = text.lower()
    occurring = set()
    for longest in sorted(filter(None, texts), key=len, reverse=True):
        pattern = re.compile(rf"(?<![a-z0-9.]){re.escape(longest)}(?![a-z0-9]|\.\d)")
        if pattern.search(rest):
            occurring.add(longest)
            rest = pattern.sub("\n", rest)
    letters = [letter for letter, choice in zip(offered, texts, strict=False) if choice in occurring]
    return letters[0] if len(letters) == 1 else None


def stripped(text: str, problem: Problem) -> str | None:
    """The text without blanks around it."""
    return text.strip() or None


def noop(text: str, problem: Problem) -> str | None:
    """The text unchanged."""
    return text


def remove_whitespace(text: str, problem: Problem) -> str | None:
    """The text without blanks around it; an empty text stays a text."""
    return text.strip()


def lowercase(text: str, problem: Problem) -> str | None:
    """The text in small letters."""
    return text.lower()


def uppercase(text: str, problem: Problem) -> str | None:
    """The text in capitals."""
    return text.upper()


def mapped(
    text: str, problem: Problem, *, mapping_dict: Mapping[str, object] | None = None, default_value: object = None
) -> str | None:
    """The entry of a table for this text, else the default; without a default, no answer."""
    value = (mapping_dict or {}).get(text, default_value)
    return None if value is None else str(value)


def _postprocess(function: Callable[[str], str | None]) -> Extractor:
    """UltraEval returns an empty text where there is no answer."""

    @wraps(function)
    def extractor(text: str, problem: Problem) -> str | None:
        return function(text) or None

    return extractor


ULTRAEVAL_EXTRACTORS = {name: _postprocess(function) for name, function in POSTPROCESS.items()}

EXTRACTORS: dict[str, Extractor] = {
    "strip_thoughts": strip_thoughts,
    "cut_at": cut_at,
    "regex": regex,
    "multi_choice_regex": multi_choice_regex,
    "format_span": format_span,
    "regex_pos": regex_pos,
    "last_number": last_number,
    "number_answer": number_answer,
    "choice_letter": choice_letter,
    "first_token": first_token,
    "stripped": stripped,
    "remove_whitespace": remove_whitespace,
    "lowercase": lowercase,
    "uppercase": uppercase,
    "map": mapped,
    "noop": noop,
    **EXAM_EXTRACTORS,
    **ULTRAEVAL_EXTRACTORS,
    **CODE_EXTRACTORS,
}
