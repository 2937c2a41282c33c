"""The parts of the action: its context, from inputs and event, and its ports on runner, GitHub and artifact service."""

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from model_accuracy_eval import wiring
from model_accuracy_eval.config import inputs
from model_accuracy_eval.config.action_inputs import SECRETS, ActionInputs
from model_accuracy_eval.config.table import table
from model_accuracy_eval.errors import BadValue, UsageError
from model_accuracy_eval.github import pull_requests
from model_accuracy_eval.github.api import GitHubRest
from model_accuracy_eval.github.artifacts.artifact_service import ArtifactService
from model_accuracy_eval.github.check_progress import CheckProgress
from model_accuracy_eval.github.checkout import CheckoutSource, check_out
from model_accuracy_eval.github.runner.runner import Runner
from model_accuracy_eval.ports import Ports
from model_accuracy_eval.ports.action_ports import ActionContext, ActionPorts, is_same
from model_accuracy_eval.records import RunPlan, Settings
from model_accuracy_eval.records.github import OpenCheck
from model_accuracy_eval.stages.github_sinks import STATE_CHECK, STATE_CLOSED
from model_accuracy_eval.stages.run_progress import RunProgress
from model_accuracy_eval.system.clock import SignalClock
from model_accuracy_eval.system.container_labels import Labels, sweep
from model_accuracy_eval.system.secret import Secret
from model_accuracy_eval.wiring.plan_parts import file_layer
from model_accuracy_eval.wiring.run_parts import lacks_npus
from model_accuracy_eval.wiring.sinks import action_sinks

_INPUT_TABLE = {setting.field: setting for setting in table(ActionInputs)}
_INPUTS = "the action's inputs"
_STATE_RUN = "run"
_PROGRESS_TIMEOUT = 5.0
"""Seconds for a request of the thread that shows progress, which is not worth a long wait."""


