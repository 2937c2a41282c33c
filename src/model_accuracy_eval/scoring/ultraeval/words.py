"""Answers that are words or numbers."""

import re


def _behind(text: str, mark: str) -> str:
    """What follows the last mark; without one, the text as it is."""
    return text.rsplit(mark, maxsplit=1)[-1].strip() if mark in text else text


def exact_match(text: str) -> str:
    """The first line in small letters, behind "answer is", up to a comma or period, without marks and articles."""
    line = _behind(_behind(text.split("\n", maxsplit=1)[0].lower(), "answer is"), "答案是")
    phrase = re.split(r"[\n.,]", line)[0]
    bare = re.sub(r"\b(?:a|an|the)\b", "", re.sub(r"[^\w\s]", "", phrase), flags=re.IGNORECASE)
    return re.sub(r"\s+", " ", bare).strip()


def bbh(text: str) -> str:
    """What follows "answer is" in the first paragraph, and all of that where nothing says so."""
    paragraph = text.strip().split("\n\n")[0].strip()
    if "So the answer is" in paragraph:
        paragraph = _behind(paragraph, "So the answer is").rstrip(".").strip()
    return _behind(_behind(paragraph, "answer is"), "答案是")


def until_return(text: str) -> str:
    """The first line that has something in it."""
    return text.strip().split("\n")[0].strip()


def arithmetic(text: str) -> str:
    """What follows the last =."""
    return text.strip().split("=")[-1].strip()


def theoremqa(text: str) -> str:
    """The word behind the first "answer is", without marks around it; else the text."""
    found = re.search(r"answer is ([^\s]+)", text.strip())
    return found[1].strip(".,?!\"';:") if found else text.strip()


def gsm8k(text: str) -> str:
    """The number behind ####; else the word behind the last >> or the last =; else the last whole number.

    Where there is none, the first word: it is no number, and so never right.
    """
    marked = re.search(r"#### (\-?[0-9\.\,]+)", text)
    if marked:
        return marked[1].replace(",", "")
    for sign in (">>", "="):
        behind = text.rpartition(sign)[2].split() if sign in text else []
        if behind:
            return behind[0].strip("$").replace(",", "").rstrip(".").strip()
    words = text.split()
    return next((word for word in reversed(words) if word.isdigit()), words[0] if words else "")


def hellaswag(text: str) -> str:
    """The text from its first capital of A to D; without one, all of it."""
    found = re.search("[A-D]", text)
    return text[found.start() :] if found else text
