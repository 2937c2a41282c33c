"""Two runs on one page: what differs between their settings first, then the figures, then the problems side by side."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from model_accuracy_eval.records import Comparison, DatasetResult, ProblemResult, Report
from model_accuracy_eval.report import comparison, page, remarks, sections
from model_accuracy_eval.report.page import Questions
from model_accuracy_eval.report.page_replies import PackedReplies

"""Dataset → problem → better, worse or same."""


def as_html(
    compared: Comparison, old: Report, new: Report, questions: Questions, replies: Mapping[str, PackedReplies]
) -> bytes:
    """The page. `replies` has those of changed problems; they are left out if they do not fit."""
    changed = states(compared, old, new)
    fits = page.size(replies) <= page.LARGEST
    shown = replies if fits else {}
    differing, same = _differences(old, new)
    index = sections.compared_index(
        sections.of(old.dataset_results, questions), sections.of(new.dataset_results, questions), changed, shown
    )
    data = {
        "report": {"comparison": compared},
        "comparison": comparison,
        "comparison_title": "Figures, old and new",
        "settings": new.plan.settings,
        "sections": [],
        "differences": differing,
        "same": same,
        "left_out": 0 if fits else sum(state != "same" for each in changed.values() for state in each.values()),
        "index": index if any(changed.values()) else "",
        "chunks": [shown.get(result.dataset, PackedReplies()).chunks for result in new.dataset_results],
    }
    return page.render("compare.html.j2", data)


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
            yield problem.problem, _state(before[problem.problem], problem) if share else "same"


def _state(old: ProblemResult, new: ProblemResult) -> str:
    """A problem of which samples have no verdict is neither better nor worse."""
    if old.bounds or new.bounds:
        return "same"
    change = round(_share(new) - _share(old), 9)
    return "better" if change > 0 else "worse" if change < 0 else "same"


def _share(problem: ProblemResult) -> float:
    return sum(problem.values) / problem.n


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
    yield "started", report.started.replace("T", " ")
    yield from ((_words(name), _value(value)) for name, value in sampling.items())
    yield "k", ", ".join(map(str, report.plan.k))
    yield from ((f"version of {result.dataset}", result.version) for result in report.dataset_results)
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
