"""Inputs, the config file and the event → the job and its site."""

import io
import json
import re
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

from model_accuracy_eval.commands.action import ActionParts, ActionStep
from model_accuracy_eval.errors import BadReuse, BadValue
from model_accuracy_eval.records import Identity
from model_accuracy_eval.report import languages
from model_accuracy_eval.settings import table
from model_accuracy_eval.system.clock import SignalClock


def environment(hub: FakeGitHub, config: str, **inputs: str) -> dict[str, str]:
    given = {f"INPUT_{name.replace('_', '-').upper()}": value for name, value in inputs.items()}
    workflow = f"{REPOSITORY}/.github/workflows/evaluate.yml@refs/heads/main"
    step = {"INPUT_TOKEN": TOKEN, "INPUT_CONFIG": config, "GITHUB_WORKFLOW_REF": workflow}
    return DISPATCHED | {"GITHUB_API_URL": hub.url} | step | given


def wired(hub: FakeGitHub, config: str, **inputs: str) -> ActionParts:
    with ActionStep(environment(hub, config, **inputs), SignalClock()).parts() as parts:
        return parts


SERVICE = {"endpoint": "http://127.0.0.1:1", "datasets": "demo_gsm8k"}


def test_a_line_of_settings_chooses_the_language_of_the_step() -> None:
    with FakeGitHub() as hub:
        with ActionStep(environment(hub, "", settings="language: zh"), SignalClock()).parts() as parts:
            assert (languages.language(), parts.problems) == ("zh", [])
        assert languages.language() == "en"


def test_one_label_names_report_check_and_comment() -> None:
    """The input's label counts everywhere, and without it there is the default."""
    with FakeGitHub() as hub:
        site = wired(hub, "", label="weekly", **SERVICE)
        assert site.context.label == site.plan(False).settings.label == "weekly"
        assert site.context.key != wired(hub, "", label="weekly", **SERVICE).context.key
        assert wired(hub, "").context.label == "vllm-api-stream-chat"


def test_a_block_of_settings_has_every_other_setting() -> None:
    """As lines of YAML in the workflow; an input of its own goes before it, and unknown names are refused."""
    block = "stop-when-decided: true\ngate: 'demo_gsm8k: avg@5 >= 60'\nlabel: nightly\nlimit: 7\ntemperature: 0.25\n"
    with FakeGitHub() as hub:
        site = wired(hub, "", settings=block, limit="3", **SERVICE)
        settings = site.plan(False).settings
        assert (site.context.label, settings.label, settings.limit, settings.temperature) == (
            "nightly",
            "nightly",
            3,
            0.25,
        )
        assert settings.stop_when_decided
        assert settings.gate == ("demo_gsm8k: avg@5 >= 60",)
        assert (
            wired(hub, "", settings="temperature 0.25", **SERVICE).problems[0].startswith("the input `settings` must")
        )


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ("k: 1\ntemprature: 0.25", "There is no setting called 'temprature' in the input `settings`, line 2; did you mean"),
        ("k: 1\nlimit: few", "The setting 'limit' cannot be 'few' (the input `settings`, line 2)"),
        ("comment: perhaps", "The setting 'comment' cannot be 'perhaps' (the input `settings`, line 1)"),
        ("gate: demo_gsm8k: avg@5 >= 60", "line 1, is not YAML"),
        ("gate: 'a: avg@5 >= 99'\ngate: 'a: avg@5 >= 1'", "'gate' is there twice"),
        ("model-token: ghp_secret", "'model-token' cannot stand in the input `settings`, line 1, which others can read"),
        ("app-id: 77", "give it under `with:`"),
        ("settings: 'k: 1'", "no setting called 'settings'"),
        ('inputs: {settings: "k: 1\\nlimt: 2"}', "no setting called 'limt' in the input `settings`, line 2"),
        ("inputs: {limit: few}", "The setting 'limit' cannot be 'few' (the workflow's inputs)"),
        ("inputs: 3", "`inputs` is `${{ toJSON(inputs) }}`"),
    ],
)  # fmt: skip
def test_a_wrong_line_of_the_block_is_one_sentence(block: str, told: str) -> None:
    """With its line, and nothing of a secret."""
    with FakeGitHub() as hub:
        (problem,) = wired(hub, "", settings=block, **SERVICE).problems
    assert told in problem
    assert "ghp_secret" not in problem


