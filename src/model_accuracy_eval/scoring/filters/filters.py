"""Filters: from all replies of one problem, in order, to answers, step by step.

Most read one reply at a time, each from the text that the filter before it left; some choose among replies. None means
"no answer found", which is counted apart from wrong answers: also where lm-eval writes "[invalid]".
"""

import json
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from string import ascii_uppercase
from typing import Any

from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.records import Problem, Step
from model_accuracy_eval.scoring.answers.cleaning import cleaned
from model_accuracy_eval.scoring.answers.letters import choice_letter, choice_letters, yes_or_no
from model_accuracy_eval.scoring.answers.own_answers import KINDS, own_answer
from model_accuracy_eval.scoring.answers.published_readings import VIEWS
from model_accuracy_eval.scoring.answers.stated_numbers import last_number, number_answer
from model_accuracy_eval.scoring.answers.stated_texts import maths_answer, short_answer, unanswerable
from model_accuracy_eval.scoring.answers.ultraeval_answers import POSTPROCESS, UltraevalPost
from model_accuracy_eval.scoring.code.benchmark_suites import CODE_EXTRACTORS
from model_accuracy_eval.scoring.metrics import user_functions

INVALID = "[invalid]"
"""What lm-eval and its tasks write for an answer that was not found."""
HASHES = r"#### (\-?[0-9\.\,]+)"
"""The number behind GSM8K's four hashes: lm-eval's default pattern."""
_ENTITY_WORDS = {
    "PER": ("person", "people", "persons", "per"),
    "LOC": ("location", "counties", "places", "country", "continent", "loc"),
    "ORG": ("organization", "company", "org"),
    "DATE": ("time", "date"),
}
_LABEL_OF = {word: label for label, words in _ENTITY_WORDS.items() for word in words}
_ENTITY_WORD = re.compile(rf"\b({'|'.join(_LABEL_OF)})\s*:")
_ENTITIES = re.compile(rf"\b({'|'.join(_ENTITY_WORDS)}):\s*([^$]+)")
_TAGGED_WORD = re.compile(r"\('[^']*', '([^']*)'\)")


def regex(
    text: str,
    problem: Problem,
    *,
    regex_pattern: str = HASHES,
    group_select: int = 0,
    fallback: str | None = None,
) -> str | None:
    """The `group_select`th match of a pattern; if the pattern has several groups, the first one that is not empty."""
    match = _select(re.findall(regex_pattern, text), group_select)
    return _fallback(fallback) if match is None else match


def _select(matches: Sequence[str | tuple[str, ...]], place: int) -> str | None:
    """None without a match at this place, and where all groups of the match are empty."""
    if not -len(matches) <= place < len(matches):
        return None
    match = matches[place]
    answer = match if isinstance(match, str) else next(filter(None, match), None)
    return None if answer is None else answer.strip()


def _fallback(text: str | None) -> str | None:
    return None if text == INVALID else text


def multi_choice_regex(
    text: str,
    problem: Problem,
    *,
    regex_pattern: str = HASHES,
    group_select: int = 0,
    fallback: str | None = None,
    ignore_case: bool = False,
    ignore_punctuation: bool = False,
    regexes_to_ignore: Sequence[str] = (),
) -> str | None:
    """A letter in brackets: as the pattern finds it, else the letter of the option whose text occurs, else the one
    after a colon."""

    def plain(text: str) -> str:
        for ignored in regexes_to_ignore or ():
            text = re.sub(ignored, "", text)
        text = text.lower() if ignore_case else text
        return text.translate(_punctuation()) if ignore_punctuation else text

    letters = {letter: f"({letter})" for letter in ascii_uppercase[: len(problem.choices)]}
    options = {plain(choice.strip()): name for choice, name in zip(problem.choices, letters.values(), strict=False)}
    # The longest option goes first: "Guilty" must not be found inside "Guilty of Romance".
    any_option = "|".join(map(re.escape, sorted(options, key=len, reverse=True)))
    answer = (
        _select(re.findall(regex_pattern, text), group_select)
        or _letter_of(_select(re.findall(any_option, plain(text)), group_select), options)
        or _letter_of(_select(re.findall(rf":\s*({'|'.join(letters)})", text), group_select), letters)
    )
    return answer or _fallback(fallback)


