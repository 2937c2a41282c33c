"""Several services that run already, as replicas of one: those that serve begin, the others are asked again later.

away ─ it answered ─► ready ─ taken ─► serving ─ nobody listens there any more ─► away
                                          └──── requests fail that others answer ─► out
"""

import contextlib
import signal
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Literal

from model_accuracy_eval.errors import AdapterFailed
from model_accuracy_eval.ports import Ports
from model_accuracy_eval.records import RunPlan, Service
from model_accuracy_eval.run.readiness import Probed, Readiness
from model_accuracy_eval.system.clock import SignalClock, in_background, run, run_checked

_TOGETHER = 10.0
"""Seconds for which those that serve wait for the first word of the others."""
_SOONEST, _LATEST = 1.0, 30.0
"""Seconds between two looks at one that is away while others serve: as many as it has been waited for."""


@dataclass(eq=False)
class _Endpoint:
    url: str
    readiness: Readiness
    state: Literal["away", "ready", "serving", "out"] = "away"
    look: Future[Probed] | None = None
    due: float = 0.0
    looked_at: bool = False
    failure: AdapterFailed | None = None
    """Why it is not worth a wait; it is looked at again as long as another one serves."""
    service: Service | None = None

    @property
    def name(self) -> str:
        return self.url.partition("://")[2]

    @property
    def may_come(self) -> bool:
        return self.state in ("ready", "serving") or (self.state == "away" and self.failure is None)


class Endpoints:
    """Implements `ports.ReplicaSource`. Looks are taken in threads, as requests are made meanwhile."""

    def __init__(self, plan: RunPlan, ports: Ports) -> None:
        self._plan = plan
        self._ports = ports
        self._clock = ports.clock
        self._looks = SignalClock()
        """Ends the looks that are under way at the end."""
        self._endpoints: list[_Endpoint] = []
        self._began = ports.clock.elapsed()
        self._has_served = False

    def begin(self, plan: RunPlan, weights: str, log: Callable[[int, int], str]) -> None:
        self._endpoints = [_Endpoint(url, Readiness(plan, url, self._ports)) for url in plan.settings.endpoint]

    def poll(self) -> None:
        for each in self._endpoints:
            if each.state == "away":
                self._look_at(each)
        if not any(each.may_come for each in self._endpoints):
            raise self._none_is_left()

    def take_ready(self) -> list[Service]:
        """None of them before the others have said a word, so that all that serve begin together."""
        waits = not self._has_served and self._clock.elapsed() < self._began + _TOGETHER
        ready = [each for each in self._endpoints if each.state == "ready"]
        if not ready or (waits and not all(each.looked_at for each in self._endpoints)):
            return []
        for each in ready:
            each.state = "serving"
        if not self._has_served:
            self._has_served = True
            for each in (each for each in self._endpoints if each.state == "away"):
                said = each.readiness.last_fault or "It has not answered yet."
                self._ports.progress.say(f"{each.name} does not serve, and is asked again later: {said}")
        return [each.service for each in ready if each.service is not None]

    def dismiss(self, service: Service, reason: str, *, gone: bool) -> None:
        for each in self._endpoints:
            if each.url == service.base_url:
                each.state, each.due = "away" if gone else "out", self._clock.elapsed() + _SOONEST
                each.readiness = Readiness(self._plan, each.url, self._ports, served=True)
                each.readiness.last_fault = reason

    def end(self) -> None:
        with contextlib.suppress(RuntimeError):  # a look that has just ended
            self._looks.stop(signal.SIGTERM)

    def _look_at(self, endpoint: _Endpoint) -> None:
        if endpoint.look is None:
            if not self._has_served:
                endpoint.readiness.check()
            if self._clock.elapsed() >= endpoint.due:
                endpoint.look = in_background(lambda: self._look(endpoint.readiness), f"look at {endpoint.name}")
        elif endpoint.look.done():
            probed, endpoint.look, endpoint.looked_at = endpoint.look.result(), None, True
            others = any(each.state == "serving" for each in self._endpoints)
            waits = max(_SOONEST, endpoint.readiness.waited) if others else _SOONEST
            endpoint.due = self._clock.elapsed() + min(waits, _LATEST)
            try:
                service = endpoint.readiness.service(probed)
            except AdapterFailed as failure:
                endpoint.failure = failure
                return
            if service is not None:
                endpoint.state, endpoint.service, endpoint.failure = "ready", service, None

    def _look(self, readiness: Readiness) -> Probed:
        return run(run_checked(readiness.probe(), self._looks.check, self._looks))

    def _none_is_left(self) -> AdapterFailed:
        """With one sentence about all of them, and the step that mends the first."""
        said = [f"{each.name}: {each.readiness.last_fault}".rstrip(".") for each in self._endpoints]
        failures = [each.failure for each in self._endpoints if each.failure is not None]
        return AdapterFailed(
            f"None of the {len(said)} endpoints serves{' any more' * self._has_served}. {'; '.join(said)}.",
            next_step=failures[0].next_step if failures and not self._has_served else "",
            stage="infer" if self._has_served else "deploy",
        )
