"""Published outputs judged again: a table of the published figures beside ours, from any folder of saved replies.

    python bench/parity.py FOLDER [--published FIGURES] [--data-dir DIR] [--output PAGE.md]

Every file is judged by `model-accuracy-eval rescore` in a process of its own. What cannot be judged is a row that says
why. FIGURES says of which file which figure was published, and where: bench/published.yaml is an example, and a CSV
file may have the columns file, task, metric, value, source, map and note. Without it, figures are those in the files
and in results files beside them.
"""

import argparse
import csv
import fnmatch
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import yaml

from model_accuracy_eval.benchmarks import dataset_table as tasks
from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.report.markdown import text
from model_accuracy_eval.rescoring.rescoring_result import read_figures
from model_accuracy_eval.rescoring.shapes.reply_files import open_replies
from model_accuracy_eval.system.local_files import PackedFile

RESCORE = [sys.executable, "-m", "model_accuracy_eval", "rescore", "--json"]
SUFFIXES = {".jsonl", ".json", ".gz", ".zip", ".eval"}
BESIDE = ("{stem}_eval_metrics.jsonl", "../results/{stem}.json", "../../results/{folder}/{stem}.json")
"""Where tools write the figures of a file of replies."""
OWN_FIGURE = re.compile(r"(pass|cons|avg)(@|_at_)|acc")
"""Names of figures that a file of replies may hold itself."""
_ROWS_TO_JOIN = 3
ABOUT = """\
Replies that others published, with the figures that they published for them, judged again by `rescore`. *differ*
counts samples whose value in the file is another one here; a dash stands where nothing was published. A reason is
stated only if it is [proven by counting again](../how-to/rescore.md#why-a-claim-differs); what follows it in
parentheses are the samples by class, and then a remark of people who looked. Outputs of one kind whose figures are all
the same here are one row, with their number."""
HEAD = ("file", "shape", "judged by", "figure", "published", "here", "samples / problems", "differ", "reason")


@dataclass(frozen=True, kw_only=True)
class Published:
    """What is known of a file beforehand."""

    file: str = ""
    """A pattern of its path below the folder."""
    task: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)
    source: str = ""
    map: str = ""
    note: str = ""
    """What a reader has to know about the figure."""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What the command printed about a file, or why it printed nothing."""

    file: str
    shape: str
    published: Published
    results: list[dict[str, Any]] = field(default_factory=list)
    failure: str = ""
    own_rows: bool = False
    """Whether the dataset's rows were refused because the file's differ, so that the file's own were taken."""


def read_published(path: Path) -> list[Published]:
    if path.suffix == ".csv":
        with path.open(encoding="utf-8-sig", newline="") as stream:
            return list(_of_csv(csv.DictReader(stream)))
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    return [Published(**entry) for entry in content]


def _of_csv(rows: Iterable[Mapping[str, str]]) -> Iterator[Published]:
    figures: dict[tuple[str, ...], dict[str, float]] = {}
    names = ("file", "task", "source", "map", "note")
    for row in rows:
        key = tuple((row.get(name) or "").strip() for name in names)
        of_file = figures.setdefault(key, {})
        if row.get("value"):
            of_file[(row.get("metric") or "accuracy").strip()] = float(row["value"])
    for key, of_file in figures.items():
        yield Published(**dict(zip(names, key, strict=True)), figures=of_file)


def find(folder: Path, published: Iterable[Published]) -> Iterator[tuple[Path, Published]]:
    """The files with what is known of each; without such a list, all that may hold replies, but no results beside."""
    entries = list(published)
    files = sorted(path for path in folder.rglob("*") if path.is_file() and SUFFIXES & set(path.suffixes))
    results = {place for path in files for place in _beside(path)}
    for path in files:
        if path.resolve() in results:
            continue
        name = path.relative_to(folder).as_posix()
        first = next((entry for entry in entries if fnmatch.fnmatch(name, entry.file)), None)
        if not entries:
            yield path, Published()
        elif first:
            yield from ((path, entry) for entry in entries if entry.file == first.file)


