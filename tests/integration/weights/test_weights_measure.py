"""How large weights are, before a byte of them is fetched."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from tests.integration.weights.conftest import FILES, NAME, QUICK
from tests.servers.fake_hub import Blob, FakeHub
from tests.servers.http import Exchange, HttpServer

from model_accuracy_eval.errors import BadValue, Refused, Stopped
from model_accuracy_eval.hubs.hub_weights import HubWeights
from model_accuracy_eval.hubs.weights_listing import WeightsListing, parse_reference, refuse_size
from model_accuracy_eval.system.process_environment import Secret
from model_accuracy_eval.system.retry import HUB
from model_accuracy_eval.system.sizes import parse_size

TOKEN = "MARKER-token-not-real"


def measured(hub: FakeHub, reference: str, token: str = "") -> WeightsListing:
    return HubWeights(hub.environment, "", token=Secret(token, "model-token"), retry=QUICK).list_files(
        parse_reference(reference)
    )


def refusal(hub: FakeHub, reference: str, token: str = "") -> str:
    with pytest.raises(Refused) as refused:
        measured(hub, reference, token)
    return refused.value.sentence.replace(hub.hub.url, "HUB")


@pytest.mark.parametrize("source", ["hf", "ms"])
@pytest.mark.parametrize(("size", "passes"), [(99.9, True), (100, True), (100.1, False), (112.4, False)])
def test_the_limit_holds_by_metadata_alone(hub: FakeHub, source: str, size: float, passes: bool) -> None:
    """Exactly at the limit passes, more is refused with both numbers, and nothing was downloaded for it."""
    promised = round(size * 10**9) - 2
    hub.push("org/big", {"config.json": b"{}", "model.safetensors": Blob(b"", large=True, size=promised)})
    weights = measured(hub, f"{source}:org/big")
    if passes:
        refuse_size(weights, parse_size("100GB"))
    else:
        with pytest.raises(Refused, match=rf"^The weights are {size} GB, the limit is 100 GB") as refused:
            refuse_size(weights, parse_size("100GB"))
        assert refused.value.exit_code == 3
    assert weights.total == promised + 2
    assert hub.sent == {}
    assert hub.storage.requests == []


@pytest.mark.parametrize("source", ["hf", "ms"])
def test_a_branch_is_pinned_to_its_commit(hub: FakeHub, source: str) -> None:
    """The commit, every file's size and a hash are recorded; tags, branches with slashes and commits are revisions."""
    commit = hub.push(NAME, {"a": b"older"}, branch="refs/pr/1")
    assert measured(hub, f"{source}:{NAME}@refs/pr/1").commit == commit
    assert measured(hub, f"{source}:{NAME}@{commit}").commit == commit
    weights = measured(hub, f"{source}:{NAME}")
    assert weights.commit == hub.models[NAME].branches["main"]
    assert {file.path: file.size for file in weights.files} == {path: blob.length for path, blob in FILES.items()}
    assert {len(file.hash) for file in weights.files} == ({40, 64} if source == "hf" else {64})


@pytest.mark.parametrize("told", ["ShortId", ""])
def test_modelscope_may_tell_its_commit_in_short(hub: FakeHub, told: str) -> None:
    """The short id is completed from the files; without any the user is asked for the commit."""
    hub.commit_told = told
    if told:
        assert measured(hub, f"ms:{NAME}").commit == hub.models[NAME].branches["main"]
    hub.push(NAME, {"a": b"1"}, branch="other")
    if not told:
        assert refusal(hub, f"ms:{NAME}") == (
            "The hub does not say which commit ms:org/name is; name one yourself: org/name@<commit>."
        )


