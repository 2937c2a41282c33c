"""The inputs in action.yml and the reusable workflows, from the tables in the code; what else stands there is written
by hand."""

import json
import re
from pathlib import Path

from model_accuracy_eval.commands.action_inputs import ROWS, SECRETS, SHOWN, WorkflowInputs
from model_accuracy_eval.commands.options import sentence
from model_accuracy_eval.settings import Setting, table

_ROOT = Path(__file__).parent.parent
_DEFAULTS = {
    "token": "${{ github.token }}",
    "label": "${{ toJSON(matrix) }}",  # Where a matrix runs several evaluations, each is called after what it varies.
    "artifact-name": "model-accuracy-eval",
}
"""All others stand in the sentence alone: the runner would hand them over like what somebody gave."""
_WORKFLOWS = {
    "evaluate.yml": ("runs-on", "environment", "attest"),
    "evaluate-matrix.yml": (
        "runs-on", "environment", "max-shards", "shard-minutes", "allow-missing", "app-id", "verdict-environment",
    ),
}  # fmt: skip
"""What each of them takes beside the action's inputs that are no secrets."""


def files() -> dict[Path, str]:
    """Each file as it has to be."""
    action = _ROOT / "action.yml"
    found = {action: _with_inputs(action, "", "".join(map(_input, SHOWN)))}
    rows = {row.name: row for row in (*ROWS.values(), *table(WorkflowInputs))}
    for name, own in _WORKFLOWS.items():
        names = [*(one for one in SHOWN if one not in SECRETS and one != "app-id"), *own]
        path = _ROOT / ".github" / "workflows" / name
        found[path] = _with_inputs(path, "    ", "".join(_called_input(rows[one]) for one in names))
    return found


def _with_inputs(path: Path, indent: str, inputs: str) -> str:
    """The file with these lines between `inputs:` and the next key of that depth."""
    text = path.read_text(encoding="utf-8")
    changed, count = re.subn(rf"(?<=^{indent}inputs:\n)(?:{indent}  .*\n)+", lambda _: inputs, text, flags=re.MULTILINE)
    assert count == 1, path
    return changed


def _input(name: str) -> str:
    told = SECRETS.get(name) or sentence(ROWS[name.replace("-", "_")])
    default = f"    default: {_DEFAULTS[name]}\n" if name in _DEFAULTS else ""
    return f"  {name}:\n    description: {json.dumps(told, ensure_ascii=False)}\n{default}"


def _called_input(row: Setting) -> str:
    """What the action has says the action."""
    if row.name in SHOWN and row.name != "app-id":
        default = f", default: {_DEFAULTS[row.name]}" if row.name == "artifact-name" else ""
        return f"      {row.name}: {{type: string{default}}}\n"
    kind = "boolean" if row.type is bool else "string"
    default = f"        default: {json.dumps(row.default if row.type is bool else _text(row.default))}\n"
    return f"      {row.name}:\n        description: {json.dumps(row.about)}\n        type: {kind}\n{default}"


def _text(default: object) -> str:
    return f"{default:g}" if isinstance(default, float) else str(default)
