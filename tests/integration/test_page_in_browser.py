"""The report page in a real Chromium: every reply is one click away, whatever it says."""

import base64
import hashlib
import json
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from msgspec.structs import replace
from tests.browser import Tab, find_chromium, opened
from tests.pictures import png
from tests.sounds import wav
from tests.unit.report.test_comparison_page import compared
from tests.unit.report.test_languages import left_in_english
from tests.unit.report.test_page import HOSTILE, MIXED, QUESTIONS, dataset_result, problem_result, report
from tests.unit.report.test_page_replies import answer, failure

from model_accuracy_eval.records import DatasetResult, Media, MediaKind, VerdictReason
from model_accuracy_eval.records.code import Execution, Program
from model_accuracy_eval.report import languages, page, page_replies
from model_accuracy_eval.report.page_replies import SampleDocument
from model_accuracy_eval.run_folder import predictions

STATUS = "document.querySelector('#explorer [role=status]').textContent"
PANEL = "document.querySelector('dialog')"
ROWS = "[...document.querySelectorAll('#explorer tbody tr')].map(row => Number(row.dataset.id))"


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with opened(find_chromium(), tmp_path_factory.mktemp("browser")) as tab:
        yield tab


@pytest.fixture
def fresh(tab: Tab) -> Tab:
    """Nothing is left of the test before."""
    tab.call("Page.navigate", url="about:blank")
    tab.get("1")
    tab.events.clear()
    tab.look()
    return tab


LINES = [answer(0, 0, "It is 4, says the owl."), answer(0, 1, "Surely 4."), answer(1, 0, "5"), answer(1, 1, "5 again"),
         answer(2, 0, "4"), answer(2, 1, "five apples", reasoning="Let me think about pears."), answer(3, 1, "5")]  # fmt: skip
FAILED = [failure(3, 0, "HTTP 503: overloaded")]


def shown(
    tab: Tab, folder: Path, result: DatasetResult, lines: list[bytes], at: str = "", questions: Any = None
) -> None:
    packed = {result.dataset: page_replies.pack(result, lines, FAILED, [])}
    file = folder / "report.html"
    file.write_bytes(page.as_html(report(result), QUESTIONS if questions is None else questions, packed))
    tab.open(f"{file.as_uri()}{at}")
    tab.wait("!document.getElementById('explorer').hidden")


def test_filters_count_all_problems(fresh: Tab, tmp_path: Path) -> None:
    """The numbers are those of the whole dataset, although the list shows fifty rows at first."""
    kinds: tuple[tuple[VerdictReason, ...], ...] = (("right", "right"), ("right", "wrong"), ("wrong", "wrong"))
    results = tuple(problem_result(number, why) for number, why in enumerate(islice(cycle(kinds), 1201)))
    shown(fresh, tmp_path, dataset_result(results), [], "#show=wrong")
    assert fresh.wait(f"{STATUS}.startsWith('Wrong') && {STATUS}") == "Wrong: 400 of 1,201"
    names = "[...document.querySelectorAll('#explorer .choices button')].filter(b => !b.hidden).map(b => b.textContent)"
    assert fresh.get(names) == ["All 1,201", "Unstable 400", "Wrong 400", "Right 401"]
    assert fresh.get(f"{ROWS}.length") == 50
    fresh.click(".more")
    assert fresh.get(f"{ROWS}.length") == 100
    fresh.click("#explorer button[value=all]")
    assert fresh.get(STATUS) == "All: 1,201 of 1,201"
    assert fresh.get("location.hash") == ""


def test_a_click_opens_every_reply(fresh: Tab, tmp_path: Path) -> None:
    """All samples at once: text, reasoning, what was read, the verdict, question, right answer and times."""
    shown(fresh, tmp_path, dataset_result(MIXED), LINES)
    fresh.click("#explorer tr[data-id='2'] a")
    fresh.wait(f"{PANEL}.open")
    first, second = fresh.get(f"[...{PANEL}.querySelectorAll('article')].map(sample => sample.innerText)")
    asked = fresh.get(f"{PANEL}.querySelector('.asked').innerText")
    assert "How many?" in asked
    assert "0 + 4?" not in asked  # the journal's own prompt, not the page's teaser
    for text in ("Right", "Read from the reply: 4", "first text after", "250 ms"):
        assert text in first
    for text in ("five apples", "Let me think about pears.", "where 4 is right"):
        assert text in second
    assert fresh.get("location.hash") == "#sums/2/0"
    fresh.press("ArrowRight")
    assert fresh.get("location.hash") == "#sums/2/1"
    chosen = f"{PANEL}.querySelector('.chosen a').getAttribute('href')"
    assert fresh.get(chosen) == "#sums/2/1"
    assert fresh.troubles() == []


