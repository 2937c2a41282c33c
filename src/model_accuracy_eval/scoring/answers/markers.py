"""The words and signs by which replies mark an answer, in fifteen languages: what announces it, what takes it back, and
what follows a number without belonging to it."""

import re
from typing import NamedTuple


class Words(NamedTuple):
    """Of one language, in small letters; alternatives of patterns are divided by |."""

    answer: tuple[str, ...]
    final: str
    """Adjectives that make of an answer the final one."""
    right: str
    """Other words between the beginning of a line and "answer:", and before "option" where that is the answer."""
    is_: str
    no: str
    """Denials that stand before what they deny, or behind it."""
    wrong: str
    """What is said of an option that is none, or of people who would take it."""
    wait: str
    """What takes back what was said before."""
    yes: str = "yes"
    nay: str = "no"


LANGUAGES = {
    "English": Words(
        ("answer",), "final", "the|my|your|our|so|thus|hence|therefore|correct|right|best|exact|numerical|short|and",
        "is|are|be|was|equals|isn['’]t|comes out (?:to|as)|works out (?:to|as)",
        r"not(?! (?:[\w-]+ ){1,2}(?:is|are)\b)|\w*n['’]t|neither|nor|never|cannot",
        r"mistakes?|misconceptions?|wrong(?:ly)?|incorrect(?:ly)?|tempt\w*|trap|distractor|misread\w*|"
        r"naive(?:ly)?|(?:might|may|would|could|often|sometimes|students|people|some|many) (?:\w+ )?(?:think|"
        r"say|assume|guess|believe|conclude|choose|pick|answer)|(?:might|may|could) (?:\w+ )?suggest",
        "wait|hold on|actually|correction|scratch that|on second thought|oops|sorry|hmm|my mistake|i (?:made|"
        "meant)|no(?=[,.:;!—–-])|let me (?:re|correct|fix)|that(?:['’]s| is| was) (?:wrong|incorrect|not right|"
        "a mistake)",
    ),
    "German": Words(
        ("antwort", "lösung", "ergebnis"), "endgültige|finale|schlussendliche",
        "die|das|meine|richtige|korrekte|also|somit|daher", "ist|sind|lautet|wäre|beträgt", "nicht|kein|keine",
        r"falsch\w*|fehler|irrtum|irrtümlich", "warte|moment|nein(?=[,.:;!—–-])|korrektur|tatsächlich|doch nicht",
        "ja", "nein",
    ),
    "French": Words(
        ("réponse", "reponse"), "finale|définitive", "la|ma|votre|bonne|correcte|exacte|donc|ainsi",
        "est|sont|serait|vaut", "n['’]est pas|pas|non", "fauss?e?|erreur|incorrecte?|tort",
        "attende?z|non(?=[,.:;!—–-])|en fait|pardon|rectification", "oui", "non",
    ),
    "Spanish": Words(
        ("respuesta",), "final|definitiva", "la|mi|correcta|exacta|entonces", "es|son|sería",
        "no(?= es| son| sería)|nunca", "errónea|error|incorrect[ao]|equivocad[ao]|falsa",
        "espera|en realidad|corrección|perdón|mejor dicho", "sí", "no",
    ),
    "Portuguese": Words(
        ("resposta",), "final|definitiva", "a|minha|correta|certa|exata|portanto", "é|são|seria", "não|nunca",
        "errad[ao]|erro|incorret[ao]|falsa", "espere|espera|na verdade|correção|desculpe", "sim", "não",
    ),
    "Italian": Words(
        ("risposta",), "finale|definitiva", "la|mia|corretta|giusta|esatta|quindi", "è|sono|sarebbe", "non|mai",
        "sbagliat[ao]|errore|errat[ao]|scorrett[ao]|fals[ao]", "aspetta|in realtà|correzione|scusa|anzi", "sì", "no",
    ),
    "Russian": Words(
        ("ответ",), "окончательный|итоговый|финальный", "правильный|верный|мой|итак|таким образом|следовательно",
        "это|есть|равен|будет|—|–|-", "не|никогда", r"неправильн\w*|неверн\w*|ошибк\w*|ошибочн\w*",
        r"подожди\w*|нет(?=[,.:;!—–-])|на самом деле|исправление|точнее", "да", "нет",
    ),
    "Arabic": Words(
        ("الإجابة", "الاجابة", "الجواب"), "النهائية|النهائي", "الصحيحة|الصحيح|إذن|لذلك", "هي|هو|هى", "ليست?|غير",
        "خاطئة?|خطأ", "انتظر|في الواقع|تصحيح|لا،", "نعم", "لا",
    ),
    "Chinese": Words(
        ("答案", "正确选项", "正確選項"), "最终|最終", "正确|正確|因此|所以|故|本题|的", "是|为|為|选|選|应为|應為",
        r"不(?!正确的\w{0,4}[是为])|非|并非", r"(?:错误|錯誤|(?<!错)误)(?!的\w{0,4}[是为])|常见|陷阱|不对",
        "等等|等一下|更正|其实|实际上",
        "是的?|对|對|有", "否|不是|不|没有|不对",
    ),
    "Japanese": Words(
        ("答え", "正解", "回答", "解答"), "最終的な|最終", "正しい|したがって|よって|の", "は|が",
        "ではな|でな|じゃな", "間違い|誤り|誤って", "待って|いや|訂正|すみません|いいえ", "はい", "いいえ",
    ),
    "Korean": Words(
        ("정답", "답변", "답"), "최종", "올바른|따라서|그러므로", "은|는|이", "아니|아닙", "틀린|오답|실수|잘못",
        "잠깐|아니[,요]|정정|다시", "예|네", "아니요?|아니오",
    ),
    "Bengali": Words(("উত্তর",), "চূড়ান্ত|চূড়ান্ত", "সঠিক|সুতরাং", "হলো|হল|হবে", "নয়|নয়", "ভুল", "আসলে", "হ্যাঁ", "না"),
    "Thai": Words(("คำตอบ",), "สุดท้าย", "ที่ถูกต้อง|ดังนั้น", "คือ", "ไม่", "ผิด", "เดี๋ยวก่อน", "ใช่", "ไม่ใช่"),
    "Telugu": Words(("సమాధానం", "జవాబు"), "తుది", "సరైన|కాబట్టి", "అంటే", "కాదు", "తప్పు", "ఆగండి", "అవును", "కాదు"),
    "Swahili": Words(("jibu",), "la mwisho", "sahihi|hivyo", "ni", "sio|siyo", "makosa", "subiri", "ndiyo", "hapana"),
}  # fmt: skip
_UNSPACED = ("Chinese", "Japanese", "Korean", "Bengali", "Thai", "Telugu")


