"""A model hub over real HTTP that speaks Hugging Face's and ModelScope's interface, with its storage at another origin.

    with FakeHub() as hub:
        commit = hub.push("org/name", {"config.json": b"{}", "model.safetensors": Blob(b"...", large=True)})
        ... hub.environment ... hub.asked ... hub.sent ...

Datasets are pushed as `datasets/org/name` for Hugging Face and `ms/org/name` for ModelScope. A `Blob` may promise a size that it does not have, so that 100 GB need no disk. `hub.trouble` answers in place of
the hub: it is called with every request and returns (status, headers) or None; `hub.cut` names paths whose bytes
break off after so many, once each.
"""

import hashlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.servers.http import Exchange, HttpServer

Trouble = Callable[["Exchange"], tuple[int, dict[str, str]] | None]


@dataclass(frozen=True)
class Blob:
    data: bytes
    large: bool = False
    """Kept at the storage, as LFS does."""
    size: int = -1
    """Promised size; the real one when negative."""
    served: bytes | None = None
    """What is really sent, where it is not `data`."""
    told: str = ""
    """The SHA-256 that is listed, where it is not that of `data`."""

    @property
    def length(self) -> int:
        return len(self.data) if self.size < 0 else self.size

    @property
    def sha256(self) -> str:
        return self.told or hashlib.sha256(self.data).hexdigest()

    @property
    def git(self) -> str:
        return hashlib.sha1(b"blob %d\0" % len(self.data) + self.data).hexdigest()


@dataclass
class Model:
    commits: dict[str, dict[str, Blob]] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    token: str | None = None
    """Who may read it; None: everybody."""
    gated: bool = False
    """Everybody may list it, the owner of `token` may read it."""
    task_type: str | None = None
    """What it is made for, in the hub's words."""


