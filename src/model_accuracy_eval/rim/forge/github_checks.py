"""Check runs: opened while a run goes on, completed with its verdict; commit statuses where checks are refused."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from model_accuracy_eval.records.forge import Annotation, Check, CheckConclusion, StatusState
from model_accuracy_eval.rim.forge.github_answers import Answer, read
from model_accuracy_eval.rim.forge.github_calls import Caller
from model_accuracy_eval.rim.forge.github_refusals import Errand, expect, must, sentence
from model_accuracy_eval.rim.forge.github_text import clean, cut_bytes, cut_characters


class _Output(msgspec.Struct):
    annotations_count: int = 0


class _Run(msgspec.Struct):
    id: int
    html_url: str | None = None
    external_id: str | None = None
    status: str = ""
    output: _Output = msgspec.field(default_factory=_Output)


class _Runs(msgspec.Struct):
    check_runs: list[_Run]


TITLE = 255
"""Characters."""
TEXT = 65_535
"""Bytes, not characters, of summary and text each."""
MESSAGE = 64_000
"""Bytes of an annotation's message; GitHub says 64 KB."""
BATCH = 50
"""Annotations a request."""
DESCRIPTION = 140
"""Characters of a commit status."""


def start(
    caller: Caller,
    repository: str,
    sha: str,
    *,
    name: str,
    key: str,
    output: Mapping[str, Any],
    details_url: str | None,
) -> Check:
    """`key` is what the check is known by should GitHub stumble after having made it."""
    base = f"/repos/{repository}"
    body = {"name": name, "head_sha": sha, "status": "in_progress", "external_id": key, "output": output}

    def look() -> Answer | None:
        listed = caller.send("GET", f"{base}/commits/{sha}/check-runs", query={"check_name": name, "filter": "all"})
        runs = read(listed, _Runs)
        ours = [run for run in runs.check_runs if run.external_id == key and run.status != "completed"] if runs else []
        return Answer(status=201, data=msgspec.to_builtins(ours[0])) if ours else None

    answer = caller.send("POST", f"{base}/check-runs", body | _link(details_url), look=look)
    made = expect(answer, _errand(repository, f"to open the check '{name}' on commit {sha[:12]}"), _Run)
    return Check(repository=repository, id=made.id, url=made.html_url or "")


def progress(caller: Caller, check: Check, *, title: str, summary: str) -> None:
    """Tried once: what is told again in a minute is not worth waiting for."""
    answer = caller.send("PATCH", _path(check), {"output": output_of(title, summary)}, tries=1)
    must(answer, _errand(check.repository, f"to update check run {check.id}"))


def complete(
    caller: Caller,
    check: Check,
    *,
    conclusion: CheckConclusion,
    output: Mapping[str, Any],
    annotations: Sequence[Annotation],
    details_url: str | None,
) -> tuple[str, ...]:
    """The verdict goes out with the first annotations, the others follow; returns what had to be left out."""
    batches = [annotations[start : start + BATCH] for start in range(0, len(annotations), BATCH)] or [()]
    first = {"status": "completed", "conclusion": conclusion, "output": _annotated(output, batches[0])}
    errand = _errand(check.repository, f"to complete check run {check.id}")
    must(_append(caller, check, first | _link(details_url), len(batches[0])), errand)
    sent = len(batches[0])
    for batch in batches[1:]:
        answer = _append(caller, check, {"output": _annotated(output, batch)}, sent + len(batch))
        if not answer.ok:
            left = len(annotations) - sent
            return (f"{left} of {len(annotations)} annotations are missing. {sentence(answer, errand)}",)
        sent += len(batch)
    return ()


def status(
    caller: Caller,
    repository: str,
    sha: str,
    *,
    state: StatusState,
    context: str,
    description: str,
    target_url: str | None,
) -> None:
    """The last status of a context counts, so that one written twice does no harm."""
    body = {"state": state, "context": context, "description": cut_characters(description, DESCRIPTION)}
    target = {"target_url": target_url} if target_url else {}
    answer = caller.send("POST", f"/repos/{repository}/statuses/{sha}", body | target, look=lambda: None)
    what = f"to set the status '{context}' of commit {sha[:12]}"
    must(answer, Errand(what=what, needs="statuses: write", repository=repository))


def output_of(title: str, summary: str, text: str | None = None) -> dict[str, Any]:
    fitting = {"title": cut_characters(title, TITLE), "summary": cut_bytes(summary, TEXT)}
    return fitting | ({"text": cut_bytes(text, TEXT)} if text else {})


def _append(caller: Caller, check: Check, body: Mapping[str, Any], total: int) -> Answer:
    """Annotations add up, so that a PATCH with some may only be repeated if GitHub has not counted them yet."""
    path = _path(check)
    if not body["output"].get("annotations"):
        return caller.send("PATCH", path, body)

    def look() -> Answer | None:
        seen = caller.send("GET", path)
        run = read(seen, _Run)
        return seen if run is not None and run.output.annotations_count >= total else None

    return caller.send("PATCH", path, body, look=look)


def _annotated(output: Mapping[str, Any], annotations: Sequence[Annotation]) -> dict[str, Any]:
    told = [
        {
            "path": remark.path,
            "start_line": remark.start_line,
            "end_line": remark.end_line,
            "annotation_level": remark.level,
            "message": cut_bytes(remark.message, MESSAGE),
            **({"title": cut_characters(remark.title, TITLE)} if remark.title else {}),
        }
        for remark in annotations
    ]
    return {**output, "annotations": told} if told else dict(output)


def _link(details_url: str | None) -> dict[str, str]:
    return {"details_url": clean(details_url)} if details_url else {}


def _path(check: Check) -> str:
    return f"/repos/{check.repository}/check-runs/{check.id}"


def _errand(repository: str, what: str) -> Errand:
    return Errand(what=what, needs="checks: write", repository=repository)