def _words(field: str, *, spaced: bool = True) -> str:
    """The alternatives of all languages that put blanks between words, or of those without, or with vowel signs."""
    return "|".join(getattr(row, field) for name, row in LANGUAGES.items() if (name in _UNSPACED) != spaced)


def any_of(field: str) -> str:
    """A pattern for the words of all languages; those of languages with blanks are whole words: not the "non" of
    "non-empty"."""
    return rf"(?:(?<!\w)(?:{_words(field)})(?!-?\w)|{_words(field, spaced=False)})"


# What announces an answer: a noun, and what stands around it.


NOUNS = LANGUAGES["English"].answer
OTHER_NOUNS = ("result", *(noun for name, row in LANGUAGES.items() if name != "English" for noun in row.answer))
OPTION_NOUNS = ("option", "choice", "letter", "opción", "opção", "opzione", "вариант", "选项", "選項")
"""They announce the answer where an adjective says that theirs is the right one."""
RIGHT_OPTION = re.compile(
    r"\b(?:correct|right|best|final|richtige|korrekte|bonne|buena|правильный|верный)[ ]+\Z|正确\Z|正確\Z"
)
RIGHT_AFTER = re.compile(r" (?:correct[ae]?|corretta|giusta|certa)\b")
_ADJECTIVES = rf"(?:{_words('final')}|{_words('right')})"
_BEFORE_LABEL = (
    rf"[^\w\n]{{0,8}}(?:(?:{_words('final')}|{_words('right')}|{_words('final', spaced=False)}|"
    rf"{_words('right', spaced=False)})[^\w\n]{{0,3}}){{0,4}}"
)
BEFORE_LABEL = re.compile(_BEFORE_LABEL)
"""All that stands on the line before the noun of a label."""
EXAMPLE = re.compile(rf"(?:\be\.g\.|\bfor (?:example|instance)|例如|比如){_BEFORE_LABEL}\Z")
"""Before a statement that shows nothing but its form, as in a question that is repeated."""
FINAL = re.compile(rf"(?:\b(?:{_words('final')})|{_words('final', spaced=False)})[\s_*-]{{0,3}}\Z")
AFTER = re.compile(
    rf"(?![>\"'”])[ ]?(?:\([^()\n]{{1,30}}\))?(?:[ ]{_ADJECTIVES}\b)?[ \t*_`}}]{{0,6}}"
    r"(?:(?P<label>[:：=]|→|->)"
    rf"|(?P<is>[^.:：\n]{{0,90}}?(?<!\w)(?:{_words('is_')})(?!\w))(?:[ \t]*[:：])?)"
)
AFTER_UNSPACED = re.compile(
    rf"[\s*_]{{0,4}}(?:(?P<label>[】\]）)]?[\s*_]{{0,3}}[:：=]|[】\]](?![和与之])|[ ]?(?=[(（]?[a-z](?![a-z])))"
    rf"|(?P<is>[^。.:：\n，,]{{0,20}}?(?:{_words('is_', spaced=False)}|[:：]))[\s:：]{{0,4}}(?:选项?|選項?)?)"
)
ENCLOSED = re.compile(
    r"[\"'](?:(?:final|correct|right|my)[_ ])?(?:answer|choice|option|letter|answer_letter|result|答案)[\"']"
    r"\s{0,3}:\s{0,3}(?:(?P<quote>[\"'])(?P<text>(?:\\.|.){0,1000}?)(?P=quote)"
    r"|(?P<value>\[[^\]]{0,1000}\]|\{[^}]{0,1000}\}|[^,}\n\"']{1,2000}))",
    re.IGNORECASE | re.DOTALL,
)
"""An answer in JSON."""
TAGGED = re.compile(
    r"<(?:(?:final|correct)[_ ]?)?answer>(?P<tagged>[^<]{0,2000})"
    r"|\[[^\[\]\n]{1,8}\](?P<ended>[^<>\[\]\n]{1,80})<eoa",
    re.IGNORECASE,
)
HASHES = re.compile("####")
BOX = re.compile(r"\\(?:boxed|fbox|framebox)\s{0,3}\{")
BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
WRAPPED = re.compile(r"\\(?:text|textbf|mathrm|mbox)\{([^{}]*)\}")