def test_the_answer_is_marked_where_it_was_read(fresh: Tab, tmp_path: Path) -> None:
    """The last place with it as words of their own; problems are linked by their own ids, where these are single."""
    results = (
        replace(problem_result(0, ("right",)), key=("sum/4",)),
        replace(problem_result(1, ("right",)), key=("0",)),
    )
    lines = [answer(0, 0, "4 + 14.4? It is 4, says (14) the owl."), answer(1, 0, "4")]
    shown(fresh, tmp_path, dataset_result(results), lines, "#sums/0/0")
    fresh.wait(f"{PANEL}.open")
    assert fresh.get("[...document.querySelectorAll('dialog mark')].map(mark => mark.previousSibling.data)") == [
        "4 + 14.4? It is "
    ]
    assert fresh.get("location.hash") == "#sums/sum%2F4/0"
    links = "[...document.querySelectorAll('#explorer tbody a')].map(link => link.getAttribute('href'))"
    assert sorted(fresh.get(links)) == ["#sums/1/0", "#sums/sum%2F4/0"]
    shown(fresh, tmp_path, dataset_result(results), lines, "#sums/sum%2F4/0")
    assert fresh.wait(f"{PANEL}.open && {PANEL}.innerText").startswith("sums · 0 · sum/4")
    assert fresh.troubles() == []


def _kept(kind: MediaKind, form: str, content: bytes, size: int) -> Media:
    address = f"data:{kind}/{form};base64,{base64.b64encode(content).decode()}"
    sha256 = hashlib.sha256(content).hexdigest()
    return Media(kind=kind, format=form, sha256=sha256, size=size, name=f"m/{kind}{size}", url=address)


def test_sounds_and_pictures_of_a_reply_are_played_and_shown(fresh: Tab, tmp_path: Path) -> None:
    """Small ones lie in the page, whose policy lets them play; a large one is named with its file."""
    media = [_kept("audio", "wav", wav(3), 9), _kept("image", "png", png(7), 9), _kept("audio", "wav", b"", 10**6)]
    line = msgspec.json.decode(answer(0, 0, "It is 4."))
    line["media"] = [msgspec.to_builtins(one) for one in media]
    packed = page_replies.pack(
        dataset_result((problem_result(0, ("right",)),)), [msgspec.json.encode(line)], [], [],
        predictions.lines([], media, lambda one: b""),
    )  # fmt: skip
    file = tmp_path / "report.html"
    result = dataset_result((problem_result(0, ("right",)),))
    file.write_bytes(page.as_html(report(result), QUESTIONS, {result.dataset: packed}))
    fresh.open(f"{file.as_uri()}#sums/0/0")
    fresh.wait(f"{PANEL}.open && {PANEL}.querySelector('audio')?.duration > 0")
    assert fresh.get("document.querySelector('dialog img').naturalWidth") > 0
    assert "Sound, kept as m/audio1000000" in fresh.get(f"{PANEL}.innerText")
    assert fresh.troubles() == []


