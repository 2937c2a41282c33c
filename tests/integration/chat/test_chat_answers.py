"""The client against servers that answer, each in its own style."""

import asyncio
import ssl
from pathlib import Path

import httpx
import pytest
import trustme
from tests.servers import asking
from tests.servers.asking import LIMITS, ask, question, said
from tests.servers.fault_server import JSON, FaultServer, Style, default_answer, encode
from tests.servers.http import Exchange, HttpServer
from tests.servers.http_proxy import http_proxy
from tests.servers.loops import LOOPS, run
from tests.servers.socks_server import SocksServer

from model_accuracy_eval.client.chat import connect
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import Service, Usage


def truth(n: int = 1, seed: int | None = None, reason: str | None = "stop") -> list[tuple[str, str, str | None]]:
    request = {"messages": [{"role": "user", "content": "What is 1 + 1?"}], "n": n, "seed": seed}
    return [(text, "", reason) for text in default_answer(request)]


class Scripted(HttpServer):
    """Streams the events it is given, as they are."""

    def __init__(self, *events: JSON, done: bool = True) -> None:
        super().__init__(self._handle)
        self._body = b"".join(encode(events, Style(done=done, ascii=True)))

    async def _handle(self, exchange: Exchange) -> None:
        exchange.head()
        exchange.send(self._body)
        exchange.end()


def event(index: int = 0, reason: str | None = None, **delta: object) -> JSON:
    return {"choices": [{"index": index, "delta": delta, "finish_reason": reason}]}


STYLES = {
    "plain": Style(),
    "finish with the last text": Style(finish="with_text"),
    "finish chunks at the very end": Style(finish="at_end"),
    "finish reason twice": Style(finish="twice"),
    "rule 4: no finish_reason, no [DONE], a clean end": Style(done=False, finish="none"),
    "role in every chunk": Style(role_each=True),
    "fields that are null": Style(null_fields=True),
    "CRLF": Style(eol=b"\r\n"),
    "CR": Style(eol=b"\r"),
    "no blank after data:": Style(field=b"data:"),
    "byte order mark": Style(bom=True),
    "comments, names and ids": Style(comments=True),
    "escaped characters": Style(ascii=True),
    "several data lines an event": Style(lines=2),
    "no last blank line": Style(last_blank=False),
    "one event a read": Style(delay=0.001),
    "the whole answer in one event": Style(piece=10_000),
    "content length": Style(framing="length"),
    "ended by close": Style(framing="close"),
    "HTTP/1.0": Style(version="1.0", framing="close"),
    "a connection a request": Style(close=True),
    "usage in the finish chunk": Style(usage="finish"),
    "usage in every chunk": Style(usage="every"),
    "usage inside a choice": Style(usage="choice"),
    "no streaming": Style(stream=False),
}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("name", STYLES)
def test_rules_01_to_05_every_style_gives_the_same_answer(name: str, loop: str) -> None:
    """Whatever the habits of a server, text, finish reason, usage and tries come out the same."""
    style = STYLES[name]
    with FaultServer(style=style) as server:
        (reply,) = ask(server.url, question(n=3), loop=loop)
    assert said(reply) == truth(3, reason=None if style.finish == "none" else "stop")
    assert reply.tries == 1
    total = sum(len(text) for text, _, _ in truth(3))
    assert reply.usage == Usage(prompt_tokens=7, completion_tokens=total)


def test_rule_03_choices_are_counted_not_made_up() -> None:
    """A server that ignores n gives one choice, and the caller sees one choice."""
    with FaultServer(style=Style(ignore_n=True)) as server:
        (reply,) = ask(server.url, question(n=5))
    assert said(reply) == truth(1)


def test_rule_03_more_choices_than_asked_for_are_left_out() -> None:
    """One was asked for, one is given."""
    with Scripted(event(0, "stop", content="a"), event(1, "stop", content="b")) as server:
        assert said(ask(server.url)[0]) == [("a", "", "stop")]


def test_rule_04_a_choice_without_finish_reason_beside_one_with_it_is_left_out() -> None:
    """Such a choice may have been cut, so it is asked for again rather than believed."""
    with FaultServer(style=Style(finish="last_only")) as server:
        (reply,) = ask(server.url, question(n=3))
    assert len(reply.choices) == 1
    assert said(reply)[0] in truth(3)


