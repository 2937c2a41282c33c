"""Services that show pictures to their model, drop them, hand them over as text or refuse them, over real HTTP."""

import base64
import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import command
from tests.packed_page import data_elements, unpacked
from tests.pictures import stored, write_table
from tests.servers.asking import LIMITS
from tests.servers.http import Exchange, HttpServer
from tests.servers.loops import run

from model_accuracy_eval.client.chat import connect
from model_accuracy_eval.records import Service
from model_accuracy_eval.run.picture_probe import DIGITS, PictureReading, describe, picture, read_pictures

Parts = list[dict[str, Any]]
Answer = Callable[[str, list[bytes]], tuple[str, int | None] | int]
"""What a service makes of a text and pictures: an answer and the number of prompt tokens, or the status of an error."""


class SeeingServer(HttpServer):
    def __init__(self, answer: Answer) -> None:
        super().__init__(self._handle)
        self._answer = answer

    async def _handle(self, exchange: Exchange) -> None:
        if not exchange.path.endswith("/chat/completions"):
            exchange.reply(404, {})
            return
        content = exchange.json["messages"][-1]["content"]
        parts: Parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        text = "".join(part["text"] for part in parts if part["type"] == "text")
        urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
        found = self._answer(text, [base64.b64decode(url.partition(",")[2]) for url in urls])
        if isinstance(found, int):
            exchange.reply(found, {"error": {"message": "no image input here", "code": found}})
            return
        said, tokens = found
        usage = {} if tokens is None else {"usage": {"prompt_tokens": tokens, "completion_tokens": 1}}
        exchange.reply(200, {"choices": [{"message": {"content": said}, "finish_reason": "stop"}], **usage})


DRAWN = {base64.b64decode(picture(digit).url.partition(",")[2]): digit for digit in DIGITS}


def looking(text: str, pictures: list[bytes]) -> str:
    return DRAWN.get(pictures[0], DIGITS[0]) if pictures else "I see nothing."


CHANCE = map(str, itertools.count())
"""Never the same answer twice, as if the dice fell so."""

