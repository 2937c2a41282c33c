"""What the model of a service is called in requests and reports."""

from tests.fake_ports import ScriptedChat, fake_ports
from tests.unit.run.test_infer import by_seed, plan

from model_accuracy_eval.run.readiness import Readiness


class Starting(ScriptedChat):
    """Nobody listens when it is asked for its models first; a moment later it answers everything."""

    listens = False

    async def models(self) -> tuple[str, ...]:
        names = ("served",) if Starting.listens else ()
        Starting.listens = True
        return names


def test_a_service_that_begins_to_listen_between_two_requests_has_its_own_name() -> None:
    """Of two equal replicas, one was called by its list and the other by the path of its weights: no replicas."""
    Starting.listens = False
    ports = fake_ports(connect=lambda *_, **__: Starting(by_seed))
    assert Readiness(plan(1), "http://x", ports, weights="/weights").wait().model == "served"
