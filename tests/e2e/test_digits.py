"""Pictures from end to end: a real model reads numbers, and the figure is what its weights give without any server."""

import base64
import json
import sys
import wave
from pathlib import Path

import numpy as np
import pytest
from tests import packed_page
from tests.e2e import command
from tests.waiting import free_port, is_open

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.hubs.file_hub import FileHub
from model_accuracy_eval.system.media_files import MediaFiles
from model_accuracy_eval.tasks import rows

sys.path.insert(0, str(command.ADAPTER))
from tinyserver.chat_reader import ChatReader
from tinyserver.config import read_config
from tinyserver.model import Model
from tinyserver.png import read_png
from tinyserver.tokenizer import read_tokenizer
from tinyserver.weights import read_tensors
from training import digit_rows

WEIGHTS = command.ADAPTER / "weights-digits"

Row = tuple[str, str, bytes]


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    """Question, answer and PNG of every row that the package has."""
    task, files = find("demo_digits"), MediaFiles()
    hub = FileHub({"MODEL_ACCURACY_EVAL_CACHE": str(tmp_path_factory.mktemp("cache"))})
    found = rows.read(task.data, task.fields, None, hub, None)  # type: ignore[arg-type]
    return [(row["question"], row["answer"], files.read(row["image"])) for row in found]


def read_offline(kept: list[Row]) -> list[bool]:
    """Which numbers the weights read when the likeliest token is always taken: no server, no client, no dice."""
    config = read_config(WEIGHTS)
    tokenizer = read_tokenizer(WEIGHTS, config)
    model, reader = Model(config, read_tensors(WEIGHTS, config)), ChatReader(tokenizer, config.sight)

    def said(question: str, picture: bytes) -> str:
        uri = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
        parts = [{"type": "image_url", "image_url": {"url": uri}}, {"type": "text", "text": question}]
        tokens, pictures = reader.read([{"role": "user", "content": parts}])
        hidden, cache = model.read(tokens, pictures)
        scores, text = model.logits(hidden[-1:])[0], ""
        while (token := int(scores.argmax())) != config.end_token and len(text) < 8:
            text += tokenizer.text(token)
            (scores,) = model.step([token], [cache])
        return text

    return [said(question, picture) == answer for question, answer, picture in kept]


def test_the_shipped_pictures_are_those_that_the_script_draws(shipped: list[Row]) -> None:
    """Number by number and pixel by pixel: nothing is in the package that nobody can make again."""
    drawn = list(digit_rows.rows(digit_rows.ROWS, digit_rows.SEED))
    assert [answer for _, answer, _ in shipped] == [number for number, _ in drawn]
    assert {question for question, _, _ in shipped} == {digit_rows.QUESTION}
    for (_, _, png), (_, picture) in zip(shipped, drawn, strict=True):
        assert np.array_equal(read_png(png)[:, :, 0], picture)


def test_the_figure_is_what_the_weights_give_offline(shipped: list[Row], tmp_path: Path) -> None:
    """Problem by problem, at temperature 0: every picture arrived whole, at its own question, and was judged rightly."""
    port = free_port()
    done = command.run(
        "run", command.ADAPTER, "--model", WEIGHTS, "--datasets", "demo_digits", "--task-type", "image-text-to-text",
        "-n", 1, "--temperature", 0, "--port", port, "--out", tmp_path,
    )  # fmt: skip
    assert done.code == 0, done.out + done.err
    folder = command.only_run(tmp_path)
    results = json.loads((folder / f"results/{command.LABEL}/demo_digits.json").read_bytes())
    offline = read_offline(shipped)
    assert [problem["correct"] for problem in results["details"]] == [[right] for right in offline]
    assert results["accuracy"] == pytest.approx(sum(offline))
    assert 80 < sum(offline) < 100
    assert not is_open(port)
    written = (folder / f"predictions/{command.LABEL}/demo_digits.jsonl").read_text()
    assert "[picture 0.png: png, " in written
    assert "base64" not in written, "the run's files have no pictures"


def test_the_demo_reads_pictures_when_told_to(tmp_path: Path) -> None:
    """One command, nothing to fetch; the three figures stand apart."""
    done = command.run("demo", "--task-type", "image-text-to-text", "--port", free_port(), "--out", tmp_path)
    assert done.code == 0, done.out + done.err
    assert "demo_digits: 500 of 500 samples answered." in done.out
    results = json.loads((command.only_run(tmp_path) / f"results/{command.LABEL}/demo_digits.json").read_bytes())
    assert results["pass@5"] > results["avg@5"] > 75


def test_the_demo_reads_them_aloud(tmp_path: Path) -> None:
    """Nothing but sound comes back: its files are there, equal ones once, and its transcript is what is judged."""
    done = command.run("demo", "--task-type", "any-to-any", "--port", free_port(), "--out", tmp_path)
    assert done.code == 0, done.out + done.err
    folder = command.only_run(tmp_path)
    results = json.loads((folder / f"results/{command.LABEL}/demo_spoken.json").read_bytes())
    assert results["pass@5"] > results["avg@5"] > 75
    lines = (folder / f"predictions/{command.LABEL}/demo_spoken.jsonl").read_text().splitlines()
    said = {line["prediction"]: line["media"] for line in map(json.loads, lines)}
    for text, (media,) in said.items():
        with wave.open(str(folder / media["name"])) as sound:
            assert sound.getnframes() == 640 * len(text)
        assert media["name"] in (folder / "manifest.sha256").read_text()
    kept = list((folder / f"predictions/{command.LABEL}/demo_spoken_media").iterdir())
    assert len(kept) == len(said)
    counts = json.loads((folder / "run.json").read_bytes())["datasets"]["demo_spoken"]["counts"]
    assert (counts["with_media"], counts["audio_only"], counts["empty"]) == (500, 0, 0)
    shown = packed_page.unpacked(packed_page.data_elements((folder / "report.html").read_bytes())["chunk-0-0"])
    problem = shown[0]
    ((kind, name, _),) = problem["samples"][0]["media"]
    assert (kind, problem["pictures"][name][:22]) == ("audio", "data:audio/wav;base64,")


REFUSED: dict[str, tuple[str, list[str], int, str]] = {
    "drops pictures": (
        "weights-digits", ["--drop-pictures"], 4,
        "The datasets show pictures, but the service drops them: the prompt has 47 tokens with a picture and 47 without it",
    ),
    "reads text only": ("weights", [], 4, "This model reads text only, not 'image_url'"),
}  # fmt: skip


@pytest.mark.parametrize(("weights", "options", "code", "sentence"), REFUSED.values(), ids=REFUSED)
def test_a_model_that_does_not_see_gets_no_figure(
    weights: str, options: list[str], code: int, sentence: str, tmp_path: Path
) -> None:
    """The same server, told to leave pictures out without a word, or with weights that cannot see."""
    adapter, port = tmp_path / "adapter", free_port()
    adapter.mkdir()
    server = f'exec python3 "{command.ADAPTER}/server.py" "$MODEL_PATH" --port "$PORT" {" ".join(options)}'
    (adapter / "deploy.sh").write_text(server)
    done = command.run(
        "run", adapter, "--model", command.ADAPTER / weights, "--datasets", "demo_digits", "--task-type", "image-text-to-text",
        "--port", port, "--out", tmp_path / "out",
    )  # fmt: skip
    assert done.code == code, done.out + done.err
    assert sentence in done.out
    assert "None of the 500 samples was answered" in done.out
    assert not is_open(port)
