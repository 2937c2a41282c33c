"""How the log-likelihoods of a run are taken: in one way all along, and one that its datasets can do with."""

from collections.abc import Iterator, Sequence

from model_accuracy_eval.errors import NoHonestScore
from model_accuracy_eval.ports import Chat, LoglikelihoodClient, Ports
from model_accuracy_eval.records import PreparedDataset, RequestMethod, RunPlan
from model_accuracy_eval.scoring import loglikelihood_methods
from model_accuracy_eval.scoring.metrics import metric
from model_accuracy_eval.scoring.scorers import metric_uses
from model_accuracy_eval.stages.sample_collector import SampleCollector


async def agreed_loglikelihoods(
    plan: RunPlan, collectors: Sequence[SampleCollector], chat: Chat, ports: Ports
) -> LoglikelihoodClient:
    """Returns the client for the method that the run began with, else for the one of the settings."""
    first_method = next((collector.first_method for collector in collectors if collector.first_method), None)
    try:
        extra = {**plan.sampling.neutral, **plan.sampling.extra}
        client = await chat.loglikelihood_client(first_method or plan.settings.loglikelihood, extra)
    except NoHonestScore as error:
        if first_method is None:
            raise
        raise NoHonestScore(
            f"The run has taken log-likelihoods by {first_method} until now, and methods are not mixed. {error}"
        ) from error
    for collector in collectors:
        for finding in client.findings:
            collector.log.write(f"log-likelihoods by {finding}")
    ports.progress.say(f"Log-likelihoods are taken by {client.findings[-1] if client.findings else client.method}")
    if objections := [line for collector in collectors for line in _objections(collector.prepared, client.method)]:
        raise NoHonestScore(" ".join(objections), detail="\n".join(client.findings))
    return client


def _objections(prepared: PreparedDataset, method: RequestMethod) -> Iterator[str]:
    """Says why a method cannot evaluate a dataset."""
    for task in prepared.tasks:
        names = {measure.name for measure in metric_uses(task) if metric(measure.name).reads == "likelihoods"}
        missing = loglikelihood_methods.unavailable_metrics(task, method)
        if task.kind != "generate" and names and names == set(missing):
            yield f"{task.name} cannot be evaluated by {method}: {loglikelihood_methods.unavailable_note(missing)}"
            return
    for problem in prepared.problems:
        if loglikelihood_methods.too_many_options(problem, method):
            yield (
                f"{prepared.task.name} cannot be evaluated by {method}: "
                f"problem {problem.id} has {len(problem.choices)} options, and there are 26 letters."
            )
            return
