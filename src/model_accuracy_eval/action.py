"""The story of the action: open the check, see who asks, fetch the adapter, run, and tell everybody how it ended."""

from model_accuracy_eval import pipeline
from model_accuracy_eval.errors import EvalError, Refused
from model_accuracy_eval.ports.action import Job, Site
from model_accuracy_eval.records import Outcome, Report
from model_accuracy_eval.reporting import terminal
from model_accuracy_eval.reporting.verdicts import outcome, outcome_of
from model_accuracy_eval.stages import admission
from model_accuracy_eval.stages.announce import Board


def act(job: Job, site: Site) -> int:
    """The exit code of the step."""
    board = Board(job, site)
    board.open()
    told = _evaluate(job, site)
    try:
        return board.close(told)
    finally:
        folder = outcome(told).folder
        if folder:
            site.step.give_back(folder)


def _check_out(job: Job, site: Site, against: list[str]) -> str:
    try:
        return site.check_out(job)
    except Refused as refusal:
        raise Refused(" ".join([*against, refusal.sentence])) from refusal


def _evaluate(job: Job, site: Site) -> Report | Outcome:
    """The report of the run, or why there is none."""
    try:
        against = admission.findings(job, site.forge)
        with site.step.group("Fetch the adapter"):
            folder = _check_out(job, site, against) if site.needs_adapter else ""
        plan, configs = site.plan(folder)
        ports = site.ports(plan)
        try:
            report = pipeline.run(plan, configs, ports, [*against, *admission.devices(job, plan, site)])
        finally:
            ports.screen.close()
    except EvalError as error:
        told = outcome_of(error)
        site.step.error(told.sentence, title="No evaluation")
        return told
    site.step.say(terminal.as_text(report))
    return report