def test_long_replies_leave_room_for_the_others(fresh: Tab, tmp_path: Path) -> None:
    """Each begins in a box that a click opens; a link opens its own, a search those with the words, paper all."""
    long = "word\n" * 500
    lines = [answer(0, index, f"{long}the end of {index}", reasoning="Thought. " * 300) for index in range(40)]
    result = dataset_result((problem_result(0, ("wrong",) * 40, wrong="x"),))
    clipped = f"[...{PANEL}.querySelectorAll('article')].map(sample => !!sample.querySelector('.clipped'))"
    shown(fresh, tmp_path, result, lines)
    fresh.click("#explorer tbody a")
    fresh.wait(f"{PANEL}.open")
    assert fresh.get(clipped) == [True] * 30
    fresh.click("dialog article .unclip")
    assert fresh.get(clipped) == [False] + [True] * 29
    fresh.click("dialog .more")
    assert fresh.get(clipped) == [False] + [True] * 39
    shown(fresh, tmp_path, result, lines, "#sums/0/35")
    fresh.wait(f"{PANEL}.open")
    assert fresh.get(clipped) == [True] * 35 + [False]
    top = "document.querySelector('article.chosen').getBoundingClientRect().top"
    fresh.wait(f"{top} > 40 && {top} < 300")
    shown(fresh, tmp_path, result, lines, "#find=end+of+7")
    fresh.wait(f"{STATUS} === 'All: 1 of 1 found'")
    fresh.click("#explorer tbody a")
    fresh.wait("location.hash === '#sums/0/7'")
    assert fresh.get(clipped) == [index != 7 for index in range(30)]
    fresh.get("dispatchEvent(new Event('beforeprint'))")
    assert fresh.get(clipped) == [index != 7 for index in range(40)]
    fresh.call("Emulation.setEmulatedMedia", media="print")
    tall = "[...document.querySelectorAll('article pre.reply')].every(text => text.clientHeight > 4000)"
    assert fresh.get(tall) is True
    assert fresh.get(f"[...{PANEL}.querySelectorAll('details')].every(one => one.open)") is True
    fresh.call("Emulation.setEmulatedMedia", media="")


def test_back_leads_to_the_list_as_it_was(fresh: Tab, tmp_path: Path) -> None:
    """The browser's own button closes the problem, and the filter stands; forward opens it again."""
    shown(fresh, tmp_path, dataset_result(MIXED), LINES, "#show=wrong")
    fresh.wait(f"{STATUS} === 'Wrong: 2 of 4'")
    fresh.click("#explorer tbody a")
    fresh.wait(f"{PANEL}.open")
    fresh.get("history.back()")
    fresh.wait(f"!{PANEL}.open && location.hash === '#show=wrong'")
    assert fresh.wait(f"{STATUS} === 'Wrong: 2 of 4'")
    fresh.get("history.forward()")
    fresh.wait(f"{PANEL}.open")


def test_a_part_shows_its_problems(fresh: Tab, tmp_path: Path) -> None:
    """A click on its name filters the list, beside the other filters; the address has it, and a click ends it."""
    names = ("physics", "a & b=c/#<i>", "law")
    whys: tuple[tuple[VerdictReason, ...], ...] = (("right", "right"), ("wrong", "wrong"))
    results = tuple(
        replace(problem_result(number, whys[number % 2]), category=names[number % 3]) for number in range(12)
    )
    shown(fresh, tmp_path, dataset_result(results), [])
    assert fresh.get("document.querySelector('.filter .part').checkVisibility()") is False
    awkward = "[...document.querySelectorAll('#parts th a')].find(link => link.textContent.startsWith('a &'))"
    fresh.get(f"{awkward}.setAttribute('id', 'awkward')")
    fresh.click("#awkward")
    fresh.wait(f"{STATUS} === 'All: 4 of 4'")
    assert sorted(fresh.get(ROWS)) == [1, 4, 7, 10]
    assert fresh.get("document.querySelector('.filter .part').textContent") == "a & b=c/#<i> ✕"
    fresh.wait("document.getElementById('problems').getBoundingClientRect().top < 200")
    fresh.click("#explorer button[value=wrong]")
    assert sorted(fresh.get(ROWS)) == [1, 7]
    address = fresh.get("location.hash")
    fresh.click(".filter .part")
    assert (fresh.get(STATUS), fresh.get("location.hash")) == ("Wrong: 6 of 12", "#show=wrong&in=sums")
    shown(fresh, tmp_path, dataset_result(results), [], address)
    assert fresh.wait(f"{STATUS}.startsWith('Wrong') && {STATUS}") == "Wrong: 2 of 4"
    shown(fresh, tmp_path, dataset_result(results), [], "#in=sums&part=nowhere")
    assert fresh.wait(f"{STATUS}.startsWith('All') && {STATUS}") == "All: 12 of 12"
    assert fresh.troubles() == []


def test_deep_link_opens_the_sample(fresh: Tab, tmp_path: Path) -> None:
    """`#dataset/problem/sample` shows exactly that one, a failed one with its error; Esc leads to the list."""
    shown(fresh, tmp_path, dataset_result(MIXED), LINES, "#sums/3/0")
    fresh.wait(f"{PANEL}.open")
    text = fresh.get(f"{PANEL}.innerText")
    assert "The request failed" in text
    assert "HTTP 503: overloaded" in text
    fresh.press("Escape")
    fresh.wait(f"!{PANEL}.open && location.hash === ''")
    assert fresh.get("document.querySelector('tr.marked').dataset.id") == "3"


