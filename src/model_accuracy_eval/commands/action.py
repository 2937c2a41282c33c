"""`action`: the main step of the container action, and its post step."""

import contextlib
import dataclasses
import json
import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import click
import msgspec

from model_accuracy_eval.commands import action_command, action_verdict
from model_accuracy_eval.commands.action_context import (
    STATE_FOLDER,
    AdapterCheckout,
    CheckedOut,
    check_admission,
    label_of,
    model_objections,
    remove,
    slug,
    temporary_folder,
)
from model_accuracy_eval.commands.action_inputs import (
    OWN_MODES,
    ROWS,
    SECRETS,
    ActionInputs,
    check_name,
    given_inputs,
    older_inputs,
)
from model_accuracy_eval.commands.merge import merged
from model_accuracy_eval.commands.plan import planned
from model_accuracy_eval.errors import (
    BadReuse,
    BadValue,
    Defect,
    EvalError,
    PublishFailed,
    Refused,
    UnknownName,
    UsageError,
)
from model_accuracy_eval.github import earlier_artifacts
from model_accuracy_eval.github.api import GitHubRest
from model_accuracy_eval.github.app import WRITES, Installation
from model_accuracy_eval.github.artifact_service import ArtifactService
from model_accuracy_eval.github.requester import GitHubRequester
from model_accuracy_eval.github.runner import Runner
from model_accuracy_eval.ports import Archive, Ports, Published, Sink
from model_accuracy_eval.records import Identity, Outcome, RunPlan, Settings
from model_accuracy_eval.records.plan import is_artifact
from model_accuracy_eval.records.report import ActionContext, is_same
from model_accuracy_eval.report import languages
from model_accuracy_eval.report.endings import error_outcome
from model_accuracy_eval.run import accuracy_file, engines, pipeline, plan_parts, setting_values
from model_accuracy_eval.run.accuracy_file import ModelEvaluation
from model_accuracy_eval.run.build import lacks_npus
from model_accuracy_eval.run.setting_values import Given
from model_accuracy_eval.run_folder import runfile, shard_folders
from model_accuracy_eval.run_folder.run_archive import open_archive
from model_accuracy_eval.run_folder.runfile import RUN_FILE
from model_accuracy_eval.scoring.verdicts import gate_lines
from model_accuracy_eval.sinks import action_sinks, check_sink
from model_accuracy_eval.sinks import inputs as sink_inputs
from model_accuracy_eval.sinks.publisher import Publisher, SinkParts
from model_accuracy_eval.system import process_environment
from model_accuracy_eval.system.clock import SignalClock
from model_accuracy_eval.system.docker_engine import Labels
from model_accuracy_eval.system.docker_engine import sweep as sweep_containers
from model_accuracy_eval.system.process_environment import Secret
from model_accuracy_eval.system.unprivileged_user import UnprivilegedUser, unprivileged_user

_INPUTS = "the action's inputs"
_SINK_TABLE = {setting.field: setting for setting in sink_inputs()}
_STATE_RUN = "run"
_SAYS_NOTHING = {"check": False, "comment": False, "status": "false"}
_NOTHING = Published()


@click.command()
@click.option("--sweep", is_flag=True, help="Post step: close and remove what a killed main step left behind.")
def action(*, sweep: bool) -> None:
    """Entry point of the container action: inputs from INPUT_*, the verdict to where reviewers look."""
    if sweep:
        ActionStep(os.environ, SignalClock()).sweep()
    else:
        _leave(_run_step())


def _leave(exit_code: int) -> NoReturn:
    """Ends the process without Python's own cleaning up, which takes seconds where many processes want the cores: the
    runner kills a cancelled step after ten."""
    with contextlib.suppress(OSError):  # the runner has gone away
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(exit_code)


