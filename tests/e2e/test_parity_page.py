"""`bench/parity.py`: a table from any folder of outputs, in which everything unreadable is a row that says why."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def page(folder: Path, *options: str) -> str:
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / "parity.py"), str(folder), *options],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def cells(text: str, file: str) -> list[list[str]]:
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    return [row for row in rows if row[0].startswith(file)]


def write(path: Path, right: list[bool], **fields: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {"id": number, "prediction": f"It is {number if ok else 99}.", "gold": str(number), **fields}
        for number, ok in enumerate(right)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_every_file_of_a_strange_folder_is_a_row(tmp_path: Path) -> None:
    """Figures beside the file are compared; damaged, empty and foreign files are told, and end nothing."""
    write(tmp_path / "predictions" / "model" / "sums.jsonl", [True, True, False, True])
    results = tmp_path / "results" / "model" / "sums.json"
    results.parent.mkdir(parents=True)
    results.write_text('{"accuracy": 0.75}')
    write(tmp_path / "values.jsonl", [True, False], correct=True)
    (tmp_path / "empty.jsonl").write_text("")
    (tmp_path / "damaged.zip").write_bytes(b"PK\x03\x04 no more")
    (tmp_path / "notes.json").write_text('{"a": [1, 2]}')
    (tmp_path / "bytes.jsonl.gz").write_bytes(b"\x1f\x8b\x00\xff")
    (tmp_path / "README.md").write_text("not one of them")
    text = page(tmp_path)
    (sums,) = cells(text, "predictions/model/sums.jsonl")
    assert sums[3:7] == ["accuracy", "0.75", "75.00", "4 / 4"]
    assert sums[-1] == "0.75 is 75.00 % as a share of 1."
    (values,) = cells(text, "values.jsonl")
    assert values[4:6] == ["100", "50.00"]
    assert "the verdicts on 1 of 2 samples differ (1 higher there, 0 lower)" in values[-1]
    assert cells(text, "results/") == []
    refused = text[text.index("## Not judged") :]
    for name in ("empty.jsonl", "damaged.zip", "notes.json", "bytes.jsonl.gz"):
        (row,) = cells(refused, name)
        assert len(row[1]) > 10
    assert "README" not in text


def test_published_figures_choose_files_and_are_compared(tmp_path: Path) -> None:
    """As YAML or CSV, with the fields of a file of no known shape, a source and a remark; kept results are not judged
    again."""
    folder = tmp_path / "outputs"
    write(folder / "sums.jsonl", [True, True, False])
    write(folder / "other.jsonl", [True])
    (folder / "named.jsonl").write_text('{"key": 1, "said": "It is 7.", "truth": "7"}\n')
    yaml = tmp_path / "published.yaml"
    yaml.write_text(
        "- {file: sums.jsonl, figures: {accuracy: 66.7}, source: the paper}\n"
        "- {file: 'named*', map: 'id=key,prediction=said,gold=truth', figures: {accuracy: 90}, note: A remark.}\n"
    )
    table = tmp_path / "published.csv"
    table.write_text(
        "file,metric,value,source,map,note\nsums.jsonl,accuracy,66.7,the paper,,\n"
        'named*,accuracy,90,,"id=key,prediction=said,gold=truth",A remark.\n'
    )
    keep = tmp_path / "keep"
    text = page(folder, "--published", str(yaml), "--keep", str(keep))
    kept = {path: path.stat().st_mtime_ns for path in keep.iterdir()}
    assert page(folder, "--published", str(table), "--keep", str(keep)) == text
    assert {path: path.stat().st_mtime_ns for path in keep.iterdir()} == kept
    assert len(kept) == 2
    (sums,), (named,) = cells(text, "sums.jsonl"), cells(text, "named.jsonl")
    assert sums[-1] == "66.7 is 66.6667 rounded."
    assert named[4:6] == ["90", "100.00"]
    assert named[-1].endswith("here it is 100.00. A remark.")
    assert "- the paper: `sums.jsonl`" in text
    assert "other.jsonl" not in text
