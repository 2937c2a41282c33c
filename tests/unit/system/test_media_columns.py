"""Pictures in rows of texts: data URIs, and columns that a task names."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from tests.pictures import png

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.hubs.file_hub import FileHub
from model_accuracy_eval.records import DataFile, Media
from model_accuracy_eval.tasks import rows

CODED = base64.b64encode(png(3)).decode()
URI = f"data:image/png;base64,{CODED}"


def read(folder: Path, value: Any, *pictures: str) -> Any:
    (folder / "a.jsonl").write_text(json.dumps({"q": "see data:image/png", "image": value}) + "\n")
    file = DataFile(name="a.jsonl", pictures=pictures)
    hub = FileHub({"MODEL_ACCURACY_EVAL_CACHE": str(folder)})
    (row,) = rows.read(file, ("q",), str(folder), hub, None)  # type: ignore[arg-type]
    assert row["q"] == "see data:image/png"
    return row["image"]


def test_a_data_uri_is_a_picture_wherever_it_stands(tmp_path: Path) -> None:
    """In lists and objects, too; the format is that of its bytes."""
    wanted = Media(kind="image", format="png", sha256=hashlib.sha256(png(3)).hexdigest(), size=len(png(3)), url=URI)
    assert read(tmp_path, URI) == wanted
    assert read(tmp_path, URI.replace("png", "jpeg", 1)) == wanted
    assert read(tmp_path, [{"url": URI}]) == [{"url": wanted}]


def test_paths_beside_the_file_and_addresses(tmp_path: Path) -> None:
    """In the columns that the task names; elsewhere they are texts."""
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "3.png").write_bytes(png(3))
    found = read(tmp_path, ["pictures/3.png", None], "image")
    assert found[1] is None
    assert (found[0].format, found[0].size, found[0].name) == ("png", len(png(3)), "pictures/3.png")
    assert found[0].place.file == str(tmp_path / "pictures" / "3.png")
    assert read(tmp_path, "pictures/3.png") == "pictures/3.png"
    kinds = [
        read(tmp_path, f"https://example.org/{name}", "image").kind for name in ("a.png", "b?c=d", "e.MP3", "f.mp4")
    ]
    assert kinds == ["image", "image", "audio", "video"]
    long = base64.b64encode(png(3, padding=500)).decode()
    assert read(tmp_path, long, "image").size == len(png(3, padding=500))


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("data:image/png;base64,AAAA", r"row 1, 'image': the 3 bytes of the data URI are in none of the formats"),
        ("data:image/png;base64,A", r"row 1, 'image': this is no Base64"),
        ("missing.png", r"row 1, 'image': the file .*missing\.png cannot be read: No such file"),
        (7, "row 1, 'image': a picture is a path, an address, a data URI or Base64, but this is 7"),
    ],
)
def test_what_is_none_is_refused(tmp_path: Path, value: Any, sentence: str) -> None:
    """With the row and the column."""
    with pytest.raises(BadData, match=sentence):
        read(tmp_path, value, "image")
