"""Replies that follow the instructions of a row of IFEval, or miss each by one; everything else about them is dull."""

from collections.abc import Callable, Mapping
from typing import Any

SPOKEN = {
    "ar": "هذا جواب قصير عن السؤال الذي طرحته اليوم",
    "bg": "Това е кратък отговор на въпроса който ми зададе днес",
    "bn": "এটি আজ আপনার করা প্রশ্নের একটি ছোট উত্তর",
    "de": "Das ist eine kurze Antwort auf die Frage von heute",
    "fa": "این یک پاسخ کوتاه به پرسشی است که امروز پرسیدید",
    "fi": "Tämä on lyhyt vastaus kysymykseen jonka esitit tänään",
    "gu": "આ તમે આજે પૂછેલા પ્રશ્નનો ટૂંકો જવાબ છે",
    "hi": "यह आज आपके पूछे गए सवाल का एक छोटा सा जवाब है",
    "it": "Questa è una breve risposta alla domanda che mi hai fatto oggi",
    "kn": "ಇದು ಇಂದು ನೀವು ಕೇಳಿದ ಪ್ರಶ್ನೆಗೆ ಒಂದು ಚಿಕ್ಕ ಉತ್ತರ",
    "ko": "이것은 오늘 당신이 물어본 질문에 대한 짧은 대답입니다",
    "mr": "आज तुम्ही विचारलेल्या प्रश्नाचे हे एक छोटेसे उत्तर आहे",
    "ne": "यो आज तपाईंले सोध्नुभएको प्रश्नको एउटा छोटो जवाफ हो",
    "pa": "ਇਹ ਅੱਜ ਤੁਹਾਡੇ ਪੁੱਛੇ ਸਵਾਲ ਦਾ ਇੱਕ ਛੋਟਾ ਜਵਾਬ ਹੈ",
    "pt": "Esta é uma resposta curta à pergunta que você me fez hoje",
    "ru": "Это короткий ответ на вопрос который ты задал сегодня",
    "sw": "Hili ni jibu fupi la swali ambalo umeniuliza leo",
    "ta": "இது இன்று நீங்கள் கேட்ட கேள்விக்கு ஒரு சிறிய பதில்",
    "te": "ఇది ఈరోజు మీరు అడిగిన ప్రశ్నకు ఒక చిన్న సమాధానం",
    "th": "นี่คือคำตอบสั้น ๆ สำหรับคำถามที่คุณถามวันนี้",
    "ur": "یہ آج آپ کے پوچھے گئے سوال کا ایک مختصر جواب ہے",
    "vi": "Đây là một câu trả lời ngắn cho câu hỏi của bạn hôm nay",
}
PLAIN = "We think that this would be the better of both ways"

Change = Callable[..., str]
"""(text, shift, the instruction's arguments) → the text that follows it, or misses it by `shift`."""


def reply(row: Mapping[str, Any], shift: int = 0) -> str:
    """For a row as the file has it. `shift` is added to every number that an instruction names."""
    given = dict(zip(row["instruction_id_list"], row["kwargs"], strict=True))
    text = SPOKEN.get(given.get("language:response_language", {}).get("language", ""), PLAIN)
    for name, change in _CHANGES.items():
        if name in given:
            text = change(text, shift, **given[name])
    return text


def _more(piece: str, count: int, text: str, between: str = " ") -> str:
    return between.join([text, *[piece] * count])


def _at_least(relation: str, wanted: int, shift: int) -> int:
    """Pieces to be added for a count that has none yet."""
    return max(wanted + shift if relation == "at least" else wanted - 1 + shift, 0)


def _words(text: str, shift: int, *, num_words: int, relation: str) -> str:
    wanted = num_words + shift if relation == "at least" else num_words - 1 + shift
    found = text.split()
    return " ".join([*found, *["so"] * (wanted - len(found))])


