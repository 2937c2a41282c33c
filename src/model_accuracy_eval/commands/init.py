"""`init`: the files with which an adapter's repository is evaluated, on a pull request and by hand."""

import json
import shlex
from pathlib import Path

import click
from click.core import ParameterSource

from model_accuracy_eval.errors import BadValue

_WORKFLOW = """\
# Evaluates this adapter. The gate decides whether the job fails.
name: accuracy
on:
  workflow_dispatch:
  pull_request:
permissions:
  contents: read
  pull-requests: write   # the comment
  checks: write          # the check run
  statuses: write        # the status, where checks are refused
# A push ends the run of the commit before it; a fork's push ends nothing, and reaches no runner by itself.
concurrency:
  group: accuracy-${{{{ github.event.pull_request.head.repo.full_name == github.repository &&
    github.event.pull_request.number || github.run_id }}}}
  cancel-in-progress: true
jobs:
  accuracy:
    if: github.event_name != 'pull_request' || github.event.pull_request.head.repo.full_name == github.repository
    runs-on: [self-hosted, npu]
    timeout-minutes: 360
    steps:
      - uses: org/model-accuracy-eval@v1
        with:
          model: {model}
          datasets: {datasets}
          adapter-image: {image}
          gate: {gate}
"""
_CONFIG = """\
# The same by hand: model-accuracy-eval run --config accuracy-eval.yaml
adapter: .
model: {model}
datasets: {datasets}
gate: {gate}
"""
_HARDWARE = """\
# What the repository's owners say that this adapter runs on.
hardware: npu
"""


@click.command(short_help="Write the files that evaluate an adapter's repository.")
@click.argument("folder", default=".")
@click.option("--model", default="hf:org/model@main", show_default=True, help="Weights, as for `run`.")
@click.option("--datasets", default="gsm8k", show_default=True, help="Datasets, separated by commas.")
@click.option("--gate", default="gsm8k: avg@5 >= 70", show_default=True, help="Condition that the results must meet.")
@click.option("--adapter-image", "image", default="ascend/vllm-ascend:latest", show_default=True,
              help="Container image that deploy.sh runs in.")  # fmt: skip
def init(folder: str, model: str, datasets: str, gate: str, image: str) -> None:
    """Write a workflow with a gate, the settings for runs by hand, and the repository's hardware type into FOLDER, the
    adapter's repository. Files that are there already are left as they are, and nothing is written then."""
    given = {"model": model, "datasets": datasets, "gate": gate, "image": image}
    texts = {name: json.dumps(text, ensure_ascii=False) for name, text in given.items()}  # JSON's texts are YAML's too
    files = {
        ".github/workflows/accuracy.yml": _WORKFLOW.format(**texts),
        "accuracy-eval.yaml": _CONFIG.format(**texts),
        "accuracy.yml": _HARDWARE,
    }
    root = Path(folder)
    if not (root / "deploy.sh").is_file():
        raise BadValue(f"'{folder}' is no adapter: it has no deploy.sh.", next_step="model-accuracy-eval init FOLDER")
    if there := [name for name in files if (root / name).exists()]:
        raise BadValue(
            f"In '{folder}' there is already {' and '.join(there)}; nothing was written.",
            next_step=f"cat {shlex.join(str(root / name) for name in there)}",
        )
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
        click.echo(str(root / name))
    source = click.get_current_context().get_parameter_source
    if examples := [name for name in given if source(name) is not ParameterSource.COMMANDLINE]:
        shown = ", ".join(f"{name} {given[name]}" for name in examples)
        click.echo(f"Nobody said otherwise, so these stand in it as examples, to be replaced: {shown}.")