def judge(path: Path, name: str, published: Published, options: argparse.Namespace) -> Judged:
    """By the task that is named, by those that the path names, by the file itself: the first that is not refused.

    Where the dataset's rows contradict the file's, as other versions of a dataset do, the file's own are tried.
    """
    try:
        shape = open_replies(PackedFile(path, name), _field_map(published.map)).shape.name
    except EvalError as error:
        return Judged(file=name, shape="", published=published, failure=error.sentence)
    except Exception as error:  # noqa: BLE001 - a file of strangers must not end the table
        return Judged(file=name, shape="", published=published, failure=f"{type(error).__name__}: {error}")
    failures: list[str] = []
    for task in [published.task] if published.task else [*_tasks_in(name), ""]:
        for data_dir in [options.data_dir, ""] if options.data_dir else [""]:
            results, failure = _rescored(path, task, data_dir, published, options)
            if results:
                own = bool(options.data_dir) > bool(data_dir)
                return Judged(file=name, shape=shape, published=published, results=results, own_rows=own)
            failures.append(failure)
            if "contradict" not in failure:
                break
    return Judged(file=name, shape=shape, published=published, failure=failures[0])


def timed(path: Path, published: Published, options: argparse.Namespace) -> Judged:
    """Says on standard error how long it took."""
    began, name = monotonic(), path.relative_to(options.folder).as_posix()
    judged = judge(path, name, published, options)
    print(f"{monotonic() - began:6.0f} s  {name}  {judged.failure}", file=sys.stderr, flush=True)
    return judged


def _field_map(fields: str) -> dict[str, str]:
    return dict(entry.split("=", 1) for entry in fields.split(",")) if fields else {}


def _tasks_in(name: str) -> list[str]:
    """The datasets that the path names: those with the longest names first."""
    words = re.split(r"[^A-Za-z0-9+#]+", name)
    runs = ("_".join(words[start:end]) for start in range(len(words)) for end in range(start + 1, start + 7))
    named = {tasks.canonical(run) or "" for run in runs} & tasks.TASKS.keys()
    return sorted(named, key=len, reverse=True)[:3]


def _rescored(
    path: Path, task: str, data_dir: str, published: Published, options: argparse.Namespace
) -> tuple[list[dict[str, Any]], str]:
    with tempfile.TemporaryDirectory() as folder:
        command = [*RESCORE, str(path)]
        if figures := {name: float(value) for name, value in published.figures.items()} or _figures_of(path):
            claimed = Path(folder, "figures.json")
            claimed.write_text(json.dumps(figures), encoding="utf-8")
            command += ["--claimed", str(claimed)]
        command += ["--task", task] if task else []
        command += ["--map", published.map] if published.map else []
        command += ["--data-dir", data_dir] if data_dir else []
        command += options.rescore
        shown = json.dumps([str(path), *command[len(RESCORE) + 1 :], figures]).replace(folder, "")
        kept = options.keep and options.keep / f"{hashlib.sha256(shown.encode()).hexdigest()[:16]}.json"
        if kept and kept.is_file():
            return json.loads(kept.read_bytes()), ""
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=options.seconds, check=False)
        except subprocess.TimeoutExpired:
            return [], f"Not judged within {options.seconds} s."
    if done.returncode == 0:
        if kept:
            kept.write_text(done.stdout, encoding="utf-8")
        return json.loads(done.stdout), ""
    lines = [line for line in done.stderr.splitlines() if line.strip()] or [f"exit code {done.returncode}"]
    return [], next((line for line in lines if line.startswith("Error")), lines[-1])


def _figures_of(path: Path) -> dict[str, float]:
    """Those of a results file of the same name, or of the file itself, if it is an object with figures."""
    for place in [*_beside(path), *([path] if path.suffix == ".json" else [])]:
        try:
            figures = read_figures(place.read_bytes(), place.name)
        except (OSError, EvalError):
            continue
        if place != path or all(OWN_FIGURE.match(name) for name in figures):
            return figures
    return {}


def _beside(path: Path) -> list[Path]:
    stem = path.name.split(".")[0] if path.suffix in {".gz", ".zip"} else path.stem
    places = [path.parent / name.format(stem=stem, folder=path.parent.name) for name in BESIDE]
    return [place.resolve() for place in places if place.resolve() != path.resolve()]


