"""Answers that are letters of options."""

import re


def gaokao_single_choice(text: str) -> str:
    """The last capital of A to D."""
    return "".join(re.findall("[A-D]", text)[-1:])


def gaokao_multi_question_choice(text: str) -> str:
    """Two readings with [SEP] between them: the capitals right behind the marks, and all capitals."""
    marked = re.findall(r"【答案】\s*[:：]*\s*([A-Z])", text)
    return f"{''.join(marked)}[SEP]{''.join(re.findall('[A-Z]', text))}"


def gaokao_multi_choice(text: str) -> str:
    """The capitals of A to D behind the first mark, else those among the last ten characters."""
    content = re.sub(r"\s+", "", text)
    place = content.find("【答案】")
    return "".join(re.findall("[A-D]", content[place:] if place > 0 else content[-10:]))


def gaokao_five_out_of_seven(text: str) -> str:
    """The first five capitals of A to G."""
    return "".join(re.findall("[A-G]", text)[:5])


def agieval_single_answer(text: str) -> str:
    """The first capital of A to G behind "answer is" on its line; else the first of A to F anywhere."""
    found = (
        re.search(r"answer is .*?([A-G])", text) or re.search(r"答案是.*?([A-G])", text) or re.search("([A-F])", text)
    )
    return found[1] if found else ""


def agieval_multiple_answer(text: str) -> str:
    """All capitals of A to F."""
    return "".join(re.findall("[A-F]", text))
