"""The only room that builds the parts of the outside world; every other room is handed them.

`plan_parts`: settings → plan · `run_parts`, `engines`: plan → ports · `sinks`: where results are published ·
`action_parts`: the action · `merge_parts`, `batch_parts`, `rescore_parts`, `…_checks`: the other commands.
"""

from pathlib import Path

from model_accuracy_eval.errors import BadReuse, BadValue
from model_accuracy_eval.ports import Archive
from model_accuracy_eval.run.build import fetching_hub as fetching_hub
from model_accuracy_eval.run.build import hub as hub
from model_accuracy_eval.run.build import trusted_python as trusted_python
from model_accuracy_eval.run.engines import ports as ports
from model_accuracy_eval.run.plan_parts import library as library
from model_accuracy_eval.run.plan_parts import plan as plan
from model_accuracy_eval.run_folder.run_archive import check_is_there, open_archive
from model_accuracy_eval.run_folder.run_folder import RunFolder
from model_accuracy_eval.system.clock import SignalClock


def run_folder(folder: str) -> RunFolder:
    """The folder of an earlier run."""
    check_is_there(folder)
    if not (Path(folder) / "run.json").is_file():
        raise BadReuse(f"'{folder}' is not the folder of a run: it has no run.json.")
    path = Path(folder)
    # `outputs/latest` is the run that it names: what is written there has the run's own name in it.
    return RunFolder(str(path.parent / path.readlink() if path.is_symlink() else path))


def run_archive(path: str) -> Archive:
    """The files of a run that has ended, a folder or a zip of one."""
    return open_archive(path)


def signal_clock() -> SignalClock:
    """Time, and the wish to stop; SIGINT, SIGTERM and SIGHUP are heard while its `listening()` is entered."""
    return SignalClock()


def example_adapter() -> Path:
    """The bundled adapter: inside the package when it is installed from a wheel, beside it in a checkout."""
    package = Path(__file__).parent.parent
    places = [package / "example_adapter", package.parent.parent / "example-adapter"]
    for place in places:
        if (place / "deploy.sh").is_file():
            return place
    raise BadValue(f"The example adapter is not installed; looked at {' and '.join(map(str, places))}.")
