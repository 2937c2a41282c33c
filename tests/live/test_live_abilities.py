"""What some engines can do besides answering: pictures, tools and thoughts."""

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.e2e import command
from tests.live.conftest import Models
from tests.live.demo_answers import SECONDS, DemoAnswers, evaluate, far_apart
from tests.live.live_servers import LiveServer, serving

from model_accuracy_eval.cli import main
from model_accuracy_eval.run.thinking_probe import QUESTION as THINKING_QUESTION

pytestmark = pytest.mark.timeout(1800)

TASK = """
name: {name}
data: {file}
fields: [question, answer]
prompt: {{question: "{{{{ question }}}}"}}
reference: "{{{{ answer }}}}"
{more}
repeats: 2
pipelines: [{{filters: [number_answer], metrics: [{{name: number, label: accuracy}}]}}]
"""


def task(folder: Path, name: str, question: str, answer: str, more: str = "") -> Path:
    data, file = folder / f"{name}.jsonl", folder / f"{name}.yaml"
    data.write_text(json.dumps({"question": question, "answer": answer}) + "\n")
    file.write_text(TASK.format(name=name, file=data, more=more))
    return file


def journal_lines(folder: Path, name: str) -> list[dict[str, Any]]:
    lines = (folder / f"predictions/{command.LABEL}/{name}.jsonl").read_bytes().splitlines()
    return [json.loads(line) for line in lines]


TOOLS = {"vllm": ["--enable-auto-tool-choice", "--tool-call-parser", "hermes"], "llamacpp": []}
"""llama.cpp reads calls by the chat template. vLLM is not given both parsers at once: an answer without a thought would
be one to its parser of thoughts."""


@pytest.fixture(scope="module")
def thinking(models: Models, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, LiveServer]]:
    """Without parsers of thoughts."""
    log = tmp_path_factory.mktemp("logs")
    with contextlib.ExitStack() as stack:
        names = ("vllm", "llamacpp")
        yield {name: stack.enter_context(serving(name, models.written("thinking", name), log / name)) for name in names}


def ask_greedily(server: LiveServer, file: Path, out: Path, *more: object) -> Path:
    """The folder of a run whose answers are the likeliest."""
    asked = ["--endpoint", server.url, "--datasets", file, "--temperature", 0, "--out", out, *more]
    done = command.finish(command.start("run", *asked), SECONDS)
    assert done.code == 0, done.out + done.err
    folder = command.only_run(out)
    (facts,) = command.facts(folder)["datasets"].values()
    assert set(facts["metrics"].values()) == {100.0}
    return folder


@pytest.mark.parametrize("name", TOOLS)
def test_calls_that_the_engine_parses_are_worked_out_and_told_back(name: str, models: Models, tmp_path: Path) -> None:
    """The model knows the conversation by heart: it calls the calculator, is told 408, and says so."""
    file = task(tmp_path, "worked_out", "What is 12*34?", "408", "tools: [calculator]")
    with serving(name, models.written("speaking", name), tmp_path / "server.log", TOOLS[name]) as server:
        folder = ask_greedily(server, file, tmp_path / "out")
    for line in journal_lines(folder, "worked_out"):
        (first,) = line["rounds"]
        (use,) = first["uses"]
        assert json.loads(use["call"]["arguments"]) == {"expression": "12*34"}
        assert (use["call"]["name"], use["result"]) == ("calculator", "408")
        assert line["prediction"].strip() == "#### 408"
    (facts,) = command.facts(folder)["datasets"].values()
    assert facts["counts"]["used_tools"] == facts["counts"]["answered"]


@pytest.mark.parametrize("parser", [True, False])
def test_thoughts_are_no_part_of_the_answer(parser: bool, models: Models, tmp_path: Path) -> None:
    """Parsed by vLLM they stand beside it; llama.cpp leaves them in the text, and the figure is the same."""
    file = task(tmp_path, "thought", "Think: what is 6*7?", "42")
    name, options = ("vllm", ["--reasoning-parser", "qwen3"]) if parser else ("llamacpp", [])
    with serving(name, models.written("speaking", name), tmp_path / "server.log", options) as server:
        folder = ask_greedily(server, file, tmp_path / "out")
    for line in journal_lines(folder, "thought"):
        text, reasoning = line["prediction"].strip(), line.get("reasoning", "").strip()
        if parser:
            assert (text, reasoning) == ("#### 42", "six times seven")
        else:
            assert text == "<think>\nsix times seven\n</think>\n\n#### 42"


@pytest.mark.parametrize(
    ("setting", "said", "thinks"),
    [
        ("on", "Thinking is on by", True),
        ("off", "Thinking is off by", False),
        ("budget=3", "--thinking budget=3 has no effect: asked with chat_template_kwargs, ", True),
    ],
)
@pytest.mark.parametrize("name", ["vllm", "llamacpp"])
def test_thinking_takes_effect_or_is_told_to_have_none(
    name: str, setting: str, said: str, thinks: bool, thinking: dict[str, LiveServer], tmp_path: Path
) -> None:
    """The chat template has the switch; neither engine ends a thought of this template after so many tokens."""
    file = task(tmp_path, "counted", THINKING_QUESTION, "114")
    folder = ask_greedily(thinking[name], file, tmp_path / "out", "--thinking", setting)
    (finding,) = (one for one in command.facts(folder)["findings"] if one["probe"] == "thinking")
    assert finding["sentence"].startswith(said)
    thoughts = ["100 + 42 - 2 * 14" in line["prediction"] for line in journal_lines(folder, "counted")]
    assert thoughts == [thinks, thinks]


def test_pictures_are_read_on_vllm_as_by_the_numpy_server(numpy_digits: DemoAnswers, tmp_path: Path) -> None:
    """The example adapter's weights that see: the figure is that of its own server within the error."""
    with serving("vllm", command.ADAPTER / "weights-digits", tmp_path / "server.log") as server:
        asked = ["--endpoint", server.url, "--task-type", "image-text-to-text", "--datasets", "demo_digits", "-n", 20]
        found = evaluate(tmp_path / "out", *asked)
    assert far_apart(found, numpy_digits) < 4, (found.avg, numpy_digits.avg)


def test_transformers_serve_is_told_what_it_lacks(models: Models, tmp_path: Path) -> None:
    """One choice a request, and no log-likelihoods but letters in free answers."""
    with serving("transformers", models.adding("transformers"), tmp_path / "server.log") as server:
        output = CliRunner().invoke(main, ["doctor", "--endpoint", server.url]).output
    assert re.search(r"WARN  n +1 sample of 5 requested", output), output
    assert "Runs use extracted: " in output, output
