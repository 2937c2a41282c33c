"""action.yml, the image's recipe and the workflows agree with the code, with their schemas and with good custom."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from model_accuracy_eval import sinks
from model_accuracy_eval.commands import init
from model_accuracy_eval.commands.action_context import ActionInputs
from model_accuracy_eval.commands.options import _help
from model_accuracy_eval.settings import Setting, table

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
SETTINGS = {setting.name: setting for setting in table()}
PROMISED = {
    "adapter-repository", "adapter-ref", "adapter-path", "token", "adapter-token", "model", "model-token",
    "max-weight-size", "task-type", "datasets", "num-return-sequences", "k", "limit", "concurrency",
    "generation", "hardware", "runtime", "adapter-image", "devices", "ready-timeout", "endpoint", "gate",
    "baseline", "max-failed-requests", "comment", "check", "status", "artifact-name", "retention-days", "label", "config", "debug",
}  # fmt: skip
OUTPUTS = {
    "conclusion", "exit-code", "report-path", "summary-json", "artifact-id", "artifact-url", "artifact-digest",
    "manifest-digest", "check-url", "comment-url", "commit", "shards",
}  # fmt: skip
HEAD = "0123456789abcdef0123456789abcdef01234567"


def workflow(name: str) -> dict[Any, Any]:
    loaded: dict[Any, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text())
    return loaded


def tool(name: str) -> str:
    """Checkers are development tools: CI has them or fails."""
    found = shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if not found and not os.environ.get("CI"):
        pytest.skip(f"{name} is not installed")
    assert found, f"{name} is not installed"
    return found


def run(*command: str, **kwargs: Any) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, **kwargs)


def test_everything_promised_is_there() -> None:
    """Inputs and outputs of the contract, in kebab-case, each with one sentence."""
    assert set(ACTION["inputs"]) >= PROMISED
    assert set(ACTION["outputs"]) == OUTPUTS
    for name, row in (ACTION["inputs"] | ACTION["outputs"]).items():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", name)
        assert re.search(r"[.\]]$", row["description"]), name


@pytest.mark.parametrize("name", sorted(set(ACTION["inputs"]) & set(SETTINGS)))
def test_inputs_that_are_settings_say_what_the_command_line_says(name: str) -> None:
    """Sentence and default, as `--help` has them.

    The default is in the sentence and not in a field of its own: the runner would hand it over like a value that
    somebody gave, and nothing in the `config` file could ever win over it.
    """
    assert ACTION["inputs"][name]["description"] == _help(SETTINGS[name])
    # Of a matrix, which no other input tells: it is no value unless there is one.
    assert ACTION["inputs"][name].get("default") == ("${{ toJSON(matrix) }}" if name == "label" else None)


@pytest.mark.parametrize("row", [*table(ActionInputs), *sinks.inputs()], ids=lambda row: row.name)
def test_other_inputs_say_what_their_tables_say(row: Setting) -> None:
    """Those of the adapter and of each sink, sentence and default."""
    said = ACTION["inputs"][row.name]
    assert said["description"] == row.about
    if row.default and row.name != "adapter-repository":
        assert yaml.safe_load(said["default"]) == row.default


def test_the_reusable_workflow_hands_on_what_the_action_takes() -> None:
    """Each of its inputs and secrets is an input of the action, and says what that says; the admitted commit is evaluated."""
    called = workflow("evaluate.yml")[True]["workflow_call"]
    own = {"runs-on", "environment", "attest"}
    for name, spec in called["inputs"].items():
        assert name in own or name in ACTION["inputs"], name
        assert spec["description"].endswith(".")
    assert set(called["secrets"]) <= set(ACTION["inputs"])
    admit, evaluate = (workflow("evaluate.yml")["jobs"][name] for name in ("admit", "evaluate"))
    assert evaluate["needs"] == "admit"
    (first,), (second,) = admit["steps"], evaluate["steps"]
    assert (first["with"]["admit-only"], admit["runs-on"]) == (True, "ubuntu-latest")
    assert second["with"]["adapter-ref"] == "${{ needs.admit.outputs.commit }}"
    assert set(second["with"]) >= {*called["inputs"], *called["secrets"]} - own


def test_the_matrix_hands_on_what_the_action_takes() -> None:
    """Every input reaches the job that needs it; shards get all that decides what is asked, and post nothing."""
    loaded = workflow("evaluate-matrix.yml")
    called, jobs = loaded[True]["workflow_call"], loaded["jobs"]
    own = {"runs-on", "environment", "verdict-environment"}
    secrets = {name.lower().replace("_", "-") for name in called["secrets"]}
    assert set(called["inputs"]) - own <= set(ACTION["inputs"])
    assert secrets <= set(ACTION["inputs"])
    steps = {
        name: [step for step in job["steps"] if "model-accuracy-eval" in step["uses"]] for name, job in jobs.items()
    }
    (admit, plan), (shard,), (merge,) = steps["plan"], steps["shard"], steps["merge"]
    handed = {name for step in (admit, plan, shard, merge) for name in step["with"]}
    assert handed >= {*called["inputs"], *secrets} - own
    # The key is where nothing of the adapter runs, and where a pull request's own workflow does not get it.
    assert [name for name, job in jobs.items() if "APP_PRIVATE_KEY" in str(job)] == ["merge"]
    assert jobs["merge"]["environment"] == "${{ inputs.verdict-environment }}"
    asked = set(workflow("evaluate.yml")["jobs"]["evaluate"]["steps"][0]["with"]) - {"gate", "require-gate"}
    assert set(shard["with"]) == asked | {"shard", "shards-path", "artifact-name"}
    assert {"pull-requests", "contents"} == set(jobs["shard"]["permissions"])
    assert set(jobs["shard"]["permissions"].values()) == {"read"}
    assert (admit["with"]["admit-only"], plan["with"]["mode"], merge["with"]["mode"]) == (True, "plan", "merge")
    assert {step["with"]["adapter-ref"] for step in (shard, merge)} == {"${{ needs.plan.outputs.commit }}"}
    assert jobs["shard"]["strategy"]["fail-fast"] is False
    assert {jobs[name]["runs-on"] for name in ("plan", "merge")} == {"ubuntu-latest"}


def test_the_action_starts_the_program_and_not_a_shell() -> None:
    """A shell in between would keep the runner's signals to itself."""
    recipe = (ROOT / "Dockerfile").read_text()
    assert ACTION["runs"]["using"] == "docker"
    assert ACTION["runs"]["image"] == "Dockerfile"
    assert ACTION["runs"]["args"] == ["action"]
    assert 'ENTRYPOINT ["model-accuracy-eval"]' in recipe
    assert ACTION["runs"]["post-entrypoint"] in recipe
    assert not re.search(r"^(USER|CMD|SHELL)\b", recipe, re.MULTILINE)


