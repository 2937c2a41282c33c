"""The post-processing functions of UltraEval, under its names: a reply → the answer that its metrics look at.

They return what UltraEval's return for every text, odd texts included, because figures are compared with published
ones. Only `re` is imported: the author's own Python uses them too, in a separate process.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

# UltraEval's answers that are formulas: LaTeX in one spelling, so that \dfrac12, 1/2 and 0.5 are the same.


_SPELLINGS = (
    ("\n", ""), ("\\!", ""), ("\\\\", "\\"), ("tfrac", "frac"), ("dfrac", "frac"), ("\\left", ""), ("\\right", ""),
    ("^{\\circ}", ""), ("^\\circ", ""), ("\\$", ""),
)  # fmt: skip
_WORDS = (
    ("an ", ""), ("a ", ""), (".$", "$"), ("\\$", ""), (r"\ ", ""), (" ", ""), ("mbox", "text"),
    (",\\text{and}", ","), ("\\text{and}", ","), ("\\text{m}", "\\text{}"), ("\\le", "<"),
)  # fmt: skip
_UNITS = (
    "square", "ways", "integers", "dollars", "mph", "inches", "ft", "hours", "km", "units", "\\ldots", "sue", "points",
    "feet", "minutes", "digits", "cents", "degrees", "cm", "gm", "pounds", "meters", "meals", "edges", "students",
    "childrentickets", "multiples", "\\text{s}", "\\text{.}", "\\text{\ns}", "\\text{}^2", "\\text{}^3", "\\text{\n}",
    "\\text{}", r"\mathrm{th}", r"^\circ", r"^{\circ}", r"\;", r",\!", "{,}", '"', "\\dots", "\n", "\r", "\f",
)  # fmt: skip
_WRAPPED = (r"\\text\{(.*?)\}", r"\\textbf\{(.*?)\}", r"\\overline\{(.*?)\}", r"\\boxed\{(.*)\}")
_ENCLOSED = (r"finalansweris(.*)", r"oxed\{(.*?)\}", r"\$(.*?)\$")
_CONCLUDING = ("final answer", "therefore", "thus", "hence")


def plain(text: str) -> str:
    """The formula in its one spelling; a text that cannot be read as LaTeX stays as it is: where a command lacks its
    argument, or where two units follow."""
    formula, *units = _replaced(text, _SPELLINGS).split("\\text{ ")
    formula = _replaced(formula, (("\\%", ""), (" .", " 0."), ("{.", "{0.")))
    formula = f"0{formula}" if formula.startswith(".") else formula
    sides = formula.split("=")
    formula = sides[1] if len(sides) == 2 and len(sides[0]) <= 2 else formula
    try:
        formula = _with_braces(_with_braces(formula, "\\sqrt", 1).replace(" ", ""), "\\frac", 2)
    except IndexError:  # nothing follows the command
        return text
    formula = "\\frac{1}{2}" if formula == "0.5" else formula
    # 1/2 becomes \frac{1}{2}, where both are whole numbers.
    formula = re.sub(r"\A(0|-?[1-9][0-9]*)/(0|-?[1-9][0-9]*)\Z", r"\\frac{\1}{\2}", formula)
    return formula if len(units) <= 1 else text


def _replaced(text: str, pairs: tuple[tuple[str, str], ...]) -> str:
    for old, new in pairs:
        text = text.replace(old, new)
    return text


def _with_braces(text: str, command: str, arguments: int) -> str:
    r"""\sqrt3 becomes \sqrt{3}, and \frac12 \frac{1}{2}; where a fraction has one character, all
    stay as they are."""
    front, *rest = text.split(command)
    for piece in rest:
        if piece[0] == "{":
            front += command + piece
        elif len(piece) < arguments:
            return text
        else:
            second = piece[1:] if arguments == 1 or piece[1] == "{" else f"{{{piece[1]}}}{piece[2:]}"
            front += f"{command}{{{piece[0]}}}{second}"
    return front


def final_answer(text: str) -> str:
    """The last concluding sentence, else the first, as a formula: without words, units and enclosing commands."""
    return plain(_without_words(_conclusion(text)))


def _conclusion(text: str) -> str:
    """Reads lines from the last to the first, and the pieces between periods of one line from the first to the last."""
    pieces = (piece for line in reversed(text.split("\n")) for piece in line.split("."))
    concluding = (piece for piece in pieces if any(word in piece.lower() for word in _CONCLUDING))
    return next(concluding, text.split(".", maxsplit=1)[0])


def _without_words(text: str) -> str:
    text = _replaced(text, (*_WORDS, *((unit, "") for unit in _UNITS)))
    for pattern in _WRAPPED:
        text = re.sub(pattern, r"\1", text)
    for pattern in _ENCLOSED:
        text = (re.findall(pattern, text) or [text])[-1]
    text = text.strip()
    if "rac" in text and "\\frac" not in text:
        text = text.replace("rac", "\\frac")
    text = re.sub(r"(frac)([^{])(.)", r"frac{\2}{\3}", text)
    text = re.sub(r"(sqrt)([^{])", r"sqrt{\2}", text).replace("$", "")
    bare = text.replace(",", "")
    return bare if bare.isdigit() else text


def cloze(text: str) -> str | None:
    r"""The content of the last \boxed{}, else of the last $…$, else what follows the last =, else the last number."""
    for prefix in ("The answer is therefore", "答案是"):
        if prefix in text:
            text = (text.removeprefix(prefix) if text.startswith(prefix) else text.rpartition(prefix)[2]).strip()
    if "\\boxed" in text:
        formula = _boxed(text)
    else:
        in_dollars = re.findall(r"\$(.*)\$", text)[-1:]
        formula = "".join(map(_right_side, in_dollars)) or _without_dollars(text)
    return None if formula is None else plain(formula)


def _boxed(text: str) -> str | None:
    r"""None where the last \boxed has no braces, or they are not closed."""
    text = text[text.rfind("\\boxed") :]
    depth = 0
    for place, character in enumerate(text):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "}" and depth == 0:
            return _right_side(text[len("\\boxed{") : place]) if text.startswith("\\boxed{") else None
    return None


def _right_side(text: str) -> str:
    return text.rsplit("=", maxsplit=1)[-1].lstrip(" ") if "=" in text else text


def _without_dollars(text: str) -> str | None:
    if "=" in text:
        return _right_side(text).rstrip(".").split("\\n")[0]
    numbers = re.findall(r"(?:\$)?\d+(?:\.\d+)?(?![\w\d])", text)
    return numbers[-1] if numbers else None


_INDENT = "    "


def _after_last(text: str, phrase: str) -> str:
    """The text after the last occurrence of the phrase; without one, the text unchanged."""
    return text.rsplit(phrase, maxsplit=1)[-1].strip() if phrase in text else text


def exact_match(text: str) -> str:
    """The first line in small letters, after "answer is", up to a comma or period, without punctuation and articles."""
    line = _after_last(_after_last(text.split("\n", maxsplit=1)[0].lower(), "answer is"), "答案是")
    phrase = re.split(r"[\n.,]", line)[0]
    bare = re.sub(r"\b(?:a|an|the)\b", "", re.sub(r"[^\w\s]", "", phrase), flags=re.IGNORECASE)
    return re.sub(r"\s+", " ", bare).strip()


def bbh(text: str) -> str:
    """What follows "answer is" in the first paragraph, else the whole paragraph."""
    paragraph = text.strip().split("\n\n")[0].strip()
    if "So the answer is" in paragraph:
        paragraph = _after_last(paragraph, "So the answer is").rstrip(".").strip()
    return _after_last(_after_last(paragraph, "answer is"), "答案是")


def theoremqa(text: str) -> str:
    """The word after the first "answer is", without punctuation around it; else the text."""
    match = re.search(r"answer is ([^\s]+)", text.strip())
    return match[1].strip(".,?!\"';:") if match else text.strip()


def gsm8k(text: str) -> str:
    """The number after ####; else the word after the last >> or the last =; else the last whole number.

    Without any of them it is the first word, which is no number and so never right.
    """
    hashes = re.search(r"#### (\-?[0-9\.\,]+)", text)
    if hashes:
        return hashes[1].replace(",", "")
    for sign in (">>", "="):
        following = text.rpartition(sign)[2].split() if sign in text else []
        if following:
            return following[0].strip("$").replace(",", "").rstrip(".").strip()
    words = text.split()
    return next((word for word in reversed(words) if word.isdigit()), words[0] if words else "")


def gaokao_multi_question_choice(text: str) -> str:
    """Two readings with [SEP] between them: the capitals right after 【答案】, and all capitals."""
    marked = re.findall(r"【答案】\s*[:：]*\s*([A-Z])", text)
    return f"{''.join(marked)}[SEP]{''.join(re.findall('[A-Z]', text))}"


def gaokao_multi_choice(text: str) -> str:
    """The capitals of A to D after the first 【答案】, else those among the last ten characters."""
    content = re.sub(r"\s+", "", text)
    place = content.find("【答案】")
    return "".join(re.findall("[A-D]", content[place:] if place > 0 else content[-10:]))


def agieval_single_answer(text: str) -> str:
    """The first capital of A to G after "answer is" on its line; else the first of A to F anywhere."""
    patterns = (r"answer is .*?([A-G])", r"答案是.*?([A-G])", "([A-F])")
    return next((match[1] for pattern in patterns if (match := re.search(pattern, text))), "")


def humaneval_chatgpt(text: str) -> str:
    """The function's body, indented: from the first fence, without imports and head, up to two empty lines."""
    if "```" in text:
        block = re.search(r"```(.*?)```", text, re.DOTALL)
        text = block[1] if block else text.split("```")[1]
        if block and not text.startswith("\n"):  # in a block that nothing closes, the word after the fence stays
            text = text[text.find("\n") + 1 :]
    if text.strip().startswith(("from", "import")) and "def" in text:
        text = text[text.find("\n", text.find("def")) + 1 :]
    text = text.split("\n\n\n")[0]
    if text.strip().startswith("def"):
        text = text.partition("\n")[2]
    if text.startswith(" "):
        return text if text.startswith(_INDENT) else _INDENT + text.lstrip()
    return "\n".join(_INDENT + line for line in text.split("\n"))


