"""`report.html`: the whole run on one page that needs no network and no other file.

A model's output is hostile input: the templates escape everything, the script makes text nodes only, and the page's
content security policy lets no other script run. Without JavaScript the replies and the filters are missing.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files

import jinja2
import markupsafe
import msgspec

from model_accuracy_eval.records import Comparison, DatasetResult, ProblemResult, Report
from model_accuracy_eval.report import comparison, endings, figures, languages, remarks, sections
from model_accuracy_eval.report.languages import of_report, say
from model_accuracy_eval.report.page_replies import PackedReplies
from model_accuracy_eval.report.remarks import advise, chance_lines, service_notes
from model_accuracy_eval.scoring.verdicts.comparison_statistics import share_change

Questions = Mapping[str, Mapping[int, str]]
"""The questions of a run as they were asked: dataset → problem → text."""

PAGE = "report.html"
REPLIES_PAGE = "replies.html"
LARGEST = 19 * 1024 * 1024
"""Bytes of compressed replies in the page; more go to a page of their own, so that this one stays below 20 MB."""

_SCRIPTS = (
    *("elements.js", "formulas.js", "prose.js", "packed.js", "problem_list.js", "problem_panel.js", "run_list.js"),
    "page.js",
)


def as_html(report: Report, questions: Questions, replies: Mapping[str, PackedReplies] | None = None) -> bytes:
    """The page, with the replies in it if they fit."""
    report = of_report(report)
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


@cache
def _template(name: str) -> jinja2.Template:
    """Once a process: to compile it takes longer than all else that a small run does."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("model_accuracy_eval.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"say": _say, "code": _code, "said": _said}
    return environment.get_template(name)


def render(template: str, values: Mapping[str, object]) -> bytes:
    """A page from its template, with style and scripts in it."""
    # One function around them all, so that no name of theirs is a name of the page's.
    parts = "\n".join(map(_asset, _SCRIPTS))
    words = msgspec.json.encode(languages.of_scripts(parts)).decode()
    script = f'"use strict";\n(() => {{\nconst WORDS = {words};\n{parts}}})();\n'
    page = _template(template).render(
        values,
        language=languages.language(),
        style=markupsafe.Markup(_asset("page.css")),  # noqa: S704 - our own files
        script=markupsafe.Markup(script),  # noqa: S704 - our own files
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
    )
    return page.encode("utf-8", "replace")


def _say(english: str, **values: object) -> markupsafe.Markup:
    """Fixed words for a template, whose values are escaped if they are no markup."""
    text = markupsafe.escape(languages.say(english))
    return text.format(**values) if values else text


def _code(text: str) -> markupsafe.Markup:
    return markupsafe.Markup("<code>{}</code>").format(text)


def _said(text: str) -> markupsafe.Markup:
    """A text of somebody else, which may run from right to left."""
    return markupsafe.Markup("<bdi>{}</bdi>").format(text)


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
        "columns": figures.columns(rows, "page"),
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
        "advice": advise(rows, report.dataset_results),
        "chance_lines": chance_lines(rows),
        "service_notes": service_notes(report.plan, report.service, report.replicas),
        "of_units": figures.of_units,
        "spreads": figures.spreads,
        "run_speed": figures.run_speed(report.speed),
        "tokens": figures.tokens,
        "sections": shown,
        "sent": remarks.sent(report.plan),
        "by_part": sections.parts(report.dataset_results),
        "over_k": sections.over_k(report.dataset_results),
        "baseline_values": {
            (change.dataset, difference.metric): difference.old
            for change in (report.comparison.changes if report.comparison else ())
            for difference in change.differences
            if difference.points is not None
        },
        "versions": {result.dataset: result.version for result in report.dataset_results},
    }


# Two runs on one page: what differs between their settings first, then the figures, then the problems side by side.


