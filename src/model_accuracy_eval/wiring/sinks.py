"""Where the action publishes; the command `run` writes `FILES` alone. The order counts: each sink is given what those
before it have published."""

from collections.abc import Callable

from model_accuracy_eval.ports.action_ports import ActionContext, ArtifactStore, CheckUpdater, GitHubApi, RunnerStep
from model_accuracy_eval.ports.service import Sink
from model_accuracy_eval.stages.github_sinks import CheckConfirmation, CheckSink, CommentSink, StatusSink
from model_accuracy_eval.stages.history_sink import HistorySink
from model_accuracy_eval.stages.run_files import FILES
from model_accuracy_eval.stages.step_sinks import ArtifactSink, LogSink, OutputsSink, SummarySink
from model_accuracy_eval.system.local_files import append_lines


def action_sinks(
    context: ActionContext,
    *,
    step: RunnerStep,
    github: GitHubApi,
    artifacts: ArtifactStore | None,
    updater: CheckUpdater,
    since_stop: Callable[[], float],
) -> tuple[Sink, ...]:
    """Returns the sinks of the action."""
    check = CheckSink(context, github, step, updater)
    return (
        *FILES,
        LogSink(step),
        ArtifactSink(context, artifacts, step, since_stop, of_stopped_runs=False),
        check,
        CommentSink(context, github),
        StatusSink(context, github),
        HistorySink(context, github, step, append_lines),
        CheckConfirmation(check),
        ArtifactSink(context, artifacts, step, since_stop, of_stopped_runs=True),
        SummarySink(context, step),
        OutputsSink(context, step),
    )
