"""TyDi QA's pages with their annotations → questions over the one passage that holds the answer."""

from model_accuracy_eval.tasks.rows import Row


def gold_passages(rows: list[Row]) -> list[Row]:
    """One row a question that some annotator answered with a span: question, passage, and every annotator's span.

    Places are byte offsets into the page. Questions without a span, yes-or-no questions among them, are left out.
    """
    return [made for row in rows if (made := _gold_passage(row)) is not None]


def _gold_passage(row: Row) -> Row | None:
    page = row["document_plaintext"].encode()
    answered = [one for one in row["annotations"] if one["minimal_answer"]["plaintext_start_byte"] >= 0]
    if not answered:
        return None
    passage = row["passage_answer_candidates"][answered[0]["passage_answer"]["candidate_index"]]
    spans = [_cut(page, one["minimal_answer"]) for one in answered]
    return {
        "language": row["language"],
        "question": row["question_text"],
        "passage": _cut(page, passage),
        "answers": list(dict.fromkeys(spans)),
    }


def _cut(page: bytes, place: dict[str, int]) -> str:
    return page[place["plaintext_start_byte"] : place["plaintext_end_byte"]].decode().strip()