def new_mbpp(text: str) -> str:
    """The program up to the docstring that begins a next task."""
    quotes = [found.start() for found in re.finditer('(?=""")', text)]
    if len(quotes) % 2:
        return text[: quotes[0]].strip()
    pairs = zip(quotes[::2], quotes[1::2], strict=True)
    return text[: next((start for start, end in pairs if "def" in text[end:]), len(text))].strip()


def _capitals(letters: str, which: slice = slice(None)) -> Callable[[str], str]:
    return lambda text: "".join(re.findall(letters, text)[which])


class UltraevalPost(NamedTuple):
    class_name: str
    """In UltraEval's own Python."""
    read: Callable[[str], str | None]
    about: str = ""
    """What the function does, where it does not say it."""


POSTPROCESS = {
    "exact_match_post": UltraevalPost("ExactMatchPost", exact_match),
    "until_return_post": UltraevalPost(
        "UntilReturnPost", lambda text: text.strip().split("\n")[0].strip(), "The first line that is not empty."
    ),
    "arithmetic_post": UltraevalPost(
        "ArithmeticPost", lambda text: text.strip().split("=")[-1].strip(), "What follows the last =."
    ),
    "theoremqa_post": UltraevalPost("TheoremQAPost", theoremqa),
    "gsm8k_post": UltraevalPost("GSM8KPost", gsm8k),
    "hellaswag_post": UltraevalPost(
        "HellaSwagPost",
        lambda text: re.sub("^[^A-D]*(?=[A-D])", "", text),
        "The text from its first capital of A to D; without one, the whole text.",
    ),
    "bbh_post": UltraevalPost("BBHPost", bbh),
    "math_post": UltraevalPost("MathPost", final_answer),
    "common_math_post": UltraevalPost("CommonMathPost", plain),
    "agieval_cloze_post": UltraevalPost("AGIEvalClozePost", cloze),
    "gaokao_single_choice_post": UltraevalPost(
        "GaoKaoSingleChoicePost", _capitals("[A-D]", slice(-1, None)), "The last capital of A to D."
    ),
    "gaokao_multi_question_choice_post": UltraevalPost("GaoKaoMultiQuestionChoicePost", gaokao_multi_question_choice),
    "gaokao_multi_choice_post": UltraevalPost("GaoKaoMultiChoicePost", gaokao_multi_choice),
    "gaokao_five_out_of_seven_post": UltraevalPost(
        "GaoKaoFiveOutOfSevenPost", _capitals("[A-G]", slice(5)), "The first five capitals of A to G."
    ),
    "agieval_single_answer_post": UltraevalPost("AGIEvalSingleAnswerPost", agieval_single_answer),
    "agieval_multiple_answer_post": UltraevalPost(
        "AGIEvalMultipleAnswerPost", _capitals("[A-F]"), "All capitals of A to F."
    ),
    "humaneval_post": UltraevalPost(
        "HumanEvalPost",
        lambda text: re.split(r"\n(?:class|def|#|@|print|if)|<\|endoftext\|>", text)[0],
        "The program up to the first line that no longer belongs to the function.",
    ),
    "humaneval_chatgpt": UltraevalPost("HumanEvalGPT", humaneval_chatgpt),
    "mbpp_post": UltraevalPost(
        "MbppPost", lambda text: text.split("\n\n", maxsplit=1)[0], "The program up to the first empty line."
    ),
    "new_mbpp_post": UltraevalPost("NewMbppPost", new_mbpp),
}
