"""The Hugging Face hub: the files of a model or dataset, and their addresses."""

from collections.abc import Mapping
from urllib.parse import quote, urljoin

import msgspec
from msgspec import structs

from model_accuracy_eval.hubs.hub_requests import HubRequests
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


class _TreeEntry(msgspec.Struct):
    type: str
    path: str
    size: int | None = None
    oid: str = ""
    lfs: _LargeFile | None = None


class _RepositoryInfo(msgspec.Struct):
    sha: str
    siblings: list[_Sibling]
    id: str = ""
    gated: bool | str | None = None
    pipeline_tag: str | None = None


class HuggingFace:
    """Implements `WeightsHub`. A mirror is named by HF_ENDPOINT, as for its own tools."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.endpoint = (environment.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")

    def credentials(self, token: Secret) -> dict[str, str]:
        return {"authorization": f"Bearer {token.reveal()}"}

    async def listing(self, reference: ModelReference, requests: HubRequests) -> WeightsListing:
        api = f"{self.endpoint}/api/{reference.kind}s/{reference.name}"
        revision = quote(reference.revision or "main", safe="")
        info, _ = await requests.json(f"{api}/revision/{revision}?blobs=true", _RepositoryInfo)
        if not is_commit(info.sha):
            raise requests.no_listing(f"'{info.sha}' is not a commit")
        rows: list[_Sibling] | list[_TreeEntry] = info.siblings
        if any(row.size is None for row in rows):  # not every mirror knows `blobs`
            rows = await self._tree(f"{api}/tree/{info.sha}?recursive=true", requests)
        weights = WeightsListing(
            reference=_as_called_now(reference, info.id),
            commit=info.sha,
            files=checked_files(reference, [_weight_file(row, requests) for row in rows]),
            task_types=(info.pipeline_tag,) if info.pipeline_tag else (),
        )
        if info.gated:  # its files can be listed by everybody, but not read
            await self._check_access(weights, requests)
        return weights

    def address(self, weights: WeightsListing, file: WeightFile) -> str:
        folder = "datasets/" if weights.reference.kind == "dataset" else ""
        return f"{self.endpoint}/{folder}{weights.reference.name}/resolve/{weights.commit}/{quote(file.path)}"

    async def _tree(self, url: str, requests: HubRequests) -> list[_TreeEntry]:
        entries: list[_TreeEntry] = []
        while url:
            page, next_page = await requests.json(url, list[_TreeEntry])
            entries += [entry for entry in page if entry.type == "file"]
            url = urljoin(url, next_page) if next_page else ""
        return entries

    async def _check_access(self, weights: WeightsListing, requests: HubRequests) -> None:
        smallest = min(weights.files, key=lambda file: file.size)

        async def attempt() -> None:
            async with requests.open(self.address(weights, smallest), method="HEAD"):
                pass

        await requests.repeat(attempt)


def _as_called_now(reference: ModelReference, name: str) -> ModelReference:
    """The hub answers under a dataset's old names, too."""
    renamed = reference.kind == "dataset" and is_name(name)
    return structs.replace(reference, name=name) if renamed else reference


def _weight_file(row: _Sibling | _TreeEntry, requests: HubRequests) -> WeightFile:
    """The blob id of a large file is that of its LFS pointer, so its own SHA-256 counts."""
    size = row.lfs.size if row.lfs else row.size
    sha256 = (row.lfs.sha256 or row.lfs.oid).removeprefix("sha256:") if row.lfs else None
    if size is None or not (sha256 or row.oid):
        raise requests.no_listing(f"no size or no hash for {row.path}")
    return WeightFile(path=row.path, size=size, sha256=sha256, git_sha1=None if row.lfs else row.oid)
