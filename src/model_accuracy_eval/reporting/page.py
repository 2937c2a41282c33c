"""`report.html`: the whole run on one page that needs nothing else, neither network nor files beside it.

What a model said is hostile input: the template escapes everything, and the page's own policy lets no other script
run. Without JavaScript all of it is still there; only the filter is missing.
"""

from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files

from model_accuracy_eval.records import Report, Row
from model_accuracy_eval.reporting import compared, sections, summary
from model_accuracy_eval.reporting.advice import advise

_WIDE = 1e7
"""From here on figures that are no shares are told to three digits: nobody reads twenty."""


def as_html(report: Report, problems: Mapping[str, Mapping[int, str]]) -> bytes:
    """The page. `problems` has the question of each problem, by dataset and id, as it was asked."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 – 40 ms that only reports need
    from markupsafe import Markup  # noqa: PLC0415

    from model_accuracy_eval.reporting.compiled import KeptBytecode  # noqa: PLC0415

    environment = Environment(
        loader=PackageLoader("model_accuracy_eval.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=KeptBytecode(),
    )
    script = _asset("page.js")
    page = environment.get_template("page.html.j2").render(
        _facts(report, problems),
        style=Markup(_asset("page.css")),  # noqa: S704 – ours, no input
        script=Markup(script),  # noqa: S704 – ours, no input
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
    )
    return page.encode("utf-8", "replace")


def _asset(name: str) -> str:
    return files("model_accuracy_eval.reporting").joinpath(f"templates/{name}").read_text("utf-8").replace("\r\n", "\n")


def _facts(report: Report, problems: Mapping[str, Mapping[int, str]]) -> dict[str, object]:
    rows = summary.all_rows(report)
    return {
        "report": report,
        "plan": report.plan,
        "outcome": report.outcome,
        "cells": summary.table(rows, report.plan.label),
        "rows": rows,
        "shown": shown,
        "sampled": any(row.metric.startswith("avg@") for row in rows),
        "unscaled": {(row.dataset, row.metric): row for row in rows if not row.share},
        "thresholds": {
            (one.gate.dataset, one.gate.metric): one.gate.threshold
            for one in report.gates
            if not one.gate.from_baseline
        },
        "compared": compared,
        "advice": advise(rows),
        "sections": sections.of(report.sheets, problems),
        "versions": {sheet.dataset: sheet.version for sheet in report.sheets},
    }


def shown(row: Row) -> str:
    """A figure with its unit: shares are per cent, and nothing else is."""
    if row.value is None or row.share:
        return summary.number(row.value) + ("" if row.value is None else " %")
    return f"{row.value:.3g}" if abs(row.value) >= _WIDE else summary.number(row.value)
