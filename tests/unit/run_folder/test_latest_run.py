"""`latest` names the run that began last, and never costs a run anything."""

from pathlib import Path

import pytest

from model_accuracy_eval.run_folder import run_folder


def made(folder: Path, name: str) -> Path:
    run = folder / name
    run.mkdir()
    (run / "run.json").write_text(name)
    return run


def test_it_is_the_last_run(tmp_path: Path) -> None:
    """The link moves on, stays relative, so that the folder can be moved, and leaves nothing else behind."""
    for name in ("a" * 32, "b" * 32):
        run_folder.point_to(str(made(tmp_path, name)))
    assert (tmp_path / "latest/run.json").read_text() == "b" * 32
    assert (tmp_path / "latest").readlink() == Path("b" * 32)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a" * 32, "b" * 32, "latest"]


def test_a_link_that_leads_nowhere_is_replaced(tmp_path: Path) -> None:
    """The run that it named was deleted."""
    (tmp_path / "latest").symlink_to("gone")
    run_folder.point_to(str(made(tmp_path, "a" * 32)))
    assert (tmp_path / "latest/run.json").exists()


def test_a_folder_of_that_name_stays(tmp_path: Path) -> None:
    """It is somebody's."""
    (tmp_path / "latest").mkdir()
    run_folder.point_to(str(made(tmp_path, "a" * 32)))
    assert list((tmp_path / "latest").iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a" * 32, "latest"]


def test_a_folder_that_nobody_may_write_is_no_reason_to_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run goes on without the name."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "symlink_to", refuse)
    run = tmp_path / ("a" * 32)
    run.mkdir()
    run_folder.point_to(str(run))
    assert [path.name for path in tmp_path.iterdir()] == ["a" * 32]
