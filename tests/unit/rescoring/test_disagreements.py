"""`rescore --diff`: every sample with another value in the file, by class, in every format."""

import csv
import io
import json
import re
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval import rescore
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import (
    Attempt,
    Counts,
    DatasetResult,
    Fault,
    MetricUse,
    Pipeline,
    ProblemResult,
    VerdictReason,
)
from model_accuracy_eval.rescoring.disagreements import (
    KINDS,
    Disagreement,
    DisagreementKind,
    SampleClaims,
    disagreements,
    text_format,
)

REASONS: tuple[VerdictReason, ...] = get_args(VerdictReason)


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(REASONS), st.sampled_from([None, 0.0, 1.0])), min_size=2, max_size=2),
        min_size=1,
        max_size=20,
    )
)
def test_every_disagreement_is_listed_once_in_its_class(rows: list[list[tuple[VerdictReason, float | None]]]) -> None:
    """Against a plain count; classes follow each other, and each sample has the end of its own reply."""
    result = DatasetResult(
        dataset="sums",
        version="-",
        rows=(),
        counts=Counts(),
        problem_results=tuple(
            ProblemResult(
                problem=number, n=2, c=None, values=tuple(float(why == "right") for why, _ in row), answers=(None, "5"),
                why=tuple(why for why, _ in row), references=("right answer",),
            )
            for number, row in enumerate(rows)
        ),
    )  # fmt: skip
    cells = {(number, sample): cell for number, row in enumerate(rows) for sample, cell in enumerate(row)}
    attempts = [
        Attempt(
            problem=key[0], index=key[1], text="" if why in {"failed", "rejected"} else f"{'x' * 900} reply {key}",
            fault=Fault(kind="rejected" if why == "rejected" else "failed", sentence=f"fault {key}")
            if why in {"failed", "rejected"} else None,
        )
        for key, (why, _) in cells.items() if why != "missing"
    ]  # fmt: skip
    values = {key: value for key, (_, value) in cells.items() if value is not None}
    claims = SampleClaims([Pipeline(metrics=(MetricUse(name="exact"),))], 2)
    claims.of_samples, claims.titles = values, {0: ("first", "gold of the file")}
    counts, listed = disagreements("sums", result, claims, attempts)
    wanted: dict[tuple[str, int], DisagreementKind] = {}
    for (number, sample), (why, value) in cells.items():
        if value is not None and value != float(why == "right"):
            kind: DisagreementKind = "lower in the file" if value == 0 else KINDS[why]
            wanted["first" if number == 0 else str(number), sample] = kind
    assert {(one.problem, one.sample): one.kind for one in listed} == wanted
    assert len(listed) == len(wanted) == counts.total()
    kinds = [one.kind for one in listed]
    assert len(list(dict.fromkeys(kinds))) == sum(
        1 for place, kind in enumerate(kinds) if place == 0 or kinds[place - 1] != kind
    )
    for one in listed:
        key = (0 if one.problem == "first" else int(one.problem), one.sample)
        assert one.gold == ("gold of the file" if one.problem == "first" else "right answer")
        assert one.end == "" if one.kind == "missing" else one.end.endswith(f"{key}")
        assert len(one.end) <= 400


def disagreement(**fields: str) -> Disagreement:
    values = {"file": "f", "kind": "no answer read", "problem": "p/1", "sample": 2, "metric": "exact", "claimed": 1.0,
              "ours": 0.5, "answer": None, "gold": "g", "end": "e"}  # fmt: skip
    return Disagreement(**{**values, **fields})  # type: ignore[arg-type]


@given(st.text(), st.text())
def test_every_format_holds_everything(gold: str, end: str) -> None:
    """JSON and CSV give it back; a row of Markdown stays one row of ten cells, whatever a model wrote."""
    one = disagreement(gold=gold.encode("utf-8", "replace").decode(), end=end.encode("utf-8", "replace").decode())
    head, line = text_format(".jsonl")
    assert json.loads(head + line(one)) == {
        "file": "f", "kind": "no answer read", "problem": "p/1", "sample": 2, "metric": "exact", "claimed": 1.0,
        "ours": 0.5, "answer": None, "gold": one.gold, "end": one.end,
    }  # fmt: skip
    head, line = text_format(".CSV")
    (row,) = csv.DictReader(io.StringIO(head + line(one), newline=""))
    assert (row["gold"], row["end"], row["ours"], row["answer"]) == (one.gold, one.end, "0.5", "")
    head, line = text_format(".md")
    shown = line(one)
    assert len(shown.splitlines()) == 1
    assert len(re.findall(r"(?<!\\)\|", shown)) == 11
    assert head.splitlines()[1] == "|---" * 10 + "|"


def saved(folder: Path) -> Path:
    """Three problems; the file takes the first and the second for right, the third for wrong."""
    rows = [("It is 4.", "4", True), ("No idea.", "5", True), ("So 6.", "6", False)]
    path = folder / "sums.jsonl"
    path.write_text("".join(
        json.dumps({"id": number, "prediction": text, "gold": gold, "correct": right}) + "\n"
        for number, (text, gold, right) in enumerate(rows)
    ))  # fmt: skip
    return path


def test_the_file_is_written_and_says_how_many_there_are(tmp_path: Path) -> None:
    """Through the Python interface, with the counts by class in the result."""
    diff = tmp_path / "diff.jsonl"
    (result,) = rescore(saved(tmp_path), diff=diff)
    lines = [json.loads(line) for line in diff.read_text().splitlines()]
    assert [(line["kind"], line["problem"], line["claimed"], line["ours"], line["end"]) for line in lines] == [
        ("no answer read", "1", 1.0, 0.0, "No idea."),
        ("lower in the file", "2", 0.0, 1.0, "So 6."),
    ]
    assert result.kinds == {"no answer read": 1, "lower in the file": 1}
    assert result.differing == 2
    assert list(tmp_path.glob("*.part")) == []


def test_a_file_without_values_of_samples_has_none_and_says_so(tmp_path: Path) -> None:
    """An empty list must not look like agreement."""
    path, diff = tmp_path / "sums.jsonl", tmp_path / "diff.csv"
    path.write_text('{"id": 0, "prediction": "4", "gold": "5"}\n')
    (result,) = rescore(path, diff=diff)
    assert diff.read_bytes() == b"file,kind,problem,sample,metric,claimed,ours,answer,gold,end\r\n"
    assert any("no values of single samples" in note for note in result.notes)


def test_a_refused_file_leaves_an_earlier_diff_alone(tmp_path: Path) -> None:
    """The new one appears when it is complete; a folder that does not exist is a sentence."""
    diff = tmp_path / "diff.md"
    diff.write_text("earlier")
    with pytest.raises(Exception, match="cannot be read"):
        rescore(tmp_path / "none.jsonl", diff=diff)
    assert diff.read_text() == "earlier"
    with pytest.raises(BadValue, match=r"diff\.md cannot be written: No such file or directory"):
        rescore(saved(tmp_path), diff=tmp_path / "none" / "diff.md")


def test_what_is_read_is_never_written_over(tmp_path: Path) -> None:
    """By whatever way the path is written."""
    path = saved(tmp_path)
    before = path.read_bytes()
    with pytest.raises(BadValue, match="which is read: name another file"):
        rescore(path, diff=tmp_path / "x" / ".." / "sums.jsonl")
    assert path.read_bytes() == before
