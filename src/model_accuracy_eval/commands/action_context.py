"""What the action's step is about: who asks for what, and the adapter at one commit."""

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from model_accuracy_eval.commands.action_inputs import ActionInputs
from model_accuracy_eval.errors import BadValue, Refused
from model_accuracy_eval.github import facts
from model_accuracy_eval.github.api import GitHubRest
from model_accuracy_eval.github.checkout import CheckoutSource, Git, check_out, resolve
from model_accuracy_eval.github.requester import GitHubRequester
from model_accuracy_eval.github.runner import Runner
from model_accuracy_eval.records import Record
from model_accuracy_eval.records.report import ActionContext, is_commit, is_same
from model_accuracy_eval.system.clock import SignalClock
from model_accuracy_eval.system.process_environment import Secret

GITHUB = "https://github.com"


class CheckedOut(Record, frozen=True, kw_only=True):
    """The adapter's files at the commit of the context."""

    folder: str
    tree: str
    """git's hash of all files, which two commits with the same files share."""


def label_of(text: str, *, is_shard: bool) -> str:
    """The label of a run without one: what the job's matrix varies, which the input's default hands over as JSON. So no
    two of its jobs publish under one name. Empty: there is none. Shards of one run share the run's."""
    if text != "null" and not text.startswith("{"):
        return text
    varied = json.loads(text) or {}
    values = [] if is_shard or "settings" in varied else list(varied.values())
    return slug("_".join(value if isinstance(value, str) else json.dumps(value) for value in values))


def slug(text: str) -> str:
    """A part of a name that files, checks and artifacts can have."""
    name = re.sub(r"[^\w.@+-]+", "-", text).strip("-.")
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}-{hashlib.sha256(text.encode()).hexdigest()[:6]}"


_LONGEST = 60


_TO_GIT = ("path", "home", "http_proxy", "https_proxy", "all_proxy", "no_proxy")
"""Variables that git gets, in either case: it is not to inherit anything that would load code."""


class AdapterCheckout:
    """One repository, and a folder for its files. The token is the adapter's own, or the workflow's for its own."""

    def __init__(
        self,
        folder: str,
        environment: Mapping[str, str],
        action_inputs: ActionInputs,
        tokens: Mapping[str, Secret],
        clock: SignalClock,
    ) -> None:
        self._environment = environment
        self._inputs = action_inputs
        own = environment.get("GITHUB_REPOSITORY", "")
        self.repository = action_inputs.adapter_repository or own
        self._own = is_same(self.repository, own)
        token = tokens["adapter-token"] or (tokens["token"] if self._own else Secret(""))
        server = environment.get("GITHUB_SERVER_URL", GITHUB)
        variables = {name: value for name, value in environment.items() if name.lower() in _TO_GIT}
        if authorities := environment.get("SSL_CERT_FILE"):
            variables["GIT_SSL_CAINFO"] = authorities
        self._git = Git(folder, variables, server=server, token=token.reveal(), check=clock.check, wait=clock.sleep)
        self._source = CheckoutSource(
            server, self.repository, submodules=action_inputs.adapter_submodules, lfs=action_inputs.adapter_lfs
        )

    def context(
        self, event: Mapping[str, Any], requester: GitHubRequester, *, admit_only: bool, **given: str
    ) -> ActionContext:
        """What is known of the step before anything is checked out; `given`: its label, image, model and service.

        The ref is resolved once; all later steps use the commit, whatever is pushed meanwhile. Without a ref it is the
        event's commit, if the adapter is in the workflow's own repository.
        """
        environment, inputs, ref = self._environment, self._inputs, self._inputs.adapter_ref
        repository = environment.get("GITHUB_REPOSITORY", "")
        if not repository:
            raise BadValue("GITHUB_REPOSITORY is not set: `action` runs as a step of a workflow.")
        commit, objections = "", list[str]()
        if ref or not self._own:
            try:
                commit = resolve(self._git, self._source, ref)
            except Refused as refusal:
                objections.append(refusal.sentence)
        pull = facts.pull_request(requester, event, environment, commit if self._own else "")
        of_event = pull.head_sha if pull else environment.get("GITHUB_SHA", "")
        if self._own and not ref:
            commit = of_event
        started_by = environment.get("GITHUB_EVENT_NAME", "")
        if started_by == "issue_comment" and pull and self._own and is_commit(commit):
            objections += filter(None, [facts.unseen(requester, pull, event, self.repository, commit)])
        server, run = environment.get("GITHUB_SERVER_URL", GITHUB), environment.get("GITHUB_RUN_ID", "0")
        return ActionContext(
            repository=repository,
            actor=facts.actor(environment, event),
            event=started_by,
            pull=pull,
            commit=commit if self._own else of_event,
            adapter_repository=self.repository,
            adapter_ref=ref,
            adapter_commit=commit,
            objections=tuple(objections),
            adapter_path=inputs.adapter_path,
            hardware="" if inputs.hardware == "any" else inputs.hardware,
            allowed_models=inputs.allowed_models,
            admit_only=admit_only,
            run=f"{run}-{environment.get('GITHUB_RUN_ATTEMPT', '1')}",
            started=time.time(),
            nonce=secrets.token_hex(8),
            run_url=f"{server}/{repository}/actions/runs/{run}",
            workspace=environment.get("GITHUB_WORKSPACE", ""),
            **given,
        )

    @property
    def folder(self) -> str:
        """Where deploy.sh will be; refused if that is outside of the adapter's repository."""
        root, path = self._git.folder, self._inputs.adapter_path
        folder = os.path.normpath(Path(root) / path)
        if not Path(folder).resolve().is_relative_to(Path(root).resolve()):
            raise BadValue(f"adapter-path '{path}' leaves the adapter's repository.")
        return folder

    def check_out(self, commit: str) -> CheckedOut:
        """Fetches the files of the commit; returns the folder of the adapter among them."""
        tree = check_out(self._git, self._source, commit)
        # The adapter may run as another user, who has to get to its folder.
        Path(self._git.folder).chmod(0o711)
        return CheckedOut(folder=self.folder, tree=tree)  # again, now that links can be there


