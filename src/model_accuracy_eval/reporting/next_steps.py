"""The one command to type after a run that did not end well: that of its error, else the one for its kind."""

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.records import Counts, Outcome, Report, RunPlan
from model_accuracy_eval.reporting import going_on

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
        return going_on.command(report.plan.settings, outcome.folder)
    asked = "infer" in report.seconds or report.plan.settings.mode == "eval"
    if outcome.folder and outcome.exit_code == EvalError.exit_code and asked:
        return going_on.command(report.plan.settings, outcome.folder, asks=False)  # what was asked is kept
    if outcome.exit_code == _NEVER_SERVED:
        return _look(report.plan, outcome)
    gated = outcome.conclusion in {"failed", "undecided"}
    return f"model-accuracy-eval history {report.plan.settings.out}" if gated else ""


def _look(plan: RunPlan, outcome: Outcome) -> str:
    if plan.settings.endpoint:
        return f"model-accuracy-eval doctor --endpoint {plan.settings.endpoint[0]}"
    if plan.settings.engine == "ray" and outcome.about is None:  # it is the cluster's nodes, and not deploy.sh
        return going_on.command(plan.settings, outcome.folder)
    return f"less {outcome.folder}/logs/deploy.log"


def _lost(counts: Counts) -> int:
    return counts.failed + counts.missing
