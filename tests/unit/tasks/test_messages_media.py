"""Pictures of rows in messages: where templates put them, what identifies the question, and what is refused."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.pictures import png, stored, write_table
from tests.small_task import small_task

from model_accuracy_eval.benchmarks.mmau import heard_questions
from model_accuracy_eval.benchmarks.prompt_parts import placed
from model_accuracy_eval.errors import BadData
from model_accuracy_eval.hubs.file_hub import FileHub
from model_accuracy_eval.records import DataFile, DataRow, FewShot, Media, PreparedDataset, Prompt, TableFile, TaskSpec
from model_accuracy_eval.tasks import preparation, rows
from model_accuracy_eval.tasks.importers import own_questions

PARQUET = DataFile(name="shades.parquet")
TASK = small_task("shades", "{{ image }}\n{{ question }}", "{{ answer }}", data=PARQUET, fields=("question", "image"))
ROWS = [{"question": f"How dark is {shade}?", "answer": str(shade), "image": stored(png(shade))} for shade in range(40)]


def built(folder: Path, task: TaskSpec, limit: int | None = None) -> PreparedDataset:
    def read(file: DataFile, fields: tuple[str, ...]) -> list[DataRow]:
        return list(rows.read(file, fields, str(folder), FileHub({"MODEL_ACCURACY_EVAL_CACHE": str(folder)}), None))  # type: ignore[arg-type]

    return preparation.assemble(task, read, first=limit)


def kinds(parts: list[str | Media]) -> list[str]:
    return [part if isinstance(part, str) else part.format for part in parts]


def test_a_picture_is_a_part_of_the_message(tmp_path: Path) -> None:
    """Where the template names it; readers see what it is."""
    write_table(tmp_path / "shades.parquet", ROWS)
    (message,) = built(tmp_path, TASK).problems[33].messages
    assert kinds(message.parts) == ["png", "\nHow dark is 33?"]
    assert message.words == "\nHow dark is 33?"
    assert message.shown.startswith("[picture: png, ")
    assert "\ufffc" not in message.shown
    assert message.media[0].place is not None
    assert message.media[0].place.row == 33


def test_the_question_is_identified_by_the_picture_and_not_by_its_place(tmp_path: Path) -> None:
    """Another picture is another question; the same one in another folder is the same."""
    task = replace(TASK, extras=("*",))
    write_table(tmp_path / "one" / "shades.parquet", ROWS)
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    write_table(tmp_path / "three" / "shades.parquet", [*ROWS[:-1], {**ROWS[-1], "image": stored(png(77))}])
    one, two, three = (built(tmp_path / folder, task) for folder in ("one", "two", "three"))
    assert (one.version, one.questions) == (two.version, two.questions)
    assert one.questions != three.questions


def test_solved_examples_have_their_pictures(tmp_path: Path) -> None:
    """As turns, and in one text."""
    write_table(tmp_path / "shades.parquet", ROWS)
    for turns, wanted in ((True, [1, 0, 1, 0, 1]), (False, [3])):
        prompt = replace(TASK.prompt, fewshot=FewShot(count=2, turns=turns))
        problem = built(tmp_path, replace(TASK, prompt=prompt), limit=1).problems[0]
        assert [len(message.media) for message in problem.messages] == wanted


def test_pictures_stand_where_the_text_names_them() -> None:
    """Those that it does not name stand before it."""
    first, second, third = (Media(kind="image", format="png", sha256=letter * 64) for letter in "abc")
    assert placed("See <image 2> and <image 1>.", [first, second]) == f"See {second} and {first}."
    assert placed("See <image 3>.", [first, None, third]) == f"{first}\nSee {third}."
    with pytest.raises(ValueError, match="names the picture 2, but the row has none of that number"):
        placed("See <image 2>.", [first, None])


BAD: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "unknown format": ({"image": stored(b"II*\0tiff", "a.tiff")}, {}, r"row 1: a picture \(a\.tiff\) of 8 bytes is in none of the formats"),
    "only a name": ({"image": stored(None, "a.png")}, {}, "row 1: the picture 'a.png' is not in the file"),  # type: ignore[arg-type]
    "in a system message": ({}, {"prompt": Prompt(system="{{ image }}", question="?")}, "row 1: a message of system shows"),
    "in a text to be continued": ({}, {"mode": "text"}, "row 1: its text shows a picture, but only conversations can"),
    "by log-likelihood": ({}, {"kind": "target"}, "row 1: its text shows a picture"),
}  # fmt: skip


@pytest.mark.parametrize(("row", "fields", "sentence"), BAD.values(), ids=BAD)
def test_what_cannot_be_shown_is_refused(
    tmp_path: Path, row: dict[str, Any], fields: dict[str, Any], sentence: str
) -> None:
    """With the row."""
    write_table(tmp_path / "shades.parquet", [{**ROWS[0], **row}])
    with pytest.raises(BadData, match=sentence):
        built(tmp_path, replace(TASK, **fields))


def test_pictures_in_own_questions_are_not_passed_over(tmp_path: Path) -> None:
    """Whatever their column is called: asked as text, the question would be another."""
    rows_ = [{"question": f"What is {n}?", "answer": "x", "exhibit": stored(png(n))} for n in range(3)]
    path = str(write_table(tmp_path / "own.parquet", rows_))
    with pytest.raises(BadData, match=r"the column 'exhibit' holds pictures or sound.* has \{\{ exhibit \}\}"):
        own_questions.from_file(path, TableFile(path=path))


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({"choices": "[", "answer": "a"}, "row 1: 'choices' is no JSON"),
        ({"choices": '["a", "b"]', "answer": "c"}, "row 1: the right answer 'c' is 0 of the 2 options"),
        ({"choices": ["a", "A "], "answer": "a"}, "row 1: the right answer 'a' is 2 of the 2 options"),
    ],
)
def test_options_without_the_right_answer(row: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadData, match=sentence):
        heard_questions([row])
