"""The parts of the action: its context, from inputs and event, and its ports on runner, GitHub and artifact service."""

import dataclasses
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from model_accuracy_eval import wiring
from model_accuracy_eval.config.action_inputs import SECRETS, ActionInputs
from model_accuracy_eval.errors import BadReuse, BadValue, Refused
from model_accuracy_eval.github import earlier_artifacts
from model_accuracy_eval.github.api import GitHubRest
from model_accuracy_eval.github.artifact_service import ArtifactService
from model_accuracy_eval.github.checks import CheckProgress
from model_accuracy_eval.github.requester import GitHubRequester
from model_accuracy_eval.github.runner import Runner
from model_accuracy_eval.ports import Archive, Ports
from model_accuracy_eval.ports.action_ports import ActionContext, ActionPorts, CheckedOut
from model_accuracy_eval.records import RunPlan, Settings
from model_accuracy_eval.records.github import OpenCheck
from model_accuracy_eval.records.plan import is_artifact
from model_accuracy_eval.run import inputs
from model_accuracy_eval.run.build import lacks_npus
from model_accuracy_eval.run.run_progress import RunProgress
from model_accuracy_eval.scoring.figures import groups
from model_accuracy_eval.settings import table
from model_accuracy_eval.stages.github_sinks import STATE_CHECK, STATE_CLOSED
from model_accuracy_eval.system import process_environment
from model_accuracy_eval.system.clock import SignalClock
from model_accuracy_eval.system.docker_engine import Labels, sweep
from model_accuracy_eval.system.process_environment import Secret
from model_accuracy_eval.system.unprivileged_user import UnprivilegedUser, unprivileged_user
from model_accuracy_eval.wiring import merge_parts, shard_parts
from model_accuracy_eval.wiring.action_context import action_context
from model_accuracy_eval.wiring.adapter_checkout import AdapterCheckout
from model_accuracy_eval.wiring.sinks import action_sinks
from model_accuracy_eval.wiring.temporary_folder import STATE_FOLDER, remove, temporary_folder