def _letter_of(match: str | None, letters: Mapping[str, str]) -> str | None:
    return letters.get(match, match) if match else None


@cache
def _punctuation() -> dict[int, None]:
    """Every character that Unicode calls punctuation, for `str.translate`."""
    return dict.fromkeys(place for place in range(sys.maxunicode) if unicodedata.category(chr(place)).startswith("P"))


def format_span(text: str, problem: Problem) -> str:
    """Named entities as `per: ada $ loc: kenya`, each behind its own label; `none` is left out."""
    labelled = _ENTITY_WORD.sub(lambda word: f"{_LABEL_OF[word[1]]}:", text.lower())
    separated = labelled.replace("$$", "$").rstrip("$").replace("\n", "$").strip()
    entities = (
        (label.lower(), name.strip()) for label, names in _ENTITIES.findall(separated) for name in names.split(",")
    )
    return " $ ".join(f"{label}: {name}" for label, name in entities if name.lower() != "none")


def regex_pos(text: str, problem: Problem) -> str | None:
    """The part-of-speech tags of pairs such as `('Ada', 'PROPN')`, as a JSON list."""
    tags = _TAGGED_WORD.findall(text)
    return json.dumps(tags) if tags else None


Extractor = Callable[..., str | None]


def strip_thoughts(text: str, problem: Problem) -> str | None:
    """Drops thoughts such as `<think>…</think>`, and everything before a `</think>` whose opening tag was in the
    prompt's template; and tokens and channels of templates that a service left in. Steps that read answers do so too.

    A thought that was cut off before it closed contains no answer.
    """
    return cleaned(text)


def stripped(text: str, problem: Problem) -> str | None:
    """The text without blanks around it."""
    return text.strip() or None


def mapped(
    text: str, problem: Problem, *, mapping_dict: Mapping[str, object] | None = None, default_value: object = None
) -> str | None:
    """The entry of a table for this text, else the default; without a default, no answer."""
    value = (mapping_dict or {}).get(text, default_value)
    return None if value is None else str(value)


def answer_in_kind(text: str, problem: Problem) -> str | None:
    """The number, formula, letter or text of the reply: what the row's `kind` says."""
    step = KINDS[problem.extras["kind"]].filter
    return EXTRACTORS[step.name](text, problem, **step.args)


def _of_text(read: Callable[[str], str | None], about: str) -> Extractor:
    """A step that needs no more than the text."""

    def extractor(text: str, problem: Problem) -> str | None:
        return read(text)

    extractor.__doc__ = about
    return extractor


def _as_ultraeval(post: UltraevalPost) -> Extractor:
    """UltraEval returns an empty text where there is no answer."""
    return _of_text(lambda text: post.read(text) or None, post.about or post.read.__doc__ or "")


EXTRACTORS: dict[str, Extractor] = {
    "strip_thoughts": strip_thoughts,
    "regex": regex,
    "multi_choice_regex": multi_choice_regex,
    "format_span": format_span,
    "regex_pos": regex_pos,
    "last_number": last_number,
    "number_answer": number_answer,
    "maths_answer": maths_answer,
    "choice_letter": choice_letter,
    "choice_letters": choice_letters,
    "yes_or_no": yes_or_no,
    "short_answer": short_answer,
    "unanswerable": unanswerable,
    "answer_in_kind": answer_in_kind,
    "own_answer": own_answer,
    "first_token": _of_text(lambda text: next(iter(text.split(maxsplit=1)), None), "The first word."),
    "stripped": stripped,
    "remove_whitespace": _of_text(str.strip, "The text without blanks around it; an empty text stays a text."),
    "lowercase": _of_text(str.lower, "The text in small letters."),
    "uppercase": _of_text(str.upper, "The text in capitals."),
    "map": mapped,
    "noop": _of_text(str, "The text unchanged."),
    **VIEWS,
    **{name: _as_ultraeval(post) for name, post in POSTPROCESS.items()},
    **CODE_EXTRACTORS,
}


FilteredAnswers = list[str | None]
Chooser = Callable[..., FilteredAnswers]


def take_first(answers: FilteredAnswers) -> FilteredAnswers:
    """The first answer alone."""
    return answers[:1]


