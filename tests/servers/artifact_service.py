"""A stateful artifact service, both protocols, as strict as servers in the wild are; it fails on request.

    with ArtifactServer() as server:
        service = ArtifactService(server.environment, …)
        ... server.artifacts ... server.calls ...

It is longer than most files because both protocols and the store look at the same artifacts, and a fault can be put
before any of their calls.
"""

import base64
import hashlib
import json
import re
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.servers.http import Exchange, HttpServer

JSON = dict[str, Any]
TWIRP = "/twirp/github.actions.results.api.v1.ArtifactService/"
SILENT = -1
RUN, JOB = "run-backend-id-of-tests", "job-backend-id-of-tests"

_IDS = {"workflow_run_backend_id": str, "workflow_job_run_backend_id": str}
_FIELDS: dict[str, dict[str, type | tuple[type, ...]]] = {
    "CreateArtifact": {**_IDS, "name": str, "expires_at": str, "version": int, "mime_type": str},
    "FinalizeArtifact": {**_IDS, "name": str, "size": (str, int), "hash": str},
    "ListArtifacts": {**_IDS, "name_filter": str, "id_filter": (str, int)},
    "GetSignedArtifactURL": {**_IDS, "name": str},
}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def runtime_token(scopes: str = f"Actions.ExampleScope Actions.Results:{RUN}:{JOB}") -> str:
    """A token as runners get it: only the scopes in its middle mean anything."""

    def part(value: JSON) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return f"{part({'alg': 'none'})}.{part({'scp': scopes})}.MARKER-RUNTIME-TOKEN"


@dataclass(frozen=True, kw_only=True)
class Call:
    """One request, as far as it matters to the protocol."""

    name: str
    """Method of the service, or `block`, `blocklist`, `v3 create`, `v3 file`, `v3 end`."""
    body: Any
    headers: Mapping[str, str]
    query: Mapping[str, str]


@dataclass(kw_only=True)
class Artifact:
    """One artifact while it is made and afterwards."""

    id: int
    request: JSON
    blob: str
    final: JSON | None = None
    data: bytes = b""
    digest: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    """Of the earlier protocol."""


class Refusal(Exception):
    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"code": code, "msg": message}


