"""What is looked at before a run asks its questions: whether prompts are those of the weights, and whether the service
draws tokens as the run asks for them."""

import asyncio
import contextlib
import shlex
from collections.abc import Coroutine, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from model_accuracy_eval.diagnosis.probe import ProbeResult, known, question
from model_accuracy_eval.diagnosis.probes import LIMITS, diagnose
from model_accuracy_eval.diagnosis.prompt_lengths import prompt_lengths
from model_accuracy_eval.diagnosis.reference import alike, record
from model_accuracy_eval.diagnosis.run_settings import DrawSetting, run_settings
from model_accuracy_eval.errors import AdapterFailed, BadData
from model_accuracy_eval.ports import Ports
from model_accuracy_eval.records import PreparedDataset, ReplicaFigure, RunPlan, ServiceFinding
from model_accuracy_eval.run import thinking_probe
from model_accuracy_eval.run.deploy import LiveService
from model_accuracy_eval.run.own_template import OwnTemplate, own_template
from model_accuracy_eval.scoring.verdicts import gate_lines
from model_accuracy_eval.settings import Settings
from model_accuracy_eval.system.clock import run, run_checked

Look = Coroutine[Any, Any, list[ServiceFinding]]
_FEWEST = 200
"""Samples below which looking would take longer than a twentieth of the run."""
_REQUESTS = {1: 160, 5: 80}
"""Choices of a request → how many requests draw first tokens."""
_LOOK_SECONDS, _SECONDS = 60, 120
"""Before the run, and when its figures are worse than they should be."""
_MOST_SUSPECTS = 2
"""Replicas in which causes are looked for, each for a part of the time."""
_SETTINGS = 3
"""Of a run whose datasets are asked for with more of them, the first ones."""


