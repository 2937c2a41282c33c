"""`view`: the runs of a folder on a page in the browser: a temporary file, no server."""

import shutil
import tempfile
import time
import webbrowser
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import click

from model_accuracy_eval.commands.options import told, unverified_option, write
from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.report import figures, page
from model_accuracy_eval.report.endings import CONCLUSIONS
from model_accuracy_eval.report.languages import say
from model_accuracy_eval.run_folder import kept_run, runfile
from model_accuracy_eval.run_folder.manifest import MANIFEST
from model_accuracy_eval.run_folder.run_archive import open_archive
from model_accuracy_eval.run_folder.run_folder import find_runs
from model_accuracy_eval.run_folder.runfile import RUN_FILE, RunFile

_PREFIX = "model-accuracy-eval-view-"
_KEPT_SECONDS = 86_400
"""How long a page stays, which a browser may still show."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedRun:
    """One run of the folder; `page` is the address of its own page, where it has one."""

    place: str
    run: RunFile
    page: str
    doubts: tuple[str, ...] = ()

    @property
    def figures(self) -> list[tuple[str, str, str]]:
        """Dataset, name and value of each dataset's first figure: the average of all samples, where there is one."""
        shown = []
        for dataset, entry in self.run.datasets.items():
            if entry.metrics:
                name = next((name for name in entry.metrics if name.startswith("avg@")), next(iter(entry.metrics)))
                shown.append((dataset, name, figures.number(entry.metrics[name])))
        return shown


@click.command()
@click.argument("folder", default="outputs")
@click.option("--no-browser", is_flag=True, help="Print the page's address and open nothing.")
@unverified_option
def view(folder: str, *, no_browser: bool, unverified: bool) -> None:
    """List the runs under FOLDER (default: outputs), zips of runs included, on a page that opens each run's own.

    The page is a temporary file that this account alone can read, for a day; nothing is written to FOLDER.
    """
    paths = list(find_runs(folder))
    for old in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # another account's
            if time.time() - old.stat().st_mtime > _KEPT_SECONDS:
                shutil.rmtree(old)
    place = Path(tempfile.mkdtemp(prefix=_PREFIX))
    runs: list[ListedRun] = []
    unreadable: list[str] = []
    for number, path in enumerate(paths):
        try:
            runs += _listed(path, place / str(number), unverified=unverified)
        except EvalError as error:  # noqa: PERF203 - each is told
            click.echo(f"Left out: {error.sentence}", err=True)
            unreadable.append(error.sentence)
    listing = place / "runs.html"
    ordered = sorted(runs, key=lambda listed: listed.run.started, reverse=True)
    verdicts: dict[str, str] = {name: say(text.words) for name, text in CONCLUSIONS.items()} | {
        "running": say("Running")
    }
    values = {"folder": folder, "runs": ordered, "verdicts": verdicts, "unreadable": unreadable}
    write(listing, page.render("run_list.html.j2", values))
    click.echo(f"The runs of {folder}: {listing.as_uri()}")
    if not no_browser:
        webbrowser.open(listing.as_uri())


def _listed(path: str, unpacked: Path, *, unverified: bool) -> list[ListedRun]:
    """The run, if its file is whole, with the address of its page; a zip's pages are unpacked for it."""
    archive = open_archive(path)
    if archive.read(MANIFEST) is None and runfile.read_if_complete(archive.read(RUN_FILE), path) is None:
        return []
    pages = {page.PAGE, page.REPLIES_PAGE} & set(archive.names())
    kept = kept_run.opened(archive, unverified=unverified, cut_off=True, also=pages)
    run = kept.run()
    folder = Path(path).absolute()
    if not folder.is_dir():
        for name in (page.PAGE, page.REPLIES_PAGE):
            if (body := archive.read(name)) is not None:
                unpacked.mkdir(exist_ok=True)
                (unpacked / name).write_bytes(body)
        folder = unpacked
    report = folder / page.PAGE
    doubts = () if run.status == "running" else told(kept).doubts
    return [ListedRun(place=path, run=run, page=report.as_uri() if report.is_file() else "", doubts=doubts)]