def take_first_k(answers: FilteredAnswers, *, k: int) -> FilteredAnswers:
    """The first k answers; fewer samples are refused."""
    if k > len(answers):
        raise BadValue(f"take_first_k takes {k} samples of every problem, but there are {len(answers)}.")
    return answers[:k]


def majority_vote(answers: FilteredAnswers, *, skip_unread: bool = False) -> FilteredAnswers:
    """The most frequent answer, of equally frequent ones the earliest; by default, no answer is a vote too."""
    votes = [answer for answer in answers if answer is not None] if skip_unread else answers
    return [Counter(votes).most_common(1)[0][0]] if votes else [None]


CHOOSERS: dict[str, Chooser] = {
    "take_first": take_first,
    "take_first_k": take_first_k,
    "majority_vote": majority_vote,
}


def check(step: Step) -> None:
    """Refuses an unknown filter or unknown arguments before the run starts."""
    name, args = _name_and_arguments(step)
    if user_functions.is_path(name):
        user_functions.load(name)
        return
    if name not in EXTRACTORS and name not in CHOOSERS:
        raise UnknownName("filter", name, [*EXTRACTORS, *CHOOSERS, "custom"])
    user_functions.check_arguments("filter", name, EXTRACTORS.get(name) or CHOOSERS[name], args)


def choose(steps: Sequence[Step]) -> bool:
    """Whether the number of answers may differ from the number of replies."""
    return any(step.name in CHOOSERS for step in steps)


def run(steps: Sequence[Step], replies: FilteredAnswers, problem: Problem) -> FilteredAnswers:
    """The answers after every step."""
    answers = replies
    for step in steps:
        name, args = _name_and_arguments(step)
        if name in CHOOSERS:
            answers = CHOOSERS[name](answers, **args)
        elif user_functions.is_path(name) and user_functions.takes(user_functions.load(name), ("resps", "docs")):
            answers = _list_wise(name, args, answers, problem)
        else:
            read = EXTRACTORS[name] if name in EXTRACTORS else user_functions.load(name)
            answers = [None if answer is None else read(answer, problem, **args) for answer in answers]
    return answers


def lost(steps: Sequence[Step], replies: FilteredAnswers, lost_replies: Sequence[bool], problem: Problem) -> list[bool]:
    """Which answers after every step depend on what the lost replies would have said."""
    flags = list(lost_replies)
    for place, step in enumerate(steps):
        if step.name == "majority_vote":
            flags = [_is_open(run(steps[:place], replies, problem), flags, **step.args)]
        elif step.name in CHOOSERS:
            flags = flags[: 1 if step.name == "take_first" else step.args["k"]]
    return flags


def _is_open(votes: FilteredAnswers, lost_votes: Sequence[bool], *, skip_unread: bool = False) -> bool:
    """Whether the lost votes could give another answer the majority, or make a tie."""
    cast = Counter(
        vote
        for vote, is_lost in zip(votes, lost_votes, strict=True)
        if not is_lost and not (skip_unread and vote is None)
    )
    (_, most), (_, next_most) = [*cast.most_common(2), (None, 0), (None, 0)][:2]
    return sum(lost_votes) > 0 and most - next_most <= sum(lost_votes)


def _name_and_arguments(step: Step) -> tuple[str, dict[str, Any]]:
    """The filter `custom` has the path of its function in `filter_fn`."""
    if step.name != "custom":
        return step.name, step.args
    args = {name: value for name, value in step.args.items() if name != "filter_fn"}
    return str(step.args.get("filter_fn", "custom")), args


def _list_wise(name: str, args: dict[str, Any], answers: FilteredAnswers, problem: Problem) -> FilteredAnswers:
    """Calls a function of lm-eval's form: replies of many problems → as many lists of answers. It is not called without
    any reply."""
    if answers.count(None) == len(answers):
        return answers
    texts = ["" if answer is None else answer for answer in answers]
    (results,) = user_functions.load(name)(resps=[texts], docs=[problem.extras], **args)
    if len(results) != len(texts):
        raise BadValue(
            f"The filter '{name}' made {len(results)} answers of {len(texts)} replies; it must keep them all."
        )
    return [None if answer in (None, INVALID) else str(answer) for answer in results]