@dataclass(frozen=True, slots=True)
class ServiceCheck:
    """Looks at the replicas that answer one run."""

    plan: RunPlan
    datasets: Sequence[PreparedDataset]
    weights: str
    ports: Ports

    def check(self, live: LiveService) -> tuple[LiveService, tuple[ServiceFinding, ...]]:
        """The service with the replicas that came up while it was looked at, and what was found, that of the service so
        far included. A run with gates is refused where something is wrong that no `allow:` names."""
        findings = (*live.service.findings, *self._found(live, live.replicas))
        if self._written and (new := live.joined(self.ports.progress.say)):
            findings = (*findings, *self._found(live, new, beside=live))
            live = live.with_newcomers(new)
        self._say(findings)
        if refused := self._refused(findings):
            causes = "" if refused[0].probe == thinking_probe.PROBE else "`diagnose` tells causes apart; "
            raise AdapterFailed(
                f"{refused[0].sentence} A gate on such figures would not judge the adapter, so nothing was asked. "
                f"{causes}'allow: {refused[0].probe}' among the gates evaluates it all the same.",
                next_step=diagnose_line(self.plan.settings, refused[0].sentence) if causes else "",
            )
        return live, findings

    def _found(
        self, live: LiveService, replicas: Sequence[LiveService], beside: LiveService | None = None
    ) -> Iterator[ServiceFinding]:
        for probe, look in self._looks(replicas, beside):
            yield from run(run_checked(_in_time(probe, look), live.check, self.ports.clock))

    async def newcomer(self, first: LiveService, new: LiveService) -> tuple[list[ServiceFinding], str]:
        """What was found in a replica that joins the run, and why it is not to be asked. Empty: it may be."""
        findings: list[ServiceFinding] = []
        for probe, look in self._looks([new], beside=first):
            findings += await _in_time(probe, look)
        refused = self._refused(findings)
        return findings, refused[0].sentence if refused else ""

    def causes(self, live: LiveService, replicas: Sequence[ReplicaFigure]) -> tuple[ServiceFinding, ...]:
        """What the probes of `diagnose` find, as far as there is time, in a service whose figures are worse than they
        should be; of several replicas in those that differ."""
        if not self._written:
            return ()
        different = {each.replica for each in replicas if each.differs}
        suspects = [each for each in live.replicas if each.name in different] or live.replicas
        suspects = suspects[:_MOST_SUSPECTS]
        self.ports.progress.say(
            f"Figures are worse than they should be: looking for causes in the service, for {_SECONDS} s at most."
        )
        found: list[ServiceFinding] = []

        async def look(suspect: LiveService) -> None:
            subject = self.ports.open_subject(suspect.service, LIMITS)
            try:
                # Without log-probabilities most probes are blind.
                if not any(each.tokens for each in await known(subject, [question("1+1=", max_tokens=1)])):
                    return
                async for name, seen in diagnose(subject, lambda: _SECONDS):
                    found.extend([_finding(name, seen, suspect.name)] * (seen.state == "FAIL"))
            finally:
                await subject.close()

        async def in_time() -> None:
            for suspect in suspects:
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(look(suspect), _SECONDS / len(suspects))

        run(run_checked(in_time(), live.check, self.ports.clock))
        if not found:
            self.ports.progress.say("No cause was found.")
        self._say(found)
        return tuple(found)

    def _say(self, findings: Sequence[ServiceFinding]) -> None:
        for finding in findings:
            self.ports.progress.say(f"{finding.probe.capitalize()}: {finding.sentence}")

    def _refused(self, findings: Sequence[ServiceFinding]) -> list[ServiceFinding]:
        """What no gate may rest on, unless it is allowed."""
        allowed = gate_lines.allowed(self.plan.settings.gate)
        failed = [finding for finding in findings if finding.state == "FAIL" and finding.probe not in allowed]
        return failed if self.plan.gates else []

    def _looks(self, replicas: Sequence[LiveService], beside: LiveService | None = None) -> Iterator[tuple[str, Look]]:
        """What is looked at, one after the other; each is begun when it is its turn. `beside`: one that was looked at
        before."""
        if not self._written:
            return
        thinking = self.plan.sampling.of(self._written[0].task).extra.get("chat_template_kwargs", {})
        template = own_template(self.weights, thinking)
        for each in replicas:
            yield "samplers", self._drawn(each, template)
        if len(together := [*filter(None, [beside]), *replicas]) > 1:
            yield "replicas", self._held_together(together)

    async def _held_together(self, replicas: Sequence[LiveService]) -> list[ServiceFinding]:
        """Whether all give the same answers the same chances."""
        traces = {}
        for each in replicas:
            subject = self.ports.open_subject(each.service, LIMITS)
            try:
                traces[each.name] = await record(subject, each.name)
            except BadData:
                unknown = f"{each.name} shows no log-probabilities; whether replicas differ is not known."
                return [ServiceFinding("replicas", "SKIP", unknown)]
            finally:
                await subject.close()
        return [_finding("replicas", alike(traces))]

    async def _drawn(self, live: LiveService, template: OwnTemplate | None) -> list[ServiceFinding]:
        plan = self.plan
        samplings = {str(each): each for each in (plan.sampling.of(one.task) for one in self._written)}.values()
        own = live.service.samplers.own if live.service.samplers else {}
        settings = [DrawSetting(each.temperature or 0.0, each.top_p or 1.0, each.extra, own) for each in samplings]
        choices = max(each for each in _REQUESTS if each <= plan.sampling.n)
        at_once, fields = plan.client_limits.concurrency, settings[0].fields
        found: dict[str, ProbeResult] = {}
        subject = self.ports.open_subject(live.service, LIMITS)
        try:
            if template is not None:
                found["template"] = await prompt_lengths(subject, template.count, fields, at_once)
            found["samplers"] = await run_settings(
                subject,
                settings[:_SETTINGS],
                draws=min(_REQUESTS[choices] * choices, self._samples(self._written) // 2),
                choices=choices,
                seed=plan.sampling.seed,
                at_once=at_once,
            )
        finally:
            await subject.close()
        return [_finding(probe, each, live.name) for probe, each in found.items()]

    @property
    def _written(self) -> list[PreparedDataset]:
        """The datasets that the model writes answers for; none of a run that takes no longer than a look at the
        service."""
        written = [each for each in self.datasets if each.task.kind == "generate"]
        return written if self._samples(written) >= _FEWEST else []

    def _samples(self, datasets: Sequence[PreparedDataset]) -> int:
        return sum(len(each.problems) * self.plan.sampling.of(each.task).n for each in datasets)


async def _in_time(probe: str, look: Look) -> list[ServiceFinding]:
    """A service that does not answer is met by the run, which knows how long to wait."""
    try:
        return await asyncio.wait_for(look, _LOOK_SECONDS)
    except asyncio.TimeoutError:
        return [ServiceFinding(probe, "SKIP", f"The service took more than {_LOOK_SECONDS} s.")]


def diagnose_line(settings: Settings, about: str = "") -> str:
    """What looks for the cause, as it is typed. `about`: a sentence that may begin with the name of a replica."""
    deployed = [settings.adapter or "", *(["--model", settings.model] if settings.model else [])]
    endpoints = settings.endpoint
    named = [url for url in endpoints if about.startswith(f"{url.partition('://')[2]}: ")]
    service = ["--endpoint", (*named, *endpoints)[0]] if endpoints else deployed
    return shlex.join(["model-accuracy-eval", "diagnose", *service])


def _finding(probe: str, found: ProbeResult, replica: str = "") -> ServiceFinding:
    sentence = f"{replica}: {found.sentence}" if replica else found.sentence
    return ServiceFinding(probe, found.state, sentence, found.next_step)