class ActionStep:
    """One step of the action. Its tokens are masked before anything else is printed."""

    def __init__(self, environment: Mapping[str, str], clock: SignalClock) -> None:
        self._environment = environment
        self._clock = clock
        self.step = Runner(environment, sys.stdout)
        self._tokens = {name: Secret(self.step.input(name), name) for name in SECRETS}
        for token in self._tokens.values():
            if token:
                self.step.mask(token.reveal())

    @contextmanager
    def parts(self) -> Iterator[tuple[ActionContext, ActionPorts]]:
        """Yields the context of the step, and everything outside the program that it uses."""
        action_inputs = ActionInputs(**inputs.read(self._inputs(_INPUT_TABLE), _INPUTS, _INPUT_TABLE))
        event = self.step.event()
        with self._github() as github:
            values = self._inputs({setting.field: setting for setting in table()})
            first_settings = self._first_settings(values)
            context = self._context(action_inputs, first_settings.label, event, github)
            run_progress = RunProgress(self._clock.elapsed)
            # The ports of the run depend on the plan, and the plan on the adapter's folder, so both are made later.
            yield (
                context,
                ActionPorts(
                    step=self.step,
                    github=github,
                    sinks=action_sinks(
                        context,
                        step=self.step,
                        github=github,
                        artifacts=ArtifactService.from_environment(self._environment, mask=self.step.mask),
                        updater=CheckProgress(
                            lambda: self._github(timeout=_PROGRESS_TIMEOUT), run_progress.newest, self.step.warning
                        ),
                        since_stop=self._clock.since_stop,
                    ),
                    check_out=lambda context: self._check_out(context, action_inputs),
                    plan=lambda folder: wiring.plan(self._settings(values, folder), self._environment, _INPUTS),
                    run_ports=lambda plan: self._run_ports(plan, context, run_progress),
                    needs_adapter=not first_settings.endpoint,
                    lacks_npus=lambda plan: lacks_npus(plan, self._environment, self._clock, _labels(plan, context)),
                ),
            )

    def _github(self, timeout: float = 30.0) -> GitHubRest:
        return GitHubRest(self._environment, self._tokens["token"].reveal(), timeout=timeout)

    def _first_settings(self, values: Mapping[str, str]) -> Settings:
        """Returns what is needed before there is a plan: the label, which names check and comment, and the endpoint."""
        try:
            layer = file_layer(self.step.input("config"))
        except UsageError:
            layer = {}  # The plan will be refused for it, and by then there is a check that shows why.
        names = ("label", "endpoint")
        return inputs.merge(
            {name: layer[name] for name in names if name in layer},
            inputs.read({name: values[name] for name in names if name in values}, _INPUTS),
        )

    def _inputs(self, fields: Iterable[str]) -> dict[str, str]:
        names = [field.replace("_", "-") for field in fields]
        return {name: text for name in names if (text := self.step.input(name))}

    def _context(
        self, action_inputs: ActionInputs, label: str, event: Mapping[str, Any], github: GitHubRest
    ) -> ActionContext:
        environment = self._environment
        repository = environment.get("GITHUB_REPOSITORY", "")
        if not repository:
            raise BadValue("GITHUB_REPOSITORY is not set: the command `action` runs as a step of a workflow.")
        pull = github.pull_request(event, environment)
        sha = pull.head_sha if pull else environment.get("GITHUB_SHA", "")
        server = environment.get("GITHUB_SERVER_URL", "https://github.com")
        run = environment.get("GITHUB_RUN_ID", "0")
        attempt = environment.get("GITHUB_RUN_ATTEMPT", "1")
        adapter = action_inputs.adapter_repository or repository
        return ActionContext(
            repository=repository,
            actor=pull_requests.actor(environment, event),
            pull=pull,
            sha=sha,
            adapter_repository=adapter,
            adapter_ref=action_inputs.adapter_ref or (sha if is_same(adapter, repository) else ""),
            adapter_path=action_inputs.adapter_path,
            hardware="" if action_inputs.hardware == "any" else action_inputs.hardware,
            label=label,
            key=f"{run}-{attempt}-{environment.get('GITHUB_JOB', '')}-{label}",
            run_url=f"{server}/{repository}/actions/runs/{run}",
            comment=action_inputs.comment,
            check=action_inputs.check,
            status=action_inputs.status,
            artifact_name=action_inputs.artifact_name,
            retention_days=action_inputs.retention_days,
            workspace=environment.get("GITHUB_WORKSPACE", ""),
        )

    def _check_out(self, context: ActionContext, action_inputs: ActionInputs) -> str:
        """Fetches the adapter into the runner's temporary folder, which the host sees too; returns its folder."""
        root = tempfile.mkdtemp(prefix="adapter-", dir=self._environment.get("RUNNER_TEMP"))
        token = self._tokens["adapter-token"] or (self._tokens["token"] if context.own_adapter else Secret(""))
        source = CheckoutSource(
            self._environment.get("GITHUB_SERVER_URL", "https://github.com"),
            context.adapter_repository,
            context.adapter_ref,
            submodules=action_inputs.adapter_submodules,
            lfs=action_inputs.adapter_lfs,
        )
        variables = {name: self._environment[name] for name in ("PATH", "HOME") if name in self._environment}
        commit = check_out(source, root, variables, token=token.reveal(), check=self._clock.check)
        self.step.notice(f"The adapter is {context.adapter_repository} at {commit}.")
        folder = os.path.normpath(Path(root) / action_inputs.adapter_path)
        if not Path(folder).resolve().is_relative_to(Path(root).resolve()):
            raise BadValue(f"adapter-path '{action_inputs.adapter_path}' leaves the adapter's repository.")
        return folder

    def _settings(self, values: Mapping[str, str], folder: str) -> dict[str, str]:
        settings = dict(values)
        if folder:
            settings["adapter"] = folder
            if "adapter-image" in settings:
                settings.setdefault("runtime", "container")
        if config := self.step.input("config"):
            settings["config"] = config
        return settings

    def _run_ports(self, plan: RunPlan, context: ActionContext, run_progress: RunProgress) -> Ports:
        if plan.settings.runtime == "container":
            self.step.save(_STATE_RUN, plan.run_id)
            self._sweep_containers(Labels(repository=context.repository))
        return wiring.ports(
            plan,
            self._environment,
            self._clock,
            sys.stdout,
            model_token=self._tokens["model-token"] or None,
            labels=_labels(plan, context),
            wrap_display=run_progress.watch,
        )

    def sweep(self) -> None:
        """Runs the post step: closes and removes what a killed main step left behind."""
        self._close_check()
        if run_id := self.step.state(_STATE_RUN):
            self._sweep_containers(Labels(repository=self._environment.get("GITHUB_REPOSITORY", ""), run_id=run_id))

    def _sweep_containers(self, labels: Labels) -> None:
        """Removes containers whose owner is gone, and those of the run that the labels name."""
        for name in sweep(labels, self._environment):
            self.step.notice(f"The container {name} was left behind and is removed.")

    def _close_check(self) -> None:
        fields = self.step.state(STATE_CHECK).split()
        if len(fields) != 3 or self.step.state(STATE_CLOSED):
            return
        check = OpenCheck(repository=fields[0], id=int(fields[1]), url=fields[2])
        with self._github() as github:
            sentence = "The step was ended before it could report how the evaluation went."
            github.complete_check(check, conclusion="cancelled", title="Cancelled", summary=sentence)


def _labels(plan: RunPlan, context: ActionContext) -> Labels:
    return Labels(repository=context.repository, run_id=plan.run_id)
