"""Inputs, the config file and the event → the job and its site."""

import io
import zipfile
from pathlib import Path

import msgspec
import pytest
import yaml
from msgspec.structs import replace
from tests.integration.action.tools import DISPATCHED
from tests.servers.fake_github import TOKEN, FakeGitHub
from tests.servers.fake_github_memory import REPOSITORY, SHA
from tests.servers.http import Exchange, HttpServer
from tests.unit.run.test_every_setting_arrives import GIVEN

from model_accuracy_eval.commands.action import ActionStep
from model_accuracy_eval.commands.action_context import ActionPorts
from model_accuracy_eval.errors import BadReuse, BadValue, UnknownName
from model_accuracy_eval.records import Identity
from model_accuracy_eval.records.report import ActionContext
from model_accuracy_eval.settings import table
from model_accuracy_eval.system.clock import SignalClock


def environment(hub: FakeGitHub, config: str, **inputs: str) -> dict[str, str]:
    given = {f"INPUT_{name.replace('_', '-').upper()}": value for name, value in inputs.items()}
    workflow = f"{REPOSITORY}/.github/workflows/evaluate.yml@refs/heads/main"
    step = {"INPUT_TOKEN": TOKEN, "INPUT_CONFIG": config, "GITHUB_WORKFLOW_REF": workflow}
    return DISPATCHED | {"GITHUB_API_URL": hub.url} | step | given


def wired(hub: FakeGitHub, config: str, **inputs: str) -> tuple[ActionContext, ActionPorts]:
    with ActionStep(environment(hub, config, **inputs), SignalClock()).parts() as (job, site):
        return job, site


SERVICE = {"endpoint": "http://127.0.0.1:1", "datasets": "demo_gsm8k"}


def test_one_label_names_report_check_and_comment() -> None:
    """The input's label counts everywhere, and without it there is the default."""
    with FakeGitHub() as hub:
        job, site = wired(hub, "", label="weekly", **SERVICE)
        assert job.label == site.plan(False).settings.label == "weekly"
        assert job.key != wired(hub, "", label="weekly", **SERVICE)[0].key
        assert wired(hub, "")[0].label == "vllm-api-stream-chat"


def test_a_block_of_settings_has_every_other_setting() -> None:
    """As lines of YAML in the workflow; an input of its own goes before it, and unknown names are refused."""
    block = "stop-when-decided: true\ngate: 'demo_gsm8k: avg@5 >= 60'\nlabel: nightly\nlimit: 7\ntemperature: 0.25\n"
    with FakeGitHub() as hub:
        job, site = wired(hub, "", settings=block, limit="3", **SERVICE)
        settings = site.plan(False).settings
        assert (job.label, settings.label, settings.limit, settings.temperature) == ("nightly", "nightly", 3, 0.25)
        assert settings.stop_when_decided
        assert settings.gate == ("demo_gsm8k: avg@5 >= 60",)
        with pytest.raises(UnknownName, match="temprature"):
            wired(hub, "", settings="temprature: 0.25", **SERVICE)[1].plan(False)
        (problem,) = wired(hub, "", settings="temperature 0.25", **SERVICE)[1].problems
        assert "the action's input `settings` must hold settings as" in problem


@pytest.mark.parametrize("name", [setting.name for setting in table() if setting.workflow_only])
def test_a_file_of_the_evaluated_tree_cannot_turn_the_verdict(name: str, tmp_path: Path) -> None:
    """Such a setting is refused in the file, whatever its value, and its place is named; other settings count."""
    config = tmp_path / "accuracy.yml"
    text = {"reuse": "somewhere", "columns": "question=q"}.get(name) or GIVEN[name][0]
    config.write_text(yaml.safe_dump({name: yaml.safe_load(text)}))
    with FakeGitHub() as hub, pytest.raises(BadValue, match=f"sets {name}, which the action takes from the workflow"):
        wired(hub, str(config), **SERVICE)[1].plan(False)
    config.write_text("temperature: 0.25\n")
    with FakeGitHub() as hub:
        assert wired(hub, str(config), **SERVICE)[1].plan(False).settings.temperature == 0.25


@pytest.mark.parametrize(
    ("more", "lacks"), [({}, True), ({"devices": "none"}, False), ({"endpoint": "http://x"}, False)]
)
def test_npus_are_looked_for_where_deploy_sh_will_run(tmp_path: Path, more: dict[str, str], lacks: bool) -> None:
    """A process sees what this container has; `devices: none` and a service that runs need none."""
    if any(Path("/dev").glob("davinci[0-9]*")):
        pytest.skip("this machine has NPUs")
    with FakeGitHub() as hub:
        _, site = wired(hub, "", datasets="demo_gsm8k", model="/weights", runtime="process", **more)
        plan = site.plan(site.needs_adapter)
        assert site.lacks_npus(plan) == ("This container has no /dev/davinci<N>." if lacks else "")


@pytest.mark.parametrize(
    ("about", "is_taken"),
    [
        ({}, True),
        ({"commit": "a" * 40}, False),
        ({"repository": "acme/other"}, False),
        ({"path": "models/other"}, False),
        ({"label": "nightly"}, False),
        ({"image": "other", "weights": "other"}, True),
    ],
)
def test_a_baseline_is_fetched_from_the_branch_while_the_step_lives(about: dict[str, str], is_taken: bool) -> None:
    """As a zip that nobody else can read; it goes with the step. It is the branch's own, of the same series."""

    async def serve(exchange: Exchange) -> None:
        exchange.reply(200, packed.getvalue(), kind="application/zip")

    identity = Identity(repository=REPOSITORY, commit=SHA, label="vllm-api-stream-chat")
    told = {"identity": replace(identity, **about), "status": "passed", "run_id": "r", "label": "l", "started": "s"}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("run.json", msgspec.json.encode({**told, "datasets": {}}))
    with FakeGitHub() as hub, HttpServer(serve) as blobs:
        hub.keep_artifact("model-accuracy", packed.getvalue(), f"{blobs.url}/zip")
        inputs = {"baseline": "branch:main", "artifact_name": "model-accuracy", **SERVICE}
        with ActionStep(environment(hub, "", **inputs), SignalClock()).parts() as (_, site):
            plan = site.plan(False)
            ports = site.run_ports(plan, None)
            assert plan.settings.baseline == "branch:main"
            if not is_taken:
                with pytest.raises(BadReuse, match="is none: it is about "):
                    ports.open_archive(plan.settings.baseline)
                return
            found = ports.open_archive(plan.settings.baseline)
            assert b'"status":"passed"' in (found.read("run.json") or b"")
            assert Path(found.root).stat().st_mode & 0o077 == 0
            with pytest.raises(BadReuse, match="There is no run at 'nowhere'"):
                ports.open_archive("nowhere")
        assert not Path(found.root).exists()