def _sentences(text: str, shift: int, *, num_sentences: int, relation: str) -> str:
    return _more("Yes!", _at_least(relation, num_sentences, shift) - 1, f"{text}.")


def _first_word(text: str, shift: int, *, num_paragraphs: int, nth_paragraph: int, first_word: str) -> str:
    paragraphs = [text] * (num_paragraphs + shift)
    paragraphs[nth_paragraph - 1 : nth_paragraph] = [f"{first_word.capitalize()}! {text}"]
    return "\n\n".join(paragraphs)


def _spread(text: str, shift: int, *, section_spliter: str, num_sections: int) -> str:
    return "\n".join([text, *(f"{section_spliter} {number + 1}\nso" for number in range(num_sections + shift))])


def _ended(text: str, shift: int, *, end_phrase: str) -> str:
    return f"{text}\n{end_phrase}{'!' * abs(shift)}"


_CHANGES: dict[str, Change] = {
    "length_constraints:number_words": _words,
    "keywords:existence": lambda text, shift, *, keywords: " ".join([text, *keywords[: len(keywords) - abs(shift)]]),
    "keywords:frequency": lambda text, shift, *, keyword, frequency, relation: _more(
        keyword, _at_least(relation, frequency, shift), text
    ),
    "keywords:forbidden_words": lambda text, shift, *, forbidden_words: (
        f"{text} {'un' * (1 - abs(shift))}{forbidden_words[0]}"
    ),
    "keywords:letter_frequency": lambda text, shift, *, letter, let_frequency, let_relation: _more(
        letter, _at_least(let_relation, let_frequency, shift) - text.lower().count(letter), text
    ),
    "change_case:capital_word_frequency": lambda text, shift, *, capital_frequency, capital_relation: _more(
        "OH-NO", _at_least(capital_relation, capital_frequency, shift), text
    ),
    "detectable_content:number_placeholders": lambda text, shift, *, num_placeholders: _more(
        "[name]", num_placeholders + shift, text
    ),
    "detectable_format:number_highlighted_sections": lambda text, shift, *, num_highlights: _more(
        "*so*", num_highlights + shift, text
    ),
    "detectable_format:title": lambda text, shift: f"<<{' ' if shift else 'so'}>>\n{text}",
    "detectable_format:number_bullet_lists": lambda text, shift, *, num_bullets: _more(
        "* so", num_bullets + shift, text, "\n"
    ),
    "detectable_format:multiple_sections": _spread,
    "detectable_format:constrained_response": lambda text, shift: f"My answer is {'perhaps' if shift else 'yes'}.",
    "length_constraints:number_sentences": _sentences,
    "length_constraints:nth_paragraph_first_word": _first_word,
    "length_constraints:number_paragraphs": lambda text, shift, *, num_paragraphs: "\n***\n".join(
        [text] * (num_paragraphs + shift)
    ),
    "detectable_content:postscript": lambda text, shift, *, postscript_marker: (
        f"{text}\n{postscript_marker.replace('P', 'Q' if shift else 'P')} so"
    ),
    "combination:two_responses": lambda text, shift: f"{text}\n******\n{text}{'' if shift else ' too'}",
    "startend:end_checker": _ended,
    "combination:repeat_prompt": lambda text, shift, *, prompt_to_repeat: (
        f"{'So: ' * abs(shift)}{prompt_to_repeat}\n{text}"
    ),
    "change_case:english_capital": lambda text, shift: f"{text.upper()}{'a' * abs(shift)}",
    "change_case:english_lowercase": lambda text, shift: f"{text.lower()}{'A' * abs(shift)}",
    "punctuation:no_comma": lambda text, shift: text.replace(",", "") + "," * abs(shift),
    "detectable_format:json_format": lambda text, shift: f'```json\n{{"so": {"" if shift else 1}}}\n```',
    "startend:quotation": lambda text, shift: f'"{text}' + '"' * (1 - abs(shift)),
}
"""In the order in which one spoils the other least."""