def comparison_as_html(
    compared: Comparison, old: Report, new: Report, questions: Questions, replies: Mapping[str, PackedReplies]
) -> bytes:
    """The page. `replies` has those of changed problems; they are left out if they do not fit."""
    changed = states(compared, old, new)
    fits = size(replies) <= LARGEST
    shown = replies if fits else {}
    differing, same = _differences(old, new)
    index = sections.compared_index(
        sections.of(old.dataset_results, questions), sections.of(new.dataset_results, questions), changed, shown
    )
    data = {
        "report": {"comparison": compared},
        "comparison": comparison,
        "verdict": comparison.verdict(compared),
        "comparison_title": say("Figures, old and new"),
        "settings": new.plan.settings,
        "sections": [],
        "differences": differing,
        "same": same,
        "left_out": 0 if fits else sum(state != "same" for each in changed.values() for state in each.values()),
        "index": index if any(changed.values()) else "",
        "chunks": [shown.get(result.dataset, PackedReplies()).chunks for result in new.dataset_results],
    }
    return render("compare.html.j2", data)


def states(compared: Comparison, old: Report, new: Report) -> dict[str, dict[int, str]]:
    """What became of each problem that both runs were asked in the same version; the comparison counts the same."""
    results = {result.dataset: result for result in old.dataset_results}
    same_version = {change.dataset for change in compared.changes if change.old_version == change.new_version}
    return {
        result.dataset: dict(_states(results[result.dataset], result))
        for result in new.dataset_results
        if result.dataset in same_version
    }


def _states(old: DatasetResult, new: DatasetResult) -> Iterator[tuple[int, str]]:
    before = {problem.problem: problem for problem in old.problem_results}
    share = bool(new.rows) and new.rows[0].share
    for problem in new.problem_results:
        if problem.problem in before:
            change = share_change(before[problem.problem], problem) if share else 0.0
            yield problem.problem, "better" if change > 0 else "worse" if change < 0 else "same"


def _differences(old: Report, new: Report) -> tuple[list[tuple[str, str, str]], int]:
    """Facts that differ, with both values, and how many are the same."""
    before, after = dict(_facts(old)), dict(_facts(new))
    names = list(dict.fromkeys([*after, *before]))
    pairs = [(name, before.get(name, "–"), after.get(name, "–")) for name in names]
    differing = [pair for pair in pairs if pair[1] != pair[2]]
    return differing, len(pairs) - len(differing)


_FIRST = ("label", "model", "model_name", "adapter", "endpoint")
_WITH_THEIR_OWN_LINE = {"num_return_sequences", "k", "temperature", "top_p", "max_tokens", "seed"}


def _facts(report: Report) -> Iterator[tuple[str, str]]:
    """What a run was, the most telling first."""
    settings = {
        name: value
        for name, value in msgspec.to_builtins(report.plan.settings).items()
        if name not in _WITH_THEIR_OWN_LINE
    }
    sampling = {**msgspec.to_builtins(report.plan.sampling), **remarks.sent(report.plan)}
    yield "verdict", f"{report.outcome.conclusion}: {report.outcome.sentence}"
    yield "served model", (report.service.model if report.service else None) or "–"
    yield from ((_words(name), _value(settings.pop(name))) for name in _FIRST if name in settings)
    yield "started", remarks.to_the_second(report.started).replace("T", " ")
    yield from ((_words(name), _value(value)) for name, value in sampling.items())
    yield "k", ", ".join(map(str, report.plan.k))
    yield from ((f"version of {result.dataset}", result.version) for result in report.dataset_results)
    yield from (report.service.stack.items() if report.service else ())
    yield from ((name, value) for name, value in report.environment.items() if name != "pid")
    yield from ((_words(name), _value(value)) for name, value in settings.items())


def _words(name: str) -> str:
    return name.replace("_", " ")


def _value(value: object) -> str:
    match value:
        case None | "" | [] | {}:
            return "–"
        case str():
            return value
        case [*items]:
            return ", ".join(map(_value, items))
        case _:
            return msgspec.json.encode(value).decode()


def changed_only(result: DatasetResult, state: Mapping[int, str]) -> DatasetResult:
    """The same without the problems that did not change, so that nothing of these is read."""
    kept: Sequence[ProblemResult] = [
        problem for problem in result.problem_results if state.get(problem.problem, "same") != "same"
    ]
    return msgspec.structs.replace(result, problem_results=tuple(kept))
