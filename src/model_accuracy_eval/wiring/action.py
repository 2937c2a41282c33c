"""The action put together: inputs and event → the job; the runner, the forge and the artifact service → the site."""

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from model_accuracy_eval import wiring
from model_accuracy_eval.config import inputs
from model_accuracy_eval.config.action_inputs import SECRETS, ActionInputs
from model_accuracy_eval.config.settings import Settings, table
from model_accuracy_eval.errors import BadValue, UsageError
from model_accuracy_eval.ports import Ports
from model_accuracy_eval.ports.action import Job, Site, is_same
from model_accuracy_eval.records import RunPlan
from model_accuracy_eval.records.forge import Check
from model_accuracy_eval.rim.artifacts.artifact import ArtifactService
from model_accuracy_eval.rim.clock import SignalClock
from model_accuracy_eval.rim.containers.sweeping import Labels, sweep
from model_accuracy_eval.rim.forge import github_pulls
from model_accuracy_eval.rim.forge.checkout import Source, check_out
from model_accuracy_eval.rim.forge.github import GitHub
from model_accuracy_eval.rim.forge.github_calls import Waits
from model_accuracy_eval.rim.forge.progress import CheckProgress
from model_accuracy_eval.rim.runner.actions import Runner
from model_accuracy_eval.rim.secret import Secret
from model_accuracy_eval.stages.check_run import STATE_CHECK, STATE_CLOSED
from model_accuracy_eval.stages.watch import Watch

_ROWS = {setting.field: setting for setting in table(ActionInputs)}
_INPUTS = "the action's inputs"
_STATE_RUN = "run"


