"""What is found out about a service's samplers, over real HTTP."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.servers.asking import LIMITS, Naps, question
from tests.servers.fault_server import FaultServer
from tests.servers.loops import run
from tests.servers.sampler_server import SamplerServer

from model_accuracy_eval.client.chat import connect
from model_accuracy_eval.records import Fault, Request, Samplers, Service
from model_accuracy_eval.records.exchange import NEUTRAL_SAMPLERS

FIRST_VALUES = {name: values[0] for name, values in NEUTRAL_SAMPLERS.items()}
LLAMA_CPP = {
    "seed": 4294967295, "temperature": 0.800000011920929, "dynatemp_range": 0.0, "top_k": 40,
    "top_p": 0.949999988079071, "min_p": 0.05000000074505806, "top_n_sigma": -1.0, "xtc_probability": 0.0,
    "typical_p": 1.0, "repeat_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0, "dry_multiplier": 0.0,
    "mirostat": 0, "adaptive_target": -1.0, "samplers": ["penalties", "top_k"],
}  # fmt: skip
"""From `/props` of a real server."""


def look(server: FaultServer, probes: Sequence[Request] = (question(max_tokens=1),)) -> Samplers | Fault:
    async def conversation() -> Samplers | Fault:
        chat = connect(Service(base_url=server.url, model="m"), LIMITS, sleep=Naps())
        try:
            return await chat.samplers(probes)
        finally:
            await chat.close()

    return run(conversation())


def found(server: FaultServer) -> Samplers:
    samplers = look(server)
    assert isinstance(samplers, Samplers)
    return samplers


@settings(max_examples=15)
@given(
    accepted=st.sets(st.sampled_from([(name, value) for name, values in NEUTRAL_SAMPLERS.items() for value in values])),
    status=st.sampled_from([400, 422, 500]),
)
def test_whatever_is_accepted_is_sent_and_nothing_else(accepted: set[tuple[str, float]], status: int) -> None:
    """All that was found is accepted together; each sampler is sent, or noted as refused with the server's words."""
    with SamplerServer(lambda name, value: (name, value) in accepted, status=status) as server:
        samplers = found(server)
        assert samplers.neutral in server.sent() or not samplers.neutral
    assert {(name, value) for name, value in samplers.neutral.items()} <= accepted
    assert samplers.neutral.keys() == {name for name, _ in accepted}
    assert samplers.refused.keys() == NEUTRAL_SAMPLERS.keys() - samplers.neutral.keys()
    assert all(f"trouble {status}" in words for words in samplers.refused.values())


def test_without_probes_no_question_is_asked() -> None:
    """Samplers that are left to the service cost no request of a model."""
    with SamplerServer(owner="vllm") as server:
        samplers = look(server, ())
        assert server.chats == []
    assert isinstance(samplers, Samplers)
    assert (samplers.server, samplers.neutral, samplers.refused) == ("vLLM", {}, {})
    assert "generation_config.json" in samplers.remark


@pytest.mark.parametrize("properties", [{"params": LLAMA_CPP}, LLAMA_CPP])
def test_llama_cpp_shows_its_own_samplers(properties: dict[str, Any]) -> None:
    """Only those that change something, in the digits that were meant; older versions have them one level higher."""
    with SamplerServer(owner="llamacpp", properties={"default_generation_settings": properties}) as server:
        samplers = found(server)
    assert (samplers.server, samplers.own) == ("llama.cpp", {"top_k": 40, "min_p": 0.05})
    assert samplers.remark == ""


def test_a_refusal_inside_the_stream_is_a_refusal() -> None:
    """Some servers accept any request with 200 and send an error event without a status instead of an answer."""
    with FaultServer(plan=lambda _, request: "error_event_string" if "top_n_sigma" in request else None) as server:
        samplers = look(server)
    assert isinstance(samplers, Samplers)
    assert samplers.neutral == {name: value for name, value in FIRST_VALUES.items() if name != "top_n_sigma"}
    assert "out of memory" in samplers.refused["top_n_sigma"]
