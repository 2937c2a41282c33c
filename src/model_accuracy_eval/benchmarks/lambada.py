"""lambada: 5,153 passages of novels whose last word can be told from the whole passage, and not from its last sentence.

Home: https://zenodo.org/record/2630551, arXiv:1606.06031. Licence: CC-BY-4.0; OpenAI's cut of it modified MIT.
A row: {"text": "In my palm is a clear stone, …"}. OpenAI's cut, as lm-eval takes it.
Asked: for the last word, which a chat has to be told (lambada); or whether greedy decoding writes it, and how likely it
is (lambada_target), as published.
Judged: the first word of the reply, apart from case and punctuation.
"""

from model_accuracy_eval.records import DataFile, DataSource, MetricUse, Pipeline, Prompt, Step, TaskSpec

_SPEC = {
    "home": "https://zenodo.org/record/2630551",
    "licence": "CC-BY-4.0",
    "data": DataFile(name="lambada/test", source=DataSource(hf="EleutherAI/lambada_openai", config="default")),
    "fields": ("text",),
}
_BEGINNING = "{{ text.split(' ')[:-1] | join(' ') }}"
_LAST = "{{ text.split(' ')[-1] }}"

GENERATED = TaskSpec(
    name="lambada",
    about="Passages of novels: their last word.",
    prompt=Prompt(question=f"{_BEGINNING}\n\nThis passage lacks its last word. Reply with this word alone."),
    reference=_LAST,
    max_tokens=64,
    pipelines=(
        Pipeline(
            filters=(
                Step(name="strip_thoughts"),
                Step(name="regex", args={"regex_pattern": r"(\w[\w'’-]*)"}),
            ),
            metrics=(
                MetricUse(name="exact_match", label="accuracy", args={"ignore_case": True, "ignore_punctuation": True}),
            ),
        ),
    ),
    **_SPEC,  # type: ignore[arg-type]
)
TARGET = TaskSpec(
    name="lambada_target",
    about="Passages of novels: whether greedy decoding writes their last word.",
    prompt_of="lm-eval",
    aliases=("lambada_openai",),
    prompt=Prompt(question=_BEGINNING),
    reference=_LAST,
    kind="target",
    mode="text",
    pipelines=(Pipeline(metrics=(MetricUse(name="acc", label="accuracy"), MetricUse(name="perplexity"))),),
    **_SPEC,  # type: ignore[arg-type]
)
TASKS = (GENERATED, TARGET)
