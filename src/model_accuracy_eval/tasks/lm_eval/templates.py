"""doc_to_text, doc_to_target, doc_to_choice → templates of ours.

lm-eval takes each for a column's name if there is such a column, else for a template, and looks at the type of what
comes out: a number is a position, a text in brackets a list. A TaskSpec says the same with words of `template_words`.
"""

from typing import Any

import msgspec

from model_accuracy_eval.tasks.lm_eval.findings import Findings
from model_accuracy_eval.tasks.lm_eval.reading import Function

_JINJA = ("{{", "{%", "{#")


def _is_template(value: str) -> bool:
    return any(mark in value for mark in _JINJA)


def _expression(place: str, value: Any, findings: Findings) -> str | None:
    """A Jinja expression for what is no template: a column, or a value made by Python."""
    if isinstance(value, Function):
        return findings.column(place, value)
    if isinstance(value, str) and value and not _is_template(value):
        return f"column({msgspec.json.encode(value).decode()})"
    return None


def text(place: str, value: Any, findings: Findings) -> str:
    """A template of a text."""
    expression = _expression(place, value, findings)
    return f"{{{{ {expression} }}}}" if expression else str(value)


def wording(place: str, value: Any, findings: Findings) -> str:
    """As `text`, where prose is likelier than the name of a column."""
    plain = isinstance(value, str) and not value.isidentifier()
    return str(value) if plain else text(place, value, findings)


def options(value: Any, findings: Findings, place: str = "doc_to_choice") -> str | None:
    """A template of a list of texts."""
    if value is None:
        return None
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return _each(value)
    expression = _expression(place, value, findings)
    return f"{{{{ {expression} | tojson }}}}" if expression else str(value)


def _each(values: list[Any]) -> str:
    """A template of a list whose entries may be templates, as 0.5 reads them; 0.4 takes their braces for text."""
    texts = [str(one) for one in values]
    if not any(map(_is_template, texts)):
        return msgspec.json.encode(texts).decode()
    named = {f"_entry{place}": text for place, text in enumerate(texts)}
    return "".join(captured(name, text) for name, text in named.items()) + f"{{{{ [{', '.join(named)}] | tojson }}}}"


def position(value: Any, findings: Findings) -> str:
    """A template of the right option: its position, several positions, or its text."""
    if isinstance(value, int | list):
        return repr(value)
    if isinstance(value, str) and value.isdigit():
        return value
    expression = _expression("doc_to_target", value, findings)
    return f"{{{{ {expression} | literal }}}}" if expression else str(value)


def answers(value: Any, findings: Findings) -> str:
    """A template of the JSON list of all right answers."""
    if isinstance(value, list):
        return _each(value)
    expression = _expression("doc_to_target", value, findings)
    if expression:
        return f"{{{{ {expression} | answers | tojson }}}}"
    return f"{captured('_target', str(value))}{{{{ _target | answers | tojson }}}}"


def chosen(target: Any, choices: Any, findings: Findings) -> str:
    """A template of the JSON list of the one right answer, where the target is its position among choices."""
    where = captured("_target", position(target, findings))
    listing = captured("_choices", options(choices, findings) or "[]")
    return f"{where}{listing}{{{{ [(_choices | options)[_target | int]] | tojson }}}}"


def captured(name: str, template: str) -> str:
    return f"{{% set {name} %}}{template}{{% endset %}}"


def escaped(source: str) -> str:
    """A text that a template gives as it is."""
    return f"{{% raw %}}{source}{{% endraw %}}" if _is_template(source) else source
