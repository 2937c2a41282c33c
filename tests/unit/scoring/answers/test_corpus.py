"""The script that reads the corpus of real replies: who is counted as right, and the part of the page it writes."""

import json
import runpy
from pathlib import Path

import pytest

SCRIPT = runpy.run_path(str(Path(__file__).parents[4] / "bench/corpus.py"))


@pytest.mark.parametrize(
    ("answer", "stated", "expected"),
    [
        ("B", ["B"], "right"),
        ("C", ["B", "C"], "right"),
        (None, ["B", None], "right"),
        (None, ["B"], "not found"),
        ("B", [None], "misread"),
        ("B", ["C"], "misread"),
    ],
)
def test_a_person_decides(answer: str | None, stated: list[str | None], expected: str) -> None:
    """What the judged text states decides, whatever the origin read."""
    verdict = SCRIPT["ReplyVerdict"](id="x", origin="B", before=None, stated=tuple(stated))
    assert expected == SCRIPT["outcome"]("letter", answer, "B", verdict)


def test_nobody_has_looked() -> None:
    """An answer that is the origin's counts as right; another one is open until somebody reads the reply."""
    assert SCRIPT["outcome"]("number", "1,200", "1200.0", None) == "right"
    assert SCRIPT["outcome"]("number", "1,200", "12", None) == "open"


def test_every_verdict_can_be_used() -> None:
    """The kept verdicts have ids of files with a commit and a row, an answer each, and no text of a reply."""
    verdicts = SCRIPT["read_verdicts"]()
    assert len(verdicts) > 800
    for verdict in verdicts.values():
        repository, _, place = verdict.id.partition(":")
        assert repository.count("@") == 1
        assert "#" in place
        assert verdict.stated
        assert all(len(answer or "") <= 60 for answer in (verdict.origin, verdict.before, *verdict.stated))


def test_part_of_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The table has a row for each source; the page keeps what stands around it."""
    reply = {"source": "exam", "model": "m", "kind": "letter", "letters": 4, "gold": "B"}
    rows = [
        {"id": f"a/b@1:f#{place}", "reply": text, "origin_answer": "B", **reply}
        for place, text in enumerate(["The answer is B.", "I cannot say."])
    ]
    (tmp_path / "exam.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    part = SCRIPT["page_part"](SCRIPT["read_all"](tmp_path, {}))
    assert "2 replies of 1 models" in part
    assert "| exam | 2 | 1 | 1 | 0 | 1 | 0 | 0 | 0 | 0 |" in part
    assert "Not judged yet: 1." in part.replace("\n", " ")
    page = SCRIPT["with_part"]("# Answers\n\n## Read from real replies\n\nold\n\n## Next\n\nkept\n", "new")
    assert page == f"# Answers\n\n## Read from real replies\n\n{SCRIPT['MARK']}\n\nnew\n\n## Next\n\nkept\n"
