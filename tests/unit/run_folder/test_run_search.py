"""Runs are found however deep, in zips too, and each of them once."""

import zipfile
from pathlib import Path

import pytest

from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.run_folder.run_folder import find_runs


def run(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("{}")
    return folder


def test_runs_are_found_at_any_depth_and_in_zips(tmp_path: Path) -> None:
    """Not inside a run, not through links, not in zips of something else; a zip that is broken is somebody's to tell."""
    deep = run(tmp_path / "2026/03/night")
    run(deep / "inner")
    shallow = run(tmp_path / "b")
    (tmp_path / "latest").symlink_to(deep)
    for name, member in {"run.zip": "x/run.json", "other.zip": "notes.txt"}.items():
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(member, "{}")
    (tmp_path / "broken.zip").write_bytes(b"PK")
    found = {str(Path(path).relative_to(tmp_path)) for path in find_runs(str(tmp_path))}
    assert found == {"2026/03/night", "b", "run.zip", "broken.zip"}
    assert list(find_runs(str(shallow))) == [str(shallow)]
    assert list(find_runs(str(tmp_path / "run.zip"))) == [str(tmp_path / "run.zip")]


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    """With what could be given."""
    with pytest.raises(BadReuse, match="give folders of runs, zips of them, or history files"):
        list(find_runs(str(tmp_path / "nothing")))
