"""tydiqa_goldp: 5,077 questions in nine languages, each with the passage of Wikipedia that holds its answer;
tydiqa_tiny: the same task on the eleven pages that TyDi QA's repository shows as a sample.

Home: https://github.com/google-research-datasets/tydiqa, arXiv:2003.05002. Licence: Apache-2.0.
A row of tydiqa_goldp: {"id": "finnish-…", "title": "…", "context": "…", "question": "…", "answers": {"text": ["…"],
"answer_start": [12]}}; of tydiqa_tiny: a page with a question and up to three annotators' answers, as byte offsets.
Asked: for the answer in the words of the one passage that holds it. Pages without a short answer are left out.
Judged: as SQuAD is: the same words (exact_match), and the words in common (f1), by the best of the annotators.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import (
    DataFile,
    DataRow,
    DataSource,
    Grouping,
    MetricUse,
    Pipeline,
    Prompt,
    Step,
    TaskSpec,
)

GOLD_PASSAGE = TaskSpec(
    name="tydiqa_goldp",
    about="Questions in nine languages, answered in the words of a passage.",
    home="https://github.com/google-research-datasets/tydiqa",
    licence="Apache-2.0",
    aliases=("tydiqa", "tydi_qa", "tydiqa_gold_passage"),
    data=DataFile(
        name="tydiqa/secondary_task_validation",
        source=DataSource(hf="google-research-datasets/tydiqa", config="secondary_task", split="validation"),
    ),
    views=(Step(name="languages_of_ids"),),
    fields=("id", "context", "question", "answers"),
    cluster="context",
    prompt=Prompt(question="{{ context }}\n\n{{ question }}\n\n" + prompt_parts.WORDS_OF_THE_PASSAGE),
    reference="{{ answers.text[0] }}",
    references="{{ answers.text | unique | list | tojson }}",
    category="language",
    key=("id",),
    max_tokens=256,
    pipelines=prompt_parts.SPAN_PIPELINES,
    grouping=Grouping(by="category", weight_by_size=False),
)

TASK = TaskSpec(
    name="tydiqa_tiny",
    about="Questions in eleven languages, answered in the words of a passage; a sample of TyDi QA.",
    home="https://github.com/google-research-datasets/tydiqa",
    licence="Apache-2.0",
    data=DataFile(
        name="tydiqa/tiny_dev.jsonl",
        source=DataSource(
            url="github:google-research-datasets/tydiqa@96550c0493e53a085cb25918da7466fd3a6bfe52/tiny_dev.jsonl.gz",
            hash="b4f3d90db4c83456415680e085558a9e56d897f9e5ca24dc5c2b2f714818b631",
        ),
    ),
    views=(Step(name="gold_passages"),),
    fields=("document_plaintext", "annotations", "passage_answer_candidates", "question_text", "language"),
    cluster="passage",
    prompt=Prompt(question="{{ passage }}\n\n{{ question }}\n\n" + prompt_parts.WORDS_OF_THE_PASSAGE),
    reference="{{ answers[0] }}",
    references="{{ answers | tojson }}",
    category="language",
    max_tokens=256,
    pipelines=(
        Pipeline(
            filters=(Step(name="strip_thoughts"), Step(name="stripped")),
            metrics=(MetricUse(name="squad_em", label="exact_match"), MetricUse(name="squad_f1", label="f1")),
        ),
    ),
    grouping=Grouping(by="category", weight_by_size=False),
)


def languages_of_ids(rows: list[DataRow]) -> list[DataRow]:
    """With the column `language`, which is the beginning of `id`."""
    return [{**row, "language": str(row["id"]).partition("-")[0]} for row in rows]


def gold_passages(rows: list[DataRow]) -> list[DataRow]:
    """For each question that an annotator answered with a span: the question, its passage, and all annotators' spans.

    Places are byte offsets into the page. Questions without a span, yes-or-no questions among them, are left out.
    """
    return [question for row in rows if (question := _gold_passage(row)) is not None]


def _gold_passage(row: DataRow) -> DataRow | None:
    page = row["document_plaintext"].encode()
    answered = [entry for entry in row["annotations"] if entry["minimal_answer"]["plaintext_start_byte"] >= 0]
    if not answered:
        return None
    passage = row["passage_answer_candidates"][answered[0]["passage_answer"]["candidate_index"]]
    spans = [_cut(page, entry["minimal_answer"]) for entry in answered]
    return {
        "language": row["language"],
        "question": row["question_text"],
        "passage": _cut(page, passage),
        "answers": list(dict.fromkeys(spans)),
    }


def _cut(page: bytes, place: dict[str, int]) -> str:
    return page[place["plaintext_start_byte"] : place["plaintext_end_byte"]].decode().strip()


TASKS = (GOLD_PASSAGE, TASK)
VIEWS = {"gold_passages": gold_passages, "languages_of_ids": languages_of_ids}
