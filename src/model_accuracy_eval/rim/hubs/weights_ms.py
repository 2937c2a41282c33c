"""The ModelScope hub, by its HTTP interface: what a model consists of, and where its files are to be had."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.rim.hubs.weights_http import Calls
from model_accuracy_eval.rim.hubs.weights_records import Reference, WeightFile, Weights, checked_files, is_commit
from model_accuracy_eval.rim.secret import Secret

_MOST = 3000
"""A listing is cut off there without a word, whatever page is asked for."""


class ModelScope:
    """Implements `Hub`. A mirror is named by MODELSCOPE_ENDPOINT."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.endpoint = (environment.get("MODELSCOPE_ENDPOINT") or "https://www.modelscope.cn").rstrip("/")

    def credentials(self, token: Secret) -> dict[str, str]:
        # Some of its doors look at the header only, older ones at the cookie only.
        return {"authorization": f"Bearer {token.reveal()}", "cookie": f"m_session_id={token.reveal()}"}

    async def listing(self, reference: Reference, calls: Calls) -> Weights:
        first = await self._rows(reference, reference.revision or "master", calls)
        commit = _commit(reference, first)
        # Once more by the commit: between the two the branch may have moved.
        data = first if commit == reference.revision else await self._rows(reference, commit, calls)
        try:
            files = [_file(row) for row in data["Files"] if row["Type"] != "tree"]
        except (KeyError, TypeError, ValueError) as error:
            raise self._unclear(reference, error) from error
        if len(data["Files"]) >= _MOST:
            raise Refused(f"{reference} has {_MOST} files or more, and {self.endpoint} does not list more of them.")
        task_types = await self._task_types(reference, calls)
        return Weights(reference=reference, commit=commit, files=checked_files(reference, files), task_types=task_types)

    def address(self, weights: Weights, file: WeightFile) -> str:
        query = urlencode({"Revision": weights.commit, "FilePath": file.path})
        return f"{self.endpoint}/api/v1/models/{weights.reference.name}/repo?{query}"

    async def _task_types(self, reference: Reference, calls: Calls) -> tuple[str, ...]:
        """Told by the model's own page, not with its files. A hub that does not say is no reason to refuse a model."""
        once = replace(calls, effort=replace(calls.effort, tries=1))
        try:
            body, _ = await once.json(f"{self.endpoint}/api/v1/models/{reference.name}")
            return tuple(str(task["Name"]) for task in body["Data"]["Tasks"])
        except (Refused, KeyError, TypeError, AttributeError):
            return ()

    async def _rows(self, reference: Reference, revision: str, calls: Calls) -> dict[str, Any]:
        query = urlencode({"Revision": revision, "Recursive": "True"})
        body, _ = await calls.json(f"{self.endpoint}/api/v1/models/{reference.name}/repo/files?{query}")
        try:
            if body["Code"] != 200:
                raise Refused(f"{self.endpoint} refuses to list {reference}: {body.get('Message')} ({body['Code']}).")
            if not isinstance(body["Data"]["Files"], list):
                raise TypeError("no list of files")  # noqa: TRY301 - one sentence for every wrong shape
            return dict(body["Data"])
        except (KeyError, TypeError, AttributeError) as error:
            raise self._unclear(reference, error) from error

    def _unclear(self, reference: Reference, error: Exception) -> Refused:
        return Refused(f"{self.endpoint} does not say what {reference} consists of ({error!r}).")


def _commit(reference: Reference, data: dict[str, Any]) -> str:
    """The newest commit is told whole, or by its first digits only; files tell the last commit that touched them."""
    if is_commit(reference.revision):
        return str(reference.revision)
    latest = data.get("LatestCommitter") or {}
    if is_commit(latest.get("Id")):
        return str(latest["Id"])
    short = str(latest.get("ShortId") or "")
    whole = {row.get("Revision") for row in data["Files"] if str(row.get("Revision")).startswith(short)}
    if len(short) >= 7 and len(whole) == 1 and is_commit(found := whole.pop()):
        return str(found)
    raise Refused(f"The hub does not tell the commit of {reference}; name one yourself: {reference.name}@<commit>.")


def _file(row: dict[str, Any]) -> WeightFile:
    digest = str(row.get("Sha256") or "")
    if len(digest) != 64:
        raise ValueError(f"no hash of {row['Path']}")
    return WeightFile(path=row["Path"], size=int(row["Size"]), sha256=digest)