class ArtifactServer(HttpServer):
    def __init__(
        self,
        *,
        knows_mime_type: bool = True,
        camel: bool = False,
        v4: bool = True,
        host: str = "127.0.0.1",
    ) -> None:
        super().__init__(self._answer, host=host)
        self._knows_mime_type = knows_mime_type
        self._camel = camel
        self._v4 = v4
        self.faults: dict[str, list[tuple[int, Any]]] = {}
        """Name of a call → status and body of its next answers; status 0 breaks the connection, `SILENT` keeps it."""
        self.calls: list[Call] = []
        self.artifacts: dict[str, Artifact] = {}
        self._blocks: dict[str, dict[str, bytes]] = {}
        self._blobs: dict[str, bytes] = {}

    def __enter__(self) -> "ArtifactServer":
        super().__enter__()
        return self

    @property
    def environment(self) -> dict[str, str]:
        """What a runner gives to an action."""
        return {
            "ACTIONS_RUNTIME_TOKEN": runtime_token(),
            "ACTIONS_RESULTS_URL": f"{self.url}/with/a/path/",
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_REPOSITORY": "owner/adapter",
            "GITHUB_RUN_ID": "4711",
            "GITHUB_RUN_ATTEMPT": "1",
        }

    @property
    def names(self) -> list[str]:
        return [call.name for call in self.calls]

    async def _answer(self, exchange: Exchange) -> None:
        path, _, query = exchange.path.partition("?")
        asked = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        name = _name_of(exchange.method, path, asked)
        self.calls.append(
            Call(name=name, body=exchange.json or exchange.body, headers=dict(exchange.headers), query=asked)
        )
        if self.faults.get(name):
            status, body = self.faults[name].pop(0)
            if status == 0:
                exchange.reset()
            elif status == SILENT:
                await exchange.stall()
            else:
                exchange.reply(status, body)
            return
        try:
            if path.startswith("/blob/"):
                self._blob(exchange, path, asked)
            elif path.startswith("/_apis/"):
                exchange.reply(200, self._v3(exchange, name, asked))
            elif self._v4 and path.startswith(TWIRP):
                exchange.reply(200, self._spelt(self._twirp(exchange, name)))
            else:
                exchange.reply(404, "<html>nothing here</html>", kind="text/html")
        except Refusal as refusal:
            exchange.reply(refusal.status, refusal.body)

    def _spelt(self, body: JSON) -> JSON:
        if not self._camel:
            return body
        return {re.sub(r"_(\w)", lambda found: found[1].upper(), key): value for key, value in body.items()}

    # The present protocol ────────────────────────────────────────────────────────────────────────

    def _twirp(self, exchange: Exchange, name: str) -> JSON:
        if name not in _FIELDS:
            raise Refusal(404, "bad_route", f"no handler for path {exchange.path}")
        if exchange.headers.get("authorization") != f"Bearer {runtime_token()}":
            raise Refusal(401, "unauthenticated", "the token is missing")
        body = exchange.json
        self._check(name, body)
        if name == "CreateArtifact":
            return self._create(body)
        if name == "FinalizeArtifact":
            return self._finalize(body)
        if name == "ListArtifacts":
            return {"artifacts": [self._spelt(item) for item in self._list(body)]}
        return {"name": body["name"], "signed_url": self._sign(self.artifacts[body["name"]].blob)}

    def _check(self, name: str, body: JSON) -> None:
        for key, value in body.items():
            if key not in _FIELDS[name] or (key == "mime_type" and not self._knows_mime_type):
                raise Refusal(500, "internal", f'unknown field "{key}"')
            if not isinstance(value, _FIELDS[name][key]) or isinstance(value, bool):
                raise Refusal(500, "internal", f"invalid value for {key}: {value!r}")
        if (body.get("workflow_run_backend_id"), body.get("workflow_job_run_backend_id")) != (RUN, JOB):
            raise Refusal(403, "permission_denied", "backend ids do not match the token")
        if "expires_at" in body and not _TIME.fullmatch(body["expires_at"]):
            raise Refusal(500, "internal", "invalid google.protobuf.Timestamp")

    def _create(self, body: JSON) -> JSON:
        if set(body["name"]) & set('":<>|*?\r\n\\/') or not body["name"]:
            raise Refusal(400, "invalid_argument", "the name is not valid")
        if body["version"] >= 7 and "mime_type" not in body:
            raise Refusal(400, "invalid_argument", "mime_type is required")
        if body["name"] in self.artifacts:
            raise Refusal(409, "already_exists", "an artifact with this name already exists on the workflow run")
        number = len(self.artifacts) + 1
        self.artifacts[body["name"]] = Artifact(id=number, request=body, blob=f"{number}/artifact.zip")
        return {"ok": True, "signed_upload_url": self._sign(f"{number}/artifact.zip")}

    def _finalize(self, body: JSON) -> JSON:
        artifact = self.artifacts[body["name"]]
        data = self._blobs.get(artifact.blob, b"")
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        if int(body["size"]) != len(data) or body["hash"] != digest:
            raise Refusal(400, "invalid_argument", f"{body['size']} bytes announced, {len(data)} found")
        artifact.final, artifact.data, artifact.digest = body, data, digest
        return {"ok": True, "artifact_id": str(artifact.id)}

    def _list(self, body: JSON) -> list[JSON]:
        return [
            {
                "workflow_run_backend_id": RUN,
                "workflow_job_run_backend_id": JOB,
                "database_id": str(artifact.id),
                "name": name,
                "size": str(len(artifact.data)),
                "created_at": "2026-01-02T03:04:05Z",
                "digest": artifact.digest,
            }
            for name, artifact in self.artifacts.items()
            if artifact.final
            and body.get("name_filter", name) == name
            and str(body.get("id_filter", artifact.id)) == str(artifact.id)
        ]

    def _sign(self, blob: str) -> str:
        return f"{self.url}/blob/{blob}?se=later&sig=MARKER%2BSIG%3D"

    # A store of its own ──────────────────────────────────────────────────────────────────────────

    def _blob(self, exchange: Exchange, path: str, query: Mapping[str, str]) -> None:
        blob = path.removeprefix("/blob/")
        if query.get("sig") != "MARKER+SIG=" or "authorization" in exchange.headers:
            raise Refusal(403, "AuthenticationFailed", "the signature sig=MARKER+SIG= did not match")
        if exchange.method == "GET":
            exchange.reply(200, self._blobs[blob])
            return
        if query.get("comp") == "block":
            blocks = self._blocks.setdefault(blob, {})
            blocks[query["blockid"]] = exchange.body
            if len({len(block) for block in blocks}) > 1:
                raise Refusal(400, "InvalidBlobOrBlock", "the ids are not equally long")
            checksum = base64.b64encode(hashlib.md5(exchange.body).digest()).decode()
            if exchange.headers.get("content-md5", checksum) != checksum:
                raise Refusal(400, "Md5Mismatch", "the block arrived damaged")
            exchange.reply(201, b"")
            return
        wanted = re.findall(r"<Latest>([^<]+)</Latest>", exchange.body.decode())
        self._blobs[blob] = b"".join(self._blocks.get(blob, {})[block] for block in wanted)
        exchange.reply(201, b"")

    # The earlier protocol ────────────────────────────────────────────────────────────────────────

    def _v3(self, exchange: Exchange, name: str, query: Mapping[str, str]) -> JSON:
        if exchange.headers.get("authorization") != f"Bearer {runtime_token()}":
            raise Refusal(401, "unauthenticated", "the token is missing")
        if "api-version=6.0-preview" not in exchange.headers["accept"]:
            raise Refusal(400, "", "no api-version")
        if name == "v3 create":
            number = len(self.artifacts) + 1
            self.artifacts[exchange.json["Name"]] = Artifact(id=number, request=exchange.json, blob="")
            return {
                "containerId": number,
                "fileContainerResourceUrl": f"{self.url}/_apis/resources/Containers/{number}",
            }
        if name == "v3 end":
            self.artifacts[query["artifactName"]].final = exchange.json
            return {"ok": True}
        artifact, _, path = query["itemPath"].partition("/")
        have = self.artifacts[artifact].files.setdefault(path, b"")
        span = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+)", exchange.headers.get("content-range", ""))
        if exchange.body and (
            span is None or int(span[1]) != len(have) or int(span[2]) - int(span[1]) + 1 != len(exchange.body)
        ):
            raise Refusal(400, "", f"not the next piece: {exchange.headers.get('content-range')}")
        self.artifacts[artifact].files[path] = have + exchange.body
        return {}


def _name_of(method: str, path: str, query: Mapping[str, str]) -> str:
    if path.startswith("/_apis/"):
        return {"POST": "v3 create", "PUT": "v3 file", "PATCH": "v3 end"}.get(method, method)
    if path.startswith(TWIRP):
        return path.removeprefix(TWIRP)
    return query.get("comp", f"{method} {path}")
