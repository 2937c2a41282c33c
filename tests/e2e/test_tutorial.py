"""Every command of the pages that newcomers follow, as they type it, with the output that the page shows."""

import re
import subprocess
import sys
from pathlib import Path

import yaml
from tests.e2e import command, documented
from tests.servers.fake_hub import FakeHub
from tests.servers.fault_server import FaultServer
from tests.waiting import free_port

DOCS = command.ROOT / "docs"


def with_adapter(folder: Path) -> dict[str, str]:
    """The example adapter lies in the folder, and serves on a port that is free."""
    (folder / "example-adapter").symlink_to(command.ADAPTER)
    return {"run example-adapter": f"run example-adapter --port {free_port()}"}


def test_the_tutorial(tmp_path: Path) -> None:
    """Its first part, exit codes included."""
    (part,) = re.findall(r"## The first quarter.*?\n## ", (DOCS / "tutorial.md").read_text(), re.DOTALL)
    assert documented.follow(part, tmp_path, with_adapter(tmp_path)) == 5


def test_own_metrics(tmp_path: Path) -> None:
    """The functions, tasks and rows that the page has its reader save do what it says."""
    page = (DOCS / "how-to/own-tasks.md").read_text()
    assert documented.follow(page, tmp_path, with_adapter(tmp_path)) == 4


def test_get_the_data(tmp_path: Path) -> None:
    """Against a hub with a dataset of the same form, over HTTP; what the page carries to another machine is enough there."""
    rows = b"".join(
        b'{"question": "What is %d + 1?", "answer": "#### %d"}\n' % (number, number + 1) for number in range(6)
    )
    _, _, page = (DOCS / "how-to/own-questions.md").read_text().partition("## A machine without a network")
    with FakeHub() as hub, FaultServer() as server:
        hub.push("datasets/my-team/sums", {"test.jsonl": rows})
        around = {**hub.environment, "MODEL_ACCURACY_EVAL_CACHE": str(tmp_path / "cache"), "NO_PROXY": "*"}
        stands_for = {"http://127.0.0.1:8000": server.url}
        assert documented.follow(page, tmp_path, stands_for, **around) == 7


def test_commands_for_other_ci_servers(tmp_path: Path) -> None:
    """Each file's lines are lines for a shell, as its server reads them: a run with a verdict, and tests to show."""
    page = (DOCS / "how-to/other-ci.md").read_text()
    gitlab, gitee = (yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL))
    (groovy,) = re.findall(r"```groovy\n(.*?)```", page, re.DOTALL)
    jenkins = [two or one for two, one in re.findall(r"""\bsh (?:"(.*)"|'(.*)')""", groovy)]
    scripts = [
        [*gitlab["accuracy"]["script"], *gitlab["accuracy"]["after_script"]],
        jenkins,
        gitee["stages"][0]["jobs"][0]["steps"][0]["command"],
    ]
    with FaultServer() as server:
        for number, lines in enumerate(scripts):
            folder = tmp_path / str(number)
            folder.mkdir()
            for line in lines:
                if "pip install" in line:
                    continue
                typed = re.sub(r"(?:\.venv/bin/)?model-accuracy-eval", f"{sys.executable} -m model_accuracy_eval", line)
                done = subprocess.run(
                    typed.replace("gsm8k", "demo_gsm8k"), shell=True, capture_output=True, text=True, check=False,
                    cwd=folder, env=command.environment(ENDPOINT=server.url, CI="true", MODEL_ACCURACY_EVAL_API_KEY="no-key"),
                )  # fmt: skip
                assert done.returncode == (1 if " run " in line else 0), done.stdout + done.stderr
            assert list(folder.glob("exported/junit.xml")) or lines is scripts[2]