_INPUT_TABLE = {setting.field: setting for setting in table(ActionInputs)}
_INPUTS = "the action's inputs"
_MAY_BE_EMPTY = ("artifact-name",)
"""Inputs whose empty value means something; any other that is empty was not given."""
_STATE_RUN = "run"
_PROGRESS_TIMEOUT = 5
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
    def parts(self, *, admit_only: bool = False) -> Iterator[tuple[ActionContext, ActionPorts]]:
        """Yields the context of the step, and everything outside the program that it uses."""
        if self.step.is_set("token") and not self._tokens["token"]:
            raise BadValue(
                "The input 'token' is empty: the secret or variable that it names is not set. Leave the input out, and "
                "the workflow's own token is taken."
            )
        action_inputs = ActionInputs(**inputs.read(self._inputs(_INPUT_TABLE), _INPUTS, _INPUT_TABLE))
        event = self.step.event()
        with closing(self._requester()) as requester, temporary_folder(self._environment, self.step) as folder:
            github = GitHubRest(requester)
            values = self._inputs({setting.field: setting for setting in table()})
            first_settings = self._first_settings(values)
            adapter = AdapterCheckout(folder, self._environment, action_inputs, self._tokens, self._clock.check)
            if "shard" in values:
                # Only the merged run has a verdict.
                action_inputs = replace(action_inputs, comment=False, check=False, status="false")
            action_inputs = replace(action_inputs, admit_only=action_inputs.admit_only or admit_only)
            context = action_context(
                action_inputs,
                adapter.repository,
                adapter.commits(event, requester),
                event,
                self._environment,
                label=first_settings.label,
                model=self.step.input("model"),
            )
            run_progress = RunProgress(self._clock.elapsed)
            artifacts = ArtifactService(self._environment, mask=self.step.mask)
            open_archive = partial(self._open_archive, context=context, requester=requester, folder=Path(folder))
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
                        artifacts=artifacts if artifacts.is_offered else None,
                        updater=CheckProgress(
                            lambda: self._requester(timeout=_PROGRESS_TIMEOUT, patience=0.0),
                            run_progress.newest,
                            self.step.warning,
                        ),
                        since_stop=self._clock.since_stop,
                    ),
                    check_out=lambda context: self._check_out(context, adapter),
                    plan=lambda checked_out: wiring.plan(
                        self._settings(values, checked_out, action_inputs),
                        self._environment,
                        _INPUTS,
                        trust_file=False,
                        adapter_tree=f"{checked_out.tree}:{context.adapter_path}" if checked_out else "",
                        check=self._clock.check,
                        say=self.step.say,
                    ),
                    run_ports=lambda plan, checked_out: dataclasses.replace(
                        self._run_ports(
                            plan, context, run_progress, checked_out, allow_unsafe=action_inputs.allow_unsafe
                        ),
                        open_archive=open_archive,
                    ),
                    needs_adapter=not first_settings.endpoint and values.get("mode") not in {"merge", "eval"},
                    plan_shards=(
                        (lambda: self._planned_shards(values, action_inputs, open_archive))
                        if values.get("mode") == "plan"
                        else None
                    ),
                    lacks_npus=lambda plan: lacks_npus(plan, self._environment, self._clock, _labels(plan, context)),
                ),
            )

    def _requester(self, **patience: Any) -> GitHubRequester:
        return GitHubRequester(self._environment, self._tokens["token"].reveal(), self._clock, **patience)

    def _first_settings(self, values: Mapping[str, str]) -> Settings:
        """Returns what is needed before there is a plan: the label, which names check and comment, and the endpoint."""
        return inputs.merge(
            inputs.read({name: values[name] for name in ("label", "endpoint") if name in values}, _INPUTS)
        )

    def _inputs(self, fields: Iterable[str]) -> dict[str, str]:
        texts = {name: self.step.input(name) for name in (field.replace("_", "-") for field in fields)}
        return {
            name: text for name, text in texts.items() if text or (name in _MAY_BE_EMPTY and self.step.is_set(name))
        }

    def _check_out(self, context: ActionContext, adapter: AdapterCheckout) -> CheckedOut:
        checked_out = adapter.check_out(context.adapter_commit)
        self.step.notice(f"The adapter is {context.adapter_repository} at {context.adapter_commit}.")
        return checked_out

    def _planned_shards(
        self, values: Mapping[str, str], action_inputs: ActionInputs, open_archive: Callable[[str], Archive]
    ) -> dict[str, str]:
        """The output `shards`, for a matrix."""
        shards = shard_parts.planned(
            {name: value for name, value in values.items() if name not in {"mode", "gate", "shard"}},
            self._environment,
            minutes=action_inputs.shard_minutes,
            most=action_inputs.max_shards,
            check=self._clock.check,
            say=self.step.say,
            open_archive=open_archive,
        )
        self.step.notice(shards.sentence(), title="Shards")
        return {"conclusion": "planned", "shards": json.dumps(shards.jobs())}

    def _shard_settings(self, values: Mapping[str, str], action_inputs: ActionInputs) -> dict[str, str]:
        """What a shard goes on with if it is run again; for `mode: merge` the merged run, to be judged."""
        out, folder = values.get("out", Settings().out), action_inputs.shards_path
        if values.get("mode") == "merge":
            shards = [str(run) for run in shard_parts.newest(folder).values()]
            given = {name: value for name, value in values.items() if name != "mode"}
            if not shards:
                raise BadReuse(f"'{folder}' has no shards to merge: name the folder of their artifacts as shards-path.")
            fields = {name.replace("-", "_"): value for name, value in given.items()}
            merged = merge_parts.merged(shards, out, fields, allow_missing=action_inputs.allow_missing)
            return {**given, "mode": "eval", "reuse": merged}
        if folder and "shard" in values and (earlier := shard_parts.earlier_attempt(folder, values["shard"], out)):
            self.step.notice(f"This shard goes on with what an earlier attempt has left, {earlier}.")
            return {**values, "reuse": earlier}
        return dict(values)

    def _settings(
        self, values: Mapping[str, str], checked_out: CheckedOut | None, action_inputs: ActionInputs
    ) -> dict[str, str]:
        settings = self._shard_settings(values, action_inputs)
        if checked_out:
            settings["adapter"] = checked_out.folder
            settings.setdefault("runtime", "container")
        if config := self.step.input("config"):
            settings["config"] = config
        return settings

    def _run_ports(
        self,
        plan: RunPlan,
        context: ActionContext,
        run_progress: RunProgress,
        checked_out: CheckedOut | None,
        *,
        allow_unsafe: bool,
    ) -> Ports:
        if plan.settings.runtime == "container":
            self.step.save(_STATE_RUN, plan.run_id)
            self._sweep_containers(Labels(repository=context.repository))
        user, facts = None, {}
        if obeyed := process_environment.obeyed(self._environment):
            facts["obeyed variables"] = ", ".join(obeyed)
            self.step.notice(f"The environment says whom this step talks to: {', '.join(obeyed)}.")
        if checked_out:
            user = _adapter_user(plan, allow_unsafe=allow_unsafe)
            if user and plan.settings.baseline and not is_artifact(plan.settings.baseline):
                user.refuse_answers(plan.settings.baseline)
            place = f"{context.adapter_repository} at commit {context.adapter_commit}"
            facts |= {"adapter": f"{place}, tree {checked_out.tree}", "deploy.sh": _confinement(plan, user)}
        return wiring.ports(
            plan,
            self._environment,
            self._clock,
            sys.stdout,
            facts=facts,
            adapter_user=user,
            private_folder=True,
            model_token=self._tokens["model-token"] or None,
            labels=_labels(plan, context),
            wrap_display=partial(
                run_progress.watch, group=groups.of_all(plan.groups, [task.name for task in plan.tasks])
            ),
        )

    def _open_archive(self, place: str, context: ActionContext, requester: GitHubRequester, folder: Path) -> Archive:
        """A run in the workspace, or an artifact of an earlier run, which nobody else can read meanwhile."""
        if not is_artifact(place):
            return wiring.run_archive(place)
        target = folder / "baseline.zip"
        target.touch(mode=0o600)
        self.step.notice(earlier_artifacts.download(requester, self._environment, context.artifact_name, place, target))
        return wiring.run_archive(str(target))

    def sweep(self) -> None:
        """Runs the post step: closes and removes what a killed main step left behind."""
        self._close_check()
        if folder := self.step.state(STATE_FOLDER):
            remove(folder, self.step)
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
        with GitHubRest(self._requester()) as github:
            sentence = "The step was ended before it could report how the evaluation went."
            github.complete_check(check, conclusion="cancelled", title="Cancelled", summary=sentence)


def _adapter_user(plan: RunPlan, *, allow_unsafe: bool) -> UnprivilegedUser | None:
    """Whom deploy.sh runs as on this machine: somebody who cannot read our tokens or write our files."""
    if plan.settings.runtime != "process" or allow_unsafe:
        return None
    if os.geteuid() != 0:
        raise Refused(
            "With the runtime 'process' and without root, deploy.sh would run as this program's user, who can read its "
            "tokens: name an image to run it in (adapter-image), or accept that (allow-unsafe: true)."
        )
    return unprivileged_user()


def _confinement(plan: RunPlan, user: UnprivilegedUser | None) -> str:
    if plan.settings.runtime == "container":
        return f"in a container of {plan.settings.adapter_image}"
    if user:
        return f"as user {user.uid}, who has no rights"
    return "UNSAFE: as the user of this program, who can read its tokens and change its files (allow-unsafe)"


def _labels(plan: RunPlan, context: ActionContext) -> Labels:
    return Labels(repository=context.repository, run_id=plan.run_id)