def test_a_reusable_workflow_hands_on_all_of_its_inputs_at_once() -> None:
    """Its own `settings` are the lowest; then its inputs, of which empty ones were not given; then what its step says."""
    called = {
        "datasets": "demo_gsm8k", "limit": "4", "gate": "demo_gsm8k: avg@5 >= 60\n", "label": "", "task-type": "",
        "artifact-name": "acc", "hardware": "any", "attest": True, "runs-on": '["npu"]', "allow-missing": False,
        "app-id": "77", "adapter-path": "sub", "settings": "limit: 9\ntemperature: 0.25 # '\"\nstatus: true\nseed: none\n",
    }  # fmt: skip
    block = f"label: of-the-step\ninputs: {json.dumps(called, indent=2)}\nk: 1\n"
    with FakeGitHub() as hub:
        # As the runner does it with the defaults of action.yml.
        site = wired(hub, "", settings=block, endpoint="http://x", artifact_name="model-accuracy-eval", label="null")
        settings = site.plan(False).settings if not site.problems else None
    assert site.problems == []
    assert settings is not None
    assert (settings.limit, settings.temperature, settings.k, settings.seed) == (4, 0.25, (1,), None)
    assert (settings.gate, settings.label) == (("demo_gsm8k: avg@5 >= 60",), "of-the-step")
    assert (site.context.hardware, site.context.adapter_path) == ("", "sub")
    inputs = [getattr(sink, "inputs") for sink in site.sinks[1:]]  # noqa: B009
    assert {"artifact_name": "acc-of-the-step-sub", "retention_days": None} in [
        msgspec.structs.asdict(one) for one in inputs
    ]
    assert {"status": "true"} in [msgspec.structs.asdict(one) for one in inputs]


def test_older_inputs_work_and_are_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    """They win over the block, as every input does."""
    with FakeGitHub() as hub:
        site = wired(hub, "", settings="concurrency: 5\ncomment: true", concurrency="3", comment="false", **SERVICE)
        assert (site.problems, site.plan(False).settings.concurrency) == ([], 3)
    (told,) = re.findall(r"^::notice.*", capsys.readouterr().out, re.MULTILINE)
    assert told.endswith("taken as inputs in this version still: comment, concurrency.")


@pytest.mark.parametrize("name", [setting.name for setting in table() if setting.workflow_only])
def test_a_file_of_the_evaluated_tree_cannot_turn_the_verdict(name: str, tmp_path: Path) -> None:
    """Such a setting is refused in the file, whatever its value, and its place is named; other settings count."""
    config = tmp_path / "accuracy.yml"
    text = {"reuse": "somewhere", "columns": "question=q"}.get(name) or GIVEN[name][0]
    config.write_text(yaml.safe_dump({name: yaml.safe_load(text)}))
    with FakeGitHub() as hub, pytest.raises(BadValue, match=f"sets {name}, which the action takes from the workflow"):
        wired(hub, str(config), **SERVICE).plan(False)
    config.write_text("temperature: 0.25\n")
    with FakeGitHub() as hub:
        assert wired(hub, str(config), **SERVICE).plan(False).settings.temperature == 0.25


@pytest.mark.parametrize(
    ("more", "lacks"), [({}, True), ({"devices": "none"}, False), ({"endpoint": "http://x"}, False)]
)
def test_npus_are_looked_for_where_deploy_sh_will_run(tmp_path: Path, more: dict[str, str], lacks: bool) -> None:
    """A process sees what this container has; `devices: none` and a service that runs need none."""
    if any(Path("/dev").glob("davinci[0-9]*")):
        pytest.skip("this machine has NPUs")
    with FakeGitHub() as hub:
        site = wired(hub, "", datasets="demo_gsm8k", model="/weights", runtime="process", **more)
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
        with ActionStep(environment(hub, "", **inputs), SignalClock()).parts() as site:
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
