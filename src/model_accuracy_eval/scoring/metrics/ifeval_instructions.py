"""The instructions of IFEval and Multi-IF: whether a text follows them, and the metrics of that."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Literal, get_type_hints

import msgspec

from model_accuracy_eval import extras
from model_accuracy_eval.errors import BadData, BadValue, UnknownName
from model_accuracy_eval.records import JSONObject, Problem
from model_accuracy_eval.scoring.metrics import user_functions
from model_accuracy_eval.scoring.metrics.metric_type import Metric, none_to_all


@cache
def _punkt() -> Any:
    nltk = extras.load("nltk")
    tables = extras.load("punkt.data.english")
    parameters = nltk.tokenize.punkt.PunktParameters()
    parameters.abbrev_types = set(tables.ABBREV_TYPES)
    parameters.sent_starters = set(tables.SENT_STARTERS)
    parameters.collocations = set(tables.COLLOCATIONS)
    parameters.ortho_context = defaultdict(int, tables.ORTHO_CONTEXT)
    return nltk.tokenize.punkt.PunktSentenceTokenizer(parameters)


@lru_cache(maxsize=64)
def sentences(text: str) -> tuple[str, ...]:
    return tuple(_punkt().tokenize(text))


def words(text: str) -> list[str]:
    """Tokens of the Penn Treebank, sentence by sentence: punctuation marks are tokens too, and "can't" is two."""
    treebank = extras.load("nltk").tokenize.NLTKWordTokenizer()
    return [word for sentence in sentences(text) for word in treebank.tokenize(sentence)]


@cache
def _factory() -> Any:
    """A factory with a fixed seed: the library draws at random, and a reply's verdict must not change."""
    langdetect = extras.load("langdetect")
    factory = langdetect.detector_factory.DetectorFactory()
    factory.load_profile(langdetect.detector_factory.PROFILES_DIRECTORY)
    factory.set_seed(0)
    return factory


# Four metrics look at one reply in up to eight forms.
@lru_cache(maxsize=64)
def detected_language(text: str) -> str | None:
    """The language code, such as `en` or `zh-cn`; None for a text without letters."""
    langdetect = extras.load("langdetect")
    detector = _factory().create()
    detector.append(text)
    try:
        return str(detector.detect())
    except langdetect.LangDetectException:
        return None


_CHARACTER = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
"""Of Chinese, Japanese and Korean: each counts as a word."""
_NO_WORD = re.compile(r"""[\\.!?．/_,{}<>:;$%^&*(+"'—！，。？、`~@#￥…（）：；《》“”)\[\]»〔〕\-「」]""")
_CHINESE_SENTENCE = re.compile(r"[^!?。.！？．\n]+")
_HINDI_END = re.compile(r"(?<=[।!?])\s*")


def chinese_words(text: str) -> int:
    """Characters, runs of letters between them, and emoji. Punctuation is nothing, so `3.5` is one."""
    emoji = extras.load("emoji")
    text = _NO_WORD.sub("", text)
    symbols = int(emoji.emoji_count(text))
    text = emoji.replace_emoji(text, "")
    return len(_CHARACTER.findall(text)) + len(_CHARACTER.sub(" ", text).split()) + symbols


def chinese_sentences(text: str) -> int:
    """Also without a mark at the end of a line; a decimal point ends one."""
    return sum(len(_CHINESE_SENTENCE.findall(line.strip())) for line in text.splitlines())


def hindi_sentences(text: str) -> int:
    return sum(1 for sentence in _HINDI_END.split(text) if sentence.strip())


# One function for each instruction: it takes the reply and the instruction's arguments, under the names that the
# published data has, and says whether the reply follows it.


Checker = Callable[..., bool]
Edition = Literal["ifeval", "multi_if"]
"""Multi-IF counts words and sentences as the reply's language does."""
Relation = Literal["less than", "at least"]

