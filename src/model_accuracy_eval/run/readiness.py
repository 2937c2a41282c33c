"""Waiting for a service until a tiny chat request succeeds, and saying now and then how long and for what."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from msgspec.structs import replace

from model_accuracy_eval.errors import AdapterFailed
from model_accuracy_eval.ports import API_KEYS, Chat, Ports, RunningAdapter
from model_accuracy_eval.records import ClientLimits, Fault, Message, Reply, Request, RunPlan, Service
from model_accuracy_eval.records.base import duration
from model_accuracy_eval.records.exchange import ANSWERED_BY
from model_accuracy_eval.records.plan import UNKNOWN_PART
from model_accuracy_eval.report.endings import run_line
from model_accuracy_eval.system.clock import run, run_checked

# What of deploy.log says why an adapter failed: errors and tracebacks, wherever they stand, before its last lines.


READ = 2000
"""Lines of the log's end that are looked through."""
_SHOWN = 30
_LAST = 3
"""Lines of the very end that are shown besides."""
_ERROR = re.compile(
    r"\b(?:ERROR|CRITICAL|FATAL|fatal error|panic:|Killed|Segmentation fault|[Oo]ut of memory|not found)\b"
    r"|^\s*(?:[\w.]*(?:Error|Exception)\b.*:|error:)"
)
_TRACEBACK = "Traceback (most recent call last)"


