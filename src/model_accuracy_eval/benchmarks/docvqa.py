"""docvqa, infovqa: questions about scanned documents and about infographics.

Home: https://www.docvqa.org, arXiv:2007.00398 and arXiv:2104.12756. Licence: unclear, the pages are others'.
A row: {"questionId": "337", "question": "…", "image": picture, "answers": ["1/8/93", "8 January 1993"], …}
Asked: the picture, the question, and for a single word or phrase.
Judged: by ANLS, the edit similarity to the nearest right answer, and nothing below one half.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataSource, MetricUse, Pipeline, Prompt, TaskSpec


def _task(name: str, about: str, config: str, count: int) -> TaskSpec:
    return TaskSpec(
        name=name,
        about=about,
        home="https://www.docvqa.org",
        licence="unclear",
        aliases=(f"{name}_val",),
        data=DataFile(
            name=f"{name}/validation.parquet",
            source=DataSource(hf="lmms-lab/DocVQA", config=config, split="validation"),
        ),
        fields=("question", "image", "answers"),
        cluster="image",
        prompt=Prompt(question=f"{{{{ image }}}}\n{{{{ question }}}}\n{prompt_parts.SHORT_ENDING}"),
        reference="{{ answers[0] }}",
        references="{{ answers | tojson }}",
        key=("questionId",),
        max_tokens=512,
        pipelines=(Pipeline(filters=prompt_parts.SHORT_FILTERS, metrics=(MetricUse(name="anls", label="ANLS"),)),),
    )


DOCUMENTS = _task("docvqa", "Scanned documents, by similarity of the answer.", "DocVQA", 5349)
INFOGRAPHICS = _task("infovqa", "Infographics, by similarity of the answer.", "InfographicVQA", 2801)

TASKS = (DOCUMENTS, INFOGRAPHICS)
