"""`tasks pin`: the table of rows that a release knows, written from what the hubs have; and what it is good for."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.integration.data_files.test_hub_splits import lines
from tests.servers.fake_hub import FakeHub

from model_accuracy_eval.benchmarks import known_rows
from model_accuracy_eval.benchmarks.dataset_table import TASKS
from model_accuracy_eval.commands.tasks import tasks
from model_accuracy_eval.errors import BadData, Refused
from model_accuracy_eval.hubs.file_hub import FileHub
from model_accuracy_eval.records import DataFile, DataRow, PreparedDataset, RowsPin
from model_accuracy_eval.tasks import preparation, row_pins, rows

AIME = b"".join(b'{"id": %d, "problem": "p%d", "answer": "%d"}\n' % (n, n, n) for n in range(30))


@pytest.fixture
def server(server: FakeHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeHub:
    environment = server.environment | {"MODEL_ACCURACY_EVAL_CACHE": str(tmp_path / "cache")}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    server.push("datasets/HuggingFaceH4/aime_2024", {"train.jsonl": AIME})
    return server


def run(*arguments: object) -> Result:
    return CliRunner().invoke(tasks, list(map(str, arguments)))


@pytest.mark.usefixtures("server")
def test_what_the_hubs_have_is_written(tmp_path: Path) -> None:
    """Number, columns and hash, and the sums of the rows; what cannot be read is told and stays as it was."""
    done = run("pin", "aime24", "aime25", "--out", tmp_path)
    assert isinstance(done.exception, Refused)
    assert "aime25: There is no dataset" in done.output or "aime25: hf:math-ai/aime25 is private" in done.output
    assert "aime24/train.jsonl: new: 30 rows without a hash 30 rows" in done.output
    table = known_rows.read((tmp_path / known_rows.PINS_FILE).read_text())
    found = [json.loads(line) for line in AIME.splitlines()]
    assert table["aime24/train.jsonl"] == row_pins.pin(found, ("answer", "id", "problem"))
    others = {name: pin for name, pin in table.items() if name != "aime24/train.jsonl"}
    assert others == {name: pin for name, pin in known_rows.KNOWN_ROWS.items() if name in others}
    sums = dict(line.split() for line in (tmp_path / known_rows.SUMS_FILE).read_text().splitlines())
    assert sums[table["aime24/train.jsonl"].sha256] == row_pins.sums(found, ("answer", "id", "problem"))
    assert known_rows.row_sums().items() <= sums.items()


@pytest.mark.usefixtures("server")
def test_a_changed_dataset_is_told(tmp_path: Path) -> None:
    """With what the table had of it."""
    (tmp_path / "gsm8k").mkdir()
    (tmp_path / "gsm8k" / "test.jsonl").write_bytes(lines(0, 2))
    done = run("pin", "gsm8k", "--data-dir", tmp_path, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert "gsm8k/test.jsonl: changed: 1,319 rows 3fb31cfaeb4e 2 rows" in done.output
    assert "0 new, 1 changed, 0 as it was. Review" in done.output


def test_the_table_is_whole() -> None:
    """It can be read as it is written, no key is one of no dataset, and the sums are those of hashes that it has."""
    assert known_rows.read(known_rows.written(known_rows.KNOWN_ROWS)) == known_rows.KNOWN_ROWS
    files = [task.data for task in TASKS.values()]
    files += [examples.data for task in TASKS.values() if (examples := task.prompt.fewshot) and examples.data]
    keys = {known_rows.key(one) for file in files for one in (file, *file.instead)}
    assert known_rows.KNOWN_ROWS.keys() <= keys
    hashes = {pin.sha256: pin.count for pin in known_rows.KNOWN_ROWS.values()}
    assert {sha256: len(sums) // 2 for sha256, sums in known_rows.row_sums().items()}.items() <= hashes.items()


@pytest.mark.usefixtures("server")
def test_a_revised_dataset_is_refused_with_the_command_that_takes_it(tmp_path: Path) -> None:
    """The command is one that can be typed; after it the rows are read, and said to be unpinned."""
    file = DataFile(name="aime24/train.jsonl", source=TASKS["aime24"].data.source, pin=RowsPin(count=31))
    task = TASKS["aime24"].with_data(lambda _: file)

    def prepared() -> PreparedDataset:
        def read(one: DataFile, fields: tuple[str, ...]) -> list[DataRow]:
            hub = FileHub({"MODEL_ACCURACY_EVAL_CACHE": str(tmp_path / "cache")})
            return list(rows.read(one, fields, None, hub, lambda *_: []))

        return preparation.assemble(task, read)

    assert run("prepare", "aime24").exit_code == 0
    with pytest.raises(BadData, match="it has 30 rows, its publisher says 31") as refused:
        prepared()
    assert refused.value.next_step == "model-accuracy-eval tasks prepare --update aime24"
    typed = run(*refused.value.next_step.split()[2:])
    assert typed.exit_code == 0
    assert "aime24/train.jsonl is at hf:HuggingFaceH4/aime_2024@" in typed.output
    assert len(prepared().problems) == 30


def test_the_list_marks_what_is_unpinned() -> None:
    """And counts it."""
    listed = run("list").output.splitlines()
    marked = {line.split()[0] for line in listed if line.endswith("[unpinned]")}
    assert "aime24" in marked
    assert not {"gsm8k", "mmlu", "humaneval", "demo_gsm8k", "bbeh", "core_squad"} & marked
    assert f"{len(marked)} of {len(TASKS)} datasets are unpinned:" in listed[-1]
