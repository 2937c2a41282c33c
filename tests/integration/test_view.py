"""`view`: the page over a folder of runs, in a real browser."""

import os
import stat
import tempfile
import time
import zipfile
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from click.testing import CliRunner, Result
from tests.browser import find_chromium, opened
from tests.fake_ports import seal
from tests.unit.report.fixed_report import many, single

from model_accuracy_eval.cli import main
from model_accuracy_eval.run_folder import runfile

FILTER = "document.querySelector('#run-filter input')"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A run, a zip of another, a link to the first, a broken one; the folder's name is no plain address."""
    outputs = tmp_path / "out puts#1"
    for name, report in (("a" * 32, many()), ("b" * 32, single())):
        folder = outputs / name
        folder.mkdir(parents=True)
        (folder / "run.json").write_bytes(runfile.finished(report, ()))
        (folder / "report.html").write_bytes(f"<p>page of {name[0]}</p>".encode())
        seal(folder)
    with zipfile.ZipFile(outputs / "kept.zip", "w") as archive:
        for file in sorted((outputs / ("b" * 32)).iterdir()):
            archive.write(file, file.name)
            file.unlink()
    (outputs / ("b" * 32)).rmdir()
    (outputs / "latest").symlink_to("a" * 32)
    (outputs / "broken").mkdir()
    (outputs / "broken" / "run.json").write_bytes(b'{"schema": 7}')
    return outputs


def view(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["view", "--no-browser", *arguments])


def test_pages_of_yesterday_are_removed(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of today may still be shown."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    old, new = (tmp_path / f"model-accuracy-eval-view-{name}" for name in ("old", "new"))
    for place, age in ((old, 2 * 86_400), (new, 60)):
        place.mkdir()
        os.utime(place, (time.time() - age,) * 2)
    assert view(str(runs)).exit_code == 0
    assert (old.exists(), new.exists(), len([*tmp_path.glob("model-accuracy-eval-view-*")])) == (False, True, 2)


def address(done: Result) -> str:
    assert done.exit_code == 0, done.output
    assert "Left out: " in done.stderr
    return done.stdout.split(": ", 1)[1].strip()


def test_every_run_is_listed_found_and_opened(runs: Path, tmp_path: Path) -> None:
    """Once each; what cannot be read is named; words filter; a click opens a run's page, out of a zip too."""
    before = sorted(runs.rglob("*"))
    page = address(view(str(runs)))
    assert sorted(runs.rglob("*")) == before
    assert stat.S_IMODE(Path(unquote(urlsplit(page).path)).parent.stat().st_mode) == 0o700
    with opened(find_chromium(), tmp_path) as tab:
        tab.open(page)
        tab.wait("document.querySelectorAll('#runs tbody tr').length === 2")
        text = tab.get("document.body.innerText")
        assert "my-model@1.0" in text
        assert "Left out" in text
        assert "broken" in text
        tab.get(f"({FILTER}.value = 'kept.zip', {FILTER}.dispatchEvent(new Event('input')))")
        assert tab.get("document.querySelector('#run-filter [role=status]').textContent") == "1 of 2 runs"
        links = tab.get("[...document.querySelectorAll('#runs tbody a')].map((link) => link.href)")
        shown = set()
        for link in links:
            tab.open(link)
            tab.wait("document.querySelector('p') && document.readyState === 'complete'")
            shown.add(tab.get("document.body.innerText"))
        assert shown == {"page of a", "page of b"}
        assert tab.troubles() == []


def test_a_folder_that_is_not_there_is_named() -> None:
    """With the exit code of something that cannot be read."""
    done = view("nowhere")
    assert done.exit_code != 0
    assert "There is no 'nowhere'" in done.output
