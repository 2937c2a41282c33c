"""The report as an artifact of the workflow run, by our own client of GitHub's artifact service."""

import math
import random
import time
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import httpx
import msgspec

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.records.forge import Uploaded
from model_accuracy_eval.rim.artifacts import artifact_v3, artifact_v4, zipping
from model_accuracy_eval.rim.artifacts.artifact_calls import TRIES, Answer, Calls
from model_accuracy_eval.rim.artifacts.blob import CONNECT
from model_accuracy_eval.rim.artifacts.deadline import in_time

_FORBIDDEN = '":<>|*?\r\n\\/'
_DAY = 86_400
_ANSWER = 60.0
_STALL = 300.0
_NAMES = 9
"""Names that are tried when one after the other is taken."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArtifactService:
    """The service of one job. Which protocol it speaks is found out by trying, not by the name of its host."""

    results_url: str
    """Of the present protocol; empty when the runner names none."""
    runtime_url: str
    """Of the earlier one."""
    token: str
    environment: Mapping[str, str]
    mask: Callable[[str], None]
    sleep: Callable[[float], object]
    chance: Callable[[], float]
    now: Callable[[], float]

    @classmethod
    def from_environment(
        cls,
        environment: Mapping[str, str],
        *,
        mask: Callable[[str], None],
        sleep: Callable[[float], object] = time.sleep,
        chance: Callable[[], float] = random.random,
        now: Callable[[], float] = time.time,
    ) -> "ArtifactService | None":
        """None outside of Actions. `mask` is given every secret before it could be printed."""
        token = environment.get("ACTIONS_RUNTIME_TOKEN", "")
        results, runtime = environment.get("ACTIONS_RESULTS_URL", ""), environment.get("ACTIONS_RUNTIME_URL", "")
        if not token or not (results or runtime):
            return None
        return cls(
            results_url=_origin(results),
            runtime_url=runtime and f"{runtime.rstrip('/')}/",
            token=token,
            environment=dict(environment),
            mask=mask,
            sleep=sleep,
            chance=chance,
            now=now,
        )

    def __repr__(self) -> str:
        """Without the token."""
        return f"ArtifactService({self.results_url or self.runtime_url})"

    def upload(
        self, name: str, folder: str, *, retention_days: int | None = None, left: Callable[[], float] = lambda: math.inf
    ) -> Uploaded:
        """Everything below the folder, whole or not at all; raises `PublishFailed` with the reason. `left`: seconds
        for everything together, asked for again and again."""
        return in_time(left, lambda: self._upload(name, folder, retention_days))

    def _upload(self, name: str, folder: str, retention_days: int | None) -> Uploaded:
        if trouble := objection(name):
            raise PublishFailed(f"'{name}' cannot be the name of an artifact: it {trouble}; '{safe_name(name)}' can.")
        contents = zipping.survey(folder)
        days, notes = self._retention(retention_days)
        with httpx.Client(timeout=httpx.Timeout(_ANSWER, connect=CONNECT)) as client:
            calls = Calls(client=client, sleep=self.sleep, chance=self.chance)
            uploaded = self._by_v4(calls, name, contents, days) or self._by_v3(calls, name, contents, days)
        return msgspec.structs.replace(uploaded, notes=(*notes, *contents.notes, *uploaded.notes))

    def _by_v4(self, calls: Calls, name: str, contents: zipping.Contents, days: int | None) -> Uploaded | None:
        """None when the server has no such service, but may have the earlier one."""
        ids = artifact_v4.backend_ids(self.token)
        if not self.results_url or ids is None:
            return None
        service = artifact_v4.Protocol(
            calls=calls,
            origin=self.results_url,
            token=self.token,
            run=ids[0],
            job=ids[1],
            mask=self.mask,
            timeout=self._stall() / TRIES,
        )
        expires = None if days is None else self.now() + days * _DAY
        called, created = self._create(service, name, expires)
        if artifact_v4.is_absent(created) and self.runtime_url:
            return None
        finished = service.fill(called, created, contents)
        note = f"The run has an artifact '{name}' already; this one is called '{called}'."
        return Uploaded(
            name=called,
            id=finished.id,
            url=self._url(f"/artifacts/{finished.id}"),
            digest=finished.digest,
            size=finished.size,
            notes=finished.notes if called == name else (note, *finished.notes),
        )

    def _create(self, service: artifact_v4.Protocol, name: str, expires: float | None) -> tuple[str, Answer]:
        """Other jobs of the run, or an earlier attempt, may have the name: then a suffix makes it ours."""
        names = [name, *suffixed(name, self.environment.get("GITHUB_RUN_ATTEMPT") or "1")]
        for called in names:
            created = service.create(called, expires)
            if created.status != 409:
                return called, created
        raise PublishFailed(
            f"The run has an artifact '{name}' already, and {len(names) - 1} more up to '{names[-1]}'; "
            "give every job of the workflow an artifact-name of its own."
        )

    def _by_v3(self, calls: Calls, name: str, contents: zipping.Contents, days: int | None) -> Uploaded:
        if not self.runtime_url:
            raise PublishFailed("The runtime token names no run and job, so the artifact service cannot be used.")
        service = artifact_v3.Protocol(
            calls=calls, base=self.runtime_url, token=self.token, run=self.environment.get("GITHUB_RUN_ID", "")
        )
        size, notes = service.upload(name, contents, days)
        return Uploaded(name=name, id=None, url=self._url("#artifacts"), digest=None, size=size, notes=tuple(notes))

    def _retention(self, days: int | None) -> tuple[int | None, list[str]]:
        """As asked for, but no longer than the repository allows. 0 and None leave it to the repository."""
        if not days or days < 0:
            return None, []
        allowed = self.environment.get("GITHUB_RETENTION_DAYS", "")
        if not allowed.isdecimal() or not 0 < int(allowed) < days:
            return days, []
        return int(allowed), [f"The artifact is kept for {allowed} days: {days} are more than the repository allows."]

    def _stall(self) -> float:
        """Seconds without progress that are too many, as the official client has them."""
        told = self.environment.get("ACTIONS_ARTIFACT_UPLOAD_TIMEOUT_MS", "")
        return int(told) / 1000 if told.isdecimal() and int(told) else _STALL

    def _url(self, rest: str) -> str:
        server = self.environment.get("GITHUB_SERVER_URL") or "https://github.com"
        repository, run = (self.environment.get(f"GITHUB_{name}", "") for name in ("REPOSITORY", "RUN_ID"))
        return f"{server.rstrip('/')}/{repository}/actions/runs/{run}{rest}"


def objection(name: str) -> str | None:
    """Why the service would refuse the name, as the end of a sentence; None when it is fine."""
    if not name.strip():
        return "is empty"
    found = [letter for letter in _FORBIDDEN if letter in name]
    return f"contains {' '.join(repr(letter)[1:-1] for letter in found)}" if found else None


def safe_name(name: str) -> str:
    """The nearest name that is allowed: models have slashes in theirs, times have colons."""
    return "".join("-" if letter in _FORBIDDEN else letter for letter in name).strip(" -") or "report"


def suffixed(name: str, attempt: str) -> list[str]:
    """Names to take when the first is taken: with the number of the attempt, then a count of their own."""
    return [f"{name}-{attempt}", *(f"{name}-{attempt}-{number}" for number in range(2, _NAMES))]


def _origin(url: str) -> str:
    parts = urllib.parse.urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""
