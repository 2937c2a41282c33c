"""The client against servers that fail: cured by another try, or a fault that says what happened."""

import ssl
from typing import Any

import httpx
import pytest
import trustme
from msgspec.structs import replace
from tests.servers.asking import LIMITS, Naps, ask, question, said
from tests.servers.fault_server import FAULTS, FaultServer, always, faults_at
from tests.servers.loops import LOOPS, run

from model_accuracy_eval.client.chat import connect
from model_accuracy_eval.records import ClientLimits, Fault, Service

# What each fault is, once nothing cures it: kind, status, words of its sentence.
FINAL: dict[str, tuple[str, int | None, str]] = {
    "status_400": ("rejected", 400, "trouble 400"),
    "status_401": ("rejected", 401, "Unauthorized"),
    "status_403": ("rejected", 403, "trouble 403"),
    "status_422": ("rejected", 422, "trouble 422"),
    "detail_422": ("rejected", 422, "body.messages: Field required"),
    "flat_400": ("rejected", 400, "flat trouble"),
    "error_event_400": ("rejected", 400, "top_p must be positive"),
    "status_302": ("failed", 302, "redirected to https://login.example/"),
    "status_501": ("failed", 501, "trouble 501"),
    "status_408": ("failed", 408, "trouble 408"),
    "status_429": ("failed", 429, "slow down"),
    "status_500": ("failed", 500, "trouble 500"),
    "plain_500": ("failed", 500, "HTTP 500 Internal Server Error: Internal Server Error"),
    "status_503": ("failed", 503, "trouble 503"),
    "huge_503": ("failed", 503, "xxx…"),
    "reset_at_once": ("failed", None, "broke off"),
    "reset_mid_stream": ("failed", None, "chunks of text"),
    "truncated_chunks": ("failed", None, "closed inside the body"),
    "truncated_length": ("failed", None, "closed inside the body"),
    "stalled_before_head": ("failed", None, "no answer for 0.15 s"),
    "stalled_before_first_token": ("failed", None, "no answer for 0.15 s"),
    "stalled_mid_stream": ("failed", None, "nothing more for 0.15 s"),
    "endless": ("failed", None, "no complete answer within 0.15 s"),
    "malformed_event": ("failed", None, 'no JSON object: {"choices": ['),
    "error_event": ("failed", 500, "EngineCore encountered an issue"),
    "error_event_string": ("failed", None, "out of memory"),
    "error_body_200": ("failed", None, "busy"),
    "empty_body": ("failed", None, "HTTP 200 with an empty body"),
    "only_done": ("failed", None, "no chat answer: data: [DONE]"),
    "only_roles": ("failed", None, "without any text and without a finish_reason"),
    "done_without_finish": ("failed", None, "chunks of text); the service has sent one before"),
    "ended_without_finish": ("failed", None, "chunks of text); the service has sent one before"),
    "ended_inside_event": ("failed", None, "The stream ended inside an event (after "),
    "finish_abort": ("failed", None, "finish_reason 'abort'"),
    "html_page": ("failed", None, "(text/html) is no chat answer: <!doctype html>"),
    "not_http": ("failed", None, "not HTTP/1.1"),
}
SILENT = {
    "stalled_before_head": "first_token_timeout", "stalled_before_first_token": "first_token_timeout",
    "stalled_mid_stream": "idle_timeout", "endless": "total_timeout",
}  # fmt: skip
"""The limit that each of them runs into; on a busy machine a short one more would be run into first."""
HARMLESS = {"open_after_done", "late_end"}
ONE_TRY = {name for name, (kind, _, _) in FINAL.items() if kind == "rejected"} | {"status_302", "status_501"}


def limits(name: str, seconds: float) -> ClientLimits:
    return replace(LIMITS, **{SILENT[name]: seconds}) if name in SILENT else LIMITS


def fault_of(server: FaultServer, **more: Any) -> tuple[Fault, int]:
    (reply,) = ask(server.url, sends_finish_reasons=True, **more)
    assert reply.fault is not None
    assert (reply.choices, reply.usage) == ((), None)
    return reply.fault, reply.tries


def test_every_fault_has_its_line_in_the_table() -> None:
    """No behaviour of the fault server stays untested."""
    assert set(FAULTS) == set(FINAL) | HARMLESS


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("name", sorted(FINAL))
def test_rules_04_06_07_a_lasting_fault_is_reported_in_one_sentence(name: str, loop: str) -> None:
    """Kind, status, the server's own words, tries and seconds: all in the reply, never an exception."""
    kind, status, words = FINAL[name]
    with FaultServer(plan=always(name)) as server:
        fault, tries = fault_of(server, limits=limits(name, 0.15), loop=loop)
        asked = len(server.requests)
    assert (fault.kind, fault.status, fault.silent) == (kind, status, name in SILENT)
    assert words in fault.sentence
    assert tries == asked == (1 if name in ONE_TRY else 3)
    assert f"({tries} {'try' if tries == 1 else 'tries'}, " in fault.sentence
    assert fault.sentence.endswith(" s).")
    assert len(fault.sentence) < 500
    assert "\n" not in fault.sentence


