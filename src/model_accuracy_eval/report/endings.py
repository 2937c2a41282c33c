"""How each conclusion is shown on GitHub: one table for the comment, the check and the commit status.

GitHub lets `neutral` and `skipped` satisfy a required check, so only a run that came to its end and had no gate to fail
is one of them; who wants a verdict sets `require-gate`. A commit status has no word for that, so it says success, and
its description that there was no gate.
"""

import json
import shlex
from collections.abc import Container, Iterator
from typing import Any

import msgspec

from model_accuracy_eval.errors import Defect, EvalError, Refused, Stopped, UsageError
from model_accuracy_eval.records import Conclusion, Counts, Outcome, Record, Report, RunPlan, Settings
from model_accuracy_eval.records.report import CheckConclusion, StatusState
from model_accuracy_eval.report import markdown
from model_accuracy_eval.report.languages import of_report, say


class ConclusionText(Record, frozen=True, kw_only=True):
    """One row of the table."""

    mark: str
    words: str
    check: CheckConclusion
    status: StatusState


CONCLUSIONS: dict[Conclusion, ConclusionText] = {
    "passed": ConclusionText(mark="✅", words="Passed", check="success", status="success"),
    "failed": ConclusionText(mark="❌", words="Failed", check="failure", status="failure"),
    "undecided": ConclusionText(mark="❔", words="Undecided", check="action_required", status="failure"),
    "complete": ConclusionText(mark="☑️", words="Complete, no gate", check="neutral", status="success"),
    "refused": ConclusionText(mark="⛔", words="Not started", check="action_required", status="error"),
    "broken": ConclusionText(mark="💥", words="Infrastructure failure, no verdict", check="failure", status="error"),
    "stopped": ConclusionText(mark="⏹️", words="Cancelled", check="cancelled", status="error"),
}


_NOT_OF_THE_INFRASTRUCTURE = {UsageError.exit_code, Defect.exit_code}
"""Exit codes of runs without a verdict that ended by what they were given, or by a defect of this program."""


def error_outcome(error: EvalError) -> Outcome:
    """The outcome of a run that ended with an error before there was a report."""
    conclusion: Conclusion = "broken"
    if isinstance(error, (Refused, UsageError)):
        conclusion = "refused"
    elif isinstance(error, Stopped):
        conclusion = "stopped"
    return Outcome(
        conclusion=conclusion,
        exit_code=error.exit_code,
        stage=error.stage,
        sentence=error.sentence,
        detail=error.detail,
        about=error.about,
        next_step=error.next_step,
    )


def outcome(result: Report | Outcome) -> Outcome:
    return result.outcome if isinstance(result, Report) else result


def words(result: Report | Outcome) -> str:
    """How the run ended, in the words of every heading."""
    ending = outcome(result)
    if ending.conclusion == "broken" and ending.exit_code in _NOT_OF_THE_INFRASTRUCTURE:
        return say("No verdict")
    if ending.conclusion != "complete" or not isinstance(result, Report):
        return say(CONCLUSIONS[ending.conclusion].words)
    if result.plan.shard is not None:
        return say("Complete: shard {shard}", shard=result.plan.shard)
    if result.plan.settings.mode == "infer":
        return say("Complete: asked, not judged")
    return say(CONCLUSIONS["complete"].words)


def title(result: Report | Outcome, longest: int = 255) -> str:
    """One line without markup: a check's title (255 characters), a status's description (140)."""
    result = of_report(result) if isinstance(result, Report) else result
    heading = words(result)
    between = ". " if ":" in heading else ": "
    return markdown.clip(f"{heading}{between}{' '.join(outcome(result).sentence.split())}", longest)


# The one command to type after a run that did not end well: that of its error, else the one for its kind.


# The command that goes on with a run, or judges it again.
#
# A run's folder may be anybody's. What starts programs, loosens their sandbox or gets a key is never taken from it, but
# typed again by whoever trusts it.


_WEAK_SANDBOXES = {"uid", "none"}


