"""Multiple choice for services that only write: options behind letters, and a letter read out of the reply."""

from model_accuracy_eval.records import Measure, Pipeline, Step

ENDING = "Think it through if you need to, then end with: ANSWER: X (the letter of the right option)."
ONLY_THE_LETTER = "Respond only with the letter of the correct answer."

PIPELINES = (
    Pipeline(
        filters=(Step(name="strip_thoughts"), Step(name="choice_letter")),
        metrics=(Measure(name="exact", label="accuracy"),),
    ),
)


def listed(options: str) -> str:
    """The template of the options, one a line behind its letter; `options` is an expression over the row."""
    letter = "{{ 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[loop.index0] }}"
    return f"{{% for option in {options} %}}\n{letter}. {{{{ option }}}}{{% endfor %}}"


def letter_of(place: str) -> str:
    """The template of the letter at a place, which is an expression over the row."""
    return f"{{{{ 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[{place}] }}}}"


def nanochat(question: str, letters: str, options: str) -> str:
    """The form of nanochat: the letter stands behind its option, for the sake of small models."""
    line = "- {{ option }}={{ letters[loop.index0] }}\n"
    return (
        f"{{% set letters = {letters} %}}Multiple Choice question: {{{{ {question} }}}}\n"
        f"{{% for option in {options} %}}{line}{{% endfor %}}\n{ONLY_THE_LETTER}"
    )