def _run_step() -> int:
    """Runs the step and returns its exit code."""
    clock = SignalClock()
    with clock.listening():
        step = ActionStep(os.environ, clock)
        try:
            with step.parts() as parts:
                return act(parts.context, parts)
        except Exception as error:  # noqa: BLE001 - a step that fails says why where its readers look
            failure = error if isinstance(error, EvalError) else Defect.from_exception(error)
            step.runner.error(failure.sentence, title="No evaluation")
            if isinstance(failure, Defect):
                step.runner.say(failure.detail)
            return failure.exit_code


# The story: open the check, admit who asks, fetch the adapter, run, and publish how it ended.


def act(context: ActionContext, parts: "ActionParts") -> int:
    """Runs the step and returns its exit code."""
    if parts.mode == "command":
        return action_command.obey(context, parts.github, parts.step)
    publisher = Publisher(parts.sinks, warn=parts.step.warning)
    refusal = _admitted_only(context, parts) if context.admit_only else None
    if context.admit_only and refusal is None:
        return 0
    if parts.mode == "plan":
        _admit(context, parts)
        for name, value in parts.plan_shards().items():
            parts.step.output(name, value)
        return 0
    publisher.begin()
    try:
        if refusal is not None:
            outcome = error_outcome(refusal)
            publisher.publish(outcome, None)
        elif parts.mode == "verdict":
            _admit(context, parts, publisher.published)
            outcome = parts.models_verdict()
            publisher.publish(outcome, None)
        else:
            outcome = _evaluate(context, parts, publisher)
    except Exception as error:  # noqa: BLE001 - whatever it is, the check must not stay open
        outcome = error_outcome(error if isinstance(error, EvalError) else Defect.from_exception(error))
        publisher.publish(outcome, None)
    return _exit_code(context, parts, outcome, publisher.published)


def _admit(context: ActionContext, parts: "ActionParts", published: Published = _NOTHING) -> None:
    """Raises why the run may not start: for who asks, and then for what was written."""
    check_admission(context, parts.github)
    if published.objections:
        raise Refused(" ".join(published.objections))
    if parts.problems:
        raise BadValue(" ".join(dict.fromkeys(parts.problems)))


def _admitted_only(context: ActionContext, parts: "ActionParts") -> EvalError | None:
    """Decides alone. Returns the refusal, which is published like that of a run."""
    try:
        _admit(context, parts)
    except EvalError as refusal:
        return refusal
    try:
        evaluations = parts.evaluations()
    except EvalError as refusal:
        return BadValue(refusal.sentence)
    parts.step.output("conclusion", "admitted")
    parts.step.output("evaluations", json.dumps(evaluations))
    parts.step.output("models", str(len(evaluations)))
    parts.step.output("commit", context.adapter_commit or context.commit)
    parts.step.notice(
        f"{context.actor.login} may evaluate {context.adapter_repository} at commit {context.adapter_commit}.",
        title="Admitted",
    )
    return None


def _evaluate(context: ActionContext, parts: "ActionParts", publisher: Publisher) -> Outcome:
    # First and alone: nothing of the adapter or of the workspace is fetched, read or run for somebody who is no admin.
    _admit(context, parts, publisher.published)
    plan, checked_out = msgspec.structs.replace(parts.plan(parts.needs_adapter), identity=context.identity), None
    if parts.needs_adapter:
        with parts.step.group("Fetch the adapter"):
            checked_out = parts.check_out()
        plan = msgspec.structs.replace(plan, adapter_tree=f"{checked_out.tree}:{context.adapter_path}")
    run_ports = parts.run_ports(plan, checked_out)
    objections = _lacking_devices(context, plan, parts)
    try:
        return pipeline.evaluate(plan, run_ports, publisher, objections).outcome
    finally:
        run_ports.progress.close()


def _lacking_devices(context: ActionContext, plan: RunPlan, parts: "ActionParts") -> list[str]:
    """Objects to a place without NPUs for an adapter that is for NPUs: accuracy on a CPU says little about an NPU."""
    lack = parts.lacks_npus(plan) if context.hardware.lower() == "npu" else ""
    if not lack:
        return []
    cure = "use a runner that has some, or set `devices: none` if deploy.sh needs none."
    return [f"{lack} {context.adapter_repository} is for NPUs; {cure}"]


