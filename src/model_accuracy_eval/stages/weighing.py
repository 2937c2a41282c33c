"""How texts are weighed in this run: found out before anything is asked, and refused where it says nothing of worth."""

from collections.abc import Iterator, Sequence

from model_accuracy_eval.errors import NoHonestScore
from model_accuracy_eval.ports import Chat, Ports, Scale
from model_accuracy_eval.records import Exam, Rung, RunPlan
from model_accuracy_eval.scoring import rungs
from model_accuracy_eval.scoring.metrics import metric
from model_accuracy_eval.scoring.scorers import measures
from model_accuracy_eval.stages.desk import Desk, tasks_of


async def find_scale(plan: RunPlan, desks: Sequence[Desk], chat: Chat, ports: Ports) -> Scale:
    """The way that the run began with, else the one that is wished for; `desks` are those that weigh."""
    began = next((desk.began_with for desk in desks if desk.began_with), None)
    try:
        scale = await chat.scale(began or plan.weigh, plan.sampling.extra)
    except NoHonestScore as error:
        if began is None:
            raise
        raise NoHonestScore(f"The run has weighed by {began} until now, and ways are not mixed. {error}") from error
    for desk in desks:
        for finding in scale.findings:
            desk.log(f"weighing by {finding}")
    ports.screen.say(f"Options and texts are weighed by {scale.findings[-1] if scale.findings else scale.rung}")
    if objections := [line for desk in desks for line in _objections(desk.exam, scale.rung)]:
        raise NoHonestScore(" ".join(objections), detail="\n".join(scale.findings))
    return scale


def _objections(exam: Exam, rung: Rung) -> Iterator[str]:
    """Why nothing can be said about a dataset in this way."""
    for task in tasks_of(exam):
        names = {measure.name for measure in measures(task) if metric(measure.name).reads == "likelihoods"}
        missing = rungs.untold(task, rung)
        if task.kind != "generate" and names and names == set(missing):
            yield f"{task.name} cannot be evaluated by {rung}: {rungs.lacking(missing)}"
            return
    if crowded := next((problem for problem in exam.problems if rungs.too_many(problem, rung)), None):
        yield (
            f"{exam.task.name} cannot be evaluated by {rung}: problem {crowded.id} has {len(crowded.choices)} options, "
            "and there are 26 letters."
        )
