"""Hugging Face and ModelScope: the files of a model or dataset, and their addresses."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from urllib.parse import quote, unquote, urlencode, urlsplit

import msgspec
from msgspec import structs

from model_accuracy_eval.errors import BadData, Refused
from model_accuracy_eval.hubs.hub_requests import Hub, HubRequests
from model_accuracy_eval.hubs.weights_listing import (
    ModelReference,
    WeightFile,
    WeightsListing,
    checked_files,
    is_commit,
    is_name,
)
from model_accuracy_eval.system.process_environment import Secret


class _LargeFile(msgspec.Struct):
    size: int
    sha256: str = ""
    oid: str = ""


class _Sibling(msgspec.Struct):
    path: str = msgspec.field(name="rfilename")
    size: int | None = None
    oid: str = msgspec.field(name="blobId", default="")
    lfs: _LargeFile | None = None


class _RepositoryInfo(msgspec.Struct):
    sha: str
    siblings: list[_Sibling]
    id: str = ""
    gated: bool | str | None = None
    pipeline_tag: str | None = None


class HuggingFace:
    """Implements `Hub`."""

    token_name = "HF_TOKEN"  # noqa: S105 - its name

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint

    def credentials(self, token: Secret) -> dict[str, str]:
        return {"authorization": f"Bearer {token.reveal()}"}

    async def listing(self, reference: ModelReference, requests: HubRequests) -> WeightsListing:
        revision = quote(reference.revision or "main", safe="")
        url = f"{self.endpoint}/api/{reference.kind}s/{reference.name}/revision/{revision}?blobs=true"
        info = await requests.json(url, _RepositoryInfo)
        if not is_commit(info.sha):
            raise requests.no_listing(f"'{info.sha}' is not a commit")
        # The hub answers under a dataset's old names, too.
        called = info.id if reference.kind == "dataset" and is_name(info.id) else reference.name
        weights = WeightsListing(
            reference=structs.replace(reference, name=called),
            commit=info.sha,
            files=checked_files(reference, [_weight_file(row, requests) for row in info.siblings]),
            task_types=(info.pipeline_tag,) if info.pipeline_tag else (),
        )
        if info.gated:  # its files can be listed by everybody, but not read
            await self._check_access(weights, requests)
        return weights

    def address(self, reference: ModelReference, commit: str | None, path: str) -> str:
        folder = "datasets/" if reference.kind == "dataset" else ""
        return f"{self.endpoint}/{folder}{reference.name}/resolve/{commit}/{quote(path)}"

    async def _check_access(self, weights: WeightsListing, requests: HubRequests) -> None:
        smallest = min(weights.files, key=lambda file: file.size)

        async def attempt() -> None:
            url = self.address(weights.reference, weights.commit, smallest.path)
            async with requests.open(url, method="HEAD"):
                pass

        await requests.repeat(attempt)


def _weight_file(row: _Sibling, requests: HubRequests) -> WeightFile:
    """The blob id of a large file is that of its LFS pointer, so its own SHA-256 counts."""
    size, known = (row.lfs.size, row.lfs.sha256 or row.lfs.oid) if row.lfs else (row.size, row.oid)
    if size is None or not known:
        raise requests.no_listing(f"no size or no hash for {row.path}")
    return WeightFile(path=row.path, size=size, hash=known.removeprefix("sha256:"))


# ModelScope, over its HTTP interface.


_LONGEST_LISTING = 3000
"""The hub cuts a model's listing off there without saying so, whatever page is requested."""
_PAGE = 200


class _Row(msgspec.Struct, rename="pascal"):
    type: str
    path: str
    size: int = 0
    sha256: str | None = None
    revision: str | None = None


class _Committer(msgspec.Struct, rename="pascal"):
    id: str | None = None
    short_id: str | None = None


class _Listing(msgspec.Struct, rename="pascal"):
    files: list[_Row]
    latest_committer: _Committer | None = None


class _Dataset(msgspec.Struct, rename="pascal"):
    id: int | str | None = None


class _DatasetAnswer(msgspec.Struct, rename="pascal"):
    data: _Dataset | None = None