def _exit_code(context: ActionContext, parts: "ActionParts", outcome: Outcome, published: Published) -> int:
    """A result that could not be published everywhere fails the step, too."""
    # GitHub gives the workflows of forks a token that only reads, so that their failures are expected.
    from_fork = context.pull is not None and context.pull.is_fork
    failures = [failure for failure in published.failures if failure.sink == "files" or not from_fork]
    if outcome.exit_code or not failures:
        return outcome.exit_code
    sentences = " ".join(failure.sentence for failure in failures)
    parts.step.error(sentences, title="The result could not be published everywhere")
    return PublishFailed.exit_code


# What the story is played with.


class ActionStep:
    """One step of the action. Its tokens are masked before anything else is printed."""

    def __init__(self, environment: Mapping[str, str], clock: SignalClock) -> None:
        self.environment = environment
        self.clock = clock
        self.runner = Runner(environment, sys.stdout)
        self.problems: list[str] = []
        """What is wrong with the inputs, as sentences. They are told like any refusal: after admission, by a check."""
        self.tokens = {name: Secret(self.runner.input(name), name) for name in SECRETS}
        for token in self.tokens.values():
            if token:
                self.runner.mask(token.reveal())

    @contextmanager
    def parts(self) -> Iterator["ActionParts"]:
        """Yields everything outside the program that the step uses."""
        if self.runner.is_set("token") and not self.tokens["token"]:
            raise BadValue(
                "The input 'token' is empty: the secret or variable that it names is not set. Leave the input out, and "
                "the workflow's own token is taken."
            )
        self._refuse_unknown()
        if older := older_inputs(self.runner):
            self.runner.notice(
                f"Now lines of `settings`, and taken as inputs in this version still: {', '.join(older)}.",
                title="Older inputs",
            )
        given = given_inputs(self.runner, self.noted())
        own = ActionInputs(**self.typed(given, ActionInputs.__struct_fields__))
        with (
            closing(self.requester(own.adapter_repository)) as requester,
            temporary_folder(self.environment, self.runner) as folder,
            languages.reading(own.language or languages.language()),
        ):
            yield ActionParts(self, requester, folder, given, own)

    def requester(self, adapter_repository: str = "") -> GitHubRequester:
        """All questions about the adapter's repository are asked with its own token, if there is one; an app writes."""
        own, adapter = self.tokens["token"], self.tokens["adapter-token"]
        others: dict[str, GitHubRequester] = {}
        is_other = not is_same(adapter_repository, self.environment.get("GITHUB_REPOSITORY", ""))
        if adapter and adapter_repository and is_other:
            where = rf"/repos/{re.escape(adapter_repository)}(/|$)"
            others[where] = GitHubRequester(self.environment, adapter.reveal(), self.clock)
        with self.noted():
            if app := self._app():
                others[WRITES] = GitHubRequester(self.environment, app, self.clock)
        return GitHubRequester(self.environment, own.reveal(), self.clock, others=others)

    def _app(self) -> Installation | None:
        number, key = self.runner.input("app-id"), self.tokens["app-private-key"]
        if bool(number) != bool(key):
            lacks = "app-private-key" if number else "app-id"
            raise BadValue(
                f"An app needs both its inputs, and '{lacks}' is empty: is the secret out of this job's reach?"
            )
        if not key:
            return None
        return Installation(self.environment, number, key.reveal(), self.clock, self.runner.mask)

    def typed(self, given: Mapping[str, Given], fields: Collection[str]) -> dict[str, Any]:
        """The values for these fields, without those that are none, which are problems."""
        values: dict[str, Any] = {}
        for name, one in given.items():
            if name.replace("-", "_") in fields:
                with self.noted():
                    values |= setting_values.read_given({name: one}, ROWS)
        return values

    @contextmanager
    def noted(self) -> Iterator[None]:
        """What is wrong with an input inside is a problem and ends nothing."""
        try:
            yield
        except UsageError as error:
            self.problems.append(error.sentence)

    def _refuse_unknown(self) -> None:
        """The runner hands over what an action has no input for, and only warns: `gates:` would be no gate."""
        known = {*SECRETS, *(row.name for row in ROWS.values())}
        given = {name.removeprefix("INPUT_") for name in self.environment if name.startswith("INPUT_")}
        for name in sorted(given - {each.upper() for each in known}):
            workflow = self.environment.get("GITHUB_WORKFLOW_REF", "").partition("@")[0] or "the workflow"
            self.problems.append(UnknownName("input", name.lower(), known, where=f" in {workflow}").sentence)

    def sweep(self) -> None:
        """Runs the post step: closes and removes what a killed main step left behind."""
        if checks := check_sink.left_open(self.runner):
            with GitHubRest(self.requester()) as github:
                for check in checks:
                    check_sink.close(check, github)
        if folder := self.runner.state(STATE_FOLDER):
            remove(folder, self.runner.warning)
        if run_id := self.runner.state(_STATE_RUN):
            self.sweep_containers(Labels(repository=self.environment.get("GITHUB_REPOSITORY", ""), run_id=run_id))

    def sweep_containers(self, labels: Labels) -> None:
        """Removes containers whose owner is gone, and those of the run that the labels name."""
        for name in sweep_containers(labels, self.environment):
            self.runner.notice(f"The container {name} was left behind and is removed.")