SERVICES: dict[str, tuple[Answer, str]] = {
    "sees": (lambda text, seen: (looking(text, seen), 20 + 64 * len(seen)), ""),
    "sees, counts no tokens": (lambda text, seen: (looking(text, seen), None), ""),
    "sees, counts texts alone": (lambda text, seen: (looking(text, seen), 20), ""),
    "is too small to say which": (lambda text, seen: ("0", 20 + 16 * len(seen)), ""),
    "drops them": (
        lambda text, seen: ("1", 20),
        "the service drops them: the prompt has 20 tokens with a picture and 20 without it, and two different",
    ),
    "leaves a placeholder": (lambda text, seen: ("1", 20 + 3 * len(seen)), "the service drops them: the prompt has 23"),
    "drops them, counts no tokens": (
        lambda text, seen: ("1", None),
        "the service says the same of two different pictures and of none ('1'), and counts no tokens.",
    ),
    "reads them as text": (
        lambda text, seen: (f"{len(b''.join(seen)) % 9}", 20 + sum(map(len, seen)) // 2),
        "the service reads their bytes as text: a picture with 24,000 bytes more",
    ),
    "drops them and answers by chance": (
        lambda text, seen: (next(CHANCE), 20),
        "the service gives two pictures that look the same different answers ('",
    ),
    "refuses them": (
        lambda text, seen: 400 if seen else ("1", 20),
        "the service does not answer a request with a small one: HTTP 400",
    ),
}


def read(server: SeeingServer) -> PictureReading:
    async def look() -> PictureReading:
        chat = connect(Service(base_url=server.url, model="m"), LIMITS)
        try:
            return await read_pictures(chat)
        finally:
            await chat.close()

    return run(look())


@pytest.mark.parametrize(("answer", "objection"), SERVICES.values(), ids=SERVICES)
def test_what_becomes_of_pictures_is_seen(answer: Answer, objection: str) -> None:
    """By token counts, else by answers; a small model that errs is no reason to refuse."""
    server = SeeingServer(answer)
    with server:
        found = read(server)
    assert found.objection.startswith(objection)
    assert bool(found.objection) == bool(objection)


@pytest.mark.parametrize(
    ("tokens", "answers", "told"),
    [
        (1064, ("It is 4.", "7"), "Pictures of 1,064 tokens reach the model; shown the digits 4 and 7, it says 'It is 4.' and '7'."),
        (None, ("4", "4"), "Pictures of unknown length reach the model; shown the digits 4 and 7, it says '4' and '4', which is wrong."),
    ],
)  # fmt: skip
def test_what_was_seen_is_told(tokens: int | None, answers: tuple[str, str], told: str) -> None:
    assert describe(PictureReading(tokens=tokens, answers=answers)) == told


TASK = """
name: digits
about: Which digit is it?
data: {name: digits.parquet}
fields: [question, image]
prompt: {question: "{{ image }} {{ question }}"}
reference: "{{ answer }}"
pipelines: [{metrics: [{name: exact, label: accuracy}]}]
"""


def evaluate(folder: Path, answer: Answer, *more: str, rows: list[dict[str, Any]] | None = None) -> command.Done:
    """The command line on five questions about drawn digits."""
    five = [{"question": f"{n}. Which digit?", "answer": digit, "image": stored(drawn(digit))} for n, digit in enumerate("47447")]  # fmt: skip
    write_table(folder / "digits.parquet", rows or five)
    (folder / "digits.yaml").write_text(TASK)
    with SeeingServer(answer) as server:
        return command.run(
            "run", "--endpoint", server.url, "--datasets", folder / "digits.yaml", "--data-dir", folder,
            "--out", folder / "out", "-n", 1, *more,
        )  # fmt: skip


def drawn(digit: str) -> bytes:
    return base64.b64decode(picture(digit).url.partition(",")[2])


def seeing(text: str, pictures: list[bytes]) -> tuple[str, int]:
    return looking(text, pictures), 20 + 64 * len(pictures)


def test_a_run_over_pictures(tmp_path: Path) -> None:
    """What sees them is right; the journal names them, the page shows them; the same questions can be gone on with."""
    done = evaluate(tmp_path, seeing, "--task-type", "image-text-to-text", "--gate", "digits: accuracy >= 50")
    assert done.code == 0, done.out + done.err
    folder = command.only_run(tmp_path / "out")
    lines = [
        json.loads(line) for line in (folder / f"predictions/{command.LABEL}/digits.jsonl").read_bytes().splitlines()
    ]
    assert lines[0]["origin_prompt"][0]["prompt"].startswith("[picture: png, ")
    holding = [path for path in folder.rglob("*") if path.is_file() and b"base64" in path.read_bytes()]
    assert holding == [folder / f"predictions/{command.LABEL}/digits_pictures.jsonl"]
    html = (folder / "report.html").read_bytes()
    assert b"[picture: png, " in html
    problems = unpacked(data_elements(html)["chunk-0-0"])
    assert all(address.startswith("data:image/png;base64,") for one in problems for address in one["pictures"].values())
    assert all(len(one["pictures"]) == 1 for one in problems)
    assert command.run("report", folder).code == 0
    assert (folder / "report.html").read_bytes() == html
    again = evaluate(tmp_path, seeing, "--task-type", "image-text-to-text", "--reuse", str(folder))
    assert again.code == 0, again.err
    other = [{"question": f"{n}. Which digit?", "answer": "4", "image": stored(drawn("4"))} for n in range(5)]
    changed = evaluate(tmp_path, seeing, "--task-type", "image-text-to-text", "--reuse", str(folder), rows=other)
    assert changed.code == 2, changed.out
    assert "are not those of the run" in changed.err


def test_a_task_of_texts_alone_is_told(tmp_path: Path) -> None:
    """Under image-text-to-text the run goes on."""
    text = [{"question": "Say 4.", "answer": "4", "image": "no picture"}]
    told = evaluate(tmp_path, lambda text, seen: ("4", 20), "--task-type", "image-text-to-text", rows=text)
    assert told.code == 0, told.err
    assert "there are texts alone in digits" in told.out + told.err


LM_EVAL_TASK = """
task: exams_art
dataset_path: made/exams
dataset_name: Art
validation_split: validation
output_type: generate_until
doc_to_image: !function utils.doc_to_image
doc_to_text: !function utils.doc_to_text
doc_to_target: answer
process_results: !function utils.process_results
generation_kwargs: {until: ["<|endoftext|>"], do_sample: false, temperature: 0, max_gen_toks: 16}
metric_list: [{metric: acc, aggregation: mean, higher_is_better: true}]
"""
LM_EVAL_PYTHON = """
import re

def words(doc):
    return doc["question"] + " Options: " + ", ".join(doc["options"])

def doc_to_image(doc):
    return [doc[f"image_{number}"] for number in re.findall("<image ([1-7])>", words(doc))]

def doc_to_text(doc):
    return re.sub("<image [1-7]>", "<image>", words(doc))

def process_results(doc, results):
    return {"acc": float(results[0].strip() == doc["answer"])}
"""


def test_task_files_of_lm_eval_show_pictures(tmp_path: Path) -> None:
    """As its MMMU does: Python says which pictures a row's text shows, and they go where the text has them."""
    rows = [
        {
            "question": f"{number}. Which option is it: <image 1>?", "options": ["<image 3>", "<image 2>"], "answer": digit,
            **{f"image_{place}": stored(drawn(one)) for place, one in enumerate((digit, "7", "4"), start=1)},
        }
        for number, digit in enumerate("4744")
    ]  # fmt: skip
    write_table(tmp_path / "data" / "made" / "exams" / "Art" / "validation.parquet", rows)
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "exams.yaml").write_text(LM_EVAL_TASK)
    (tmp_path / "tasks" / "utils.py").write_text(LM_EVAL_PYTHON)
    seen: list[list[str]] = []

    def answer(text: str, pictures: list[bytes]) -> tuple[str, int]:
        if "Options" in text:
            seen.append([DRAWN[content] for content in pictures])
            assert text.endswith(" Options: , ")
        return seeing(text, pictures)

    server = SeeingServer(answer)
    with server:
        done = command.run(
            "run", "--endpoint", server.url, "--datasets", tmp_path / "tasks" / "exams.yaml", "--trust-python",
            "--data-dir", tmp_path / "data", "--out", tmp_path / "out", "-n", 1, "--concurrency", 1,
            "--task-type", "image-text-to-text",
        )  # fmt: skip
    assert done.code == 0, done.out + done.err
    assert sorted(seen) == [["4", "4", "7"]] * 3 + [["7", "4", "7"]]
    assert re.search(r"exams_art +acc +1\.00 ", done.out), done.out
