"""doc_to_text, doc_to_target and doc_to_choice of one task → what is asked, and what is right, as templates."""

from dataclasses import dataclass
from typing import Any

from model_accuracy_eval.records import Kind
from model_accuracy_eval.tasks.lm_eval import judging, templates
from model_accuracy_eval.tasks.lm_eval.findings import Findings
from model_accuracy_eval.tasks.lm_eval.reading import Fields


@dataclass(frozen=True, slots=True)
class Asked:
    """The templates of question and right answers."""

    kind: Kind
    question: str
    answer: str
    reference: str
    references: str | None
    choices: str | None


def templates_of(fields: Fields, kind: Kind, findings: Findings) -> Asked:
    question, target, choices = (fields.get(f"doc_to_{part}") for part in ("text", "target", "choice"))
    options = templates.options(choices, findings)
    if kind == "choice" and fields.get("multiple_inputs"):
        return _schema(question, target, choices, findings)
    if kind == "choice":
        return _choice(question, target, options, findings)
    if kind == "generate":
        if options is None and any(step.name == "multi_choice_regex" for step in _filters(fields)):
            options = "{{ choices | list | tojson }}"
        right = templates.answers(target, findings) if choices is None else templates.chosen(target, choices, findings)
        several = None if choices is None and fields.get("multiple_targets") is False else right
        reference = templates.text("doc_to_target", target, findings)
        return Asked(kind, templates.text("doc_to_text", question, findings), "", reference, several, options)
    reference = templates.text("doc_to_target", target, findings)
    if kind == "rolling":
        return Asked(kind, reference, "", reference, None, None)
    return Asked(kind, templates.text("doc_to_text", question, findings), "", reference, None, None)


def _choice(question: Any, target: Any, options: str | None, findings: Findings) -> Asked:
    """A number as doc_to_text is the position of the right context among several."""
    if options is None:
        findings.refuse("it weighs options, but has no doc_to_choice")
    if isinstance(question, int):
        ending = templates.text("doc_to_target", target, findings)
        return Asked("schema", "", ending, str(question), None, options)
    reference = templates.position(target, findings)
    return Asked("choice", templates.text("doc_to_text", question, findings), "", reference, None, options)


def _schema(question: Any, target: Any, choices: Any, findings: Findings) -> Asked:
    """0.5 says multiple_inputs: doc_to_text lists the contexts, and doc_to_choice the one ending."""
    contexts, endings = templates.options(question, findings, "doc_to_text"), templates.options(choices, findings)
    if contexts is None or endings is None:
        findings.refuse("it weighs contexts (multiple_inputs), but lacks doc_to_text or doc_to_choice")
    ending = templates.captured("_endings", endings or "[]") + "{{ (_endings | options)[0] }}"
    return Asked("schema", "", ending, templates.position(target, findings), None, contexts)


def _filters(fields: Fields) -> list[Any]:
    silent = Findings(trusted=True)
    return [step for pipeline in judging.pipelines(fields, "generate", silent) for step in pipeline.filters]