@pytest.mark.parametrize("name", sorted((set(FINAL) | HARMLESS) - ONE_TRY))
def test_rule_04_after_a_passing_fault_the_reply_is_the_same(name: str) -> None:
    """After another try the reply is the fault-free one: no text of the broken try is in it."""
    with FaultServer() as server:
        (clean,) = ask(server.url, question(n=2, seed=1))
    with FaultServer(plan=faults_at({0: name, 1: name})) as server:
        (cured,) = ask(server.url, question(n=2, seed=1), limits=limits(name, 1.0), sends_finish_reasons=True)
    assert said(cured) == said(clean)
    assert cured.usage == clean.usage
    assert cured.tries == (1 if name in HARMLESS else 3)


def test_rule_07_500_gets_two_more_tries_and_a_busy_server_all_of_them() -> None:
    """500 may mean a bad request, so it is given up early; 503 is not."""
    patient = replace(LIMITS, retries=6)
    with FaultServer(plan=always("status_500")) as server:
        assert fault_of(server, limits=patient)[1] == 3
    with FaultServer(plan=always("status_503")) as server:
        assert fault_of(server, limits=patient)[1] == 7
    with FaultServer(plan=always("error_event")) as server:
        assert fault_of(server, limits=patient)[1] == 7


def test_waits_grow_and_obey_the_server() -> None:
    """Back-off doubles; where the server names a time, that time is kept."""
    naps = Naps()
    with FaultServer(plan=faults_at({0: "status_503", 1: "status_429", 2: "status_503"})) as server:
        (reply,) = ask(server.url, limits=replace(LIMITS, retries=5), naps=naps)
    assert reply.tries == 4
    assert naps.seconds == [0.5, pytest.approx(0.05 + 0.5), 2.0]


def test_rule_08_a_service_that_is_gone_ends_every_request() -> None:
    """Refusals are waited out together, and once the time is up no request tries any more."""
    with FaultServer() as server:
        url = server.url
    replies = ask(url, *(question(str(number)) for number in range(20)), limits=LIMITS)
    for reply in replies:
        assert reply.fault is not None
        assert reply.fault.kind == "refused"
        assert f"Nobody has listened on {url.removeprefix('http://')} for 0.2 s" in reply.fault.sentence
        assert reply.tries > 1


def test_a_service_that_comes_back_in_time_is_asked_again() -> None:
    """Refusals do not use up the tries."""

    async def conversation() -> None:
        began = FaultServer()
        url = began.url
        began.stop()

        async def nap(_: float) -> None:
            if not later:
                later.append(FaultServer(port=httpx.URL(url).port).__enter__())

        later: list[FaultServer] = []
        chat = connect(Service(base_url=url), replace(LIMITS, retries=1, gone_after=9.0), sleep=nap)
        try:
            reply = await chat.ask(question())
        finally:
            await chat.close()
            later[0].stop()
        assert said(reply)
        assert reply.tries == 2

    run(conversation())


def test_rule_16_a_probe_is_one_try() -> None:
    """With `retries=0` a refusal, a failure and an answer come back at once."""
    probe = replace(LIMITS, retries=0, gone_after=60.0)
    naps = Naps()
    with FaultServer(plan=faults_at({0: "status_503"})) as server:
        assert fault_of(server, limits=probe, naps=naps)[1] == 1
        assert said(ask(server.url, limits=probe)[0])
    fault, tries = fault_of(server, limits=probe, naps=naps)
    assert (fault.kind, tries, naps.seconds) == ("refused", 1, [])
    assert "could not be reached" in fault.sentence


def test_a_certificate_that_is_not_trusted_is_not_tried_again() -> None:
    """It will not get better, and somebody is there, so it is a failure and no refusal."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with FaultServer(tls=context) as server:
        fault, tries = fault_of(server)
    assert (fault.kind, tries) == ("failed", 1)
    assert "certificate verify failed" in fault.sentence


def test_a_server_without_tls_behind_an_https_address_is_a_failure() -> None:
    """Somebody is there, so this is not the silence of a service that is gone; and no further try would be better."""
    with FaultServer() as server:
        (reply,) = ask(server.url.replace("http://", "https://"))
    assert reply.fault is not None
    assert (reply.fault.kind, reply.fault.lasting, reply.tries) == ("failed", True, 1)