@pytest.mark.parametrize(
    ("reference", "token", "sentence"),
    [
        ("hf:org/none", "", "hf:org/none is private or does not exist at HUB: no token was given (model-token)."),
        ("hf:org/none", TOKEN, "There is no model 'org/none' at HUB (HTTP 404)."),
        ("hf:org/name@v9", "", "hf:org/name has no revision 'v9' at HUB."),
        ("hf:org/secret", "", "hf:org/secret is private or does not exist at HUB: no token was given (model-token)."),
        ("hf:org/secret", "wrong", "HUB does not accept the token (model-token), or it may not read hf:org/secret."),
        ("hf:org/gated", "", ("hf:org/gated is gated: no token was given, and the owner of the token (model-token) has "
         "to accept its terms at HUB/org/gated first.")),
        ("hf:org/gated", "other", ("hf:org/gated is gated: the owner of the token (model-token) has to accept its terms "
         "at HUB/org/gated first.")),
        ("ms:org/none", "", ("There is no model 'org/none' at HUB (HTTP 404); if it is private, no token was given "
         "(model-token).")),
        ("ms:org/name@v9", TOKEN, "There is no model 'org/name' at HUB, or it has no revision 'v9' (HTTP 404)."),
        ("ms:org/secret", "wrong", "The token (model-token) may not read ms:org/secret at HUB."),
    ],
)  # fmt: skip
def test_denials_say_which_token(hub: FakeHub, reference: str, token: str, sentence: str) -> None:
    """401, 403 and 404 are not tried again, and each is a sentence that says what to do."""
    hub.push("org/secret", {"a": b"1"}, token=TOKEN)
    hub.push("org/gated", {"a": b"1"}, token=TOKEN, gated=True)
    assert refusal(hub, reference, token) == sentence
    assert len(hub.hub.requests) <= 2


def test_the_hub_says_how_long_to_wait(hub: FakeHub) -> None:
    """A pause that the hub asks for stands in the place of our own, which would be ten minutes here."""
    hub.trouble = lambda exchange: (429, {"retry-after": "0"}) if exchange.number == 0 else None
    patient = replace(HUB, base=1200, cap=1200)
    assert HubWeights(hub.environment, "", retry=patient).list_files(parse_reference(f"hf:{NAME}")).files


def test_a_hub_that_is_not_there(hub: FakeHub) -> None:
    """Nobody listens: one sentence, with the address."""
    hub.hub.stop()
    assert refusal(hub, f"hf:{NAME}").startswith("HUB broke off or cannot be reached: ")


@pytest.mark.parametrize("path", ["../outside", "/etc/passwd", "a/../../b", "a//b", "a\\b", "a\nb", "."])
def test_names_that_leave_their_folder_are_refused(hub: FakeHub, path: str) -> None:
    """What a hub says becomes paths on this machine, so it is not believed."""
    hub.push("org/evil", {path: b"1"})
    assert refusal(hub, "hf:org/evil") == (
        f"hf:org/evil holds a file called {path!r}, which is not a safe name; it is not fetched."
    )


def test_a_stop_ends_the_question(hub: FakeHub) -> None:
    """What `check` raises comes out at once, though the hub would take a minute."""
    hub.trouble = lambda _: (429, {"retry-after": "60"})

    def check() -> None:
        if hub.hub.requests:
            raise Stopped(15, "SIGTERM")

    with pytest.raises(Stopped):
        HubWeights(hub.environment, "", check=check).list_files(parse_reference(f"hf:{NAME}"))


