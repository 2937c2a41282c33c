"""Comments that start and stop evaluations: read by the action, answered on a GitHub with a memory."""

import json
from pathlib import Path

import pytest
from tests.integration.action.tools import DISPATCHED
from tests.servers.fake_github import TOKEN, FakeGitHub
from tests.servers.fake_github_memory import SHA, pull
from tests.simulator.commands import pairs

from model_accuracy_eval.commands.action import ActionStep, act
from model_accuracy_eval.system.clock import SignalClock


def told(
    folder: Path, body: str, *, permission: str = "admin", author: str = "alice"
) -> tuple[int, dict[str, str], FakeGitHub]:
    """What the step makes of the comment: exit code, outputs, and the GitHub that it was about."""
    with FakeGitHub() as hub:
        hub.permissions[author] = (permission, permission)
        hub.pulls[7] = pull(7)
        number = hub.comment(author, body)
        event = {
            "action": "created",
            "issue": {"number": 7, "pull_request": {"url": "x"}},
            "comment": hub.comments[number],
        }
        (folder / "event.json").write_text(json.dumps(event))
        (folder / "output").write_text("")
        environment = {
            "GITHUB_API_URL": hub.url, "GITHUB_EVENT_NAME": "issue_comment", "INPUT_TOKEN": TOKEN, "GITHUB_OUTPUT": str(folder / "output"),
            "GITHUB_EVENT_PATH": str(folder / "event.json"), "INPUT_SETTINGS": "mode: command", "INPUT_LABEL": "null",
        }  # fmt: skip
        with ActionStep(DISPATCHED | environment, SignalClock()).parts() as parts:
            code = act(parts.context, parts)
    return code, pairs((folder / "output").read_bytes()), hub


@pytest.mark.parametrize(
    ("body", "given"),
    [
        ("/evaluate", {}),
        ("/evaluate gsm8k mmlu", {"datasets": "gsm8k,mmlu"}),
        (f"/evaluate gsm8k, math500 ,bbh model=hf:org/name@main {SHA}", {"datasets": "gsm8k,math500,bbh", "model": "hf:org/name@main"}),
        ('/evaluate gsm8k mmlu gate="gsm8k: avg@5 >= 70" model=hf:o/m', {"datasets": "gsm8k,mmlu", "gate": "gsm8k: avg@5 >= 70", "model": "hf:o/m"}),
        ("/evaluate gate='gsm8k: avg@5 >= 70' gate='gsm8k: cons@5 >= 60'", {"gate": "gsm8k: avg@5 >= 70\ngsm8k: cons@5 >= 60"}),
        ("/Evaluate demo_digits samples=3 task-type=image-text-to-text", {"datasets": "demo_digits", "samples": "3", "task-type": "image-text-to-text"}),
        ("/EVALUATE mmlu@mcqa", {"datasets": "mmlu@mcqa"}),
        (f"/evaluate  {SHA}  ", {}),
        ("/evaluate gsm8k\r\nplease", {"datasets": "gsm8k"}),
    ],
)  # fmt: skip
def test_an_admins_comment_starts_an_evaluation(tmp_path: Path, body: str, given: dict[str, str]) -> None:
    """In the words of the form; of the commit that is the head now, and of no other."""
    code, outputs, hub = told(tmp_path, body)
    assert (code, outputs) == (0, {"command": "evaluate", "commit": SHA, "datasets": "", **given})
    assert list(hub.reactions.values()) == [["rocket"]]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("/evaluate gsm8j", "no dataset called 'gsm8j'; did you mean gsm8k"),
        ("/evaluate gsm8k model=a model=b", "'model=' is there twice."),
        ("/evaluate gsm8k gates=x", "no word called 'gates='; did you mean gate="),
        ("/evaluate gsm8k gate='gsm8k: avg@5 => 70'", "is not a gate: write"),
        ("/evaluate gsm8k gate='x", "a quotation mark lacks its other"),
        ("/evaluate gsm8k samples=many", "'num-return-sequences' cannot be 'many'"),
        ("/evaluate gsm8k task-type=vision", "expected one of text-generation, image-text-to-text"),
        (f"/evaluate {SHA[:7]}", "A commit is written in full"),
        (f"/evaluate gsm8k {'f' * 40}", f"The head is another commit by now: read it, then say /evaluate {SHA}"),
        (f"/evaluate {SHA} gsm8k", "A commit is written in full"),
        *((text, "") for text in (
            "/evaluate; touch pwned", "/evaluate $(touch pwned)", "/evaluate `touch pwned`", "/evaluated", "/stop now",
            "/evaluate gsm8k --debug", "/evaluate hf:evil/rows", "/evaluate ../x.jsonl", "/evaluate tokens=1", "/evaluate *",
            "/evaluate ${{ secrets.X }}", "/evaluate gsm8k\u00a0x", "/evaluate gsm\u0412k", "/evaluate a\x0bcommand=stop", "/evaluate gsm8k,,mmlu",
        )),
    ],
)  # fmt: skip
def test_a_wrong_one_is_answered_with_a_sentence(tmp_path: Path, body: str, sentence: str) -> None:
    """Nothing is handed on, and the admin sees a confused face and why."""
    code, outputs, hub = told(tmp_path, body)
    assert (code > 0, outputs) == (True, {})
    assert list(hub.reactions.values()) == [["confused"]]
    (reply,) = hub.bodies("github-actions[bot]")
    assert reply.startswith("Nothing was done. ")
    assert sentence in reply


def test_rights_are_asked_before_anything_is_read(tmp_path: Path) -> None:
    """Write permission is not enough; an author may stop theirs and start none; others read nothing of their words."""
    for body, permission, author in (
        ("/evaluate", "write", "alice"), ("/stop", "write", "alice"), ("/evaluate", "write", "author"),
        ("/stop", "read", "author"), ("/evaluate @everybody [x](http://evil)", "read", "mallory"),
    ):  # fmt: skip
        code, outputs, hub = told(tmp_path, body, permission=permission, author=author)
        assert (code, outputs) == (3, {})
        (reply,) = hub.bodies("github-actions[bot]")
        assert reply.startswith("Nothing was done. `Evaluations are started and stopped by admins;")
    assert told(tmp_path, "/stop", permission="write", author="author")[1]["command"] == "stop"
