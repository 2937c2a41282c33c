"""Inputs, the config file and the event → the job and its site."""

from pathlib import Path

import pytest
from tests.servers.fake_github import TOKEN, FakeGitHub
from tests.servers.fake_github_memory import REPOSITORY, SHA

from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.ports.action_ports import ActionContext, ActionPorts
from model_accuracy_eval.system.clock import SignalClock
from model_accuracy_eval.wiring.action_parts import ActionStep


def wired(hub: FakeGitHub, config: str, **inputs: str) -> tuple[ActionContext, ActionPorts]:
    given = {f"INPUT_{name.replace('_', '-').upper()}": value for name, value in inputs.items()}
    environment = {
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_SHA": SHA,
        "GITHUB_EVENT_NAME": "workflow_dispatch",
        "GITHUB_TRIGGERING_ACTOR": "alice",
        "GITHUB_API_URL": hub.url,
        "INPUT_TOKEN": TOKEN,
        "INPUT_CONFIG": config,
    }
    with ActionStep(environment | given, SignalClock()).parts() as (job, site):
        return job, site


def test_one_label_names_report_check_and_comment(tmp_path: Path) -> None:
    """The label of the config file counts everywhere, an input wins over it, and without both there is the default."""
    config = tmp_path / "accuracy.yml"
    config.write_text("label: nightly\ndatasets: demo_gsm8k\nendpoint: http://127.0.0.1:1\n")
    with FakeGitHub() as hub:
        job, site = wired(hub, str(config))
        assert job.label == site.plan("").settings.label == "nightly"
        assert job.key.endswith("-nightly")
        job, site = wired(hub, str(config), label="weekly")
        assert job.label == site.plan("").settings.label == "weekly"
        assert wired(hub, "")[0].label == "vllm-api-stream-chat"


def test_an_endpoint_of_the_config_file_needs_no_adapter(tmp_path: Path) -> None:
    """Nothing is checked out for a service that runs, wherever its address was written."""
    config = tmp_path / "accuracy.yml"
    config.write_text("endpoint: http://127.0.0.1:1\n")
    with FakeGitHub() as hub:
        assert not wired(hub, str(config))[1].needs_adapter
        assert wired(hub, "")[1].needs_adapter


def test_a_config_file_that_cannot_be_used_is_told_by_the_plan(tmp_path: Path) -> None:
    """The check is opened by the label of the inputs, so that there is a place to tell it."""
    config = tmp_path / "accuracy.yml"
    config.write_text("lable: nightly\n")
    with FakeGitHub() as hub:
        job, site = wired(hub, str(config), label="weekly", datasets="demo_gsm8k")
        assert job.label == "weekly"
        with pytest.raises(UnknownName, match="did you mean label"):
            site.plan("")
        with pytest.raises(BadValue, match="cannot be read"):
            wired(hub, str(tmp_path / "none.yml"), datasets="demo_gsm8k")[1].plan("")


@pytest.mark.parametrize(
    ("more", "lacks"), [({}, True), ({"devices": "none"}, False), ({"endpoint": "http://x"}, False)]
)
def test_npus_are_looked_for_where_deploy_sh_will_run(tmp_path: Path, more: dict[str, str], lacks: bool) -> None:
    """A process sees what this container has; `devices: none` and a service that runs need none."""
    if any(Path("/dev").glob("davinci[0-9]*")):
        pytest.skip("this machine has NPUs")
    with FakeGitHub() as hub:
        _, site = wired(hub, "", datasets="demo_gsm8k", model="/weights", **more)
        plan = site.plan("" if "endpoint" in more else str(tmp_path))
        assert site.lacks_npus(plan) == ("This container has no /dev/davinci<N>." if lacks else "")
