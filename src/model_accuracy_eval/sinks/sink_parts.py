"""What the sinks of the action are built from."""

from collections.abc import Callable
from dataclasses import dataclass

from model_accuracy_eval.ports import Store
from model_accuracy_eval.ports.action_ports import ActionContext, ArtifactStore, CheckUpdater, GitHubApi, RunnerStep
from model_accuracy_eval.ports.service import Published
from model_accuracy_eval.records import Record
from model_accuracy_eval.report.comment import Links
from model_accuracy_eval.run_folder import manifest

NAME = "Model accuracy"
"""What check and status are called, before the run's label."""


def manifest_digest(folder: Store | None) -> str:
    """What stands for every file of the run; empty if the run left no manifest."""
    stated = folder.read(manifest.MANIFEST) if folder is not None else None
    return "" if stated is None else manifest.digest(stated)


class NoInputs(Record, frozen=True):
    """For a sink that nothing has to be said to."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SinkParts:
    """Each sink takes of these what it needs."""

    context: ActionContext
    step: RunnerStep
    github: GitHubApi
    artifacts: ArtifactStore | None
    """None where the runner names no artifact service."""
    updater: CheckUpdater
    since_stop: Callable[[], float]
    """Seconds since the request to stop; 0 when there was none."""

    def links(self, published: Published) -> Links:
        """The links at the end of a comment, a check and a summary."""
        links = published.links
        return Links(artifact=links.get("artifact", ""), check=links.get("check", ""), run=self.context.run_url)