def test_the_images_versions_are_the_tested_ones() -> None:
    """Every requirement of the image stands in the development lock with the same version and hashes, and no address."""
    image, development = ((ROOT / name).read_text() for name in ("requirements-image.lock", "requirements.lock"))
    pins = re.findall(r"^(\S+==\S+)", image, re.MULTILINE)
    assert len(pins) > 10
    assert [pin for pin in pins if not re.search(rf"^{re.escape(pin)}\s", development, re.MULTILINE)] == []
    assert set(re.findall(r"sha256:\w+", image)) <= set(re.findall(r"sha256:\w+", development))
    assert "://" not in image


def test_the_schemas_accept_action_workflows_and_issue_forms() -> None:
    """As published for GitHub's files."""
    forms = ROOT / ".github" / "ISSUE_TEMPLATE"
    for schema, files in (
        ("workflows", WORKFLOWS),
        ("actions", [ROOT / "action.yml"]),
        ("dependabot", [ROOT / ".github" / "dependabot.yml"]),
        ("issue-config", [forms / "config.yml"]),
        ("issue-forms", sorted(set(forms.glob("*.yml")) - {forms / "config.yml"})),
    ):
        name = schema if schema == "dependabot" else f"github-{schema}"
        done = run(tool("check-jsonschema"), "--builtin-schema", f"vendor.{name}", *map(str, files))
        assert done.returncode == 0, done.stdout


def zizmor(*paths: str) -> "subprocess.CompletedProcess[str]":
    return run(tool("zizmor"), "--offline", "--no-progress", "--persona", "auditor", *paths)


