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
from docs import action_files
from tests.simulator.workflow import expression

from model_accuracy_eval.commands.action_inputs import ROWS, SECRETS
from model_accuracy_eval.commands.action_inputs import SHOWN as INPUTS

ROOT = Path(__file__).parent.parent
COPIED = ROOT / "src" / "model_accuracy_eval" / "commands" / "workflows"
"""Those that `init` writes into an adapter's repository."""
WORKFLOWS = sorted([*(ROOT / ".github" / "workflows").glob("*.yml"), *COPIED.glob("*.yml")])
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
PROMISED = {
    "adapter-repository", "adapter-ref", "adapter-path", "token", "adapter-token", "model", "model-token",
    "max-weight-size", "task-type", "datasets", "num-return-sequences", "k", "limit", "concurrency",
    "generation", "hardware", "runtime", "adapter-image", "devices", "ready-timeout", "endpoint", "gate",
    "baseline", "max-failed-requests", "comment", "check", "status", "artifact-name", "retention-days", "label", "config", "debug",
}  # fmt: skip
OUTPUTS = {
    "conclusion", "exit-code", "report-path", "summary-json", "artifact-id", "artifact-url", "artifact-digest",
    "manifest-digest", "check-url", "comment-url", "commit", "shards", "evaluations", "models",
}  # fmt: skip
HEAD = "0123456789abcdef0123456789abcdef01234567"


def workflow(name: str) -> dict[Any, Any]:
    (path,) = [path for path in WORKFLOWS if path.name == name]
    loaded: dict[Any, Any] = yaml.safe_load(path.read_text())
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
    """What people set is an input, at most 25 of them; what was promised once and is no input is a line of `settings`."""
    assert len(ACTION["inputs"]) <= 25
    assert set(ACTION["inputs"]) <= {*(row.name for row in ROWS.values()), *SECRETS}
    assert PROMISED - set(ACTION["inputs"]) <= {row.name for row in ROWS.values()}
    assert set(ACTION["outputs"]) == OUTPUTS
    for name, row in (ACTION["inputs"] | ACTION["outputs"]).items():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", name)
        assert re.search(r"[.\]]$", row["description"]), name


@pytest.mark.parametrize("path", action_files.files(), ids=lambda path: path.name)
def test_the_inputs_are_those_of_the_table(path: Path) -> None:
    """`make docs` would change nothing in action.yml and the reusable workflows."""
    assert path.read_text() == action_files.files()[path]


@pytest.mark.parametrize("name", ["evaluate.yml", "evaluate-matrix.yml"])
def test_a_reusable_workflow_hands_on_all_that_it_is_given(name: str) -> None:
    """Every step of ours gets all inputs at once, and secrets where they are needed; the admitted commit is evaluated."""
    loaded = workflow(name)
    called, jobs = loaded[True]["workflow_call"], loaded["jobs"]
    assert set(called["inputs"]) >= set(INPUTS) - set(SECRETS) - {"app-id"}
    steps = {
        key: [step for step in job.get("steps", []) if "model-accuracy-eval" in step.get("uses", "")]
        for key, job in jobs.items()
    }
    every = [step for found in steps.values() for step in found]
    whole = "inputs: ${{ toJSON(inputs) }}"
    # Of what it gets, the step that admits makes the settings of each evaluation.
    made = re.compile(r"\$\{\{ (matrix|fromJSON\(\w+\.\w+\.outputs\.evaluations\)\[0\])\.settings \}\}")
    assert all(whole in (block := step["with"]["settings"]) or made.search(block) for step in every)
    assert whole in every[0]["with"]["settings"]
    admit, *others = every
    assert ("mode: admit" in admit["with"]["settings"], next(iter(jobs.values()))["runs-on"]) == (True, "ubuntu-latest")
    assert all(step["with"]["adapter-ref"].endswith(".outputs.commit }}") for step in others)
    assert {step["with"].get("adapter-token") for step in every} == {"${{ secrets.adapter-token }}"}
    on_npus = [step for key, found in steps.items() for step in found if "fromJSON" in jobs[key]["runs-on"]]
    assert [step["with"]["model-token"] for step in on_npus] == ["${{ secrets.model-token }}"]
    # The key is where nothing of the adapter runs, and where a pull request's own workflow does not get it.
    assert {key for key, job in jobs.items() if "APP_PRIVATE_KEY" in str(job)} <= {"merge"}