@pytest.mark.parametrize("reason", ["stop", "length", "content_filter", "tool_calls", "function_call", "eos_token"])
def test_rule_19_finish_reasons_are_open_ended(reason: str) -> None:
    """A cut, a filtered and an unknown ending are complete answers, and their reason is kept."""
    with FaultServer(style=Style(reason=reason)) as server:
        assert said(ask(server.url)[0]) == truth(reason=reason)


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_rule_13_reasoning_is_collected_apart(field: str) -> None:
    """Both names of the field are known, and an answer may consist of reasoning alone."""
    with FaultServer(style=Style(reasoning=field)) as server:
        (reply,) = ask(server.url)
    assert said(reply) == [("", truth()[0][0], "stop")]
    assert reply.choices[0].timings.ttft is not None


def test_reasoning_under_both_names_is_read_once() -> None:
    """A server that sends old and new name in one delta means one text."""
    with Scripted(event(reasoning="a", reasoning_content="a"), event(0, "stop", content="b")) as server:
        assert said(ask(server.url)[0]) == [("b", "a", "stop")]


def test_rule_14_the_last_usage_counts_and_null_is_none() -> None:
    """Zeros at the start and null at the end do not hide what was said in between."""
    body: list[JSON] = [
        {"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0}},
        {**event(0, "stop", content="a"), "usage": {"prompt_tokens": 3, "completion_tokens": 5}},
        {"choices": [], "usage": None},
    ]
    with Scripted(*body) as server:
        assert ask(server.url)[0].usage == Usage(prompt_tokens=3, completion_tokens=5)


def test_an_empty_answer_with_a_finish_reason_is_an_answer() -> None:
    """The model may have nothing to say."""
    with Scripted(event(role="assistant", content=""), event(0, "stop")) as server:
        assert said(ask(server.url)[0]) == [("", "", "stop")]


def test_a_message_repeated_after_its_deltas_is_not_read_twice() -> None:
    """Some servers send the whole message with the finish reason."""
    last = {"choices": [{"index": 0, "message": {"content": "ab"}, "finish_reason": "stop"}]}
    with Scripted(event(content="a"), event(content="b"), last) as server:
        assert said(ask(server.url)[0]) == [("ab", "", "stop")]


def test_timings_are_those_of_the_bytes() -> None:
    """First text, gaps and end are measured per choice, chunks are counted, roles are not text."""
    with FaultServer(lambda _: "abcdefgh", style=Style(piece=2, delay=0.02)) as server:
        times = ask(server.url)[0].choices[0].timings
    assert times.chunks == 4
    assert times.ttft is not None
    assert times.gap_mean is not None
    assert times.gap_max is not None
    assert 0.015 < times.ttft < times.e2e
    assert 0 < times.gap_mean <= times.gap_max <= times.e2e - times.ttft
    assert times.e2e >= max(0.06, times.ttft + 3 * times.gap_mean)


def test_an_answer_in_one_piece_has_no_time_of_its_first_token() -> None:
    """A server that ignores stream gives an end, but neither first token nor gaps."""
    with FaultServer(style=Style(stream=False)) as server:
        times = ask(server.url)[0].choices[0].timings
    assert (times.ttft, times.gap_mean, times.gap_max) == (None, None, None)
    assert times.e2e > 0


def test_rules_09_to_11_what_a_request_holds() -> None:
    """The body has what was configured, the headers ask for an uncompressed stream and carry the key."""
    with FaultServer() as server:
        ask(server.url, question(n=2, temperature=0.5, max_tokens=9, seed=3, stop=("x",)), api_key="secret")
        (sent,) = server.requests
    assert sent.json == {
        "model": "m",
        "messages": [{"role": "user", "content": "What is 1 + 1?"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.5,
        "top_p": 1.0,
        "max_tokens": 9,
        "n": 2,
        "seed": 3,
        "stop": ["x"],
    }
    assert sent.headers["authorization"] == "Bearer secret"
    assert sent.headers["accept-encoding"] == "identity"
    assert sent.headers["host"] == f"127.0.0.1:{server.port}"


def test_the_api_key_appears_nowhere() -> None:
    """Neither the client's repr nor a server's echo of the key gives it away."""

    async def echo(exchange: Exchange) -> None:
        exchange.reply(401, {"error": f"bad key {exchange.headers['authorization']}"})

    with HttpServer(echo) as server:
        (reply,) = ask(server.url, api_key="sk-secret")
    assert reply.fault is not None
    assert "bad key Bearer [api key]" in reply.fault.sentence
    chat = connect(Service(base_url="http://h:1"), LIMITS, api_key="sk-secret")
    assert "secret" not in repr(chat)
    run(chat.close())


@pytest.mark.parametrize("key", ["a b-c", "a\r\nx: y", "schlüssel"])
def test_an_api_key_that_no_header_can_hold_is_refused(key: str) -> None:
    """The sentence does not repeat it."""
    with pytest.raises(BadValue, match="API key") as caught:
        connect(Service(base_url="http://h:1"), LIMITS, api_key=key)
    assert key not in str(caught.value)


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_addresses_with_and_without_a_path(path: str) -> None:
    """The base may end anywhere before, in or after /v1."""
    with FaultServer() as server:
        assert said(ask(server.url + path)[0]) == truth()


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x", "http://", "http://[", "http://a:99999"])
def test_invalid_addresses_are_refused(url: str) -> None:
    """They are turned away before anything is asked."""
    with pytest.raises(BadValue, match="address"):
        connect(Service(base_url=url), LIMITS)


@pytest.mark.parametrize(
    ("models", "ids"), [({"data": [{"id": "a"}, {"id": "b"}]}, ("a", "b")), ("Internal Server Error", ()), ([], ())]
)
@pytest.mark.parametrize("loop", LOOPS)
def test_rule_15_models_are_a_hint(models: object, ids: tuple[str, ...], loop: str) -> None:
    """Ids where there are some, nothing where the endpoint is broken."""
    with FaultServer() as server:
        server.models = models
        assert asking.models(server.url, loop) == ids
    assert asking.models(server.url, loop) == ()


def test_rule_05_an_open_end_after_done_is_not_waited_for() -> None:
    """The answer is complete with [DONE]; its connection is given up after a moment."""
    with FaultServer(plan=lambda _, __: "open_after_done") as server:
        assert said(ask(server.url)[0]) == truth()
        assert server.wait_for(lambda it: it.disconnects == 1)


@pytest.mark.parametrize("loop", LOOPS)
def test_through_a_proxy_the_answer_is_the_same(loop: str) -> None:
    """With a proxy stock httpx does the talking, and sinks, errors, models and retries work as before."""

    async def relay(exchange: Exchange) -> None:
        """As much of a proxy as plain http needs: the whole URL is in the request line."""
        url = httpx.URL(exchange.path)
        lines = [f"{exchange.method} {url.raw_path.decode()} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in exchange.headers.items() if name != "connection"]
        reader, writer = await asyncio.open_connection(url.host, url.port)
        try:
            writer.write("\r\n".join([*lines, "connection: close", "", ""]).encode() + exchange.body)
            while data := await reader.read(1000):
                exchange.raw(data)
            exchange.closing = True
        except ConnectionResetError:
            exchange.reset()
        finally:
            writer.close()

    async def conversation() -> None:
        chat = connect(Service(base_url=server.url), LIMITS, proxy=proxy.url, sleep=asyncio.sleep)
        try:
            assert await chat.models() == ("m",)
            replies = await asyncio.gather(*(chat.ask(question()) for _ in range(4)))
            assert [said(reply) for reply in replies] == [truth()] * 4
            assert sum(reply.tries for reply in replies) == 6
        finally:
            await chat.close()

    plan = {1: "status_429", 2: "reset_mid_stream"}
    with FaultServer(plan=lambda number, _: plan.get(number)) as server, HttpServer(relay) as proxy:
        run(conversation(), loop)
        assert len(server.requests) == len(proxy.requests) == 7


async def answered_through(proxy: str, url: str) -> None:
    chat = connect(Service(base_url=url), LIMITS, proxy=proxy)
    try:
        assert said(await chat.ask(question())) == truth()
    finally:
        await chat.close()


def test_through_a_socks_proxy_the_answer_is_the_same() -> None:
    """Behind some firewalls there is no other way out."""
    with FaultServer() as server, SocksServer() as proxy:
        run(answered_through(proxy.url, server.url))
        assert proxy.asked == [("127.0.0.1", httpx.URL(server.url).port)]


def test_behind_a_proxy_a_private_authority_is_trusted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`SSL_CERT_FILE` holds for the service at the other end of the tunnel, as it does without a proxy."""
    authority = trustme.CA()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    with FaultServer(tls=context) as server, http_proxy("127.0.0.1") as (address, asked):
        run(answered_through(address, server.url))
        assert asked == {("127.0.0.1", httpx.URL(server.url).port)}