def test_zizmor_finds_nothing() -> None:
    """Everything that an auditor would ask about: untrusted expansions, rights that are wide or without a reason, actions
    that are not pinned, new versions that are taken at once. What is ignored stands in the line, with its reason above."""
    done = zizmor("action.yml", ".github")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No findings to report" in done.stdout


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_are_careful(path: Path) -> None:
    """No right by default, other people's actions by their full commit, a limit of time, no expansion inside a script."""
    loaded = workflow(path.name)
    # What the called one's callers give, for the job that signs; its other jobs name theirs.
    called = "workflow_call" in loaded[True]
    signs = "attest" in loaded["jobs"]
    assert loaded.get("permissions") == (None if signs else {})
    # A called workflow would wait for a group that its caller holds.
    assert ("concurrency" in loaded) != called
    for name, job in loaded["jobs"].items():
        assert ("permissions" in job) != (signs and name == "attest")
        if "uses" in job:
            assert job["uses"] == "org/model-accuracy-eval/.github/workflows/evaluate.yml@v1"
            assert set(job["with"]) <= set(workflow("evaluate.yml")[True]["workflow_call"]["inputs"])
            continue
        assert job["timeout-minutes"] <= 360
        for step in job["steps"]:
            assert "${{" not in step.get("run", "")
            used = step.get("uses", "org/model-accuracy-eval@v1")
            assert used == "org/model-accuracy-eval@v1" or re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", used)
            assert set(step.get("with", {})) <= set(ACTION["inputs"]) or "model-accuracy-eval" not in used