def test_a_failed_program_says_why(fresh: Tab, tmp_path: Path) -> None:
    """The error and the output; long texts are folded, none is lost."""
    execution = Execution(
        verdict="failed", detail="AssertionError: no", output="printed before", isolation="container", integrity="split",
        wall_seconds=0.25,
    )  # fmt: skip
    result = dataset_result((problem_result(0, ("wrong", "wrong"), wrong="def add(a, b):\n    return a - b"),))
    found = predictions.line("key", 0, 0, Program(code="a", tests="b"), execution)
    lines = [answer(0, index, "```\ndef add(a, b):\n    return a - b\n```") for index in range(2)]
    packed = {"sums": page_replies.pack(result, lines, [], [found])}
    (tmp_path / "report.html").write_bytes(page.as_html(report(result), {}, packed))
    fresh.open(f"{(tmp_path / 'report.html').as_uri()}#sums/0/1")
    fresh.wait(f"{PANEL}.open")
    text = fresh.get(f"{PANEL}.textContent")
    for words in ("AssertionError: no", "printed before", "250 ms", "What was read from the reply, 31 characters"):
        assert words in text
    assert fresh.troubles() == []


def test_search_reads_every_text(fresh: Tab, tmp_path: Path) -> None:
    """Words of a reply or of its reasoning are found, and marked where they stand."""
    shown(fresh, tmp_path, dataset_result(MIXED), LINES)
    fresh.press("/")
    assert fresh.get("document.activeElement.type") == "search"
    fresh.write("About  PEARS")
    fresh.wait(f"{STATUS} === 'All: 1 of 4 found'")
    assert fresh.get(ROWS) == [2]
    assert fresh.get("location.hash") == "#find=About++PEARS"
    fresh.click("#explorer tbody a")
    fresh.wait("location.hash === '#sums/2/1'")
    assert fresh.get("CSS.highlights.get('found').size") == 1
    fresh.press("Escape")
    shown(fresh, tmp_path, dataset_result(MIXED), LINES, "#find=owl")
    fresh.wait(f"{STATUS} === 'All: 1 of 4 found'")
    assert fresh.get(ROWS) == [0]


def test_keys_walk_through_the_list(fresh: Tab, tmp_path: Path) -> None:
    """j and k move in the list and from problem to problem; at the ends they stay."""
    shown(fresh, tmp_path, dataset_result(MIXED), LINES)
    order = fresh.get(ROWS)
    fresh.press("j")
    fresh.press("j")
    assert fresh.get("Number(document.querySelector('tr.marked').dataset.id)") == order[1]
    fresh.press("Enter")
    fresh.click("#explorer tr.marked a")
    fresh.wait(f"{PANEL}.open")
    for key, place in (("j", 2), ("j", 3), ("j", 3), ("k", 2)):
        fresh.press(key)
        fresh.wait(f"location.hash === '#sums/{order[place]}/0'")


def test_hostile_text_does_nothing(fresh: Tab, tmp_path: Path) -> None:
    """Scripts in questions, answers, replies and names are shown as text and run nowhere."""
    strange = dataset_result(
        (msgspec.structs.replace(problem_result(0, ("right", "wrong"), gold=HOSTILE, wrong=HOSTILE[:60]), key=(HOSTILE,)),),
        notes=(HOSTILE,),
    )  # fmt: skip
    journaled = HOSTILE.replace("\ud800", "?")
    lines = [answer(0, index, journaled, reasoning=journaled) for index in range(2)]
    shown(fresh, tmp_path, strange, lines, "#sums/0/0", {"sums": {0: HOSTILE}})
    fresh.wait(f"{PANEL}.open")
    assert fresh.get("document.title").startswith("Passed")
    assert fresh.get("document.querySelectorAll('img').length") == 0
    assert "<script>document.title='owned'</script>" in fresh.get(f"{PANEL}.innerText")
    assert fresh.troubles() == []