def test_shards_post_nothing() -> None:
    """The merged run has the verdict: one check, one comment."""
    jobs = workflow("evaluate-matrix.yml")["jobs"]
    assert jobs["merge"]["environment"] == "${{ inputs.verdict-environment }}"
    assert {"pull-requests", "contents"} == set(jobs["shard"]["permissions"])
    assert set(jobs["shard"]["permissions"].values()) == {"read"}
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
    done = zizmor("action.yml", ".github", *(str(path) for path in COPIED.iterdir()))
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
        "FIGURES": '{"gsm8k": {"avg@5": 71.25}}', "ARTIFACT": "cd" * 32, "ACTIONS_ID_TOKEN_REQUEST_URL": "https://x", "MODELS": "1",
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
    assert (job["needs"], job["runs-on"]) == (["admit", "evaluate", "verdict"], "ubuntu-latest")
    evaluated = ("CONCLUSION", "COMMIT", "FIGURES", "MANIFEST", "ARTIFACT")
    assert all(write["env"][name].removeprefix("${{ ").startswith("needs.") for name in evaluated)


def test_the_joint_verdict_is_signed_for_each_report(tmp_path: Path) -> None:
    """Of several models, with how each fared; one that has left no run is told, and has nothing to sign."""
    models = {
        "a": {"name": "a", "manifest": "ab" * 32},
        "b": {"name": "b", "manifest": ""},
        "c": {"name": "c", "manifest": "cd" * 32},
    }
    done = write_what_is_signed(tmp_path, MODELS="3", CONCLUSION="failed", FIGURES=json.dumps(models))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "subjects").read_text() == f"{'ab' * 32}  a/manifest.sha256\n{'cd' * 32}  c/manifest.sha256\n"
    signed = json.loads((tmp_path / "verdict.json").read_text())
    assert (signed["conclusion"], signed["figures"]) == ("failed", models)


def test_who_wants_a_signature_has_to_give_the_right_to_it(tmp_path: Path) -> None:
    """The caller reads which permissions lack; nobody who attests nothing needs them."""
    done = write_what_is_signed(tmp_path, ACTIONS_ID_TOKEN_REQUEST_URL="")
    assert done.returncode == 1
    assert "attest needs id-token: write and attestations: write under permissions:" in done.stdout
    assert workflow("evaluate.yml")[True]["workflow_call"]["inputs"]["attest"]["default"] is False
    assert "id-token" not in workflow("model-accuracy.yml")["jobs"]["accuracy"]["permissions"]


SHOWN = {
    path: yaml.safe_load(text)
    for path, text in (
        *((path.name, path.read_text()) for path in WORKFLOWS),
        *(
            (f"{path.name} {number}", text)
            for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
            for number, text in enumerate(re.findall(r"```yaml\n(.*?)```", path.read_text(), re.DOTALL))
        ),
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


@pytest.mark.parametrize("name", OF_PULL_REQUESTS)
def test_an_outsider_ends_nobodys_run(name: str) -> None:
    """A fork's push gets a group of its own and starts no job; a push to the repository's branch ends the run before it."""
    loaded = SHOWN[name]
    group = re.sub(r"\s+", " ", loaded["concurrency"]["group"])

    def of(repository: str, run: int) -> tuple[str, bool]:
        pull = {"number": 7, "head": {"repo": {"full_name": repository}}}
        about = {"event": {"pull_request": pull}, "event_name": "pull_request", "repository": "o/r", "head_ref": "b"}
        context = about | {"run_id": run, "ref": "refs/pull/7/merge"}
        text = re.sub(r"\$\{\{(.*?)\}\}", lambda found: str(expression(found[1], {"github": context})), group)
        guards = [job["if"] for job in loaded["jobs"].values() if "needs" not in job]
        return text, any(expression(guard, {"github": context}) for guard in guards)

    assert of("o/r", 1) == of("o/r", 2)
    assert of("o/r", 1)[1]
    assert len({of("mallory/r", 1)[0], of("mallory/r", 2)[0], of("o/r", 1)[0]}) == 3
    assert not of("mallory/r", 1)[1]
    assert loaded["concurrency"]["cancel-in-progress"]


def test_there_are_such_workflows() -> None:
    """The README's, and the one to copy."""
    assert {"README.md", "model-accuracy.yml"} <= {name.partition(" ")[0] for name in OF_PULL_REQUESTS}


def test_a_report_without_a_zips_digest_is_signed_by_its_manifest(tmp_path: Path) -> None:
    """As where the artifact service has the earlier protocol alone."""
    assert write_what_is_signed(tmp_path, ARTIFACT="").returncode == 0
    assert (tmp_path / "subjects").read_text() == f"{'ab' * 32}  manifest.sha256\n"