class Wired:
    """One step of the action. Its tokens are masked before anything else is said."""

    def __init__(self, environment: Mapping[str, str], clock: SignalClock) -> None:
        self._environment = environment
        self._clock = clock
        self.step = Runner(environment, sys.stdout)
        self._tokens = {name: Secret(self.step.input(name), name) for name in SECRETS}
        for token in self._tokens.values():
            if token:
                self.step.mask(token.reveal())

    @contextmanager
    def site(self) -> Iterator[tuple[Job, Site]]:
        """Who asks for what, and everything outside that is needed for it."""
        asked = inputs.read(self._given(_ROWS), _INPUTS, _ROWS)
        given = ActionInputs(**asked)
        event = self.step.event()
        with GitHub(self._environment, self._tokens["token"].reveal()) as forge:
            values = self._given({setting.field: setting for setting in table()})
            early = self._early(values)
            job = self._job(given, early.label, event, forge)
            watch = Watch(self._clock.elapsed)
            # The plan decides what the ports are made of, and it needs the adapter's folder: so both come late.
            yield (
                job,
                Site(
                    step=self.step,
                    forge=forge,
                    artifacts=ArtifactService.from_environment(self._environment, mask=self.step.mask),
                    check_out=lambda one: self._check_out(one, given),
                    plan=lambda folder: wiring.plan(self._settings(values, folder), self._environment),
                    ports=lambda plan: self._ports(plan, job, watch),
                    needs_adapter=not early.endpoint,
                    progress=CheckProgress(self._second_forge, watch.newest, self.step.warning),
                    since_stop=self._clock.since_stop,
                    lacks_npus=lambda plan: wiring.lacks_npus(plan, self._environment, self._clock, _labels(plan, job)),
                ),
            )

    def _second_forge(self) -> GitHub:
        """For another thread, and for talk that is worth little waiting."""
        return GitHub(self._environment, self._tokens["token"].reveal(), waits=Waits(timeout=5))

    def _early(self, values: Mapping[str, Any]) -> Settings:
        """What has to be known before there is a plan: the label that check and comment go by, and the endpoint."""
        try:
            layer = wiring.file_layer(self.step.input("config"))
        except UsageError:
            layer = {}  # the plan will be refused for it, which is told on the check that is opened until then
        wanted = ("label", "endpoint")
        return inputs.merge(
            {name: layer[name] for name in wanted if name in layer},
            inputs.read({name: values[name] for name in wanted if name in values}, _INPUTS),
        )

    def _given(self, rows: Mapping[str, object]) -> dict[str, Any]:
        names = [field.replace("_", "-") for field in rows]
        return {name: text for name in names if (text := self.step.input(name))}

    def _job(self, given: ActionInputs, label: str, event: Mapping[str, Any], forge: GitHub) -> Job:
        environment = self._environment
        repository = environment.get("GITHUB_REPOSITORY", "")
        if not repository:
            raise BadValue("GITHUB_REPOSITORY is not set: the command `action` runs as a step of a workflow.")
        pull = forge.pull_request(event, environment)
        sha = pull.head_sha if pull else environment.get("GITHUB_SHA", "")
        server = environment.get("GITHUB_SERVER_URL", "https://github.com")
        run = environment.get("GITHUB_RUN_ID", "0")
        attempt = environment.get("GITHUB_RUN_ATTEMPT", "1")
        adapter = given.adapter_repository or repository
        return Job(
            repository=repository,
            actor=github_pulls.actor(environment, event),
            pull=pull,
            sha=sha,
            adapter_repository=adapter,
            adapter_ref=given.adapter_ref or (sha if is_same(adapter, repository) else ""),
            adapter_path=given.adapter_path,
            hardware="" if given.hardware == "any" else given.hardware,
            label=label,
            key=f"{run}-{attempt}-{environment.get('GITHUB_JOB', '')}-{label}",
            run_url=f"{server}/{repository}/actions/runs/{run}",
            comment=given.comment,
            check=given.check,
            status=given.status,
            artifact_name=given.artifact_name,
            retention_days=given.retention_days,
            workspace=environment.get("GITHUB_WORKSPACE", ""),
        )

    def _check_out(self, job: Job, given: ActionInputs) -> str:
        """Into the runner's temporary folder, which the host knows too; the workspace stays as it is."""
        root = tempfile.mkdtemp(prefix="adapter-", dir=self._environment.get("RUNNER_TEMP"))
        token = self._tokens["adapter-token"] or (self._tokens["token"] if job.own_adapter else Secret(""))
        source = Source(
            self._environment.get("GITHUB_SERVER_URL", "https://github.com"),
            job.adapter_repository,
            job.adapter_ref,
            submodules=given.adapter_submodules,
            lfs=given.adapter_lfs,
        )
        kept = {name: self._environment[name] for name in ("PATH", "HOME") if name in self._environment}
        commit = check_out(source, root, kept, token=token.reveal(), check=self._clock.check)
        self.step.notice(f"The adapter is {job.adapter_repository} at {commit}.")
        folder = os.path.normpath(Path(root) / given.adapter_path)
        if not Path(folder).resolve().is_relative_to(Path(root).resolve()):
            raise BadValue(f"adapter-path '{given.adapter_path}' leaves the adapter's repository.")
        return folder

    def _settings(self, values: Mapping[str, Any], folder: str) -> dict[str, Any]:
        whole = dict(values)
        if folder:
            whole["adapter"] = folder
            if "adapter-image" in whole:
                whole.setdefault("runtime", "container")
        if config := self.step.input("config"):
            whole["config"] = config
        return whole

    def _ports(self, plan: RunPlan, job: Job, watch: Watch) -> Ports:
        if plan.runtime == "container":
            self.step.save(_STATE_RUN, plan.run_id)
            self._sweep_containers(Labels(repository=job.repository))
        token = self._tokens["model-token"]
        return wiring.ports(
            plan,
            self._environment,
            self._clock,
            sys.stdout,
            model_token=token or None,
            labels=_labels(plan, job),
            watched=watch.before,
        )

    def sweep(self) -> None:
        """The post step: what a killed main step left behind is closed and removed."""
        self._close_check()
        if run_id := self.step.state(_STATE_RUN):
            self._sweep_containers(Labels(repository=self._environment.get("GITHUB_REPOSITORY", ""), run_id=run_id))

    def _sweep_containers(self, labels: Labels) -> None:
        """Removes siblings whose owner is gone, and those of the run that is named."""
        for name in sweep(labels, self._environment):
            self.step.notice(f"The container {name} was left behind and is removed.")

    def _close_check(self) -> None:
        told = self.step.state(STATE_CHECK).split()
        if len(told) != 3 or self.step.state(STATE_CLOSED):
            return
        check = Check(repository=told[0], id=int(told[1]), url=told[2])
        with GitHub(self._environment, self._tokens["token"].reveal()) as forge:
            sentence = "The step was ended before it could tell how the evaluation went."
            forge.complete_check(check, conclusion="cancelled", title="Cancelled", summary=sentence)


def _labels(plan: RunPlan, job: Job) -> Labels:
    return Labels(repository=job.repository, run_id=plan.run_id)
