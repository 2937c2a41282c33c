"""`report.html`: the whole run on one page that needs no network and no other file.

A model's output is hostile input: the templates escape everything, the script makes text nodes only, and the page's
content security policy lets no other script run. Without JavaScript the replies and the filters are missing.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.resources import files

import jinja2
import markupsafe

from model_accuracy_eval.records import Report
from model_accuracy_eval.report import comparison, endings, figures, page_charts, remarks, sections
from model_accuracy_eval.report.advice import advise, chance_lines
from model_accuracy_eval.report.page_replies import PackedReplies
from model_accuracy_eval.report.remarks import service_notes

Questions = Mapping[str, Mapping[int, str]]
"""The questions of a run as they were asked: dataset → problem → text."""

PAGE = "report.html"
REPLIES_PAGE = "replies.html"
LARGEST = 19 * 1024 * 1024
"""Bytes of compressed replies in the page; more go to a page of their own, so that this one stays below 20 MB."""

_SCRIPTS = ("elements.js", "packed.js", "problem_list.js", "problem_panel.js", "run_list.js", "page.js")


def as_html(report: Report, questions: Questions, replies: Mapping[str, PackedReplies] | None = None) -> bytes:
    """The page, with the replies in it if they fit."""
    replies = replies or {}
    fits = size(replies) <= LARGEST
    shown = sections.of(report.dataset_results, questions)
    data = {
        **_values(report, shown),
        "index": sections.index(shown, replies if fits else {}, elsewhere="" if fits else REPLIES_PAGE)
        if report.dataset_results
        else "",
        "chunks": [each.chunks for each in _in_order(report, replies)] if fits else [],
        "elsewhere": "" if fits else REPLIES_PAGE,
    }
    return render("page.html.j2", data)


def replies_page(report: Report, questions: Questions, replies: Mapping[str, PackedReplies]) -> bytes | None:
    """The page beside it, if the replies do not fit into that one."""
    if size(replies) <= LARGEST:
        return None
    shown = sections.of(report.dataset_results, questions)
    data = {
        **_values(report, shown),
        "index": sections.index(shown, replies),
        "chunks": [each.chunks for each in _in_order(report, replies)],
    }
    return render("replies.html.j2", data)


def size(replies: Mapping[str, PackedReplies]) -> int:
    return sum(each.size for each in replies.values())


def _in_order(report: Report, replies: Mapping[str, PackedReplies]) -> list[PackedReplies]:
    return [replies.get(result.dataset, PackedReplies()) for result in report.dataset_results]


def render(template: str, values: Mapping[str, object]) -> bytes:
    """A page from its template, with style and scripts in it."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("model_accuracy_eval.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # One function around them all, so that no name of theirs is a name of the page's.
    parts = "\n".join(map(_asset, _SCRIPTS))
    script = f'"use strict";\n(() => {{\n{parts}}})();\n'
    page = environment.get_template(template).render(
        values,
        style=markupsafe.Markup(_asset("page.css")),  # noqa: S704 - our own files
        script=markupsafe.Markup(script),  # noqa: S704 - our own files
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
    )
    return page.encode("utf-8", "replace")


def _asset(name: str) -> str:
    return files("model_accuracy_eval.report").joinpath(f"templates/{name}").read_text("utf-8").replace("\r\n", "\n")


def _values(report: Report, shown: Sequence[sections.Section]) -> dict[str, object]:
    rows = figures.all_rows(report)
    return {
        "report": report,
        "plan": report.plan,
        "settings": report.plan.settings,
        "outcome": report.outcome,
        "ending": endings.words(report),
        "cells": figures.table(rows, report.plan.settings.label, "page"),
        "rows": rows,
        "with_unit": figures.with_unit,
        "range_of": figures.range_of,
        "sampled": any(row.metric.startswith("avg@") for row in rows),
        "not_shares": {(row.dataset, row.metric): row for row in rows if not row.share},
        "thresholds": {
            (result.gate.dataset, result.gate.metric): result.gate.threshold
            for result in report.gates
            if not result.gate.from_baseline
        },
        "comparison": comparison,
        "advice": advise(rows),
        "chance_lines": chance_lines(rows),
        "service_notes": service_notes(report.plan, report.service, report.replicas),
        "of_units": figures.of_units,
        "spreads": figures.spreads,
        "tokens": figures.tokens,
        "tail": remarks.tail,
        "sections": shown,
        "sent": remarks.sent(report.plan),
        "by_part": page_charts.parts(report.dataset_results),
        "over_k": page_charts.over_k(report.dataset_results),
        "baseline_values": {
            (change.dataset, difference.metric): difference.old
            for change in (report.comparison.changes if report.comparison else ())
            for difference in change.differences
            if difference.points is not None
        },
        "versions": {result.dataset: result.version for result in report.dataset_results},
    }
