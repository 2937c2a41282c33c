"""`demo`: evaluates the bundled example adapter."""

import os
import sys
from pathlib import Path

import click

from model_accuracy_eval.commands.run import evaluate
from model_accuracy_eval.errors import BadValue

_DEMOS = {
    "text-generation": ("weights", "demo_arithmetic"),
    "image-text-to-text": ("weights-digits", "demo_digits"),
    "any-to-any": ("weights-digits", "demo_spoken"),
}
"""Task type → the example adapter's weights that can do it, and the dataset that they are asked."""


@click.command()
@click.option("--out", default="outputs", show_default=True, help="Folder under which the run's folder is made.")
@click.option("--port", default=8000, show_default=True, help="Port on which the example adapter serves.")
@click.option(
    "--task-type",
    type=click.Choice(list(_DEMOS)),
    default="text-generation",
    show_default=True,
    help="Whether the model adds, reads numbers from pictures, or reads them aloud.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Base seed of the samples.")
def demo(out: str, port: int, task_type: str, seed: int) -> None:
    """Evaluate the bundled example adapter: real, tiny models that learnt to add, and to read numbers from pictures.

    No network, no accelerator.
    """
    folder = _example_adapter()
    weights, dataset = _DEMOS[task_type]
    # The example's server needs NumPy, which this program's own environment has.
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])  # noqa: PTH120
    adapter = {"adapter": str(folder), "model": str(folder / weights), "task_type": task_type}
    evaluate({**adapter, "datasets": dataset, "out": out, "port": port, "seed": seed}, {**os.environ, "PATH": path})


def _example_adapter() -> Path:
    """Inside the package when it is installed from a wheel, beside it in a checkout."""
    package = Path(__file__).parent.parent
    places = [package / "example_adapter", package.parent.parent / "example-adapter"]
    for place in places:
        if (place / "deploy.sh").is_file():
            return place
    raise BadValue(f"The example adapter is not installed; looked at {' and '.join(map(str, places))}.")
