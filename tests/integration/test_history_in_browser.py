"""The page of a history in a real Chromium: it is drawn, runs nothing, loads nothing, and fits a phone."""

from collections.abc import Iterator

import pytest
from tests.browser import Tab, find_chromium, opened
from tests.unit.report.history_samples import fallen_after, past
from tests.unit.report.test_history_page import HOSTILE, with_band

from model_accuracy_eval.report import history, history_page


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    folder = tmp_path_factory.mktemp("history")
    hostile = [past(day, [1, 0], dataset=HOSTILE, model=HOSTILE, run_id=f"9{day:031x}") for day in range(1, 4)]
    lines = [*map(with_band, fallen_after(12, 17)), *hostile]
    (folder / "history.html").write_bytes(history_page.as_html(history.history(lines)))
    with opened(find_chromium(), tmp_path_factory.mktemp("browser")) as tab:
        tab.open((folder / "history.html").as_uri())
        tab.wait("document.querySelectorAll('svg.trend').length === 2")
        yield tab


def test_texts_stay_texts_and_nothing_is_asked_for(tab: Tab) -> None:
    """The hostile name is read, not run."""
    assert tab.get("document.title") == "1 regressed · history · model accuracy"
    assert HOSTILE in str(tab.get("document.querySelector('#s2 h2').textContent"))
    assert tab.get("document.scripts.length") == 0
    asked = [
        event["params"]["request"]["url"] for event in tab.events if event.get("method") == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith(("file:", "about:", "data:"))] == []


def test_the_drawing_shows_line_band_and_fall(tab: Tab) -> None:
    """Each with a size, inside of the picture."""
    for name in ("polyline", "polygon.band", "rect.fallen", "line.gate"):
        box = f"document.querySelector('#s1 {name}').getBoundingClientRect()"
        assert tab.get(f"{box}.width > 0"), name
        assert tab.get(f"{box}.right <= document.documentElement.clientWidth"), name
    assert "run 30000000" in str(tab.get("document.querySelector('#s1 circle title').textContent"))


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_sticks_out(tab: Tab, width: int) -> None:
    """On a phone and on a desk; tables scroll inside of their frames."""
    tab.look(width=width, phone=width < 500)
    assert tab.wait("document.documentElement.scrollWidth <= innerWidth")


def test_it_is_dark_where_that_is_wished(tab: Tab) -> None:
    """Text and ground change together."""
    colours = "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color].join()"
    light = tab.get(colours)
    tab.look(dark=True)
    dark = tab.get(colours)
    assert light != dark
