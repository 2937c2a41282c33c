"""Every input of action.yml left empty, blank, or with blanks around it, as expressions and secrets that are not set leave it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml
from msgspec import structs
from msgspec.structs import replace
from tests.integration.action.tools import DISPATCHED
from tests.servers.fake_github import TOKEN, FakeGitHub
from tests.servers.fake_github_memory import REPOSITORY, SHA, pull

from model_accuracy_eval.commands.action import ActionStep
from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.records import Record, RunPlan
from model_accuracy_eval.records.report import ActionContext
from model_accuracy_eval.system.clock import SignalClock

ACTION: dict[str, Any] = yaml.safe_load((Path(__file__).parents[3] / "action.yml").read_text())
GITHUB = {"${{ github.repository }}": REPOSITORY, "${{ github.token }}": TOKEN, "${{ toJSON(matrix) }}": "null"}
DEFAULTS = {
    name: GITHUB.get(spec.get("default", ""), spec.get("default", "")) for name, spec in ACTION["inputs"].items()
}
BASE = {"runtime": "process", "model": "/weights", "datasets": "demo_gsm8k", "adapter-ref": SHA, "adapter-token": TOKEN}
NEEDED = {"datasets": "No dataset was chosen", "model": "deploy.sh needs weights", "runtime": "give adapter-image"}
"""Without these no run can be, and the beginning or end of the sentence that says so."""
BLANKS = ["", "   ", "\n"]

Result = tuple[ActionContext, list[Record], RunPlan] | str


def resolved(hub: FakeGitHub, folder: Path, **inputs: str) -> Result:
    """What the step makes of the inputs, or the sentence with which it refuses them. The runner sets every input."""
    given = DEFAULTS | BASE | {name.replace("_", "-"): text for name, text in inputs.items()}
    servers = {"GITHUB_API_URL": hub.url, "GITHUB_SERVER_URL": "http://127.0.0.1:1"}
    own = {f"INPUT_{name.upper()}": text for name, text in given.items()}
    try:
        with ActionStep(DISPATCHED | servers | own, SignalClock()).parts() as ports:
            context, plan = ports.context, ports.plan(ports.needs_adapter)
    except EvalError as error:
        return error.sentence
    inputs_of_sinks = [getattr(sink, "inputs") for sink in ports.sinks[1:]]  # noqa: B009
    settings = replace(plan.settings, adapter=None)
    return (
        replace(context, nonce="", started=0.0),
        inputs_of_sinks,
        replace(plan, run_id="", stamp="", settings=settings),
    )


@pytest.fixture(scope="module")
def hub() -> Iterator[FakeGitHub]:
    with FakeGitHub() as found:
        found.commit_pulls = {SHA: [pull(7)]}
        yield found


@pytest.fixture(autouse=True)
def one_authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here speaks TLS, and reading all authorities of the world would take most of the time."""
    trustme.CA().cert_pem.write_to_path(tmp_path / "authority.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))


@pytest.mark.parametrize("name", sorted(set(ACTION["inputs"]) - {"token", "artifact-name"}))
def test_an_empty_input_is_one_that_was_not_given(hub: FakeGitHub, tmp_path: Path, name: str) -> None:
    """The same job and the same plan; or the same sentence, where a run cannot be without it."""
    not_given = resolved(hub, tmp_path, **{name: DEFAULTS[name]})
    assert NEEDED[name] in not_given if name in NEEDED else not isinstance(not_given, str), not_given
    assert [resolved(hub, tmp_path, **{name: blank}) for blank in BLANKS] == [not_given] * len(BLANKS)


@pytest.mark.parametrize("blank", BLANKS, ids=repr)
def test_two_inputs_mean_something_by_being_empty(hub: FakeGitHub, tmp_path: Path, blank: str) -> None:
    """No name is no artifact; and no token is refused, because it is one that somebody meant to give."""
    found = resolved(hub, tmp_path, **{"artifact-name": blank})
    assert not isinstance(found, str)
    assert {"artifact_name": "", "retention_days": None} in [structs.asdict(inputs) for inputs in found[1]]
    assert resolved(hub, tmp_path, token=blank) == (
        "The input 'token' is empty: the secret or variable that it names is not set. Leave the input out, and the "
        "workflow's own token is taken."
    )