# Whether a run may start: what started it, who asked for it, and for what hardware.
#
# This comes before anything of the adapter or of the workspace is fetched, read or run.


_PRIVILEGED_EVENTS = ("issue_comment", "pull_request_target", "workflow_run")
"""They run with the rights of the default branch, whatever code they evaluate."""


def check_admission(context: ActionContext, github: GitHubRest) -> None:
    """Raises one refusal with all objections."""
    objections = [
        *context.objections,
        *_event(context),
        *_permission(context, github),
        *_hardware(context, github),
        # Which models will be evaluated, their file may still have to say.
        *(() if context.admit_only and not context.model else model_objections(context.model, context.allowed_models)),
    ]
    if objections:
        raise Refused(" ".join(objections))


def _event(context: ActionContext) -> list[str]:
    """A branch can move between an admin's look at it and this step; a full commit cannot."""
    if context.event not in _PRIVILEGED_EVENTS or is_commit(context.adapter_ref):
        return []
    value = f"it is '{context.adapter_ref}'" if context.adapter_ref else "it is empty"
    objection = (
        f"A workflow that is started by {context.event} has the rights of the default branch, so adapter-ref has to be "
        f"the full commit that an admin has read, and {value}."
    )
    return [objection]


def _permission(context: ActionContext, github: GitHubRest) -> list[str]:
    """Of the adapter's repository, whose code is run, and of the workflow's own, which lends runner and name to it."""
    login, own = context.actor.login, context.repository
    repositories = [context.adapter_repository] + [own] * (not context.own_adapter)
    if login.endswith("[bot]"):
        objection = (
            f"{login} is a bot, and only an admin of {' and '.join(repositories)} can start an accuracy evaluation; "
            "one of them can re-run this job, or comment /evaluate."
        )
        return [objection]
    objections = []
    for repository in repositories:
        permission = github.permission(repository, login)
        if not permission.admin:
            role = permission.role_name or permission.level
            whose = "the adapter's" if repository == context.adapter_repository else "the workflow's"
            objections.append(
                f"{login} has the role '{role}' in {repository}, but only an admin of {whose} repository can start an "
                "accuracy evaluation; ask one to run this workflow."
            )
    return objections


def model_objections(model: str, allowed: Sequence[str]) -> list[str]:
    """Who may choose the weights in a comment or a form chooses among those that the workflow allows."""
    if not allowed or any(_matches(model, pattern) for pattern in allowed):
        return []
    return [f"The model '{model}' is none that this workflow allows: {', '.join(allowed)}."]


def _matches(model: str, pattern: str) -> bool:
    """Part by part, so that `*` ends at a slash and no `..` leads out of the folder that a pattern names."""
    parts, patterns = model.split("/"), pattern.split("/")
    leads_out = any(part in (".", "..") for part in parts)
    return not leads_out and len(parts) == len(patterns) and all(map(fnmatchcase, parts, patterns))


def _hardware(context: ActionContext, github: GitHubRest) -> list[str]:
    if not context.hardware:
        return []
    hardware = github.hardware(context.adapter_repository)
    if hardware.has(context.hardware):
        return []
    required = context.hardware.upper()
    if not hardware.types:
        notes = f" ({' '.join(hardware.notes)})" if hardware.notes else ""
        cure = f"an admin sets the repository's property 'hardware' to {required}."
        return [f"{context.adapter_repository} does not say that its hardware type is {required}{notes}; {cure}"]
    return [f"The hardware type of {context.adapter_repository} is {', '.join(hardware.types)}, not {required}."]


# The folder of one step, for the adapter's files; whatever ends the step, the folder is removed.


STATE_FOLDER = "folder"
"""What the post step reads to see which folder a killed step left behind."""


@contextmanager
def temporary_folder(environment: Mapping[str, str], step: Runner) -> Iterator[str]:
    """A folder that the host sees too, in the runner's own for such things, otherwise in the workspace."""
    places = (environment.get(name, "") for name in ("RUNNER_TEMP", "GITHUB_WORKSPACE"))
    place = next((place for place in places if Path(place or "/nowhere").is_dir()), tempfile.gettempdir())
    folder = tempfile.mkdtemp(prefix=".model-accuracy-eval-", dir=place)
    try:
        step.save(STATE_FOLDER, folder)
        yield folder
    finally:
        remove(folder, step.warning)


def remove(folder: str, warn: Callable[[str], object]) -> None:
    """Removes the adapter's files, if they are still there, also from folders that deploy.sh has closed."""
    try:
        try:
            shutil.rmtree(folder)
        except PermissionError:
            _open(folder)
            shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        reason = error.strerror or error
        warn(f"The adapter's files in {folder} could not be removed: {reason}. Remove them on the runner.")


def _open(folder: str) -> None:
    with contextlib.suppress(OSError):  # what stays closed is told when it cannot be removed
        Path(folder).chmod(0o700)
        for parent, folders, _ in os.walk(folder):
            for inner in (Path(parent, name) for name in folders):
                if not inner.is_symlink():
                    inner.chmod(0o700)
