"""A list of words → questions about their letters, drawn by seeded generators: nanochat's two spelling tasks."""

import random

from model_accuracy_eval.tasks.rows import Row

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


def spelling_bees(rows: list[Row], *, size: int, split: str = "test") -> list[Row]:
    """`size` questions for the count of a letter in a word; one letter in ten is any of the alphabet."""
    words = _words(rows)
    base = _TEST_SEEDS if split == "test" else 0
    return [_spelling_bee(words, random.Random(base + number)) for number in range(size)]  # noqa: S311 - no secret


def _spelling_bee(words: list[str], draw: random.Random) -> Row:
    word = draw.choice(words)
    letter = draw.choice(word) if draw.random() < 0.9 else draw.choice(_LETTERS)
    form = draw.choice(_FORMS)
    if draw.random() < 0.3:
        form = form.lower()
    quotes = [draw.choice(["", "'", '"']) for _ in range(2)]
    question = form.format(letter=f"{quotes[0]}{letter}{quotes[0]}", word=f"{quotes[1]}{word}{quotes[1]}")
    mark = "?" if draw.random() < 0.5 else ""
    return {"question": question + mark, "word": word, "letter": letter, "count": word.count(letter)}


def words_to_spell(rows: list[Row], *, size: int, split: str = "test") -> list[Row]:
    """`size` words to be spelt; training takes the front of the shuffled list, tests take its end."""
    words = _words(rows)
    random.Random(42).shuffle(words)  # noqa: S311 - an order, no secret
    chosen = words[-size:][::-1] if split == "test" else words[:size]
    return [{"word": word, "spelt": ",".join(word)} for word in chosen]


def _words(rows: list[Row]) -> list[str]:
    return [row["text"].strip() for row in rows]
