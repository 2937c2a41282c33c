"""Opens a run for `export`, and writes its files."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from model_accuracy_eval import wiring
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.report import exports, lm_eval_results, model_card
from model_accuracy_eval.report.exports import ExportedRun, NamedFile, exported_run
from model_accuracy_eval.report.model_card import HubDataset
from model_accuracy_eval.rerender import kept_report

FORMS: dict[str, Callable[[ExportedRun, Mapping[str, HubDataset]], Iterable[NamedFile]]] = {
    "junit": lambda run, _: exports.junit(run),
    "model-card": model_card.files,
    "lm-eval": lambda run, _: lm_eval_results.files(run),
    "github-action-benchmark": lambda run, _: exports.benchmark_entries(run),
}


def exported(form: str, run: str, folder: str, hub_datasets: Iterable[str] = ()) -> Iterator[Path]:
    """Writes a run's files in this form; yields their paths."""
    hubs = model_card.parse(hub_datasets)
    archive = wiring.run_archive(run)
    for name, content in FORMS[form](exported_run(kept_report(archive), archive), hubs):
        yield _written(folder, name, content)


def _written(folder: str, name: str, content: bytes) -> Path:
    """A name may hold folders, made of names of models and datasets; none of them leads out of the folder."""
    path = Path(folder, *(part for part in name.split("/") if part.strip(".")))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise BadValue(f"{path} cannot be written: {error.strerror or error}.") from error
    return path
