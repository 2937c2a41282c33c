"""The story of the action: open the check, admit who asks, fetch the adapter, run, and publish how it ended."""

from model_accuracy_eval.errors import Defect, EvalError, PublishFailed
from model_accuracy_eval.ports.action_ports import ActionContext, ActionPorts
from model_accuracy_eval.ports.service import Published
from model_accuracy_eval.records import Outcome
from model_accuracy_eval.report.endings import error_outcome
from model_accuracy_eval.run import admission, pipeline
from model_accuracy_eval.stages.publish import Publisher


def act(context: ActionContext, ports: ActionPorts) -> int:
    """Runs the step and returns its exit code."""
    publisher = Publisher(ports.sinks, warn=ports.step.warning)
    if context.admit_only and _is_admitted(context, ports):
        return 0
    if ports.plan_shards is not None:
        admission.check(context, ports.github)
        for name, value in ports.plan_shards().items():
            ports.step.output(name, value)
        return 0
    publisher.begin()
    try:
        outcome = _evaluate(context, ports, publisher)
    except Exception as error:  # noqa: BLE001 - whatever it is, the check must not stay open
        outcome = error_outcome(error if isinstance(error, EvalError) else Defect.from_exception(error))
        publisher.publish(outcome, None)
    return _exit_code(context, ports, outcome, publisher.published)


def _is_admitted(context: ActionContext, ports: ActionPorts) -> bool:
    """Decides alone; a refusal is then published like that of a run."""
    try:
        admission.check(context, ports.github)
    except EvalError:
        return False
    ports.step.output("conclusion", "admitted")
    ports.step.output("commit", context.adapter_commit or context.commit)
    ports.step.notice(
        f"{context.actor.login} may evaluate {context.adapter_repository} at commit {context.adapter_commit}.",
        title="Admitted",
    )
    return True


def _evaluate(context: ActionContext, ports: ActionPorts, publisher: Publisher) -> Outcome:
    # First and alone: nothing of the adapter or of the workspace is fetched, read or run for somebody who is no admin.
    admission.check(context, ports.github)
    checked_out = None
    if ports.needs_adapter:
        with ports.step.group("Fetch the adapter"):
            checked_out = ports.check_out(context)
    plan = ports.plan(checked_out)
    run_ports = ports.run_ports(plan, checked_out)
    objections = admission.devices(context, plan, ports)
    try:
        return pipeline.evaluate(plan, run_ports, publisher, objections).outcome
    finally:
        run_ports.progress.close()


def _exit_code(context: ActionContext, ports: ActionPorts, outcome: Outcome, published: Published) -> int:
    """A result that could not be published everywhere fails the step, too."""
    # GitHub gives the workflows of forks a token that only reads, so that their failures are expected.
    from_fork = context.pull is not None and context.pull.is_fork
    failures = [failure for failure in published.failures if failure.sink == "files" or not from_fork]
    if outcome.exit_code or not failures:
        return outcome.exit_code
    sentences = " ".join(failure.sentence for failure in failures)
    ports.step.error(sentences, title="The result could not be published everywhere")
    return PublishFailed.exit_code