class _ListingAnswer(msgspec.Struct, rename="pascal"):
    code: int
    message: str | None = None
    data: _Listing | None = None


class _Task(msgspec.Struct, rename="pascal"):
    name: str


class _Model(msgspec.Struct, rename="pascal"):
    tasks: list[_Task] | None = None


class _ModelAnswer(msgspec.Struct, rename="pascal"):
    data: _Model | None = None


class ModelScope:
    """Implements `Hub`."""

    token_name = "MODELSCOPE_API_TOKEN"  # noqa: S105 - its name

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint

    def credentials(self, token: Secret) -> dict[str, str]:
        # Some of its services read only the header, older ones only the cookie.
        return {"authorization": f"Bearer {token.reveal()}", "cookie": f"m_session_id={token.reveal()}"}

    async def listing(self, reference: ModelReference, requests: HubRequests) -> WeightsListing:
        if reference.kind == "dataset":
            return await self._dataset(reference, requests)
        first = await self._list(reference, reference.revision or "master", requests)
        commit = _commit(reference, first)
        # Listed again by commit: the branch may have moved in between.
        listing = first if commit == reference.revision else await self._list(reference, commit, requests)
        files = [_file(row, requests) for row in listing.files if row.type != "tree"]
        if len(listing.files) >= _LONGEST_LISTING:
            raise Refused(
                f"{reference} has {_LONGEST_LISTING} files or more, and {self.endpoint} does not list more of them."
            )
        task_types = await self._task_types(reference, requests)
        return WeightsListing(
            reference=reference, commit=commit, files=checked_files(reference, files), task_types=task_types
        )

    def address(self, reference: ModelReference, commit: str | None, path: str) -> str:
        query = urlencode({"Revision": commit, "FilePath": path})
        return f"{self.endpoint}/api/v1/{reference.kind}s/{reference.name}/repo?{query}"

    async def _dataset(self, reference: ModelReference, requests: HubRequests) -> WeightsListing:
        """The hub's own library lists a dataset by its number, page by page."""
        api = f"{self.endpoint}/api/v1/datasets"
        answer = await requests.json(f"{api}/{reference.name}", _DatasetAnswer)
        number = (answer.data and answer.data.id) or reference.name
        revision = reference.revision or "master"
        rows: list[_Row] = []
        page: list[_Row] | None = None
        latest: _Committer | None = None
        while page is None or len(page) == _PAGE:
            numbered = {"PageNumber": len(rows) // _PAGE + 1, "PageSize": _PAGE}
            query = urlencode({"Recursive": "True", "Revision": revision, "Root": "/", **numbered})
            paged = await requests.json(f"{api}/{number}/repo/tree?{query}", _ListingAnswer)
            listing = _listed(reference, paged, requests)
            page, latest = listing.files, listing.latest_committer
            rows += page
        files = [_file(row, requests) for row in rows if row.type != "tree"]
        # Where no commit is told, the hashes of the files still say which ones these are.
        commit = reference.revision if is_commit(reference.revision) else (latest.id if latest else None)
        return WeightsListing(
            reference=reference,
            commit=commit if is_commit(commit) else revision,
            files=checked_files(reference, files),
        )

    async def _task_types(self, reference: ModelReference, requests: HubRequests) -> tuple[str, ...]:
        """From the model's own page. A hub that does not answer is no reason to refuse a model."""
        single_attempt = replace(requests, retry=replace(requests.retry, attempts=1))
        try:
            answer = await single_attempt.json(f"{self.endpoint}/api/v1/models/{reference.name}", _ModelAnswer)
        except Refused:
            return ()
        tasks = answer.data.tasks if answer.data else None
        return tuple(task.name for task in tasks or ())

    async def _list(self, reference: ModelReference, revision: str, requests: HubRequests) -> _Listing:
        query = urlencode({"Revision": revision, "Recursive": "True"})
        url = f"{self.endpoint}/api/v1/models/{reference.name}/repo/files?{query}"
        answer = await requests.json(url, _ListingAnswer)
        return _listed(reference, answer, requests)


def _listed(reference: ModelReference, answer: _ListingAnswer, requests: HubRequests) -> _Listing:
    if answer.code != 200:
        raise Refused(f"{requests.hub.endpoint} refuses to list {reference}: {answer.message} ({answer.code}).")
    if answer.data is None:
        raise requests.no_listing("the answer has no data")
    return answer.data


def _commit(reference: ModelReference, listing: _Listing) -> str:
    """The hub gives the newest commit in full or by its first digits; a file gives the last one that changed it."""
    if is_commit(reference.revision):
        return str(reference.revision)
    latest = listing.latest_committer or _Committer()
    if is_commit(latest.id):
        return str(latest.id)
    short = latest.short_id or ""
    commits = {row.revision for row in listing.files if row.revision and row.revision.startswith(short)}
    if len(short) >= 7 and len(commits) == 1 and is_commit(commit := commits.pop()):
        return str(commit)
    raise Refused(f"The hub does not say which commit {reference} is; name one yourself: {reference.name}@<commit>.")


def _file(row: _Row, requests: HubRequests) -> WeightFile:
    if not row.sha256:
        raise requests.no_listing(f"no hash for {row.path}")
    return WeightFile(path=row.path, size=row.size, hash=row.sha256)


# Addresses: where a file is, and whom to ask for it.


HOSTS = {
    "github": ("GITHUB_RAW_ENDPOINT", "https://raw.githubusercontent.com"),
    "hf": ("HF_ENDPOINT", "https://huggingface.co"),
    "ms": ("MODELSCOPE_ENDPOINT", "https://www.modelscope.cn"),
}
"""Scheme → the variable that names a mirror, as the hub's own tools read it, and the usual host."""
_AT = re.compile(r"(?P<source>\w+):(?P<name>[\w.-]+/[\w.-]+)@(?P<commit>[\w.-]+)/(?P<path>.+)")


class RawHost:
    """Implements `Hub` for hosts that are asked for public files alone."""

    token_name = ""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint

    def credentials(self, token: Secret) -> dict[str, str]:
        raise AssertionError(f"{token.name} is not for {self.endpoint}")

    def address(self, reference: ModelReference, commit: str | None, path: str) -> str:
        return f"{self.endpoint}/{reference.name}/{commit}/{quote(path)}"

    async def listing(self, reference: ModelReference, requests: HubRequests) -> WeightsListing:
        raise requests.no_listing("it has no lists")


def hub_of(scheme: str, environment: Mapping[str, str]) -> Hub:
    variable, host = HOSTS[scheme]
    kinds: dict[str, Callable[[str], Hub]] = {"hf": HuggingFace, "ms": ModelScope}
    return kinds.get(scheme, RawHost)((environment.get(variable) or host).rstrip("/"))


def own_token(hub: Hub, environment: Mapping[str, str]) -> Secret:
    """Of the variable that the hub's own tools read."""
    return Secret(environment.get(hub.token_name, "") if hub.token_name else "", hub.token_name)


def place(at: str, environment: Mapping[str, str]) -> tuple[Hub, ModelReference, str]:
    """Whom to ask for a file, what it belongs to, and its URL."""
    if at.startswith(("http://", "https://")):
        return RawHost("/".join(at.split("/")[:3])), ModelReference(source="url", name=at, kind="dataset"), at
    parts = address_parts(at)
    if parts is None or parts["source"] not in HOSTS:
        raise BadData(
            f"'{at}' is not a source of a file: write scheme:owner/name@revision/path with {', '.join(HOSTS)}."
        )
    hub = hub_of(parts["source"], environment)
    named = {"source": parts["source"], "name": parts["name"], "revision": parts["commit"], "kind": "dataset"}
    reference = msgspec.convert(named, ModelReference)
    return hub, reference, hub.address(reference, parts["commit"], parts["path"])


def address_parts(at: str) -> re.Match[str] | None:
    """Those of `scheme:owner/name@revision/path`; None where it is no such address, or leads out of the dataset."""
    parts = _AT.fullmatch(at)
    words = [*parts["name"].split("/"), parts["commit"], *parts["path"].split("/")] if parts else []
    return None if {"", ".", ".."}.intersection(words) else parts


def file_name(at: str) -> str:
    """The name of the file at an address."""
    return unquote(urlsplit(at).path).rpartition("/")[2]
