"""`init`: the files with which an adapter's repository is evaluated, on a pull request, by a form and by a comment."""

import json
import shlex
from importlib.resources import files
from pathlib import Path

import click
from click.core import ParameterSource

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.run.accuracy_file import FILE

WORKFLOWS = ("model-accuracy.yml", "model-accuracy-command.yml")
_FILE = """\
# What is evaluated, and what it has to meet. It counts as it is on the default branch, so no pull request loosens it.
hardware: npu # what the repository's owners say that this adapter runs on
settings: # of every model: any setting or input of the action by its name
  adapter-image: {image}
  weights-dir: .weights # a folder of the workspace, which stays from run to run
  datasets: {datasets}
  gate: {gate}
models:
  my-model:
    model: {model}
"""


@click.command(short_help="Write the files that evaluate an adapter's repository.")
@click.argument("folder", default=".")
@click.option("--model", default="hf:org/model@main", show_default=True, help="Weights, as for `run`.")
@click.option("--datasets", default="gsm8k", show_default=True, help="Datasets, separated by commas.")
@click.option("--gate", default="gsm8k: avg >= 70", show_default=True, help="Condition that the results must meet.")
@click.option("--adapter-image", "image", default="ascend/vllm-ascend:latest", show_default=True,
              help="Container image that deploy.sh runs in.")  # fmt: skip
def init(folder: str, model: str, datasets: str, gate: str, image: str) -> None:
    """Write two workflows, and the file that says what is evaluated and what it has to meet, into FOLDER, the adapter's
    repository. Files that are there already are left as they are, and nothing is written then."""
    given = {"model": model, "datasets": datasets, "gate": gate, "image": image}
    texts = {name: json.dumps(text, ensure_ascii=False) for name, text in given.items()}  # JSON's texts are YAML's too
    written = {FILE: _FILE.format(**texts)}
    for name in WORKFLOWS:
        text = (files("model_accuracy_eval.commands") / "workflows" / name).read_text(encoding="utf-8")
        written[f".github/workflows/{name}"] = text
    root = Path(folder)
    if not (root / "deploy.sh").is_file():
        raise BadValue(f"'{folder}' is no adapter: it has no deploy.sh.", next_step="model-accuracy-eval init FOLDER")
    if there := [name for name in written if (root / name).exists()]:
        raise BadValue(
            f"In '{folder}' there is already {' and '.join(there)}; nothing was written.",
            next_step=f"cat {shlex.join(str(root / name) for name in there)}",
        )
    for name, text in written.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
        click.echo(str(root / name))
    source = click.get_current_context().get_parameter_source
    if examples := [name for name in given if source(name) is not ParameterSource.COMMANDLINE]:
        shown = ", ".join(f"{name} {given[name]}" for name in examples)
        click.echo(f"Nobody said otherwise, so these stand in {FILE} as examples, to be replaced: {shown}.")
