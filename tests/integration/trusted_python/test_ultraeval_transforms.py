"""UltraEval's transforms, run in a process of their own: what they are called with, and what becomes of the rows."""

import os
from pathlib import Path

import pytest

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import JSONObject, Recipe, Transform
from model_accuracy_eval.trusted_python.stand_ins import POSTS, Post
from model_accuracy_eval.trusted_python.trusted_functions import TrustedRows

HEAD = "import random\n\ndef transform(data, num_sample, r: random.Random, dataset_name):\n"
ROWS = [{"question": f"{number}?", "answer": f"The answer is {number}, so."} for number in range(6)]


def made(folder: Path, body: str, rows: list[JSONObject] = ROWS, head: str = HEAD, shots: int = 2) -> list[JSONObject]:
    (folder / "transform-v0.py").write_text(head + body, encoding="utf-8")
    told = Transform(function="transform-v0.transform", shots=shots, task="law_a_gen")
    return TrustedRows(os.environ)(Recipe(folder=str(folder), transform=told), rows, lambda _: [])


def test_u4_every_row_gets_what_the_transform_makes_of_it(tmp_path: Path) -> None:
    """Beside its own columns; of several outputs the first is shown, and every right answer is kept."""
    body = """    text = f"{data['question']} {num_sample} {dataset_name}"
    return {"input": text, "output": [data["answer"], "other"], "processed_output": ["x", 7]}
"""
    rows = made(tmp_path, body)
    assert rows[1] == ROWS[1] | {"input": "1? 2 law_a_gen", "output": "The answer is 1, so.", "answers": ["x", "7"]}


def test_u6_a_row_has_a_generator_of_its_own(tmp_path: Path) -> None:
    """What it draws does not depend on the rows before it, and comes again in every run."""
    body = "    return {'input': str(r.random()), 'output': '', 'processed_output': ''}\n"
    drawn = [row["input"] for row in made(tmp_path, body)]
    assert len(set(drawn)) == len(ROWS)
    assert drawn[:3] == [row["input"] for row in made(tmp_path, body, ROWS[:3])]


def test_u4_the_classes_that_transforms_import_are_there(tmp_path: Path) -> None:
    """They read right answers as the same functions read replies."""
    head = "from UltraEval.tasks.postprocess import ExactMatchPost, GSM8KPost\n" + HEAD
    body = """    _, one = ExactMatchPost()([], data["answer"])
    _, two = GSM8KPost()([], [data["answer"], "#### 1,000"])
    return {"input": "", "output": "", "processed_output": one + two}
"""
    assert made(tmp_path, body, head=head)[3]["answers"] == ["3", "The", "1000"]


def test_u11_every_class_of_ultraeval_is_there() -> None:
    """Each reads what it is given, one text or several."""
    for make in POSTS.values():
        post = make()
        assert isinstance(post, Post)
        assert post(["raw"], "The answer is B.")[0] == ["raw"]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("    return {'input': '', 'output': ''}\n", "of row 1, the transform gives no 'processed_output'"),
        (
            "    return {'input': '', 'output': 7, 'processed_output': ''}\n",
            "the transform's output is 7, but a solved",
        ),
        ("    return data['passage']\n", "KeyError: 'passage'"),
    ],
)
def test_a_transform_that_fails_is_told_with_its_folder(tmp_path: Path, body: str, sentence: str) -> None:
    """And with what it said last."""
    with pytest.raises(BadData) as raised:
        made(tmp_path, body)
    assert sentence in raised.value.sentence
    assert str(tmp_path) in raised.value.sentence
