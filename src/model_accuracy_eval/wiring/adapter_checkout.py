"""The adapter of one step of the action: which commit is evaluated and reported on, and its files."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from model_accuracy_eval.config.action_inputs import ActionInputs
from model_accuracy_eval.errors import BadValue, Refused
from model_accuracy_eval.github import facts
from model_accuracy_eval.github.checkout import CheckoutSource, Git, check_out, resolve
from model_accuracy_eval.github.requester import GitHubRequester
from model_accuracy_eval.ports.action_ports import CheckedOut, is_same
from model_accuracy_eval.records.github import PullRequest
from model_accuracy_eval.system.process_environment import Secret

GITHUB = "https://github.com"


class Commits(NamedTuple):
    """What is evaluated, and what is reported on."""

    pull: PullRequest | None
    adapter: str
    reported: str
    objections: tuple[str, ...]
    """Why there is no commit of the adapter."""


_TO_GIT = ("path", "home", "http_proxy", "https_proxy", "all_proxy", "no_proxy")
"""Variables that git gets, in either case: it is not to inherit anything that would load code."""


def _for_git(environment: Mapping[str, str]) -> dict[str, str]:
    variables = {name: value for name, value in environment.items() if name.lower() in _TO_GIT}
    authorities = environment.get("SSL_CERT_FILE")
    return variables | ({"GIT_SSL_CAINFO": authorities} if authorities else {})


class AdapterCheckout:
    """One repository, and a folder for its files. The token is the adapter's own, or the workflow's for its own."""

    def __init__(
        self,
        folder: str,
        environment: Mapping[str, str],
        action_inputs: ActionInputs,
        tokens: Mapping[str, Secret],
        check: Callable[[], None],
    ) -> None:
        self._environment = environment
        self._inputs = action_inputs
        own = environment.get("GITHUB_REPOSITORY", "")
        self.repository = action_inputs.adapter_repository or own
        self._own = is_same(self.repository, own)
        token = tokens["adapter-token"] or (tokens["token"] if self._own else Secret(""))
        server = environment.get("GITHUB_SERVER_URL", GITHUB)
        self._git = Git(folder, _for_git(environment), server=server, token=token.reveal(), check=check)
        self._source = CheckoutSource(
            server, self.repository, submodules=action_inputs.adapter_submodules, lfs=action_inputs.adapter_lfs
        )

    def commits(self, event: Mapping[str, Any], requester: GitHubRequester) -> Commits:
        """Resolves the ref once; all later steps use the commit, whatever is pushed meanwhile.

        Without a ref it is the event's commit, if the adapter is in the workflow's own repository.
        """
        ref, commit, objections = self._inputs.adapter_ref, "", list[str]()
        if ref or not self._own:
            try:
                commit = resolve(self._git, self._source, ref)
            except Refused as refusal:
                objections.append(refusal.sentence)
        pull = facts.pull_request(requester, event, self._environment, commit if self._own else "")
        of_event = pull.head_sha if pull else self._environment.get("GITHUB_SHA", "")
        if self._own and not ref:
            commit = of_event
        return Commits(pull, commit, commit if self._own else of_event, tuple(objections))

    def check_out(self, commit: str) -> CheckedOut:
        """Fetches the files of the commit; returns the folder of the adapter among them."""
        tree = check_out(self._git, self._source, commit)
        # The adapter may run as another user, who has to get to its folder.
        Path(self._git.folder).chmod(0o711)
        root, path = self._git.folder, self._inputs.adapter_path
        folder = os.path.normpath(Path(root) / path)
        if not Path(folder).resolve().is_relative_to(Path(root).resolve()):
            raise BadValue(f"adapter-path '{path}' leaves the adapter's repository.")
        return CheckedOut(folder=folder, tree=tree)