_POSTSCRIPTS = {"P.S.": r"p\.\s?s\.", "P.P.S": r"p\.\s?p\.\s?s"}
"""Markers that may contain blanks."""
_BULLETS = (re.compile(r"^\s*\*[^*].*", re.MULTILINE), re.compile(r"^\s*-.*", re.MULTILINE))
_HIGHLIGHTS = (re.compile(r"\*([^\n*]*)\*"), re.compile(r"\*\*([^\n*]*)\*\*"))
_TITLE = re.compile(r"<<[^\n]+>>")
_JSON_FENCES = ("```json", "```Json", "```JSON", "```")
_COUNTED_BY_CHARACTER = {"zh", "zh-cn", "zh-tw", "ja"}
_QUOTATION_MARKS = {'""', "“”", "「」"}
_CONSTRAINED_ANSWERS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")


def _compare(count: int, relation: Relation, threshold: int) -> bool:
    return count < threshold if relation == "less than" else count >= threshold


def _occurrences(keyword: str, reply: str) -> int:
    return len(re.findall(re.escape(keyword), reply, re.IGNORECASE))


def _split(reply: str, divider: str) -> list[str]:
    """The non-empty parts between dividers; no parts at all if two dividers inside the reply have nothing between."""
    parts = [part.strip() for part in reply.split(divider)]
    return [part for part in parts if part] if all(parts[1:-1]) else []


def existence(reply: str, *, keywords: Sequence[str]) -> bool:
    """Every keyword occurs, also as a part of a longer word; case does not matter."""
    return all(_occurrences(keyword, reply) for keyword in keywords)


def frequency(reply: str, *, keyword: str, frequency: int, relation: Relation) -> bool:
    """Occurrences inside longer words count too."""
    return _compare(_occurrences(keyword.strip(), reply), relation, frequency)


def forbidden_words(reply: str, *, forbidden_words: Sequence[str]) -> bool:
    """None of the words occurs as a whole word."""
    return not any(re.search(rf"\b{re.escape(word)}\b", reply, re.IGNORECASE) for word in forbidden_words)


def letter_frequency(reply: str, *, letter: str, let_frequency: int, let_relation: Relation) -> bool:
    """Counts any character: two prompts ask for # and for !."""
    return _compare(reply.lower().count(letter.strip().lower()), let_relation, let_frequency)


def response_language(reply: str, *, language: str) -> bool:
    """A reply without letters passes: it is in no other language."""
    return detected_language(reply) in {language, None}


def number_words(reply: str, *, num_words: int, relation: Relation) -> bool:
    """Counts runs of letters and digits: "it's" is two words, a Chinese sentence is one."""
    return _compare(len(re.findall(r"\w+", reply)), relation, num_words)


def number_sentences(reply: str, *, num_sentences: int, relation: Relation) -> bool:
    return _compare(len(sentences(reply)), relation, num_sentences)


def number_paragraphs(reply: str, *, num_paragraphs: int) -> bool:
    """Exactly this number of paragraphs, separated by ***."""
    return len(_split(reply, "***")) == num_paragraphs


def nth_paragraph_first_word(reply: str, *, num_paragraphs: int, nth_paragraph: int, first_word: str) -> bool:
    """Exactly this number of paragraphs, separated by empty lines, and the n-th begins with the word.

    As in the original, empty paragraphs are not counted, but they count as places when the n-th is looked up.
    """
    paragraphs = [paragraph.strip() for paragraph in reply.split("\n\n")]
    if len([paragraph for paragraph in paragraphs if paragraph]) != num_paragraphs or nth_paragraph > num_paragraphs:
        return False
    return _first_word(paragraphs[nth_paragraph - 1]) == first_word.lower()


def _first_word(paragraph: str) -> str:
    """Without leading quotation marks, and only up to the first punctuation mark."""
    word = next(iter(paragraph.split()), "").lstrip("'").lstrip('"')
    return re.split(r"""[.,?!'"]""", word, maxsplit=1)[0].lower()


def number_placeholders(reply: str, *, num_placeholders: int) -> bool:
    """At least this number of texts in square brackets, each on one line."""
    return len(re.findall(r"\[.*?\]", reply)) >= num_placeholders


def postscript(reply: str, *, postscript_marker: str) -> bool:
    """The marker occurs anywhere in the reply."""
    marker = postscript_marker.strip()
    pattern = _POSTSCRIPTS.get(marker) or re.escape(marker.lower())
    return re.search(pattern, reply.lower()) is not None


