"""The report page in a real Chromium."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.unit.reporting.test_page import HOSTILE, MIXED, QUESTIONS, Page, dataset_result, problem_result, report

from model_accuracy_eval.reporting import page

OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--virtual-time-budget=5000",
)  # fmt: skip


@pytest.fixture
def chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        assert not os.environ.get("CI"), "CI has no Chromium"
        pytest.skip("no Chromium on this machine")
    return found


def browse(chromium: str, folder: Path, html: bytes, *options: str, at: str = "") -> str:
    """What the browser prints of the page, after its script ran."""
    file = folder / "report.html"
    file.write_bytes(html)
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [chromium, *OPTIONS, profile, *options, f"{file.as_uri()}{at}"]
    return subprocess.run(command, check=True, capture_output=True, timeout=60, text=True).stdout


def shown(dom: str) -> list[str | None]:
    rows = [row for row in Page(dom.encode()).all("tr") if "data-state" in row]
    return [row["data-state"] for row in rows if "hidden" not in row]


def test_filter_from_the_address(chromium: str, tmp_path: Path) -> None:
    """`#show=wrong` in the address shows the wrong problems alone, and the status says how many there are."""
    dom = browse(
        chromium, tmp_path, page.as_html(report(dataset_result(MIXED)), QUESTIONS), "--dump-dom", at="#show=wrong"
    )
    assert shown(dom) == ["wrong", "wrong"]
    assert "2 of 4 shown" in Page(dom.encode()).text


def test_search_from_the_address(chromium: str, tmp_path: Path) -> None:
    """`#find=…` finds problems by the words of their question."""
    dom = browse(
        chromium, tmp_path, page.as_html(report(dataset_result(MIXED)), QUESTIONS), "--dump-dom", at="#find=2+%2B+2"
    )
    assert shown(dom) == ["right"]


def test_hostile_text_does_nothing(chromium: str, tmp_path: Path) -> None:
    """Scripts in questions, answers and notes are shown as text and run nowhere; the filter still works."""
    strange = dataset_result(
        (problem_result(0, ("right", "wrong"), gold=HOSTILE, wrong=HOSTILE[:60]),), notes=(HOSTILE,)
    )
    dom = browse(
        chromium, tmp_path, page.as_html(report(strange, detail=HOSTILE), {"sums": {0: HOSTILE}}), "--dump-dom"
    )
    assert "<title>Passed" in dom
    assert Page(dom.encode()).all("img") == []
    assert "1 of 1 shown" in dom


def test_policy_stops_scripts_that_are_not_ours(chromium: str, tmp_path: Path) -> None:
    """Even if something got past the escaping, the page's policy keeps it from running."""
    html = page.as_html(report(dataset_result(MIXED)), QUESTIONS)
    planted = b"<script>document.title='owned'</script><img src=\"data:,\" onerror=\"document.title='owned'\"></main>"
    dom = browse(chromium, tmp_path, html.replace(b"</main>", planted), "--dump-dom")
    assert "<title>Passed" in dom
    assert "4 of 4 shown" in dom


@pytest.mark.parametrize("width", [1280, 600])
def test_nothing_sticks_out(chromium: str, tmp_path: Path, width: int) -> None:
    """Long words without a blank do not make the page wider than the window."""
    long = "x" * 1500
    wide = dataset_result((problem_result(0, ("right", "wrong"), gold=long, wrong=long[:900]),), notes=(long,))
    html = page.as_html(report(wide, detail=long), {"sums": {0: long}})
    # The page's own policy is what keeps this probe from running in it, so it is taken out first.
    html = html.replace(b"Content-Security-Policy", b"x-none")
    probe = b"<script>document.title=document.documentElement.scrollWidth+'/'+innerWidth</script></body>"
    dom = browse(chromium, tmp_path, html.replace(b"</body>", probe), "--dump-dom", f"--window-size={width},900")
    needed, there = dom.split("<title>")[1].split("</title>")[0].split("/")
    assert int(needed) <= int(there)


def test_screenshot_has_content(chromium: str, tmp_path: Path) -> None:
    """The page draws: its picture is no blank sheet."""
    picture = tmp_path / "page.png"
    html = page.as_html(report(dataset_result(MIXED)), QUESTIONS)
    browse(chromium, tmp_path, html, f"--screenshot={picture}", "--window-size=1280,900")
    assert picture.stat().st_size > 20_000
