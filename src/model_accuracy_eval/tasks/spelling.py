"""spelling_bee, simple_spelling: questions about the letters of words, drawn from a list of 370,105 English words.

Home: https://github.com/dwyl/english-words; the tasks are nanochat's. Licence: Unlicense.
A row: one word, a line of words_alpha.txt
Asked: how often a letter occurs in a word, in several wordings and languages; or how a word is spelt. Word and letter
are drawn as nanochat draws them, the wordings are our own.
Judged: the number, as gsm8k; or the letters, in order.
"""

from model_accuracy_eval.records import DataFile, Measure, Pipeline, Prompt, Step, TaskSpec
from model_accuracy_eval.tasks import sums

_WORDS = DataFile(
    name="spellingbee/words_alpha.txt", sha256="0f034191b6d892883f102a03dcf3fca30be8351867ad00dcf3167f088eda73cb"
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
    prompt=Prompt(question=f"{{{{ question }}}}\n\n{sums.ENDING}"),
    reference="{{ count }}",
    max_tokens=512,
    pipelines=sums.PIPELINES,
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
                Step(name="regex", args={"pattern": r"((?:[a-z]\s*,\s*)*[a-z])\W*$"}),
            ),
            metrics=(Measure(name="exact_match", label="accuracy", args={"regexes_to_ignore": [r"\s"]}),),
        ),
    ),
)
