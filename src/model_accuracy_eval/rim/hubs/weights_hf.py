"""The Hugging Face hub: what a model consists of, and where its files are to be had."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urljoin

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.rim.hubs.weights_http import Calls
from model_accuracy_eval.rim.hubs.weights_records import Reference, WeightFile, Weights, checked_files, is_commit
from model_accuracy_eval.rim.secret import Secret


class HuggingFace:
    """Implements `Hub`. A mirror is named by HF_ENDPOINT, as in every tool of theirs."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.endpoint = (environment.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")

    def credentials(self, token: Secret) -> dict[str, str]:
        return {"authorization": f"Bearer {token.reveal()}"}

    async def listing(self, reference: Reference, calls: Calls) -> Weights:
        api = f"{self.endpoint}/api/models/{reference.name}"
        facts, _ = await calls.json(f"{api}/revision/{quote(reference.revision or 'main', safe='')}?blobs=true")
        try:
            commit, rows = facts["sha"], facts["siblings"]
            if not is_commit(commit):
                raise ValueError("no commit")  # noqa: TRY301 - one sentence for every wrong shape
            files = [_sibling(row) for row in rows if row.get("size") is not None]
            if len(files) < len(rows):  # mirrors do not all know `blobs`
                files = await self._tree(f"{api}/tree/{commit}?recursive=true", calls)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Refused(f"{self.endpoint} does not say what {reference} consists of ({error!r}).") from error
        kind = facts.get("pipeline_tag")
        task_types = (kind,) if isinstance(kind, str) else ()
        weights = Weights(
            reference=reference, commit=commit, files=checked_files(reference, files), task_types=task_types
        )
        if facts.get("gated"):  # everybody may list the files of a gated model; who may read them shows only there
            await self._knock(weights, calls)
        return weights

    def address(self, weights: Weights, file: WeightFile) -> str:
        return f"{self.endpoint}/{weights.reference.name}/resolve/{weights.commit}/{quote(file.path)}"

    async def _tree(self, url: str, calls: Calls) -> list[WeightFile]:
        files = []
        while url:
            rows, headers = await calls.json(url)
            files += [_entry(row) for row in rows if row["type"] == "file"]
            url = urljoin(url, headers["link-next"]) if headers["link-next"] else ""
        return files

    async def _knock(self, weights: Weights, calls: Calls) -> None:
        smallest = min(weights.files, key=lambda file: file.size)

        async def once() -> None:
            async with calls.open(self.address(weights, smallest), method="HEAD"):
                pass

        await calls.persist(once)


def _sibling(row: dict[str, Any]) -> WeightFile:
    return _weight_file(row["rfilename"], row["size"], row.get("lfs"), "sha256", row["blobId"])


def _entry(row: dict[str, Any]) -> WeightFile:
    return _weight_file(row["path"], row["size"], row.get("lfs"), "oid", row["oid"])


def _weight_file(path: str, size: int, large: dict[str, Any] | None, key: str, blob: str) -> WeightFile:
    """The blob id of a large file is that of its pointer, so its own SHA-256 counts."""
    if large:
        return WeightFile(path=path, size=int(large["size"]), sha256=str(large[key]).removeprefix("sha256:"))
    return WeightFile(path=path, size=int(size), git_sha1=str(blob))
