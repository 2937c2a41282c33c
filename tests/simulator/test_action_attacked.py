"""deploy.sh against the evaluator, in the real image: what the author of an adapter would try."""

import json

from tests.servers.fake_github import TOKEN
from tests.simulator.scene import BUNDLED_WEIGHTS, Scene

PROCESS = {
    "model": BUNDLED_WEIGHTS,
    "datasets": "demo_arithmetic",
    "limit": "5",
    "hardware": "any",
    "runtime": "process",
}

STEAL = r"""
for file in /proc/[0-9]*/environ; do tr '\0' '\n' < $file; done 2>/dev/null | grep -a INPUT_TOKEN && echo REACHED tokens
for file in /github/file_commands/* "$GITHUB_ENV" "$GITHUB_OUTPUT"; do
  echo "LD_PRELOAD=/tmp/evil.so" >> "$file" && echo REACHED $file
done 2>/dev/null
ls /github/file_commands > /dev/null 2>&1 && echo REACHED the names of command files
[ -w /var/run/docker.sock ] && echo REACHED the engine
ls /github/workspace/outputs/* > /dev/null 2>&1 && echo REACHED the run folder
touch /github/workspace/planted 2>/dev/null && echo REACHED the workspace
for process in /proc/[0-9]*; do
  [ "$(stat -c %u $process)" = "$(id -u)" ] && continue
  for file in environ mem maps auxv; do head -c 1 $process/$file && echo REACHED $process/$file; done
  for link in fd root/ cwd/; do ls $process/$link && echo REACHED $process/$link; done
  kill -CONT ${process#/proc/} && echo REACHED $process by a signal
  tr '\\0' ' ' < $process/cmdline
done 2>/dev/null
python3 -c 'import ctypes; ctypes.CDLL(None).ptrace(0x4206, 1, 0, 0) or print("REACHED ptrace")'
"""
REWRITE = """
(while sleep 0.05; do
  for file in /github/workspace/outputs/*/predictions/*/*.jsonl; do
    sed -i 's/WRONG/78/g' "$file"
  done
done) 2>/dev/null &
"""


def test_deploy_sh_reaches_no_token_no_engine_and_no_file_of_ours(scene: Scene) -> None:
    """It serves and is evaluated; everything that it tried beside that failed, and the report says whom it ran as."""
    script = (scene.adapter.folder / "deploy.sh").read_text()
    first, _, rest = script.partition("\n")
    scene.push({"deploy.sh": f"{first}\n{STEAL}{REWRITE}{rest}"})
    step = scene.run(PROCESS)
    assert step.exit_code == 0, step.text
    log = (scene.report(step) / "logs/deploy.log").read_text()
    assert "REACHED" not in log
    assert TOKEN not in log
    environment = json.loads((scene.report(step) / "run.json").read_text())["environment"]
    assert environment["deploy.sh"].endswith("who has no rights")
    assert not (scene.runner.workspace / "planted").exists()


def test_from_its_container_deploy_sh_sees_nothing_of_ours(scene: Scene, adapter_image: str) -> None:
    """It is root there, and alone: no process, socket or command file; what it writes stays in its own files."""
    look = r"""
for process in /proc/[0-9]*; do tr '\0' ' ' < $process/cmdline; echo; done | grep -a "[m]odel.accuracy" && echo REACHED a process
ls /var/run/docker.sock /github/file_commands /github/home && echo REACHED the runner
ls /github/workspace | grep -v weights && echo REACHED the workspace
touch /github/workspace/planted /github/workspace/weights/planted
mkdir -p /tmp/disk && mount -t tmpfs none /tmp/disk && echo REACHED mounts
mknod /tmp/memory c 1 1 && echo REACHED devices
env
"""
    scene.push({"deploy.sh": look + (scene.adapter.folder / "deploy.sh").read_text()})
    step = scene.run(scene.sibling(adapter_image))
    assert step.exit_code == 0, step.text
    log = (scene.report(step) / "logs/deploy.log").read_text()
    assert "PORT=8000" in log
    assert "REACHED" not in log
    assert TOKEN not in log
    assert not list(scene.runner.workspace.rglob("planted"))


def test_the_same_attack_succeeds_where_the_workflow_allows_it(scene: Scene) -> None:
    """`allow-unsafe` is what it says, and stands in the report. (So the test above can fail.)"""
    script = (scene.adapter.folder / "deploy.sh").read_text()
    first, _, rest = script.partition("\n")
    scene.push({"deploy.sh": f"{first}\n{STEAL}{rest}"})
    step = scene.run(PROCESS, allow_unsafe="true")
    log = (scene.report(step) / "logs/deploy.log").read_text()
    assert "REACHED tokens" in log
    assert "REACHED the run folder" in log
    environment = json.loads((scene.report(step) / "run.json").read_text())["environment"]
    assert environment["deploy.sh"].startswith("UNSAFE: ")
