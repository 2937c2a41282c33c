"""Prompts as the weights' own template and tokenizer make them, beside services that make others."""

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.fake_ports import MuteSubject

from model_accuracy_eval.diagnosis.probe import ProbeResult
from model_accuracy_eval.diagnosis.prompt_lengths import prompt_lengths
from model_accuracy_eval.records import Message, Reply, Request, Usage
from model_accuracy_eval.run.own_template import OwnTemplate, own_template

TOKENIZER = Path("example-adapter/weights/tokenizer.json")
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "{% if message['role'] == 'system' and strict %}{{ raise_exception('no system here') }}{% endif %}"
    "[{{ message['role'] }}]{{ message['content'] | trim }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)


def weights(folder: Path, template: str = TEMPLATE, **config: object) -> str:
    (folder / "tokenizer.json").write_bytes(TOKENIZER.read_bytes())
    config = {"bos_token": {"content": "<eos>"}, "chat_template": template, **config}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return str(folder)


class Serving(MuteSubject):
    """Counts prompts by a template of its own."""

    def __init__(self, count: Callable[[Sequence[Message]], int | None]) -> None:
        self._count = count

    async def ask(self, requests: Sequence[Request], at_once: int = 1) -> list[Reply]:
        counts = [self._count(request.messages) for request in requests]
        return [Reply(id="", usage=Usage(prompt_tokens=count, completion_tokens=1)) for count in counts]


def read(folder: str, **arguments: object) -> OwnTemplate:
    template = own_template(folder, dict(arguments))
    assert template is not None
    return template


def found(own: OwnTemplate, served: Callable[[Sequence[Message]], int | None]) -> ProbeResult:
    return asyncio.run(prompt_lengths(Serving(served), own.count, {}, at_once=4))


@pytest.mark.parametrize(
    ("template", "state", "words"),
    [
        (TEMPLATE, "PASS", "9 prompts have as many tokens"),
        (TEMPLATE.removeprefix("{{ bos_token }}"), "FAIL", "Every prompt has 1 fewer than it should"),
        ("{{ bos_token }}" + TEMPLATE, "FAIL", "Every prompt has 1 more than it should"),
        (TEMPLATE.replace(" | trim", ""), "FAIL", "Prompts are others than the weights' own (blanks)"),
        (TEMPLATE.replace("messages %}", "messages if message['role'] != 'system' %}"), "FAIL", "(a system message)"),
        (TEMPLATE.replace("messages %}", "messages[-1:] %}"), "FAIL", "(a system message, three turns)"),
    ],
)
def test_what_a_service_does_to_prompts_is_told(template: str, state: str, words: str, tmp_path: Path) -> None:
    own = read(weights(tmp_path))
    served = read(weights(tmp_path, template))
    result = found(own, served.count)
    assert (result.state, words in result.sentence) == (state, True), result


def test_what_the_template_refuses_is_not_asked(tmp_path: Path) -> None:
    own = read(weights(tmp_path), strict=True)
    assert "8 prompts" in found(own, own.count).sentence


def test_weights_without_a_readable_template_are_not_looked_at(tmp_path: Path) -> None:
    assert own_template("", {}) is None
    assert own_template(str(tmp_path), {}) is None
    assert own_template(weights(tmp_path, "{% if %}"), {}) is None
    (tmp_path / "tokenizer_config.json").write_text("{}")
    assert own_template(str(tmp_path), {}) is None


def test_a_template_of_its_own_file_wins(tmp_path: Path) -> None:
    folder = weights(tmp_path, "{{ bos_token }}")
    (tmp_path / "chat_template.jinja").write_text(TEMPLATE)
    assert read(folder).count([Message(role="user", content="1")]) == read(weights(tmp_path)).count(
        [Message(role="user", content="1")]
    )