def go_on_command(settings: Settings, folder: str | None, *, asks: bool = True) -> str:
    """`asks`: whether it asks for what is missing; else it only judges."""
    mode = [] if asks else ["--mode", "eval"]
    words = [*to_be_typed(settings, asks=asks), *mode, "--reuse", str(folder)]
    return shlex.join(["model-accuracy-eval", "run", *words])


def to_be_typed(
    settings: Settings,
    given: Container[str] = (),
    *,
    asks: bool,
    model_key: bool = False,
    judge_key: bool = False,
) -> Iterator[str]:
    """The words, but for the settings that are `given`. `model_key` and `judge_key`: whether there is a key that would
    be sent to the model's service, and to the judge's."""
    deploys = asks and settings.adapter is not None
    matters = {
        "adapter": deploys,
        "adapter_image": deploys and settings.adapter_image is not None,
        "trust_python": settings.trust_python,
        "sandbox": settings.sandbox in _WEAK_SANDBOXES,
        "endpoint": asks and model_key and bool(settings.endpoint),
        "judge_endpoint": judge_key and settings.judge_endpoint is not None,
    }
    for name in (name for name, is_so in matters.items() if is_so and name not in given):
        value = getattr(settings, name)
        if name != "adapter":  # which is an argument
            yield f"--{name.replace('_', '-')}"
        if value is not True:
            yield value if isinstance(value, str) else ",".join(value)


_MENDED_BY_GOING_ON = {5, 70}
"""Exit codes of runs that go on when their cause is mended."""
_NEVER_SERVED = 4


def next_step(report: Report) -> str:
    """Empty for a run that ended well."""
    outcome = report.outcome
    lost = any(_lost(result.counts) for result in report.dataset_results)
    stopped = outcome.conclusion == "stopped" or outcome.stage == "infer" or outcome.exit_code in _MENDED_BY_GOING_ON
    if outcome.next_step:
        return outcome.next_step
    if outcome.folder and (stopped or (outcome.conclusion == "undecided" and lost)):
        return go_on_command(report.plan.settings, outcome.folder)
    asked = "infer" in report.seconds or report.plan.settings.mode == "eval"
    if outcome.folder and outcome.exit_code == EvalError.exit_code and asked:
        return go_on_command(report.plan.settings, outcome.folder, asks=False)  # what was asked is kept
    if outcome.exit_code == _NEVER_SERVED:
        return _look(report.plan, outcome)
    gated = outcome.conclusion in {"failed", "undecided"}
    return f"model-accuracy-eval history {report.plan.settings.out}" if gated else ""


def _look(plan: RunPlan, outcome: Outcome) -> str:
    if plan.settings.endpoint:
        return f"model-accuracy-eval doctor --endpoint {plan.settings.endpoint[0]}"
    if plan.settings.engine == "ray" and outcome.about is None:  # it is the cluster's nodes, and not deploy.sh
        return go_on_command(plan.settings, outcome.folder)
    return f"less {outcome.folder}/logs/deploy.log"


def _lost(counts: Counts) -> int:
    return counts.failed + counts.missing


# Settings as the command line that gives them again, for people to type.


def run_line(settings: Settings, **changes: Any) -> str:
    """`model-accuracy-eval run …` with every setting that is not at its default, and the changes."""
    values = msgspec.structs.asdict(msgspec.structs.replace(settings, **changes))
    defaults = msgspec.structs.asdict(Settings())
    words = ["model-accuracy-eval", "run", *filter(None, [values.pop("adapter")])]
    for name, value in values.items():
        if value != defaults[name]:
            words += _option(name.replace("_", "-"), value)
    return shlex.join(words)


def _option(name: str, value: Any) -> list[str]:
    flag = f"--{name}"
    if isinstance(value, bool):
        return [flag]
    if isinstance(value, dict):
        return [flag, json.dumps(value)]
    if name == "gate":
        return [word for gate in value for word in (flag, gate)]
    if isinstance(value, tuple):
        return [flag, ",".join(map(str, value))]
    return [flag, "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)]
