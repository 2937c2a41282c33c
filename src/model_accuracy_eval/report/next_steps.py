"""The one command to type after a run that did not end well: that of its error, else the one for its kind."""

import json
import shlex
from collections.abc import Container, Iterator
from typing import Any

import msgspec

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.records import Counts, Outcome, Report, RunPlan, Settings

# The command that goes on with a run, or judges it again.
#
# A run's folder may be anybody's. What starts programs, loosens their sandbox or gets a key is never taken from it, but
# typed again by whoever trusts it.


_WEAK_SANDBOXES = {"uid", "none"}


def command(settings: Settings, folder: str | None, *, asks: bool = True) -> str:
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


def of_report(report: Report) -> str:
    """Empty for a run that ended well."""
    outcome = report.outcome
    lost = any(_lost(result.counts) for result in report.dataset_results)
    stopped = outcome.conclusion == "stopped" or outcome.stage == "infer" or outcome.exit_code in _MENDED_BY_GOING_ON
    if outcome.next_step:
        return outcome.next_step
    if outcome.folder and (stopped or (outcome.conclusion == "undecided" and lost)):
        return command(report.plan.settings, outcome.folder)
    asked = "infer" in report.seconds or report.plan.settings.mode == "eval"
    if outcome.folder and outcome.exit_code == EvalError.exit_code and asked:
        return command(report.plan.settings, outcome.folder, asks=False)  # what was asked is kept
    if outcome.exit_code == _NEVER_SERVED:
        return _look(report.plan, outcome)
    gated = outcome.conclusion in {"failed", "undecided"}
    return f"model-accuracy-eval history {report.plan.settings.out}" if gated else ""


def _look(plan: RunPlan, outcome: Outcome) -> str:
    if plan.settings.endpoint:
        return f"model-accuracy-eval doctor --endpoint {plan.settings.endpoint[0]}"
    if plan.settings.engine == "ray" and outcome.about is None:  # it is the cluster's nodes, and not deploy.sh
        return command(plan.settings, outcome.folder)
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
