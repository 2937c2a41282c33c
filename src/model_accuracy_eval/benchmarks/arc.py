"""arc_easy, arc_challenge: 2,376 and 1,172 school science questions, the latter those that simple methods miss.

Home: https://allenai.org/data/arc, arXiv:1803.05457. Licence: CC-BY-SA-4.0.
A row: {"id": "…", "question": "…", "choices": {"text": ["…", …], "label": ["A", …]}, "answerKey": "A"}; some have three
or five options, and some name them 1 to 4.
The training and validation splits are datasets of their own (arc_easy_validation, …).
Asked: for a reply that ends with a letter; or which option's text is likeliest after the question (…_choice); or which
label is likeliest, as nanochat asks, in its order (…_nanochat).
Judged: the option. `acc_norm` divides an option's likelihood by its length.
"""

from msgspec import structs

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.benchmarks.option_questions import OptionQuestions
from model_accuracy_eval.records import DataFile, DataSource, MetricUse, Pipeline, Prompt, Step, TaskSpec

_AT = "hf:allenai/ai2_arc@210d026faf9955653af8916fad021475a3f00453"
_PARQUET_SHA256 = {
    "Easy": "4160597d618ae851c7eb04e281574f3f654776216ac6b6641588d64527b47177",
    "Challenge": "62f03257e737aed263f55c6abf87c7bb0028a44a6bdd2a26eb1279eb42c1d1e9",
}
_ALIASES = {"Easy": ("arc_e", "arc_easy_chat"), "Challenge": ("arc_c", "arc_challenge_chat")}
_FIELDS = ("question", "choices", "answerKey")
_PLACE = "choices.label.index(answerKey)"
_QUESTION = "{{ question | trim }}" + prompt_parts.lettered("choices.text")
_NANOCHAT = prompt_parts.nanochat_choice("question", "choices.label", "choices.text")


def _task(part: str, name: str, about: str, **more: object) -> TaskSpec:
    return TaskSpec(
        name=name,
        about=f"{'Simple' if part == 'Easy' else 'Difficult'} school science: {about}",
        home="https://allenai.org/data/arc",
        licence="CC-BY-SA-4.0",
        data=DataFile(
            name=f"arc/ARC-{part}-test.jsonl",
            instead=(
                DataFile(
                    name=f"arc/ARC-{part}-test.parquet",
                    source=DataSource(url=f"{_AT}/ARC-{part}/test-00000-of-00001.parquet", hash=_PARQUET_SHA256[part]),
                ),
                DataFile(
                    name=f"arc/hub/ARC-{part}-test",
                    source=DataSource(hf="allenai/ai2_arc", ms="allenai/ai2_arc", config=f"ARC-{part}", split="test"),
                ),
            ),
        ),
        fields=_FIELDS,
        key=("id",),
        baseline=0.25,
        **more,  # type: ignore[arg-type]
    )


def _generated(part: str) -> TaskSpec:
    return _task(
        part,
        f"arc_{part.lower()}",
        "a letter as the reply.",
        aliases=_ALIASES[part],
        prompt=Prompt(question=f"{_QUESTION}\n\n{prompt_parts.LETTER_ENDING}"),
        reference=prompt_parts.letter_at(_PLACE),
        choices="{{ choices.text | tojson }}",
        max_tokens=1024,
        pipelines=prompt_parts.LETTER_PIPELINES,
    )


def _choice(part: str) -> TaskSpec:
    return _task(
        part,
        f"arc_{part.lower()}_choice",
        "the likeliest of the options.",
        prompt=Prompt(
            question="Question: {{ question | trim }}\nAnswer:",
            lettered=f"{_QUESTION}\n\n{prompt_parts.ONLY_THE_LETTER}",
        ),
        reference=f"{{{{ {_PLACE} }}}}",
        choices="{{ choices.text | tojson }}",
        kind="choice",
        pipelines=(Pipeline(metrics=(MetricUse(name="acc", label="accuracy"), MetricUse(name="acc_norm"))),),
    )


def _nanochat(part: str) -> TaskSpec:
    return _task(
        part,
        f"arc_{part.lower()}_nanochat",
        "the likeliest of the labels, as nanochat asks.",
        views=(Step(name="permuted"),),
        prompt=Prompt(question=_NANOCHAT, lettered=_NANOCHAT, delimiter=""),
        reference=f"{{{{ {_PLACE} }}}}",
        choices="{{ choices.label | tojson }}",
        kind="choice",
        pipelines=(Pipeline(metrics=(MetricUse(name="acc", label="accuracy"),)),),
    )


def _in_words_of(part: str, prompt: str) -> TaskSpec:
    whole = _generated(part)
    questions = OptionQuestions(
        name=whole.name,
        about=whole.about,
        question="{{ question | trim }}",
        options="choices.text",
        place=_PLACE,
        spec={field: getattr(whole, field) for field in ("home", "licence", "data", "fields", "key", "baseline")},
    )
    return questions.in_words(prompt)


def _split(part: str, split: str) -> TaskSpec:
    whole = _generated(part)
    commit = _AT.partition("@")[2]
    at_hubs = DataFile(
        name=f"arc/hub/ARC-{part}-{split}",
        source=DataSource(
            hf="allenai/ai2_arc", ms="allenai/ai2_arc", config=f"ARC-{part}", split=split, revision=commit
        ),
    )
    return structs.replace(
        whole,
        name=f"{whole.name}_{split}",
        about=f"{whole.about.removesuffix('.')}: the {split} split.",
        aliases=(),
        data=DataFile(name=f"arc/ARC-{part}-{split}.jsonl", instead=(at_hubs,)) if split == "validation" else at_hubs,
    )


EASY, CHALLENGE = _generated("Easy"), _generated("Challenge")
OTHER_SPLITS = tuple(_split(part, split) for part in ("Easy", "Challenge") for split in ("validation", "train"))
IN_OTHER_WORDS = tuple(
    _in_words_of(part, prompt) for part in ("Easy", "Challenge") for prompt in ("simple-evals", "evalscope")
)
EASY_CHOICE, CHALLENGE_CHOICE = _choice("Easy"), _choice("Challenge")
EASY_NANOCHAT, CHALLENGE_NANOCHAT = _nanochat("Easy"), _nanochat("Challenge")

TASKS = (
    EASY,
    EASY_CHOICE,
    EASY_NANOCHAT,
    CHALLENGE,
    CHALLENGE_CHOICE,
    CHALLENGE_NANOCHAT,
    *IN_OTHER_WORDS,
    *OTHER_SPLITS,
)
GROUPS = (prompt_parts.plain_mean("arc", (EASY, CHALLENGE)),)