def test_a_folder_counts_every_byte_once(tmp_path: Path) -> None:
    """Links into a blob cache are followed, doubles and circles are not counted twice, a clone's .git not at all."""
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "main"
    blobs.mkdir()
    (snapshot / ".git").mkdir(parents=True)
    (blobs / "0a1b").write_bytes(b"x" * 1000)
    (snapshot / "model.safetensors").symlink_to("../../blobs/0a1b")
    (snapshot / "again.safetensors").symlink_to(blobs / "0a1b")
    os.link(blobs / "0a1b", snapshot / "hard")
    (snapshot / "circle").symlink_to(".", target_is_directory=True)
    (snapshot / "config.json").write_bytes(b"{}")
    (snapshot / ".git" / "objects").write_bytes(b"x" * 1000)
    weights = HubWeights({}, "").list_files(parse_reference(str(snapshot)))
    assert (weights.total, weights.commit) == (1002, None)
    with pytest.raises(Refused, match=r"^The weights are 1\.002 kB, the limit is 1\.001 kB"):
        refuse_size(weights, 1001)
    (blobs / "0a1b").unlink()
    (snapshot / "hard").unlink()
    with pytest.raises(Refused, match="which does not exist; the weights are incomplete"):
        HubWeights({}, "").list_files(parse_reference(str(snapshot)))


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    """A name without `hf:` is a path; the sentence says how a hub's name is written."""
    with pytest.raises(Refused, match=r"^The weights 'org/none' are not there; .* hf:org/name or ms:org/name"):
        HubWeights({}, "").list_files(parse_reference("org/none"))
    with pytest.raises(Refused, match="There are no files in"):
        HubWeights({}, "").list_files(parse_reference(str(tmp_path)))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The model is not given"), ("gs:org/name", "unknown kind 'gs'"), ("https://hf.co/a/b", "unknown kind 'https'"),
        ("hf:name", "no name of the form org/name"), ("hf:a/b/c", "no name of"), ("hf:../b", "no name of"), ("hf:a/b c", "no name"),
        ("hf:a/b@", "'' is not a branch"), ("hf:a/b@-x", "'-x' is not a branch"), ("ms:a/b@../../x", "is not a branch"), ("hf:a/b@x@y", "is no"),
    ],
)  # fmt: skip
def test_bad_references_are_refused(text: str, sentence: str) -> None:
    """What is no reference is refused with the three forms that are."""
    with pytest.raises(BadValue, match=sentence):
        parse_reference(text)


@pytest.mark.parametrize("source", ["hf", "ms"])
def test_what_the_hub_says_the_model_is_made_for(hub: FakeHub, source: str) -> None:
    """Hugging Face's tag and ModelScope's tasks are known with the files; a hub that says nothing says nothing."""
    hub.push("org/seeing", FILES, task_type="image-text-to-text")
    assert measured(hub, f"{source}:org/seeing").task_types == ("image-text-to-text",)
    assert measured(hub, f"{source}:{NAME}").task_types == ()


@pytest.mark.parametrize("status", [500, 404, 403])
def test_a_model_page_that_cannot_be_read_refuses_nothing(hub: FakeHub, status: int) -> None:
    """Not to know what a model is made for costs one request, and the model is measured all the same."""
    page = f"/api/v1/models/{NAME}"
    hub.trouble = lambda exchange: (status, {}) if exchange.path == page else None
    assert measured(hub, f"ms:{NAME}").task_types == ()
    assert hub.asked.count(f"GET {page}") == 1


def test_a_host_that_is_not_a_hub_is_named() -> None:
    """With the beginning of what it answers, as a login page does."""

    async def login_page(exchange: Exchange) -> None:
        exchange.reply(200, b"<html>Welcome</html>")

    with HttpServer(login_page) as server, pytest.raises(Refused) as error:
        HubWeights({"HF_ENDPOINT": server.url}, "", retry=QUICK).list_files(parse_reference(f"hf:{NAME}"))
    assert error.value.sentence == (
        f"{server.url} does not answer as a model hub does: b'<html>Welcome</html>' is not JSON."
    )


@pytest.mark.parametrize("source", ["hf", "ms"])
@pytest.mark.parametrize(
    "answer", ["{}", "[]", "null", '"text"', '{"sha": 1, "siblings": 2}', '{"Code": 200, "Data": {"Files": [7]}}']
)
def test_an_answer_of_another_shape_is_one_sentence(source: str, answer: str) -> None:
    """The sentence says what of it is wrong."""

    async def reply(exchange: Exchange) -> None:
        exchange.reply(200, answer)

    with HttpServer(reply) as server, pytest.raises(Refused) as error:
        environment = {"HF_ENDPOINT": server.url, "MODELSCOPE_ENDPOINT": server.url}
        HubWeights(environment, "", retry=QUICK).list_files(parse_reference(f"{source}:{NAME}"))
    assert error.value.sentence.startswith(f"{server.url} does not list the files of {source}:{NAME} (Expected `") or (
        "(Object missing required field `" in error.value.sentence
    )