def excerpt(running: RunningAdapter) -> str:
    """The lines that speak of errors, and the last ones; without errors the last lines alone."""
    lines = running.tail(READ).splitlines()
    told = sorted({*_errors(lines), *range(max(0, len(lines) - _LAST), len(lines))})
    if len(told) <= min(_LAST, len(lines)):
        return "\n".join(lines[-_SHOWN:])
    if len(told) > _SHOWN:  # the cause tends to stand first, and what came of it last
        told = [*told[: 2 * _SHOWN // 3], *told[-_SHOWN // 3 :]]
    return "\n".join(_with_gaps(lines, told))


def last_line(text: str) -> str:
    """The last line that says anything, short enough for a line of progress."""
    said = [line.strip() for line in text.splitlines() if line.strip()]
    return said[-1][:160] if said else ""


def _errors(lines: Sequence[str]) -> Iterator[int]:
    """The places of lines about errors; a traceback goes on to the line that is not indented any more."""
    prefix = None
    for place, line in enumerate(lines):
        if prefix is not None:
            yield place
            if not line.removeprefix(prefix).startswith(" "):
                prefix = None
        elif _TRACEBACK in line:
            prefix = line.partition(_TRACEBACK)[0]  # loggers put the same words before each of its lines
            yield place
        elif _ERROR.search(line):
            yield place


def _with_gaps(lines: Sequence[str], told: Sequence[int]) -> Iterator[str]:
    before = -1
    for place in told:
        if place > before + 1:
            left_out = place - before - 1
            yield f"… {left_out} {'line' if left_out == 1 else 'lines'} left out"
        yield lines[place]
        before = place


SCRIPT = ("deploy.sh", 1)
READINESS_PROBE = Request(messages=(Message(role="user", content="1+1="),), max_tokens=1)
PROBE_LIMITS = ClientLimits(
    retries=0, connect_timeout=5.0, first_token_timeout=60.0, idle_timeout=60.0, total_timeout=60.0
)
_READY_TIMEOUT = 1800.0
_NOBODY_LISTENS = 1.0
"""Seconds for which an address that somebody named may refuse connections, unless the settings say to wait."""
_LOADING = 503
"""What servers answer that listen before their model is loaded."""
_REFUSED_KEY = {401, 403}
_UNKNOWN_MODEL = {400, 404, 422}
_MISSING_ENDPOINT = {404, 405, 501}
"""Status codes of servers that lack the path, or POST on it."""
_MISSING_ENDPOINT_GRACE = 5.0
"""Seconds for which a server may answer 404 while it is still mounting its routes."""
_FIRST_WORD, _NEXT_WORD = 5.0, 20.0
"""Seconds after which it is said what is waited for, and between such words."""


class Probed(NamedTuple):
    """What one try found."""

    service: Service
    reply: Reply
    models: tuple[str, ...] = ()
    """What the service lists, where the request failed."""


class Readiness:
    """The wait for one service. `running`: the process behind it, if it is ours; `weights`: what it serves; `served`:
    it has answered in this run, and may be back in a moment."""

    def __init__(
        self,
        plan: RunPlan,
        base_url: str,
        ports: Ports,
        running: RunningAdapter | None = None,
        weights: str = "",
        *,
        served: bool = False,
    ) -> None:
        self._plan = plan
        self._base_url = base_url
        self._ports = ports
        self._running = running
        self._weights = weights
        self._served = served
        self._began = ports.clock.elapsed()
        self._next_word = _FIRST_WORD
        self.last_fault = ""

    def wait(self) -> Service:
        """Returns the service when it has answered; raises as soon as waiting longer makes no sense."""
        clock = self._ports.clock
        while True:
            probed = run(run_checked(self.probe(), self.check, clock))
            if probed.reply.fault is not None:
                self.check()
            if service := self.service(probed):
                return service
            clock.sleep(0.2 if self.waited < 10 else 1.0)

    def service(self, probed: Probed) -> Service | None:
        """The service if it has answered, and None if it is to be waited for; raises if that makes no sense."""
        if probed.reply.fault is None:
            model = probed.service.model or "unnamed"
            self._ports.progress.say(
                f"The service at {self._base_url} answered after {self.waited:.1f} s (model: {model})."
            )
            return probed.service
        self.last_fault = probed.reply.fault.sentence
        self._judge(probed, probed.reply.fault)
        return None

    @property
    def waited(self) -> float:
        return self._ports.clock.elapsed() - self._began

    def check(self) -> None:
        """Shows what there is to be seen; raises when deploy.sh has ended."""
        if self._running is not None:
            if self._plan.settings.debug:
                show_output(self._running, self._ports)
            if (code := self._running.exit_code()) is not None:
                raise exited(code, self._running, f"after {self.waited:.1f} s, before it answered a chat request")
        if self.waited >= self._next_word:
            self._next_word += _NEXT_WORD
            self._ports.progress.say(self._word())

    def _word(self) -> str:
        """What is waited for. The end of deploy.log says more than a refused connection."""
        news = self.last_fault
        if self._running is not None:
            last = last_line(self._running.tail(READ))
            news = f"deploy.log ends with: {last}" if last else "deploy.log is empty until now."
        return f"Waiting for the service at {self._base_url}: {duration(self.waited)} so far. {news}"

    async def probe(self) -> Probed:
        """Finds the name of the model, then asks it for one token."""
        unnamed = self._ports.connect(Service(base_url=self._base_url), PROBE_LIMITS, role="model")
        try:
            wished = self._plan.settings.model_name
            models = () if wished else await unnamed.models()
            # Without a list it is the path of the weights, as vLLM names it by default.
            name = wished or next(iter(models), self._weights or None)
            candidate = Service(base_url=self._base_url, model=name)
            probed = await self._ask(candidate)
            if not wished and not models and probed.reply.fault is None and (models := await unnamed.models()):
                # It began to listen between the first request and the second.
                probed = await self._ask(replace(candidate, model=models[0]))
            return probed._replace(models=await unnamed.models()) if wished and probed.reply.fault else probed
        finally:
            await unnamed.close()

    async def _ask(self, candidate: Service) -> Probed:
        chat: Chat = self._ports.connect(candidate, PROBE_LIMITS, role="model")
        try:
            reply = await chat.ask(READINESS_PROBE)
            if reply.fault is not None:
                return Probed(candidate, reply)
            samplers = await chat.samplers(_sampler_probes(self._plan))
            if isinstance(samplers, Fault):
                return Probed(candidate, replace(reply, fault=samplers))
            engine = f"{samplers.server} {samplers.version}".strip() or UNKNOWN_PART
            finishes = chat.sends_finish_reasons
            other = {ANSWERED_BY: reply.model} if candidate.model and reply.model not in {"", candidate.model} else {}
            stack = {"engine": engine, **other}
            ready = replace(candidate, sends_finish_reasons=finishes, samplers=samplers, stack=stack)
            return Probed(ready, reply)
        finally:
            await chat.close()

    def _judge(self, probed: Probed, fault: Fault) -> None:
        """Raises when waiting longer makes no sense."""
        settings, model = self._plan.settings, probed.service.model
        if fault.status in _UNKNOWN_MODEL and probed.models and model not in probed.models:
            raise self._failed(
                f"The server at {self._base_url} does not serve the model '{model}', but {', '.join(probed.models)}: "
                f"{fault.sentence}",
                run_line(settings, model_name=probed.models[0]),
            )
        if fault.status in _MISSING_ENDPOINT and self.waited > _MISSING_ENDPOINT_GRACE:
            raise self._failed(
                f"The server at {self._base_url} does not offer /v1/chat/completions (HTTP {fault.status}), "
                f"and without it nothing can be evaluated: {fault.sentence}"
            )
        if fault.kind == "rejected" and fault.status not in _MISSING_ENDPOINT:
            refuses_key = fault.status in _REFUSED_KEY
            raise self._failed(
                f"The server at {self._base_url} refuses a one-token chat request: {fault.sentence}",
                f"export {API_KEYS['model']}=YOUR-KEY" if refuses_key else "",
            )
        if fault.lasting and fault.status not in _MISSING_ENDPOINT:
            raise self._failed(
                f"The service at {self._base_url} cannot be used: {fault.sentence}", self._for_certificates(fault)
            )
        if self.waited >= self._limit(fault):
            raise self._too_late(fault)

    def _limit(self, fault: Fault) -> float:
        """Seconds. Who names an address where nobody listens wants to hear of it, not to wait."""
        limits = self._plan.client_limits
        if limits.ready_timeout is not None:
            return limits.ready_timeout
        if self._running is not None or fault.status == _LOADING:
            return _READY_TIMEOUT
        return _NOBODY_LISTENS if fault.kind == "refused" and not self._served else limits.gone_after

    def _too_late(self, fault: Fault) -> AdapterFailed:
        address, limit = urlsplit(self._base_url).netloc, self._limit(fault)
        nobody = fault.kind == "refused" and fault.status is None
        if self._running is None and nobody and self._plan.client_limits.ready_timeout is None:
            return self._failed(
                f"Nobody answers at {address}: {fault.sentence} If a server is just starting there, wait for it with "
                "--ready-timeout SECONDS.",
                run_line(self._plan.settings, ready_timeout=_READY_TIMEOUT),
            )
        subject = "deploy.sh runs, but no" if self._running else "No"
        others = self._running.listening() if self._running else {}
        elsewhere = [
            f" deploy.sh's process {pid} listens on {port}." for port, pid in others.items() if fault.kind == "refused"
        ]
        return self._failed(
            f"{subject} service answered a chat request on {address} within {limit:g} s; "
            f"the last try said: {fault.sentence}{''.join(elsewhere)}",
            run_line(self._plan.settings, port=next(iter(others))) if elsewhere else "",
        )

    def _for_certificates(self, fault: Fault) -> str:
        if "CERTIFICATE_VERIFY_FAILED" in fault.sentence:
            return "export SSL_CERT_FILE=/path/to/all-certificates.pem"
        if "WRONG_VERSION_NUMBER" in fault.sentence and self._plan.settings.endpoint:
            return run_line(self._plan.settings, endpoint=(self._base_url.replace("https://", "http://", 1),))
        return ""

    def _failed(self, sentence: str, next_step: str = "") -> AdapterFailed:
        if self._running is None:
            return AdapterFailed(sentence, next_step=next_step)
        return AdapterFailed(sentence, detail=excerpt(self._running), about=SCRIPT, next_step=next_step)


def _sampler_probes(plan: RunPlan) -> tuple[Request, ...]:
    """Requests of the kinds that the run makes, to try neutral values with; none if samplers are left alone."""
    if plan.settings.sampling == "server":
        return ()
    texts = any(task.mode == "text" for each in plan.tasks for task in (each, *each.parts))
    return (READINESS_PROBE, replace(READINESS_PROBE, text="1+1=")) if texts else (READINESS_PROBE,)


def show_output(running: RunningAdapter, ports: Ports) -> None:
    for line in running.news().splitlines():
        ports.progress.say(line)


def exited(code: int, running: RunningAdapter, when: str) -> AdapterFailed:
    ending = f"was ended by signal {-code}" if code < 0 else f"exited with code {code}"
    hint = " It has to stay until it is stopped: begin its last line with `exec`, and end it without `&`." * (code == 0)
    return AdapterFailed(f"deploy.sh {ending} {when}.{hint}", detail=excerpt(running), about=SCRIPT)
