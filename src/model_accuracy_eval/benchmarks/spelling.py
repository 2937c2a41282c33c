"""spelling_bee, simple_spelling: questions about the letters of words, drawn from a list of 370,105 English words.

Home: https://github.com/dwyl/english-words; the tasks are nanochat's. Licence: Unlicense.
A row: one word, a line of words_alpha.txt
Asked: how often a letter occurs in a word, in several wordings and languages; or how a word is spelt. Word and letter
are drawn as nanochat draws them, the wordings are our own.
Judged: the number, as gsm8k; or the letters, in order.
"""

import random

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataRow, DataSource, MetricUse, Pipeline, Prompt, Step, TaskSpec

_WORDS = DataFile(
    name="spellingbee/words_alpha.txt",
    source=DataSource(
        url="github:Unieniek/Spelling-Bee-Solver@6b1321560d6e11598a33391c50e4459498170626/words_alpha.txt",
        hash="0f034191b6d892883f102a03dcf3fca30be8351867ad00dcf3167f088eda73cb",
    ),
)
_HOME = "https://github.com/dwyl/english-words"

BEE = TaskSpec(
    name="spelling_bee",
    about="How often a letter occurs in a word, in several languages.",
    home=_HOME,
    licence="Unlicense",
    data=_WORDS,
    views=(Step(name="spelling_bees", args={"size": 256}),),
    fields=("text",),
    prompt=Prompt(question=f"{{{{ question }}}}\n\n{prompt_parts.NUMBER_ENDING}"),
    reference="{{ count }}",
    max_tokens=512,
    pipelines=prompt_parts.NUMBER_PIPELINES,
)

SIMPLE = TaskSpec(
    name="simple_spelling",
    about="A word, letter by letter.",
    home=_HOME,
    licence="Unlicense",
    data=_WORDS,
    views=(Step(name="words_to_spell", args={"size": 256}),),
    fields=("text",),
    prompt=Prompt(
        question="Spell the word: {{ word }}\n\nReply with the word, a colon, and its letters with commas between them."
    ),
    reference="{{ spelt }}",
    max_tokens=256,
    pipelines=(
        Pipeline(
            filters=(
                Step(name="strip_thoughts"),
                Step(name="lowercase"),
                Step(name="regex", args={"regex_pattern": r"(?m)((?:[a-z]\s*,\s*)*[a-z])\W*$", "group_select": -1}),
            ),
            metrics=(MetricUse(name="exact_match", label="accuracy", args={"regexes_to_ignore": [r"\s"]}),),
        ),
    ),
)

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_TEST_SEEDS = 10_000_000
"""Where the seeds of test questions begin; below them are those of training questions."""

_FORMS = (
    "How many {letter} are in the word {word}",
    "How many times does {letter} appear in {word}",
    "Count the letter {letter} in {word}",
    "What is the number of {letter} in the word {word}",
    "Tell me how often {letter} occurs in {word}",
    "In {word}, how many letters are {letter}",
    "{word}: how many {letter} does it have",
    "Wie oft kommt {letter} in {word} vor",
    "Combien de fois {letter} figure dans {word}",
    "¿Cuántas veces aparece {letter} en {word}",
    "Quante volte compare {letter} in {word}",
    "Quantas vezes {letter} aparece em {word}",
    "{word} 里有几个 {letter}",
    "{word} に {letter} は何回出てきますか",
)


def spelling_bees(rows: list[DataRow], *, size: int, split: str = "test") -> list[DataRow]:
    """`size` questions for the count of a letter in a word; one letter in ten is any of the alphabet."""
    words = _words(rows)
    base = _TEST_SEEDS if split == "test" else 0
    return [_spelling_bee(words, random.Random(base + number)) for number in range(size)]  # noqa: S311 - no secret


def _spelling_bee(words: list[str], draw: random.Random) -> DataRow:
    word = draw.choice(words)
    letter = draw.choice(word) if draw.random() < 0.9 else draw.choice(_LETTERS)
    form = draw.choice(_FORMS)
    if draw.random() < 0.3:
        form = form.lower()
    quotes = [draw.choice(["", "'", '"']) for _ in range(2)]
    question = form.format(letter=f"{quotes[0]}{letter}{quotes[0]}", word=f"{quotes[1]}{word}{quotes[1]}")
    mark = "?" if draw.random() < 0.5 else ""
    return {"question": question + mark, "word": word, "letter": letter, "count": word.count(letter)}


def words_to_spell(rows: list[DataRow], *, size: int, split: str = "test") -> list[DataRow]:
    """`size` words to be spelt; training takes the front of the shuffled list, tests take its end."""
    words = _words(rows)
    random.Random(42).shuffle(words)  # noqa: S311 - an order, no secret
    chosen = words[-size:][::-1] if split == "test" else words[:size]
    return [{"word": word, "spelt": ",".join(word)} for word in chosen]


def _words(rows: list[DataRow]) -> list[str]:
    return [row["text"].strip() for row in rows]


TASKS = (BEE, SIMPLE)
VIEWS = {"spelling_bees": spelling_bees, "words_to_spell": words_to_spell}