ESSAY = r"""# Solution

1. So **$x^{10}$** is \(\frac{1}{2}\), and `$5` is not $5 or $6.

| n | $n^2$ |
|---|---|
| 2 | 4 |

\[ \sqrt[3]{27} =
\boxed{3} \]

- 2 ^ * 3 \unknown $\unknown$"""
DRAWN = (
    '<p class="heading">Solution</p><ol start="1"><li><p>So <strong><math><mrow><msup><mi>x</mi>',
    "<math><mrow><mfrac><mrow><mn>1</mn></mrow><mrow><mn>2</mn></mrow></mfrac></mrow></math>",
    "and <code>$5</code> is not $5 or $6.",
    "<td>2</td><td>4</td>",
    '<math display="block"><mrow><mroot><mrow><mn>27</mn></mrow><mrow><mn>3</mn></mrow></mroot><mo>=</mo><mrow class="boxed">',
    "<ul><li><p>2 ^ * 3 \\unknown <math><mrow><mtext>\\unknown</mtext></mrow></math></p></li></ul>",
)
ATTACK = r"""<script>document.title='owned'</script> **<img src=x onerror="document.title='owned'">** <b>bold</b>
[click](javascript:document.title='owned') ![seen](http://127.0.0.1:9/a.png) <a href="javascript:0">x</a>
$\text{<img src=x onerror=0>}$ $\constructor$ $<script>document.title='owned'</script>$ """


def test_markdown_and_formulas_are_drawn_on_request(fresh: Tab, tmp_path: Path) -> None:
    """By a key or a button, of every reply that is opened from then on; a second time, the text is as it was written."""
    lines = [answer(0, 0, ESSAY), answer(1, 0, "*4*")]
    results = (problem_result(0, ("right",)), problem_result(1, ("right",)))
    shown(fresh, tmp_path, dataset_result(results), lines, "#sums/0/0")
    fresh.wait(f"{PANEL}.open")
    as_written = f"{PANEL}.querySelector('pre.reply').innerHTML"
    before = fresh.get(as_written)
    assert fresh.get(f"{PANEL}.querySelectorAll('math').length") == 0
    fresh.press("m")
    drawn = fresh.get(as_written)
    for part in DRAWN:
        assert part in drawn
    fresh.press("j")
    fresh.wait(f"location.hash === '#sums/1/0' && {as_written} === '<p><em>4</em></p>'")
    fresh.click("dialog .dress")
    assert fresh.get(as_written) == '*<mark title="Read as the answer">4</mark>*'
    fresh.press("k")
    fresh.wait(f"location.hash === '#sums/0/0' && {as_written} === {json.dumps(before)}")
    assert fresh.troubles() == []


@pytest.mark.parametrize("hostile", [ATTACK, HOSTILE.replace("\ud800", "?"), f"${'{' * 9000}$ $" + "\\hat" * 900 + "$",
                                     "> " * 5000 + "x", "- " * 5000, "\\[" * 20_000, "**a " * 9000])  # fmt: skip
def test_hostile_text_does_nothing_where_it_is_drawn(hostile: str, fresh: Tab, tmp_path: Path) -> None:
    """Nothing runs, loads, leads anywhere or is left out; nor is the tab busy with it for ever."""
    shown(fresh, tmp_path, dataset_result((problem_result(0, ("right",)),)), [answer(0, 0, hostile)], "#sums/0/0")
    fresh.wait(f"{PANEL}.open")
    fresh.press("m")
    fresh.wait(f"{PANEL}.querySelector('.dress').ariaPressed === 'true'")
    strange = ":is(a, img, script, iframe, style, [onerror], [href], [src])"
    assert fresh.get(f"{PANEL}.querySelectorAll('pre.drawn {strange}').length") == 0
    assert fresh.get("document.title").startswith("Passed")
    if hostile == ATTACK:
        assert "<script>document.title='owned'</script>" in fresh.get(f"{PANEL}.querySelector('pre.reply').textContent")
    assert fresh.troubles() == []


def test_policy_stops_scripts_that_are_not_ours(fresh: Tab, tmp_path: Path) -> None:
    """Even if something got past the escaping, the page's policy keeps it from running."""
    html = page.as_html(report(dataset_result(MIXED)), QUESTIONS)
    planted = b"<script>document.title='owned'</script><img src=\"data:,\" onerror=\"document.title='owned'\"></main>"
    (tmp_path / "report.html").write_bytes(html.replace(b"</main>", planted))
    fresh.open((tmp_path / "report.html").as_uri())
    fresh.wait("!document.getElementById('explorer').hidden")
    assert fresh.get("document.title").startswith("Passed")