class ActionParts:
    """The parts of one evaluation. Those of the run depend on the plan, and the plan on the adapter's folder, so they
    are made later."""

    def __init__(
        self,
        step: ActionStep,
        requester: GitHubRequester,
        folder: str,
        given: Mapping[str, Given],
        own: ActionInputs,
    ) -> None:
        self._step, self.step = step, step.runner
        self.github = GitHubRest(requester)
        self.problems = step.problems
        self._requester = requester
        self._folder = folder
        self._inputs, self._given = own, given
        of_settings = {name: one for name, one in given.items() if name.replace("-", "_") in Settings.__struct_fields__}
        self._values: dict[str, Any] = {name: one.value for name, one in of_settings.items()}
        label = label_of(str(self._values.pop("label", "")), is_shard="shard" in self._values)
        if self._values.get("mode") == "verdict":
            label = action_verdict.label(own.evaluations)
        self._values |= {"label": label} if label else {}
        if str(self._values.get("require-gate", "")).lower() == "digest":
            self._values["require-gate"] = "true"
            if "@sha256:" not in (image := str(self._values.get("adapter-image", ""))):
                step.problems.append(
                    f"require-gate is `digest`, and the adapter-image '{image}' may be another one tomorrow: name it "
                    "by its digest, as name@sha256:…"
                )
        self.mode = mode = str(self._values.get("mode", ""))
        checked = {name: one._replace(value=self._values[name]) for name, one in of_settings.items()
                   if name in self._values and (name != "mode" or mode not in OWN_MODES)}  # fmt: skip
        typed = step.typed(checked, Settings.__struct_fields__)
        # What is needed before there is a plan: the label, which names check and comment, and the endpoint.
        first = setting_values.merge({name: typed[name] for name in ("label", "endpoint") if name in typed})
        self.needs_adapter = not first.endpoint and mode not in {"merge", "eval", "verdict"}
        self._adapter = AdapterCheckout(folder, step.environment, own, step.tokens, step.clock)
        self.context = self._adapter.context(
            step.runner.event(),
            requester,
            admit_only=mode == "admit",
            label=first.label,
            image=str(self._values.get("adapter-image", "")) if self.needs_adapter else "",
            model=str(self._values.get("model", "")),
            service=process_environment.masked(", ".join(first.endpoint)),
        )
        self.sinks = self._sinks(step.typed(given, _SINK_TABLE))

    def _sinks(self, values: dict[str, Any]) -> Sequence[Sink]:
        """Where the result is published, in this order."""
        self._artifact_name = values.get("artifact_name", _SINK_TABLE["artifact_name"].default)
        series = self.context.identity.name(self.context.repository)
        if self._artifact_name and series != Settings().label and (name := slug(series)) not in self._artifact_name:
            # So each series of runs has artifacts of its own.
            self._artifact_name = values["artifact_name"] = f"{self._artifact_name}-{name}"
        if "shard" in self._values:
            # Only the merged run has a verdict.
            values |= _SAYS_NOTHING
        artifacts = ArtifactService(self._step.environment, mask=self.step.mask)
        parts = SinkParts(
            context=self.context,
            step=self.step,
            github=self.github,
            artifacts=artifacts if artifacts.is_offered else None,
            since_stop=self._step.clock.since_stop,
        )
        return action_sinks(parts, values, self._step.noted)

    def evaluations(self) -> list[dict[str, str]]:
        """The output `evaluations`, for a matrix: what accuracy.yaml asks for together with what was given, or that
        alone."""
        given = {name: one for name, one in self._given.items() if name not in {"mode", "adapter-ref"}}
        if "label" in given and not label_of(str(given["label"].value), is_shard=False):
            given.pop("label")
        repository, found = self.context.adapter_repository, [ModelEvaluation("", "required", given)]
        if (text := self.github.file(repository, accuracy_file.FILE)) is not None:
            load = partial(self.github.file, repository)
            found = accuracy_file.read(text, load, check_name).evaluations(given)
        if len(found) > 1 and "max-shards" in given:
            raise BadValue(
                f"{accuracy_file.FILE} names {len(found)} models, and evaluate-matrix.yml divides one evaluation among "
                "runners: choose one by `model`, or call evaluate.yml, which gives each a job."
            )
        labels: dict[str, str] = {}
        for each in found:
            if len(found) > 1:  # one job says how all fared
                each.values.update({name: Given(value, _INPUTS) for name, value in _SAYS_NOTHING.items()})
            if each.name:
                label = slug(str(each.values["label"].value))
                if label in labels:
                    raise BadValue(f"{labels[label]} and {each.name} would both be called {label}: give them labels.")
                labels[label], each.values["label"] = each.name, each.values["label"]._replace(value=label)
            typed = setting_values.read_given(each.values, ROWS)
            for line in typed.get("gate", ()):
                gate_lines.parse(line)
            if objections := model_objections(typed.get("model") or "", typed.get("allowed_models", ())):
                raise Refused(" ".join(objections))
        values = ({name: one.value for name, one in each.values.items()} for each in found)
        return [
            {"name": each.name, "tier": each.tier, "settings": json.dumps(of_run, default=str)}
            for each, of_run in zip(found, values, strict=True)
        ]

    def models_verdict(self) -> Outcome:
        """Of all models that accuracy.yaml names."""
        return action_verdict.judge(self._inputs.evaluations, self._inputs.shards_path, self.context)

    def lacks_npus(self, plan: RunPlan) -> str:
        """Why deploy.sh would see no NPU; empty when it would see one, or when that cannot be known."""
        return lacks_npus(plan, self._step.environment, self._step.clock, self._labels(plan))

    def check_out(self) -> CheckedOut:
        checked_out = self._adapter.check_out(self.context.adapter_commit)
        self.step.notice(f"The adapter is {self.context.adapter_repository} at {self.context.adapter_commit}.")
        return checked_out

    def plan(self, needs_adapter: bool) -> RunPlan:
        settings = self._shard_settings()
        if needs_adapter:
            settings["adapter"] = self._adapter.folder
            settings.setdefault("runtime", "container")
        if self._inputs.config:
            settings["config"] = self._inputs.config
        return plan_parts.plan(
            settings,
            self._step.environment,
            _INPUTS,
            trust_file=False,
            check=self._step.clock.check,
            say=self.step.say,
        )

    def _shard_settings(self) -> dict[str, Any]:
        """What a shard goes on with if it is run again; for `mode: merge` the merged run, to be judged."""
        values, folder = self._values, self._inputs.shards_path
        out = values.get("out", Settings().out)
        if values.get("mode") == "merge":
            shards = [str(run) for run in shard_folders.newest(folder).values()]
            given = {name: value for name, value in values.items() if name != "mode"}
            if not shards:
                raise BadReuse(f"'{folder}' has no shards to merge: name the folder of their artifacts as shards-path.")
            fields = {name.replace("-", "_"): value for name, value in given.items()}
            run = merged(shards, out, fields, allow_missing=self._inputs.allow_missing)
            return {**given, "mode": "eval", "reuse": run}
        if folder and "shard" in values and (earlier := shard_folders.earlier_attempt(folder, values["shard"], out)):
            self.step.notice(f"This shard goes on with what an earlier attempt has left, {earlier}.")
            return {**values, "reuse": earlier}
        return dict(values)

    def plan_shards(self) -> dict[str, str]:
        """The output `shards`, for a matrix."""
        shards = planned(
            {name: value for name, value in self._values.items() if name not in {"mode", "gate", "shard"}},
            self._step.environment,
            minutes=self._inputs.shard_minutes,
            most=self._inputs.max_shards,
            check=self._step.clock.check,
            say=self.step.say,
            open_archive=self._open_archive,
        )
        self.step.notice(shards.sentence(), title="Shards")
        return {"conclusion": "planned", "shards": json.dumps(shards.jobs())}

    def run_ports(self, plan: RunPlan, checked_out: CheckedOut | None) -> Ports:
        step, context = self._step, self.context
        if plan.settings.runtime == "container":
            step.runner.save(_STATE_RUN, plan.run_id)
            step.sweep_containers(Labels(repository=context.repository))
        user, facts = None, {}
        if obeyed := process_environment.obeyed(step.environment):
            facts["obeyed variables"] = ", ".join(obeyed)
            step.runner.notice(f"The environment says whom this step talks to: {', '.join(obeyed)}.")
        if checked_out:
            user = _adapter_user(plan, allow_unsafe=self._inputs.allow_unsafe)
            if user:
                step.runner.hide_files()
            if user and plan.settings.baseline and not is_artifact(plan.settings.baseline):
                user.refuse_answers(plan.settings.baseline)
            facts |= {"tree": checked_out.tree, "deploy.sh": _confinement(plan, user)}
        ports = engines.ports(
            plan,
            step.environment,
            step.clock,
            sys.stdout,
            facts=facts,
            adapter_user=user,
            private_folder=True,
            model_token=step.tokens["model-token"] or None,
            labels=self._labels(plan),
        )
        return dataclasses.replace(ports, open_archive=self._open_archive, finds_causes=True)

    def _labels(self, plan: RunPlan) -> Labels:
        return Labels(repository=self.context.repository, run_id=plan.run_id)

    def _open_archive(self, place: str) -> Archive:
        """A run in the workspace, or an artifact of an earlier run, which nobody else can read meanwhile."""
        if not is_artifact(place):
            return open_archive(place)
        target = Path(self._folder, "baseline.zip")
        target.touch(mode=0o600)

        def objection(commit: str) -> str:
            """A run on the branch may have evaluated something else, such as a commit that a form named."""
            zipped, wanted = open_archive(str(target)), self.context.identity
            about = runfile.read(zipped.read(RUN_FILE), zipped.root).identity
            own = is_same(about.repository, self.context.repository)
            fits = about.series == wanted.series and (about.commit == commit or not own)
            return "" if fits or about == Identity() else f"it is about {about.line}."

        environment, name = self._step.environment, self._artifact_name
        self.step.notice(
            earlier_artifacts.download(self._requester, environment, name, place, target, objection=objection)
        )
        return open_archive(str(target))


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