def rows(judged: Judged) -> Iterator[tuple[str, ...]]:
    """One for every published figure; without any, one for our first."""
    for result in judged.results:
        claimed = [figure for figure in result["figures"] if figure["claimed"] is not None]
        figures = [figure for figure in claimed if figure["ours"] is not None or not figure["causes"]] or result[
            "figures"
        ][:1]
        for place, figure in enumerate(figures):
            yield (
                judged.file if result["filter"] == "none" else f"{judged.file}, {result['filter']}",
                judged.shape,
                f"{result['scoring']}, by the file's own rows" if judged.own_rows else result["scoring"],
                figure["metric"],
                "–" if figure["claimed"] is None else f"{figure['claimed']:.6g}",
                "–" if figure["ours"] is None else f"{figure['ours']:.2f}",
                f"{result['samples']:,} / {result['problems']:,}",
                f"{result['differing']:,}" if result["differing"] or figure["claimed"] is not None else "",
                _reason(judged, result, figure) if place == 0 or figure["why"] else "",
            )


def _reason(judged: Judged, result: Mapping[str, Any], figure: Mapping[str, Any]) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in result["kinds"].items())
    parts = [figure["why"], f"({kinds})" if kinds else "", judged.published.note]
    return " ".join(part for part in parts if part)


def joined(body: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Many rows whose figures are all the same here become one row: readers look for those that differ."""
    groups: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for place, row in enumerate(body):
        repository = tuple(row[0].split("/")[:-1][:2])
        groups.setdefault((*repository, *row[1:4]) if _is_same(row) else (str(place),), []).append(row)
    kept: list[tuple[str, ...]] = []
    for rows_of in groups.values():
        if len(rows_of) < _ROWS_TO_JOIN:
            kept += rows_of
            continue
        folder, count = os.path.commonpath([row[0] for row in rows_of]), len(rows_of)
        counts = [[int(number.replace(",", "")) for number in row[6].split(" / ")] for row in rows_of]
        sums = " / ".join(f"{sum(column):,}" for column in zip(*counts, strict=True))
        kept.append((f"{folder} ({count} outputs)", *rows_of[0][1:4], f"{count} figures", "the same", sums, "0", ""))
    return kept


def _is_same(row: tuple[str, ...]) -> bool:
    """Whether the published figure is ours but for the way it is written, and no verdict differs."""
    differ, reason = row[-2:]
    return differ == "0" and (not reason or reason.endswith((" as a share of 1.", " rounded.")))


def page(judged: Iterable[Judged], title: str) -> str:
    """The table, where figures were published, and the files that were not judged."""
    files = list(judged)
    body = joined(row for one in files for row in rows(one))
    note = "<!-- Made by bench/parity.py, which says how. -->"
    lines = [f"# {title}", "", note, "", ABOUT, "", _cells(HEAD), "|" + "---|" * len(HEAD), *map(_cells, body)]
    sources: dict[str, dict[str, None]] = {}
    for one in files:
        if one.published.source:
            sources.setdefault(one.published.source, {})[f"`{one.published.file}`"] = None
    if sources:
        lines += ["", "## Where the files are", ""]
        lines += [
            f"- {source}: {', '.join(names) if len(names) <= _ROWS_TO_JOIN else f'{len(names)} files'}"
            for source, names in sources.items()
        ]
    if refused := [one for one in files if not one.results]:
        lines += ["", "## Not judged", "", _cells(("file", "why")), "|---|---|"]
        lines += [_cells((one.file, one.failure)) for one in refused]
    return "\n".join(lines) + "\n"


def _cells(cells: Iterable[str]) -> str:
    return f"| {' | '.join(text(cell, 600) for cell in cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--published", type=Path, help="figures that were published, as YAML or CSV")
    parser.add_argument("--data-dir", help="folder of the datasets' files")
    parser.add_argument("--output", type=Path, help="the page to write; default: print it")
    parser.add_argument("--title", default="Published outputs, judged again")
    parser.add_argument("--jobs", type=int, default=1, help="files that are judged at the same time")
    parser.add_argument("--seconds", type=int, default=3600, help="the longest that one file may take")
    parser.add_argument("--keep", type=Path, help="folder in which results are kept, so that an ended run can go on")
    parser.add_argument("rescore", nargs="*", help="further options of rescore, behind --")
    options = parser.parse_args()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    if not options.folder.is_dir():
        parser.error(f"there is no folder {options.folder}")
    files = list(find(options.folder, read_published(options.published) if options.published else []))
    with ThreadPoolExecutor(options.jobs) as pool:
        judged = pool.map(lambda one: timed(one[0], one[1], options), files)
        table = page(judged, options.title)
    if options.output:
        options.output.write_text(table, encoding="utf-8")
    else:
        print(table, end="")


if __name__ == "__main__":
    main()