@pytest.mark.parametrize("width", [1280, 600, 360])
def test_nothing_sticks_out(fresh: Tab, tmp_path: Path, width: int) -> None:
    """Long words without a blank make neither the page nor the panel wider than the window."""
    long = "x" * 1500
    wide = dataset_result((problem_result(0, ("right", "wrong"), gold=long, wrong=long[:900]),), notes=(long,))
    fresh.look(width=width)
    shown(fresh, tmp_path, wide, [answer(0, index, long, reasoning=long) for index in range(2)], "#sums/0/1")
    fresh.wait(f"{PANEL}.open")
    assert fresh.get("document.documentElement.scrollWidth <= innerWidth")
    assert fresh.get(f"{PANEL}.scrollWidth <= {PANEL}.clientWidth")


def test_replies_in_a_page_of_their_own(fresh: Tab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the replies are too many for one page, a click leads to the sample in the other."""
    monkeypatch.setattr(page, "LARGEST", 10)
    result = dataset_result(MIXED)
    packed = {"sums": page_replies.pack(result, LINES, FAILED, [])}
    (tmp_path / page.REPLIES_PAGE).write_bytes(page.replies_page(report(result), QUESTIONS, packed) or b"")
    shown(fresh, tmp_path, result, LINES)
    fresh.click("#explorer tr[data-id='0'] a")
    fresh.wait("location.pathname.endsWith('replies.html') && document.querySelector('dialog').open")
    assert "says the owl" in fresh.get(f"{PANEL}.innerText")


def test_a_phone_folds_what_few_read(fresh: Tab, tmp_path: Path) -> None:
    """Verdict, figures and problems are open; the others open by a tap or by the link that leads to them."""
    fresh.look(width=390, height=844, phone=True)
    shown(fresh, tmp_path, dataset_result(MIXED), LINES)
    folded = "[...document.querySelectorAll('.folded')].map(section => section.id)"
    assert fresh.get(folded) == ["samples", "reading", "spread", "speed", "run"]
    fresh.click("#samples .fold")
    fresh.click("a[href='#run']")
    fresh.wait(f"{folded}.length === 3")
    assert fresh.get(folded) == ["reading", "spread", "speed"]
    fresh.look()
    shown(fresh, tmp_path, dataset_result(MIXED), LINES)
    assert fresh.get(folded) == []


def test_a_comparison_opens_on_a_phone(fresh: Tab, tmp_path: Path) -> None:
    """What differs is never folded; a changed problem shows each old sample above its new one."""
    before, after = (problem_result(0, why) for why in (("right", "right"), ("right", "wrong")))
    old, new = report(dataset_result((before,))), report(dataset_result((after,)))
    document = page_replies.ProblemDocument(id=0, samples=[SampleDocument(why=why, text=f"new {why}") for why in after.why],
                                            old=[SampleDocument(why=why, text=f"old {why}") for why in before.why])  # fmt: skip
    packed = {"sums": page_replies.pack_documents([document])}
    (tmp_path / "compare.html").write_bytes(page.comparison_as_html(compared(old, new), old, new, {}, packed))
    fresh.look(width=390, height=844, phone=True)
    fresh.open((tmp_path / "compare.html").as_uri())
    fresh.wait("!document.getElementById('explorer').hidden")
    assert fresh.get("[...document.querySelectorAll('.folded')].map(section => section.id)") == ["baseline"]
    assert fresh.get(STATUS) == "Changed: 1 of 1"
    fresh.click("#explorer tbody a")
    fresh.wait(f"{PANEL}.open && location.hash === '#sums/0/1'")  # the sample that changed
    second = fresh.get(f"{PANEL}.querySelectorAll('article')[1].innerText")
    places = [second.index(words) for words in ("Old run", "old right", "New run", "new wrong")]
    assert places == sorted(places)
    assert fresh.get("document.documentElement.scrollWidth <= innerWidth")
    assert fresh.troubles() == []


def test_several_datasets_with_awkward_names(fresh: Tab, tmp_path: Path) -> None:
    """One list for all, filtered by dataset; links hold whatever a dataset is called."""
    names = ("sums", "hf:org/name@v1 = \u00e9&x", "50 % of 1/2")
    results = [dataset_result(MIXED, name) for name in names]
    packed = {name: page_replies.pack(one, LINES, FAILED, []) for name, one in zip(names, results, strict=True)}
    (tmp_path / "report.html").write_bytes(page.as_html(report(*results), {}, packed))
    address = (tmp_path / "report.html").as_uri()
    fresh.open(address)
    fresh.wait("!document.getElementById('explorer').hidden")
    assert fresh.get(STATUS) == "All: 12 of 12"
    for name in names:
        fresh.get(choice(name))
        assert fresh.get(STATUS) == "All: 4 of 4"
        fresh.click("#explorer tr[data-id='2'] a")
        fresh.wait(f"{PANEL}.open")
        fresh.press("ArrowRight")
        link = fresh.get("location.hash")
        fresh.open(address + link)
        fresh.wait(f"{PANEL}?.open")
        assert name in fresh.get("document.getElementById('problem-title').textContent")
        assert "five apples" in fresh.get(f"{PANEL}.innerText")
        fresh.press("Escape")
    assert fresh.troubles() == []


def choice(name: str) -> str:
    """A dataset is chosen in the list."""
    field = "document.querySelector('#explorer select')"
    return f"(() => {{ {field}.value = {json.dumps(name)}; {field}.dispatchEvent(new Event('change')); }})()"


def test_unknown_link_shows_the_list(fresh: Tab, tmp_path: Path) -> None:
    """A link to a problem that is not there, or that is no link at all, breaks nothing."""
    for at in ("#sums/99/0", "#nothing/0/0", "#%E0%A4%A/1", "#sums/1/77", "#figures"):
        shown(fresh, tmp_path, dataset_result(MIXED), LINES, at)
        assert fresh.get(STATUS) == "All: 4 of 4"
    assert fresh.troubles() == []


def test_a_problem_that_is_clicked_while_another_one_closes_is_opened(fresh: Tab, tmp_path: Path) -> None:
    """The browser tells late that a dialog has closed; what was clicked by then opens, and back leads to the list."""
    shown(fresh, tmp_path, dataset_result(MIXED), LINES, "#show=wrong")
    fresh.wait(f"{STATUS} === 'Wrong: 2 of 4'")
    first, second = fresh.get(ROWS)
    fresh.click(f"#explorer tr[data-id='{first}'] a")
    fresh.wait(f"{PANEL}.open && location.hash === '#sums/{first}/0'")
    fresh.get(f"{PANEL}.close(); document.querySelector('#explorer tr[data-id=\"{second}\"] a').click()")
    fresh.wait(f"{PANEL}.open && location.hash === '#sums/{second}/0'")
    fresh.get("history.back()")
    fresh.wait(f"!{PANEL}.open && location.hash === '#show=wrong'")
    assert fresh.get(STATUS) == "Wrong: 2 of 4"


def test_what_the_script_shows_is_in_the_language_of_the_page(fresh: Tab, tmp_path: Path) -> None:
    """The list and an open problem with all that one can have: no word of it is left in English."""
    lines = [answer(0, 0, "四", reasoning="想"), answer(0, 1, "五" * 1300), answer(1, 0, "四"), answer(1, 1, "")]
    whys: tuple[tuple[VerdictReason, ...], ...] = (("right", "wrong"), ("not found", "empty"), ("failed", "missing"))
    results = tuple(problem_result(number, why, gold="四", wrong="五") for number, why in enumerate(whys))
    with languages.reading("zh"):
        shown(fresh, tmp_path, dataset_result(results, "数"), lines, "#find=四", {"数": dict.fromkeys(range(3), "问")})
    texts = "document.querySelector('#explorer').innerText"
    marks = (
        "[...document.querySelectorAll('[aria-label], [title], [placeholder]')]"
        ".map((one) => [one.ariaLabel, one.title, one.placeholder].join(' ')).join(' ')"
    )
    said = fresh.wait(f"{STATUS}.endsWith('中找到 3') && {texts}")
    for number in range(3):
        fresh.open(f"{(tmp_path / 'report.html').as_uri()}#{quote('数')}/{number}/0")
        fresh.wait(f"{PANEL}?.open")
        said += fresh.get(f"{PANEL}.innerText + {marks}")
    assert [word for word in left_in_english(said) if word not in {"How", "many", "stop", "acme", "adapter"}] == []
    assert "从回复中读到" in said
    assert fresh.troubles() == []