# What takes an answer back, or says that it is not meant.


DENIED = re.compile(any_of("no"))
DENIED_AFTER = re.compile(
    rf"[*_)\]）}}$\\\"'`]{{0,8}}[ ]{{0,2}}(?:(?:is|are|was|would[ ]be|can[ ]be|may[ ]be|ist|est|es|é|è)[ ]+"
    rf"(?:also[ ]+)?(?:{_words('wrong')}|not|nicht|pas|false|eliminated|excluded|ruled[ ]out)\b"
    r"|isn['’]t\b|cannot\b|can['’]t\b"
    r"|(?:项|項|が|は|가|이|는)?[ ]?(?:不(?!选)|错|ではな|でな|じゃな|아니|아닙|誤り|間違い|틀))",
    re.IGNORECASE,
)
NOT_MEANT = re.compile(any_of("wrong"))
"""Before a statement, in the same clause: what it states is somebody's mistake."""
CLAUSE_ENDS = ".,;:!?\n"
SENTENCE_END = re.compile(
    r"[*_)\]}$\"'”’`]{0,6}\s{0,3}(?:\Z|[.,;!。，；！\n—–]|(?:because|since|as|weil|car|porque|perché)\b)"
)
WORD = re.compile(
    r"\b(?!(?:and|or|und|oder|et|ou|y|o|e|boxed|text|the|my|a|final|correct|right|die|la|option|choice)\b)[^\W_]+"
)
"""Between two answers: they do not stand side by side."""
OF = re.compile(
    r"请你?\Z|\b(?:as\s+a|(?:of|to|for|by|from|with|about|behind|explain\w*)(?:\s+(?:the|this|my|your|correct|right|final)){0,3})\s+\Z"
)
"""Before the noun of a heading, such as "Explanation of the answer:", and in "as a result"."""
WITHDRAWN = re.compile(any_of("wait"))
RESTATED = re.compile(
    r"(?:[\s,.:;!?…*_—–-]{1,6}|应该|應該|答案|而|正解|答え|정답|답"
    r"|(?P<said>\b(?i:is|be|mean|meant|make|choose|pick|go with|ist|est|es|é|è|это)\b|['’]s\b|是|选|は|은|는)"
    r"|\b(?i:but|and|it|this|that|the|an|answer|option|choice|correct|right|actually|no|wait|sorry|rather|instead|i|"
    r"think|should|must|would|has|have|to|probably|really|in fact|my|final|sondern|mais|c['’]|ce|sino|mas|ma|а|que|er|"
    r"die|la|il|antwort|réponse|respuesta|resposta|risposta|ответ|richtig|correcta?|correct[ea])\b|\ba\b){0,14}"
)
"""What may stand between a withdrawal and the new answer."""


REFUSED = re.compile(
    r"\b(?:cannot|can['’]t|could not|(?:im|not )possible to|unable to|(?:does|do)(?: not|n['’]t)|not) (?:\w+ ){0,3}"
    r"(?:determined?|(?:enough|sufficient) information|answer|provide|know|specified|tell|see|find|solved?)\b"
    r"|\b(?:we|you) (?:can (?:calculate|find|multiply|subtract|add|divide|use)|(?:need|have) to)\b(?!.*(?:=|therefore))"
    r"|\bno (?:valid |real )?(?:solution|answer)\b|\banswer is (?:none|unknown)\b"
    r"|\b(?:is|are)(?: \w+)? (?:undefined|infinite|divergent)\b"
    r"|will give (?:us|you)\b|无法(?:确定|回答|判断)"
)
"""In a last sentence: what numbers it has are no answer, or only lead to one."""


# What surrounds a number.


CURRENCIES = "$€£¥₹₽₩₺฿元円원"
CITATION = re.compile(r"(?<=[\w.,;:)%°$€*])\s?(?:\[\^?\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,9}\]|【\d[^】\n]{0,30}】)")
"""[1], [2, 3], [^4]: where what stands before them is from."""
