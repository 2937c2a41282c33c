"""Writes a run as one small file that can be committed: figures and per-problem counts, no reply and no answer."""

from collections.abc import Iterator
from typing import Any

import msgspec

from model_accuracy_eval.ports import Archive
from model_accuracy_eval.records.baseline import BASELINE_FORMAT
from model_accuracy_eval.reporting import manifest, results, runfile
from model_accuracy_eval.reporting.manifest import MANIFEST
from model_accuracy_eval.reporting.results import ResultsToCompare
from model_accuracy_eval.reporting.runfile import RUN_FILE, RunFile

_FACTS = ("model-accuracy-eval", "adapter", "weights")
"""What of the surroundings says which run it was; the rest is about a machine."""


def as_bytes(archive: Archive) -> bytes:
    """The file of a run. Lines are short and in the order of the problems, so that version control shows changes."""
    run = runfile.read(archive.read(RUN_FILE), archive.root)
    files: dict[str, Any] = {RUN_FILE: _plain(_shortened(run))}
    for dataset in run.judged:
        name = results.file(run.label, dataset)
        files[name] = _plain(_results(results.to_compare(archive, run.label, dataset)))
    encoded = {name: msgspec.json.encode(content) for name, content in files.items()}
    files[MANIFEST] = manifest.as_text(encoded, lambda name: (encoded[name],)).decode()
    return ("\n".join(_lines(files)) + "\n").encode()


def _plain(content: RunFile | ResultsToCompare) -> Any:
    """As it will be read again, so that its hash stays the same; problems without their empty fields."""
    plain = msgspec.json.decode(msgspec.json.encode(content))
    if "details" in plain:
        plain["details"] = [
            {key: value for key, value in each.items() if value not in ([], {})} for each in plain["details"]
        ]
    return plain


def _shortened(run: RunFile) -> RunFile:
    """Without addresses, paths, texts and what belongs to its own gates."""
    return msgspec.structs.replace(
        run,
        endpoint=None,
        detail="",
        seconds={},
        gates=(),
        comparison=None,
        environment={name: run.environment[name] for name in _FACTS if name in run.environment},
        service_notes=(),
        groups=msgspec.UNSET,
        datasets={
            name: msgspec.structs.replace(entry, sources=(), notes=None, ran=()) for name, entry in run.datasets.items()
        },
    )


def _results(dataset: ResultsToCompare) -> ResultsToCompare:
    rows = tuple(msgspec.structs.replace(row, certainty=None) for row in dataset.rows)
    return msgspec.structs.replace(dataset, rows=rows, notes=(), ran=(), readings=())


def _lines(files: dict[str, Any]) -> Iterator[str]:
    yield "{"
    yield f'"format": {_compact(BASELINE_FORMAT)}, "schema": 1, "files": {{'
    last = list(files)[-1]
    for name, content in files.items():
        comma = "" if name == last else ","
        if not isinstance(content, dict):
            yield f"{_compact(name)}: {_compact(content)}{comma}"
            continue
        yield f"{_compact(name)}: {{"
        entries = [f"{_compact(key)}: {_value(value)}" for key, value in content.items()]
        yield ",\n".join(entries)
        yield f"}}{comma}"
    yield "}}"


def _value(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return _compact(value)
    return "[\n" + ",\n".join(map(_compact, value)) + "\n]"


def _compact(value: Any) -> str:
    return msgspec.json.encode(value).decode()