def write_what_is_signed(tmp_path: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Runs the step of evaluate.yml that does it, as for a run that passed."""
    step = workflow("evaluate.yml")["jobs"]["attest"]["steps"][0]
    told = {
        "PATH": os.environ["PATH"], "RUNNER_TEMP": str(tmp_path), "CONCLUSION": "passed", "REPOSITORY": "acme/adapter",
        "COMMIT": HEAD, "MODEL": "hf:o/m", "DATASETS": "gsm8k", "GATE": "gsm8k: avg@5 >= 70\n", "MANIFEST": "ab" * 32,
        "FIGURES": '{"gsm8k": {"avg@5": 71.25}}', "ARTIFACT": "cd" * 32, "ACTIONS_ID_TOKEN_REQUEST_URL": "https://x",
    }  # fmt: skip
    assert set(step["env"]) < set(told)
    tool("jq")
    return run("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"], env=told | environment)


def test_the_verdict_is_signed_for_the_report(tmp_path: Path) -> None:
    """Verdict, commit, gate and figures, for manifest and zip; what is signed comes from the evaluation alone."""
    done = write_what_is_signed(tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "verdict.json").read_text()) == {
        "conclusion": "passed", "repository": "acme/adapter", "commit": HEAD, "model": "hf:o/m", "datasets": "gsm8k",
        "gate": "gsm8k: avg@5 >= 70\n", "figures": {"gsm8k": {"avg@5": 71.25}},
    }  # fmt: skip
    subjects = f"{'ab' * 32}  manifest.sha256\n{'cd' * 32}  model-accuracy-eval.zip\n"
    assert (tmp_path / "subjects").read_text() == subjects
    job = workflow("evaluate.yml")["jobs"]["attest"]
    write, attest = job["steps"]
    assert attest["uses"].startswith("actions/attest@")
    assert (job["needs"], job["runs-on"]) == ("evaluate", "ubuntu-latest")
    evaluated = ("CONCLUSION", "COMMIT", "FIGURES", "MANIFEST", "ARTIFACT")
    assert all(write["env"][name].startswith("${{ needs.evaluate.outputs.") for name in evaluated)


def test_who_wants_a_signature_has_to_give_the_right_to_it(tmp_path: Path) -> None:
    """The caller reads which permissions lack; nobody who attests nothing needs them."""
    done = write_what_is_signed(tmp_path, ACTIONS_ID_TOKEN_REQUEST_URL="")
    assert done.returncode == 1
    assert "attest needs id-token: write and attestations: write under permissions:" in done.stdout
    assert workflow("evaluate.yml")[True]["workflow_call"]["inputs"]["attest"]["default"] is False
    assert "id-token" not in workflow("accuracy.yml")["jobs"]["accuracy"]["permissions"]


def read_comment(
    tmp_path: Path, body: str, *, permission: str = "admin", author: str = "someone"
) -> tuple[int, dict[str, str], str]:
    """Runs the step that reads a comment, with a `gh` that answers as told and notes what it was asked."""
    step = workflow("accuracy-command.yml")["jobs"]["command"]["steps"][0]
    gh = tmp_path / "gh"
    gh.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n'
        f"case \"$*\" in *permission*) echo '{permission}';; *pulls*) echo '{HEAD} opener';; esac\n"
    )
    gh.chmod(0o755)
    (tmp_path / "output").write_text("")
    environ = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}", "GITHUB_REPOSITORY": "o/r", "GITHUB_OUTPUT": str(tmp_path / "output"),
        "BODY": body, "AUTHOR": author, "COMMENT": "5", "NUMBER": "7", "GH_TOKEN": "TEST-TOKEN",
        "GITHUB_SERVER_URL": "https://github.com",
    }  # fmt: skip
    done = run("bash", "-c", step["run"], env=environ)
    lines = (tmp_path / "output").read_text().splitlines()
    return done.returncode, dict(line.split("=", 1) for line in lines), (tmp_path / "asked").read_text()


@pytest.mark.parametrize(
    ("body", "datasets"),
    [
        ("/evaluate", "demo_arithmetic"),
        ("/evaluate gsm8k,demo_gsm8k", "gsm8k,demo_gsm8k"),
        (f"/evaluate gsm8k, math ,bbh model=hf:org/name@main {HEAD}", "gsm8k,math,bbh"),
        ("/Evaluate demo@mcqa", "demo@mcqa"),
        ("/EVALUATE mmlu@en, gsm8k", "mmlu@en,gsm8k"),
        (f"/evaluate gsm8k {HEAD}", "gsm8k"),
        (f"/evaluate {HEAD}", "demo_arithmetic"),
        ("/evaluate model=hf:org/name@main", "demo_arithmetic"),
        (f"/evaluate model=hf:org/name@main {HEAD}", "demo_arithmetic"),
        (f"/evaluate gsm8k,bbh model=hf:org/name@main {HEAD}", "gsm8k,bbh"),
        ("/evaluate gsm8k\r\nplease", "gsm8k"),
        ("/evaluate gsm8k \nplease", "gsm8k"),
        (f"/evaluate  {HEAD}  ", "demo_arithmetic"),
    ],
)
def test_an_admins_comment_starts_an_evaluation(tmp_path: Path, body: str, datasets: str) -> None:
    """Of the commit that is the head now, and of no other."""
    code, found, asked = read_comment(tmp_path, body)
    model = "hf:org/name@main" if "model=" in body else "hf:my-org/my-model"
    assert (code, found) == (0, {"command": "evaluate", "datasets": datasets, "model": model, "commit": HEAD})
    assert "content=rocket" in asked


@pytest.mark.parametrize(
    "body",
    [
        "/evaluate; touch pwned", "/evaluate $(touch pwned)", "/evaluate `touch pwned`", "/evaluated", "/stop now",
        "/evaluate gsm8k --debug", "/evaluate gsm8k main", "/evaluate ${{ secrets.X }}", "/evaluate a=b", "/evaluate a,,b",
        "/evaluate model=$(id)", "/evaluate model=a model=b", "/evaluate model=", "/evaluate a model=b\x0bcommit=c",
        "/evaluate a\x0bcommand=evaluate", "/evaluate *", "/evaluate --debug", "/evaluate ..", "/evaluate gsm8k\u00a0x",
        "/evaluate gsmВk", "/evaluate é", "/evaluate gsm8k model=hf:оrg/x", "/evaluate 'gsm8k'", "/evaluate model='a'",
        "/Evaluated", "/evaluate gsm8k math", "/evaluate ,gsm8k", "/evaluate @x", "/evaluate model=a gsm8k", f"/evaluate {HEAD} {HEAD}", f"/evaluate gsm8k {HEAD} {HEAD}",
        f"/evaluate {HEAD.upper()}", f"/evaluate gsm8k {HEAD.upper()}", f"/evaluate {HEAD[:7]}", f"/evaluate gsm8k,{HEAD[:12]}",
        f"/evaluate gsm8k,{HEAD}", "/evaluate abcdef0", "/stop\u00a0", f"/evaluate gsm8k {HEAD[:-1]}", f"/evaluate gsm8k {'f' * 40}",
    ],
)  # fmt: skip
def test_any_other_comment_starts_nothing(tmp_path: Path, body: str) -> None:
    """Nothing is run, nothing is handed on, and the commenter sees a confused face and a reply with nothing of theirs."""
    code, found, asked = read_comment(tmp_path, body)
    assert (code, found) == (1, {})
    assert "content=confused" in asked
    (reply,) = re.findall(r"repos/o/r/issues/7/comments -f body=(.*)", asked)
    assert re.fullmatch(r"Nothing was done\. (It is not|A commit is|The head is).*", reply)
    assert not list(ROOT.glob("pwned"))


def test_rights_are_asked_before_anything_starts(tmp_path: Path) -> None:
    """Write permission is not enough; the pull request's author may stop, but not start, and an outsider neither."""
    assert read_comment(tmp_path, "/evaluate", permission="write")[:2] == (1, {})
    assert read_comment(tmp_path, "/stop", permission="write")[:2] == (1, {})
    assert read_comment(tmp_path, "/evaluate", permission="write", author="opener")[:2] == (1, {})
    assert read_comment(tmp_path, "/stop", permission="read", author="opener")[:2] == (1, {})
    assert read_comment(tmp_path, "/stop", permission="write", author="opener")[1]["command"] == "stop"


SHOWN = {
    path: yaml.safe_load(text)
    for path, text in (
        *((path.name, path.read_text()) for path in WORKFLOWS),
        *(
            (f"{path.name} {number}", text)
            for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
            for number, text in enumerate(re.findall(r"```yaml\n(.*?)```", path.read_text(), re.DOTALL))
        ),
        ("init", init._WORKFLOW.format(model="m", datasets="d", image="i", gate="g")),
    )
}
"""Every workflow that people copy, whole or in part."""
OF_PULL_REQUESTS = [
    name
    for name, loaded in SHOWN.items()
    if isinstance(loaded, dict)
    and "pull_request" in ([on] if isinstance(on := loaded.get(True), str) else on or ())
    and "model-accuracy-eval" in str(loaded["jobs"])
]


def expression(text: str, context: dict[str, Any]) -> Any:
    """What GitHub makes of an expression of names, texts, `==`, `!=`, `!`, `&&`, `||` and `endsWith`."""

    def value(name: "re.Match[str]") -> str:
        found: Any = {"github": context}
        for part in name[0].split("."):
            found = (found or {}).get(part)
        return repr(found)

    text = re.sub(r"\bgithub\.[\w.]+", value, " ".join(text.split()))
    text = re.sub(r"!(?!=)", " not ", text.replace("&&", " and ").replace("||", " or "))
    return eval(text, {"endsWith": str.endswith})


@pytest.mark.parametrize("name", OF_PULL_REQUESTS)
def test_an_outsider_ends_nobodys_run(name: str) -> None:
    """A fork's push gets a group of its own and starts no job; a push to the repository's branch ends the run before it."""
    loaded = SHOWN[name]
    group = re.sub(r"\s+", " ", loaded["concurrency"]["group"])

    def of(repository: str, run: int) -> tuple[str, bool]:
        pull = {"number": 7, "head": {"repo": {"full_name": repository}}}
        about = {"event": {"pull_request": pull}, "event_name": "pull_request", "repository": "o/r", "head_ref": "b"}
        context = about | {"run_id": run, "ref": "refs/pull/7/merge"}
        text = re.sub(r"\$\{\{(.*?)\}\}", lambda found: str(expression(found[1], context)), group)
        guards = [job["if"] for job in loaded["jobs"].values() if "needs" not in job]
        return text, any(expression(guard, context) for guard in guards)

    assert of("o/r", 1) == of("o/r", 2)
    assert of("o/r", 1)[1]
    assert len({of("mallory/r", 1)[0], of("mallory/r", 2)[0], of("o/r", 1)[0]}) == 3
    assert not of("mallory/r", 1)[1]
    assert loaded["concurrency"]["cancel-in-progress"]


def test_there_are_such_workflows() -> None:
    """The README's, the guide's, that of `init` and the one to copy."""
    assert {"README.md", "action.md", "init", "accuracy.yml"} <= {name.partition(" ")[0] for name in OF_PULL_REQUESTS}


def test_a_report_without_a_zips_digest_is_signed_by_its_manifest(tmp_path: Path) -> None:
    """As where the artifact service has the earlier protocol alone."""
    assert write_what_is_signed(tmp_path, ARTIFACT="").returncode == 0
    assert (tmp_path / "subjects").read_text() == f"{'ab' * 32}  manifest.sha256\n"
