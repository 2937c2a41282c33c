"""A running service for the time of a `with` block: the adapter's own, started and surely stopped, or one that runs."""

import os.path
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from model_accuracy_eval.errors import AdapterFailed
from model_accuracy_eval.ports import Chat, Ports, Running, Store
from model_accuracy_eval.records import Fault, Message, Patience, Reply, Request, RunPlan, Service
from model_accuracy_eval.stages.attended import attended

LOG = "logs/deploy.log"
_SCRIPT = ("deploy.sh", 1)
_TAIL = 30
_PROBE = Request(messages=(Message(role="user", content="1+1="),), max_tokens=1)
_MISSING_ENDPOINT = {404, 405, 501}
"""What servers say that have no such path, or no POST on it."""
_MISSING_ENDPOINT_GRACE = 5.0
"""Seconds for which a server may answer 404 while it is still mounting its routes."""


@dataclass(frozen=True, slots=True)
class Live:
    """A service that answered, and the process behind it if it is ours."""

    service: Service
    running: Running | None
    say: Callable[[str], None] | None = None
    """Where deploy.sh's output is told as it comes, beside its log; None: nowhere."""

    def check(self) -> None:
        """Tells what deploy.sh printed; raises when it is gone."""
        if self.running is None:
            return
        _tell(self.running, self.say)
        if (code := self.running.exit_code()) is not None:
            raise _exited(code, self.running, "while it was being evaluated")


@contextmanager
def service(plan: RunPlan, weights: str, store: Store, ports: Ports) -> Iterator[Live]:
    """Starts deploy.sh and waits until a tiny chat request succeeds; at the end stops all it ever started."""
    if plan.endpoint is not None:
        yield Live(_await_ready(plan, plan.endpoint, None, None, ports), None)
        return
    base_url = f"http://127.0.0.1:{plan.port}"
    ports.screen.say(f"Starting {plan.adapter}/deploy.sh; its output goes to {store.path(LOG)}.")
    running = ports.launcher.start(
        folder=os.path.abspath(plan.adapter or ""),  # noqa: PTH100 - as the user wrote it, links and all
        model_path=weights,
        port=plan.port,
        log=store.path(LOG),
    )
    try:
        say = ports.screen.say if plan.debug else None
        yield Live(_await_ready(plan, base_url, running, weights, ports), running, say)
    finally:
        running.stop()


def _await_ready(plan: RunPlan, base_url: str, running: Running | None, weights: str | None, ports: Ports) -> Service:
    began = ports.clock.elapsed()

    def look() -> None:
        if running is None:
            return
        if plan.debug:
            _tell(running, ports.screen.say)
        if (code := running.exit_code()) is not None:
            seconds = ports.clock.elapsed() - began
            raise _exited(code, running, f"after {seconds:.1f} s, before it answered a chat request")

    # A service that should run already gets no half hour to appear.
    limit = plan.patience.ready_timeout if running else min(plan.patience.ready_timeout, plan.patience.gone_after)
    while True:
        candidate, reply = ports.run_async(attended(_probe(plan, base_url, weights, ports), look, ports.clock))
        waited = ports.clock.elapsed() - began
        if reply.fault is None:
            ports.screen.say(
                f"The service at {base_url} answered after {waited:.1f} s (model: {candidate.model or 'unnamed'})."
            )
            return candidate
        look()
        _judge(reply.fault, base_url, waited, limit, running)
        ports.clock.sleep(0.2 if waited < 10 else 1.0)


async def _probe(plan: RunPlan, base_url: str, weights: str | None, ports: Ports) -> tuple[Service, Reply]:
    """Finds the model's name, then asks one token of it."""
    patience = Patience(retries=0, connect_timeout=5.0, first_token_timeout=60.0, idle_timeout=60.0, total_timeout=60.0)
    nameless = ports.connect(Service(base_url=base_url), patience)
    try:
        name = plan.model_name or await _served_name(nameless, weights)
    finally:
        await nameless.close()
    candidate = Service(base_url=base_url, model=name)
    chat = ports.connect(candidate, patience)
    try:
        return candidate, await chat.ask(_PROBE)
    finally:
        await chat.close()


async def _served_name(chat: Chat, weights: str | None) -> str | None:
    """The first that the service lists; else the weight path, which is what vLLM serves by default."""
    models = await chat.models()
    return models[0] if models else weights


def _judge(fault: Fault, base_url: str, waited: float, limit: float, running: Running | None) -> None:
    """Raises when waiting longer makes no sense."""
    detail, about = (running.tail(_TAIL), _SCRIPT) if running else ("", None)
    if fault.status in _MISSING_ENDPOINT and waited > _MISSING_ENDPOINT_GRACE:
        raise AdapterFailed(
            f"The server at {base_url} does not offer /v1/chat/completions (HTTP {fault.status}), "
            f"and without it nothing can be evaluated: {fault.sentence}",
            detail=detail,
            about=about,
        )
    if fault.kind == "rejected" and fault.status not in _MISSING_ENDPOINT:
        raise AdapterFailed(
            f"The server at {base_url} refuses a one-token chat request: {fault.sentence}", detail=detail, about=about
        )
    if waited >= limit:
        who = "deploy.sh runs, but no" if running else "No"
        raise AdapterFailed(
            f"{who} service answered a chat request on {urlsplit(base_url).netloc} within {limit:g} s; "
            f"the last try said: {fault.sentence}",
            detail=detail,
            about=about,
        )


def _tell(running: Running, say: Callable[[str], None] | None) -> None:
    if say is not None:
        for line in running.news().splitlines():
            say(line)


def _exited(code: int, running: Running, when: str) -> AdapterFailed:
    how = f"was ended by signal {-code}" if code < 0 else f"exited with code {code}"
    return AdapterFailed(f"deploy.sh {how} {when}.", detail=running.tail(_TAIL), about=_SCRIPT)
