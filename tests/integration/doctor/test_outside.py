"""The doctor's findings about what is outside: proxies and hubs."""

import pytest
from tests.integration.doctor.test_doctor import look, states
from tests.servers.fault_server import FaultServer

HUBS = {"GitHub's files": "GITHUB_RAW_ENDPOINT", "Hugging Face": "HF_ENDPOINT", "ModelScope": "MODELSCOPE_ENDPOINT"}


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """All addresses lead to nobody; a test opens what it is about."""
    with FaultServer() as server:
        nobody = server.url
    for variable in HUBS.values():
        monkeypatch.setenv(variable, nobody)
    return monkeypatch


def test_nothing_goes_out_unasked(world: pytest.MonkeyPatch) -> None:
    """The machine alone is looked at."""
    with FaultServer() as hub:
        world.setenv("HF_ENDPOINT", hub.url)
        _, output = look()
        assert hub.requests == []
    assert HUBS.keys().isdisjoint(states(output))


def test_a_hub_that_answers_is_told_from_one_that_does_not(world: pytest.MonkeyPatch) -> None:
    """Neither decides: hubs replace each other. Each warning names the variable of its mirror."""
    with FaultServer() as hub:
        world.setenv("HF_ENDPOINT", hub.url)
        code, output = look("--online")
    found = states(output)
    assert (code, found["Hugging Face"], found["ModelScope"]) == (0, "PASS", "WARN"), output
    assert "name a mirror in MODELSCOPE_ENDPOINT" in output


def test_passwords_of_mirrors_are_not_printed(world: pytest.MonkeyPatch) -> None:
    """Neither of one that answers nor of one that does not."""
    with FaultServer() as hub:
        world.setenv("HF_ENDPOINT", hub.url.replace("//", "//user:pass-marker@"))
        world.setenv("MODELSCOPE_ENDPOINT", "http://user:pass-marker@127.0.0.1:1")
        _, output = look("--online")
    assert "pass-marker" not in output
    assert "http://127.0.0.1:1 cannot be reached" in output


@pytest.mark.parametrize("proxy", ["socks9://127.0.0.1:1", "http://127.0.0.1:port"])
def test_a_proxy_that_cannot_be_used_is_one_sentence(world: pytest.MonkeyPatch, proxy: str) -> None:
    """Before anybody is asked: every run would be refused."""
    world.setenv("ALL_PROXY", proxy)
    code, output = look("--online")
    assert (code, states(output)["proxy"]) == (3, "FAIL"), output


def test_a_service_and_the_outside_in_one_table(world: pytest.MonkeyPatch) -> None:
    """This machine is not looked at; the service's exit code comes first."""
    with FaultServer() as service:
        code, output = look("--online", "--endpoint", service.url)
    found = states(output)
    assert (code, found["answers"], found["ModelScope"], "python" in found) == (0, "PASS", "WARN", False), output
    code, output = look("--online", "--endpoint", service.url)
    assert code == 4, output