def number_bullet_lists(reply: str, *, num_bullets: int) -> bool:
    """Exactly this number of lines that begin with a single asterisk or a dash."""
    return sum(len(bullet.findall(reply)) for bullet in _BULLETS) == num_bullets


def number_highlighted_sections(reply: str, *, num_highlights: int) -> bool:
    """At least this number of texts between single or double asterisks, each on one line."""
    highlights = [text for pattern in _HIGHLIGHTS for text in pattern.findall(reply) if text.strip()]
    return len(highlights) >= num_highlights


def multiple_sections(reply: str, *, section_spliter: str, num_sections: int) -> bool:
    """At least this number of numbered headings, such as `Section 1`, anywhere in the reply."""
    return len(re.findall(rf"{re.escape(section_spliter.strip())}\s?\d+", reply)) >= num_sections


def title(reply: str) -> bool:
    """A <<title in double angular brackets>> on one line."""
    return any(match.lstrip("<").rstrip(">").strip() for match in _TITLE.findall(reply))


def json_format(reply: str) -> bool:
    """The whole reply is one JSON value, with or without a Markdown fence."""
    text = reply.strip()
    for fence in _JSON_FENCES:
        text = text.removeprefix(fence)
    try:
        json.loads(text.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return False
    return True


def constrained_response(reply: str) -> bool:
    """One of the three fixed answers occurs in the reply."""
    return any(answer in reply for answer in _CONSTRAINED_ANSWERS)


def two_responses(reply: str) -> bool:
    """Two different responses, separated by ******."""
    responses = _split(reply, "******")
    return len(responses) == 2 and responses[0] != responses[1]


def repeat_prompt(reply: str, *, prompt_to_repeat: str) -> bool:
    """The reply begins with the request, word for word; case does not matter."""
    return reply.strip().lower().startswith(prompt_to_repeat.strip().lower())


def end_checker(reply: str, *, end_phrase: str) -> bool:
    """The reply ends with the phrase, in any case; quotation marks may follow."""
    return reply.strip().strip('"').lower().endswith(end_phrase.strip().lower())


def quotation(reply: str) -> bool:
    """Straight double quotation marks around the whole reply."""
    text = reply.strip()
    return len(text) > 1 and text[0] == text[-1] == '"'


def english_capital(reply: str) -> bool:
    return reply.isupper() and response_language(reply, language="en")


def english_lowercase(reply: str) -> bool:
    return reply.islower() and response_language(reply, language="en")


def capital_word_frequency(reply: str, *, capital_frequency: int, capital_relation: Relation) -> bool:
    """Counts words without a small letter; a hyphenated word is one word, CAN'T is two."""
    return _compare(sum(word.isupper() for word in words(reply)), capital_relation, capital_frequency)


def no_comma(reply: str) -> bool:
    """Only the Western comma counts."""
    return "," not in reply


def number_words_by_language(reply: str, *, num_words: int, relation: Relation) -> bool:
    """As the language of the reply counts them."""
    if detected_language(reply) in _COUNTED_BY_CHARACTER:
        return _compare(chinese_words(reply), relation, num_words)
    return number_words(reply, num_words=num_words, relation=relation)


def number_sentences_by_language(reply: str, *, num_sentences: int, relation: Relation) -> bool:
    """As the language of the reply ends them."""
    language = detected_language(reply)
    if language == "hi":
        return _compare(hindi_sentences(reply), relation, num_sentences)
    if language in _COUNTED_BY_CHARACTER:
        return _compare(chinese_sentences(reply), relation, num_sentences)
    return number_sentences(reply, num_sentences=num_sentences, relation=relation)


def quotation_of_any_language(reply: str) -> bool:
    """Double quotation marks around the whole reply: straight, curved or Chinese ones."""
    text = reply.strip()
    return len(text) > 1 and text[0] + text[-1] in _QUOTATION_MARKS


_GROUPS: dict[str, tuple[Checker, ...]] = {
    "keywords": (existence, frequency, forbidden_words, letter_frequency),
    "language": (response_language,),
    "length_constraints": (number_words, number_sentences, number_paragraphs, nth_paragraph_first_word),
    "detectable_content": (number_placeholders, postscript),
    "detectable_format": (
        number_bullet_lists, number_highlighted_sections, multiple_sections, title, json_format, constrained_response,
    ),
    "combination": (two_responses, repeat_prompt),
    "startend": (end_checker, quotation),
    "change_case": (english_capital, english_lowercase, capital_word_frequency),
    "punctuation": (no_comma,),
}  # fmt: skip
CHECKERS = {f"{group}:{checker.__name__}": checker for group, checkers in _GROUPS.items() for checker in checkers}
"""By the names that the published data has."""

EDITIONS: dict[Edition, dict[str, Checker]] = {
    "ifeval": CHECKERS,
    "multi_if": CHECKERS
    | {
        "length_constraints:number_words": number_words_by_language,
        "length_constraints:number_sentences": number_sentences_by_language,
        "startend:quotation": quotation_of_any_language,
    },
}
"""The instructions as each benchmark checks them; their names and arguments are the same."""


def instruction(name: str, arguments: Mapping[str, Any]) -> JSONObject:
    """A checked instruction. Hubs name every argument in every row, so null arguments are left out."""
    if name not in CHECKERS:
        raise UnknownName("instruction", name, CHECKERS)
    values = {argument: value for argument, value in arguments.items() if value is not None}
    user_functions.check_arguments("instruction", name, CHECKERS[name], values)
    hints, argument = get_type_hints(CHECKERS[name]), ""
    try:
        for argument, value in values.items():
            msgspec.convert(value, hints[argument])
    except msgspec.ValidationError as error:
        raise BadValue(
            f"The instruction '{name}' cannot have {values[argument]!r} as its {argument}: {error}."
        ) from error
    return {"name": name, "arguments": values}


def followed(
    reply: str, instructions: Sequence[JSONObject], *, loose: bool = False, edition: Edition = "ifeval"
) -> list[bool]:
    """One verdict for each instruction; an empty reply follows none."""
    texts = [form for form in (loose_forms(reply) if loose else [reply]) if form.strip()]
    return [any(EDITIONS[edition][one["name"]](text, **one["arguments"]) for text in texts) for one in instructions]


def loose_forms(reply: str) -> list[str]:
    """The reply with and without its first and its last line, which may be mere politeness, and each of these forms
    with and without its asterisks."""
    lines = reply.split("\n")
    trimmed = [lines[1:], lines[:-1], lines[1:-1]]
    forms = [reply, *("\n".join(rest).strip() for rest in trimmed)]
    return list(dict.fromkeys([*forms, *(form.replace("*", "") for form in forms)]))


# (answer, problem) → which of its problem's instructions an answer follows.


def every(answer: str, problem: Problem, *, loose: bool = False, edition: Edition = "ifeval") -> float:
    """1 if the answer follows all instructions."""
    return float(all(followed(answer, _instructions(problem), loose=loose, edition=edition)))


def each(answer: str, problem: Problem, *, loose: bool = False, edition: Edition = "ifeval") -> tuple[int, int]:
    """How many instructions the answer follows, and of how many: the figure is of all instructions together."""
    verdicts = followed(answer, _instructions(problem), loose=loose, edition=edition)
    return sum(verdicts), len(verdicts)


def _instructions(problem: Problem) -> Sequence[JSONObject]:
    instructions: Sequence[JSONObject] = problem.extras.get("instructions", ())
    if not instructions:
        raise BadData(
            f"Problem {problem.id} has no instructions: the task needs the view 'instructions' "
            "and the extra column of that name."
        )
    return instructions


_NEEDS = ("emoji", "langdetect", "nltk", "punkt")

INSTRUCTION_METRICS = {
    "every_instruction": Metric(
        score=every, reads="answers in their problem", yes_or_no=True, needs=_NEEDS, right=lambda *_, **__: ()
    ),
    "each_instruction": Metric(
        score=each,
        reads="answers in their problem",
        aggregation="pooled",
        needs=_NEEDS,
        limits=lambda problem: none_to_all(len(_instructions(problem))),
    ),
}
