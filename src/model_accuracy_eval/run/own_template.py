"""The chat template and the tokenizer that lie beside weights: how many tokens a conversation is, without the model."""

import json
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NoReturn

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from model_accuracy_eval import extras
from model_accuracy_eval.records import JSONObject, Message

_TOKENIZER, _CONFIG, _TEMPLATE = "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"


class OwnTemplate:
    """Counts as servers do: the template's text is read with its special tokens, and none is added."""

    def __init__(self, tokenizer: str, template: str, arguments: JSONObject) -> None:
        self._tokenizer = extras.load("tokenizers").Tokenizer.from_file(tokenizer)
        self._arguments = arguments
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )
        environment.filters["tojson"] = _as_json
        environment.globals |= {"raise_exception": _refuse, "strftime_now": datetime.now(timezone.utc).strftime}
        self._template = environment.from_string(template)

    def count(self, messages: Sequence[Message]) -> int | None:
        """None: the template does not take the conversation, such as one with a system message."""
        turns = [{"role": message.role, "content": message.content} for message in messages]
        try:
            text = self._template.render(messages=turns, add_generation_prompt=True, tools=None, **self._arguments)
        except (jinja2.TemplateError, TypeError, ValueError):
            return None
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)


def own_template(folder: str, arguments: JSONObject) -> OwnTemplate | None:
    """None: the weights bring nothing of this form that can be read, or the library that reads it is not installed."""
    tokenizer, beside = Path(folder, _TOKENIZER), Path(folder, _TEMPLATE)
    if not (folder and tokenizer.is_file() and extras.installed("tokenizers")):
        return None
    try:
        config = json.loads(Path(folder, _CONFIG).read_bytes())
        template = beside.read_text(encoding="utf-8") if beside.is_file() else config["chat_template"]
        if isinstance(template, list):  # several by name
            template = next(each["template"] for each in template if each["name"] == "default")
        tokens = {name: _text(value) for name, value in config.items() if name.endswith("_token")}
        return OwnTemplate(str(tokenizer), template, {**tokens, **arguments})
    except (OSError, ValueError, LookupError, StopIteration, jinja2.TemplateError):
        return None


def _text(token: Any) -> str:
    return token["content"] if isinstance(token, dict) else token or ""


def _as_json(value: object, indent: int | None = None, **_: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(words: str) -> NoReturn:
    raise jinja2.TemplateError(words)
