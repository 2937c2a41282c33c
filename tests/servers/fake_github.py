"""A GitHub with a memory, over real HTTP, that takes nothing which is beyond GitHub's limits.

    with FakeGitHub(grants={"pull-requests: write"}) as hub:
        hub.fault("POST", "/comments", status=502, carried_out=True)
        ... hub.url ... hub.comments ... hub.checks ...

At the end it fails the test if any request was against the rules.
"""

import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlencode

import jwt
from tests.servers.fake_github_memory import EVERYTHING, INTEGRATION, NOT_FOUND, REPOSITORY, Memory, Reply
from tests.servers.fake_github_permissions import allows
from tests.servers.fake_github_rules import objections, operation
from tests.servers.http import Exchange, HttpServer

TOKEN = "token-of-the-tests"
APP, APP_TOKEN = "77", "token-of-the-app"


@dataclass(kw_only=True)
class Fault:
    """What goes wrong with the next requests of a kind."""

    method: str
    path: str
    """Part of the path."""
    status: int = 0
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    carried_out: bool = False
    """Whether the request does its work all the same: only the answer is lost."""
    how: str = "answer"
    """`answer`, `reset` (the connection breaks), `stall` (nothing comes)."""
    times: int = 1


class FakeGitHub(Memory):
    def __init__(
        self,
        *,
        grants: frozenset[str] = EVERYTHING,
        login: str = "github-actions[bot]",
        prefix: str = "",
        host: str = "127.0.0.1",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(grants, login)
        self.faults: list[Fault] = []
        self.violations: list[str] = []
        self.calls: list[str] = []
        """Method and path of every request, in order."""
        self.reach: dict[str, str] = {}
        """Tokens of other repositories, in which there is what is in this one."""
        self.calls_of: dict[str, list[str]] = {}
        """The same by the token that came with them."""
        self.app_key: Any = None
        """Public key of the app that is installed."""
        self._prefix = prefix
        self._server = HttpServer(self._handle, host=host, tls=tls)
        self.url = f"{self._server.url}{prefix}"

    def __enter__(self) -> "FakeGitHub":
        self._server.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.__exit__(kind, error, trace)
        if error is None:
            assert self.violations == [], self.violations

    def sent(self, method: str, path: str) -> list[dict[str, Any]]:
        """Bodies of the requests of a kind, in order; `path` is part of theirs."""
        return [asked.json for asked in self._server.requests if asked.method == method and path in asked.path]

    def fault(self, method: str, path: str, status: int = 0, body: Any = None, **more: Any) -> None:
        self.faults.append(Fault(method=method, path=path, status=status, body=body, **more))

    async def _handle(self, exchange: Exchange) -> None:
        path, _, query = exchange.path.partition("?")
        self.calls.append(f"{exchange.method} {path}")
        fault = next((told for told in self.faults if told.method == exchange.method and told.path in path), None)
        if fault is not None:
            fault.times -= 1
            if not fault.times:
                self.faults.remove(fault)
        path = path.removeprefix(self._prefix)
        wrong = (
            []
            if path.endswith(("/graphql", "/installation", "/access_tokens"))
            else objections(exchange.method, path, query, exchange.body)
        )
        self.violations += wrong
        if fault is None or fault.carried_out:
            reply = self._reply(exchange, path, query, wrong)
        if fault is None:
            self._send(exchange, *reply)
        elif fault.how == "stall":
            await exchange.stall()
        elif fault.how == "reset":
            exchange.reset()
        else:
            self._send(exchange, fault.status, fault.body, fault.headers)

    def _send(self, exchange: Exchange, status: int, data: Any, headers: Mapping[str, str]) -> None:
        body = b"" if data is None else json.dumps(data).encode() if not isinstance(data, bytes) else data
        kind = "application/json; charset=utf-8"
        exchange.reply(status, body, {"x-github-request-id": "FAKE:1", **headers}, kind=kind)

    def _app(self, proof: str, body: Any) -> Reply:
        """GitHub knows an app by its signature; a token is for the repositories and permissions that were asked for."""
        told = jwt.decode(proof, self.app_key, algorithms=["RS256"])
        assert told["iss"] == APP
        if not body:
            return 200, {"id": 5}, {}
        assert body == {
            "repositories": ["adapter"],
            "permissions": {"checks": "write", "statuses": "write", "pull_requests": "write"},
        }
        return 201, {"token": APP_TOKEN, "expires_at": "2100-01-01T00:00:00Z"}, {}

    def _reply(self, exchange: Exchange, path: str, query: str, wrong: list[str]) -> Reply:
        # GitHub takes both words; its own command line says the second.
        token = exchange.headers.get("authorization", "").partition(" ")[2]
        if path.endswith(("/installation", "/access_tokens")):
            return self._app(token, exchange.json)
        self.calls_of.setdefault(token, []).append(f"{exchange.method} {path}")
        if token not in {TOKEN, APP_TOKEN, *self.reach.values()}:
            return 401, {"message": "Bad credentials"}, {}
        if path.endswith("/graphql"):
            return 200, {"data": {"viewer": {"login": self.login}}}, {}
        found = operation(path)
        if found is None:
            return 404, NOT_FOUND, {}
        if not allows(self.grants, exchange.method, found[0], private=self.private):
            return 403, INTEGRATION, {}
        if wrong:
            return 422, {"message": "Validation Failed", "errors": wrong}, {}
        template, places = found
        words = [word for word in template.removeprefix("/repos/{owner}/{repo}").split("/") if word and word[0] != "{"]
        name = "_".join(["", exchange.method.lower(), *words]).replace("-", "_")
        name_of = f"{places['owner']}/{places['repo']}" if places.get("owner") else REPOSITORY
        if token not in ({TOKEN, APP_TOKEN} if name_of == REPOSITORY else {self.reach.get(name_of)}):
            return 404, NOT_FOUND, {}
        if places.get("org", REPOSITORY.split("/")[0]) != REPOSITORY.split("/")[0]:
            return 404, NOT_FOUND, {}
        asked = {key: values[-1] for key, values in parse_qs(query).items()}
        status, data, headers = getattr(self, name)(places, exchange.json, asked)
        if "next" in headers:
            address = f"{self.url}{path}?{urlencode(asked | {'page': headers['next']})}"
            headers = {"link": f'<{address}>; rel="next", <{self.url}>; rel="last"'}
        return status, data, headers