class FakeHub:
    def __init__(self, host: str = "127.0.0.1") -> None:
        self.models: dict[str, Model] = {}
        self.trouble: Trouble = lambda _: None
        self.storage_trouble: Trouble = lambda _: None
        self.cut: dict[str, int] = {}
        self.commit_told = "Id"
        self.page = 1000
        self.hold = threading.Event()
        """Cleared by a test: storage stops in the middle of every file."""
        self.hold.set()
        self.held = ""
        """How the names of the files end that stop; all files do where it is empty."""
        self.hub = HttpServer(self._answer, host=host)
        self.storage = HttpServer(self._store, host=host)
        self.sent: dict[str, int] = {}
        """Bytes of each file that went out."""
        self.renamed: dict[str, str] = {}
        """Dataset → the name that it has now, of the same owner."""

    def __enter__(self) -> "FakeHub":
        self.hub.__enter__()
        self.storage.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.storage.__exit__(*error)
        self.hub.__exit__(*error)

    @property
    def environment(self) -> dict[str, str]:
        return {"HF_ENDPOINT": self.hub.url, "MODELSCOPE_ENDPOINT": self.hub.url}

    @property
    def asked(self) -> list[str]:
        return [f"{request.method} {request.path}" for request in self.hub.requests]

    def push(self, name: str, files: Mapping[str, Blob | bytes], branch: str = "main", **facts: Any) -> str:
        """A new commit on a branch."""
        blobs = {path: blob if isinstance(blob, Blob) else Blob(blob) for path, blob in files.items()}
        model = self.models.setdefault(name, Model(**facts))
        story = repr((name, branch, len(model.commits), sorted((path, blob.sha256) for path, blob in blobs.items())))
        commit = hashlib.sha1(story.encode()).hexdigest()
        model.commits[commit] = blobs
        for each in {branch, "master" if branch == "main" else branch}:
            model.branches[each] = commit
        return commit

    # ── the hub ──

    async def _answer(self, exchange: Exchange) -> None:
        refusal = self.trouble(exchange)
        if refusal is not None:
            exchange.reply(refusal[0], {"error": "planned"}, refusal[1])
            return
        path, query = urlsplit(exchange.path).path, parse_qs(urlsplit(exchange.path).query)
        parts = [unquote(part) for part in path.strip("/").split("/")]
        named = parts[2:4] if parts[:1] == ["api"] else parts[1:3]
        if now := self.renamed.get("/".join(named)):
            exchange.head(307, {"location": exchange.path.replace(named[1], now)}, length=0)
        elif parts[:2] == ["api", "models"]:
            kind, revision = parts[4:6] or ("revision", "main")
            await self._list(exchange, "/".join(parts[2:4]), kind, revision, query)
        elif parts[:2] == ["api", "datasets"]:
            kind, revision = parts[4:6] or ("revision", "main")
            await self._list(exchange, f"datasets/{parts[2]}/{parts[3]}", kind, revision, query)
        elif parts[:3] == ["api", "v1", "models"]:
            await self._modelscope(exchange, "/".join(parts[3:5]), parts[5:], query)
        elif parts[:3] == ["api", "v1", "datasets"]:
            named = parts[3:4] if parts[3].isdecimal() else parts[3:5]
            name = f"ms/{'/'.join(named)}" if len(named) == 2 else self._numbered(int(named[0]))
            await self._modelscope(exchange, name, parts[3 + len(named) :], query)
        elif parts[:1] == ["datasets"] and parts[3:4] == ["resolve"]:
            await self._resolve(exchange, "/".join(parts[:3]), parts[4], "/".join(parts[5:]))
        elif parts[2:3] == ["resolve"]:
            await self._resolve(exchange, "/".join(parts[:2]), parts[3], "/".join(parts[4:]))
        else:
            exchange.reply(404, {"error": "no such page"})

    def _numbered(self, number: int) -> str:
        return next((name for name in self.models if dataset_number(name) == number), "")

    def _commit(self, exchange: Exchange, name: str, revision: str, *, read: bool) -> str | None:
        """None after a refusal, in the words of the real one."""
        model, bearer = self.models.get(name), exchange.headers.get("authorization", "")
        if model is None:
            refuse(exchange, 404 if bearer else 401, "RepoNotFound")
        elif model.token and bearer and bearer != f"Bearer {model.token}" and not model.gated:
            refuse(exchange, 401, "")
        elif model.token and bearer != f"Bearer {model.token}" and (read or not model.gated):
            refuse(exchange, 403 if bearer else 401, "GatedRepo" if model.gated else "RepoNotFound")
        elif (commit := model.branches.get(revision, revision)) in model.commits:
            return commit
        else:
            refuse(exchange, 404, "RevisionNotFound")
        return None

    async def _list(self, exchange: Exchange, name: str, kind: str, revision: str, query: dict[str, list[str]]) -> None:
        commit = self._commit(exchange, name, revision, read=False)
        if commit is None:
            return
        files = sorted(self.models[name].commits[commit].items())
        if kind == "revision":
            detailed = query.get("blobs") is not None
            rows = [
                {"rfilename": path, **(facts(blob, "blobId", "sha256") if detailed else {})} for path, blob in files
            ]
            gated = "manual" if self.models[name].gated else False
            tagged = {"pipeline_tag": tag} if (tag := self.models[name].task_type) else {}
            called = name.removeprefix("datasets/")
            exchange.reply(
                200, {"id": called, "modelId": called, "sha": commit, "siblings": rows, "gated": gated} | tagged
            )
            return
        start = int(query.get("cursor", ["0"])[0])
        end = start + self.page
        rows = [{"type": "file", "path": path, **facts(blob, "oid", "oid")} for path, blob in files[start:end]]
        folders = sorted({path.rpartition("/")[0] for path, _ in files if "/" in path})
        rows += [{"type": "directory", "path": path, "size": 0, "oid": "0" * 40} for path in folders if start == 0]
        more = f"{self.hub.url}/api/models/{name}/tree/{commit}?recursive=true&cursor={end}"
        exchange.reply(200, rows, {"link": f'<{more}>; rel="next"'} if end < len(files) else None)

    async def _resolve(self, exchange: Exchange, name: str, revision: str, path: str) -> None:
        commit = self._commit(exchange, name, revision, read=True)
        if commit is None:
            return
        blob = self.models[name].commits[commit].get(path)
        if blob is None:
            refuse(exchange, 404, "EntryNotFound")
            return
        headers = {"x-repo-commit": commit, "etag": f'"{blob.sha256 if blob.large else blob.git}"'}
        if not blob.large:
            await self._send(exchange, path, blob, headers)
            return
        headers |= {"x-linked-size": str(blob.length), "x-linked-etag": f'"{blob.sha256}"'}
        self._redirect(exchange, name, commit, path, headers)

    def _redirect(self, exchange: Exchange, name: str, commit: str, path: str, headers: dict[str, str]) -> None:
        place = f"{self.storage.url}/{name}/{commit}/{path}?signature=marker"
        exchange.head(302, {**headers, "location": place}, length=0)

    async def _modelscope(self, exchange: Exchange, name: str, rest: list[str], query: dict[str, list[str]]) -> None:
        model, revision = self.models.get(name), query.get("Revision", ["master"])[0]
        cookie = exchange.headers.get("cookie", "")
        if model is None or model.branches.get(revision, revision) not in model.commits:
            exchange.reply(404, {"Code": 10010205001, "Message": "not found", "Success": False, "Data": None})
            return
        if model.token and f"m_session_id={model.token}" not in cookie:
            exchange.reply(403, {"Code": 10010201003, "Message": "no permission", "Success": False, "Data": None})
            return
        if not rest:
            tasks = [{"Name": model.task_type, "ChineseName": ""}] if model.task_type else None
            told = {"Tasks": tasks, "Id": dataset_number(name)}
            exchange.reply(200, {"Code": 200, "Success": True, "Message": "success", "Data": told})
            return
        commit = model.branches.get(revision, revision)
        files = model.commits[commit]
        if rest == ["repo"]:
            path = query["FilePath"][0]
            if files[path].large:
                self._redirect(exchange, name, commit, path, {})
            else:
                await self._send(exchange, path, files[path], {})
            return
        rows: list[dict[str, Any]] = [
            {"Path": path, "Name": path.rpartition("/")[2], "Type": "blob", "Size": blob.length, "Sha256": blob.sha256}
            | {"IsLFS": blob.large, "Revision": commit}
            for path, blob in sorted(files.items())
        ]
        folders = sorted({path.rpartition("/")[0] for path in files if "/" in path})
        rows += [
            {"Path": path, "Name": path, "Type": "tree", "Size": 0, "Sha256": "", "Revision": ""} for path in folders
        ]
        latest = {"Id": commit if self.commit_told == "Id" else "", "ShortId": commit[:8] if self.commit_told else ""}
        if rest == ["repo", "tree"]:
            size, number = int(query["PageSize"][0]), int(query["PageNumber"][0])
            rows = rows[size * (number - 1) : size * number]
        data = {"Files": rows, "IsVisual": 0, "LatestCommitter": latest}
        exchange.reply(200, {"Code": 200, "Success": True, "Message": "success", "Data": data})

    # ── the storage ──

    async def _store(self, exchange: Exchange) -> None:
        refusal = self.storage_trouble(exchange)
        if refusal is not None:
            exchange.reply(refusal[0], b"<Error/>", refusal[1])
            return
        parts = [unquote(part) for part in urlsplit(exchange.path).path.strip("/").split("/")]
        named = 3 if parts[0] in ("datasets", "ms") else 2
        path = "/".join(parts[named + 1 :])
        await self._send(exchange, path, self.models["/".join(parts[:named])].commits[parts[named]][path], {})

    async def _send(self, exchange: Exchange, path: str, blob: Blob, headers: dict[str, str]) -> None:
        data = blob.data if blob.served is None else blob.served
        start, status = 0, 200
        if exchange.headers.get("range", "").startswith("bytes="):
            first, _, last = exchange.headers["range"][6:].partition("-")
            start, status = int(first), 206
            if start >= len(data):
                exchange.reply(416, b"", {"content-range": f"bytes */{len(data)}"})
                return
            end = min(int(last) if last else len(data) - 1, len(data) - 1)
            headers = {**headers, "content-range": f"bytes {start}-{end}/{len(data)}"}
            data = data[: end + 1]
        body = data[start:]
        exchange.head(status, {**headers, "accept-ranges": "bytes"}, kind="binary/octet-stream", length=len(body))
        if exchange.method != "HEAD":
            await self._write(exchange, path, body)

    async def _write(self, exchange: Exchange, path: str, body: bytes) -> None:
        cut = self.cut.pop(path, None)
        held = path.endswith(self.held)
        if held and not self.hold.is_set():
            cut = len(body) // 2
        body = body if cut is None else body[:cut]
        exchange.send(body)
        self.sent[path] = self.sent.get(path, 0) + len(body)
        if held and not self.hold.is_set():
            while not self.hold.is_set():
                await exchange.pause(0.02)
        if cut is not None:
            exchange.close()


def dataset_number(name: str) -> int:
    """What a hub calls a dataset inside."""
    return int(hashlib.sha1(name.encode()).hexdigest()[:6], 16)


def facts(blob: Blob, blob_key: str, large_key: str) -> dict[str, Any]:
    """How the hub describes a file; its two lists name two things differently."""
    found: dict[str, Any] = {"size": blob.length, blob_key: blob.git}
    if blob.large:
        found["lfs"] = {large_key: blob.sha256, "size": blob.length, "pointerSize": 134}
    return found


def refuse(exchange: Exchange, status: int, code: str) -> None:
    message = {"": "Invalid credentials in Authorization header"}.get(code, code)
    headers = {"x-error-message": message} | ({"x-error-code": code} if code else {})
    exchange.reply(status, {"error": message}, headers)
