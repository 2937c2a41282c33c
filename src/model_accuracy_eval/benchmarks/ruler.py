"""ruler_niah_single_4k and its like: RULER's synthetic tasks over texts of our own, at six lengths.

Home: https://github.com/NVIDIA/RULER, arXiv:2404.06654; texts and questions are made here. Licence: Apache-2.0.
A row: made from sentences that come with the package; `tokens` says how long, at four characters a token: a fact or
four hidden among sentences (niah_single, the plain needle in a haystack, at eleven depths; niah_multikey,
niah_multivalue, niah_multiquery), a value handed on from name to name (vt), the ten common words of a list (cwe), the
three most frequent words (fwe). RULER's two tasks over questions of SQuAD and HotpotQA are not made.
Asked: the text, then the question, in words of our own.
Judged: the share of the right numbers, names or words that occur in the reply, as RULER counts them. A task file with
the view `long_contexts` makes any other length. The groups ruler_4k to ruler_128k are the plain mean of a length's
tasks.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, Grouping, MetricUse, Pipeline, Prompt, Step, TaskSpec

_KINDS = {
    "niah_single": "one fact in a long text",
    "niah_multikey": "one of four facts in a long text",
    "niah_multivalue": "four numbers of one thing in a long text",
    "niah_multiquery": "four facts in a long text",
    "vt": "variables that get one value from each other",
    "cwe": "the ten common words of a long list",
    "fwe": "the three most frequent words of a long text",
}
LENGTHS = (4, 8, 16, 32, 64, 128)
"""In thousands of tokens."""


def _task(kind: str, length: int) -> TaskSpec:
    single = kind == "niah_single"
    return TaskSpec(
        name=f"ruler_{kind}_{length}k",
        about=f"RULER: {_KINDS[kind]} of {length},000 tokens.",
        home="https://github.com/NVIDIA/RULER",
        licence="Apache-2.0",
        aliases=(f"needle_{length}k",) if single else (),
        data=DataFile(name="ruler/everyday_sentences.txt", bundled="everyday_sentences.txt"),
        views=(Step(name="long_contexts", args={"kind": kind, "tokens": 1000 * length}),),
        fields=("text",),
        prompt=Prompt(question="Read this text; a question about it follows.\n\n{{ text }}\n\n{{ question }}"),
        reference="{{ answers | join(', ') }}",
        references="{{ answers | tojson }}",
        category="depth" if single else None,
        max_tokens=256,
        pipelines=(
            Pipeline(
                filters=(Step(name="strip_thoughts"),), metrics=(MetricUse(name="contains_all", label="accuracy"),)
            ),
        ),
        grouping=Grouping(by="category") if single else None,
    )


BY_LENGTH = {f"ruler_{length}k": tuple(_task(kind, length) for kind in _KINDS) for length in LENGTHS}
"""Group → its datasets."""

TASKS = tuple(task for tasks in BY_LENGTH.values() for task in tasks)
GROUPS = tuple(prompt_parts.plain_mean(name, tasks) for name, tasks in BY_LENGTH.items())
