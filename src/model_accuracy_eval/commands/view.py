"""`view`: the runs of a folder in the browser. Runs are known by keys, so no address is a path.

The list is shown to who has the token. Keys are made with it, so that whoever has not seen the list knows none of them;
the address of a run's page, which that page can read, is of no use for another one.
"""

import contextlib
import hmac
import secrets
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import click

from model_accuracy_eval import python_api
from model_accuracy_eval.commands.compare import page_of
from model_accuracy_eval.errors import EvalError, Stopped
from model_accuracy_eval.report import page
from model_accuracy_eval.report.page import ListedRun
from model_accuracy_eval.run_folder import runfile
from model_accuracy_eval.run_folder.run_archive import open_archive
from model_accuracy_eval.run_folder.run_folder import find_runs
from model_accuracy_eval.run_folder.runfile import RUN_FILE
from model_accuracy_eval.system import loopback_server
from model_accuracy_eval.system.clock import SignalClock
from model_accuracy_eval.system.loopback_server import ServedPage

_DEFAULT_PORT = 8765
STORED_PAGE_POLICY = "sandbox allow-scripts"
"""A page of a run may come from anywhere: it is shown, and may not read what else is at this address."""


@click.command()
@click.argument("folder", default="outputs")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=_DEFAULT_PORT, show_default=True, help="Port; 0: any that is free."
)
def view(folder: str, port: int) -> None:
    """List, filter, open and compare the runs under FOLDER (default: outputs) in this machine's browsers.

    Nothing is written. The address has a token, without which nobody else on this machine sees a page. Ctrl-C ends it.
    """
    clock = SignalClock()
    with clock.listening(), serving(folder, port) as address:
        click.echo(f"The runs of {folder}: {address}\nCtrl-C ends it.")
        with contextlib.suppress(Stopped):  # that is how it ends
            while True:
                clock.sleep(3600)


@contextlib.contextmanager
def serving(folder: str, port: int) -> Iterator[str]:
    """Serves the pages of a folder of runs while entered; gives the address, with a new token each time.

    Refuses a folder that is not there.
    """
    list(find_runs(folder))
    token = secrets.token_hex(16)
    with loopback_server.serving(_Viewer(folder, token).answer, port) as address:
        yield f"{address}?token={token}"


class _Viewer:
    """Answers requests for the pages of a folder. The folder is looked at anew for each list, so new runs appear."""

    def __init__(self, folder: str, token: str) -> None:
        """`token` is what the list is asked for with."""
        self._folder = folder
        self._token = token.encode()

    def answer(self, address: str) -> ServedPage:
        """`address` is a path with its query, as it stands in the request."""
        try:
            parts = urlsplit(address)
            query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
            return self._answer(parts.path, query)
        except ValueError:
            return _not_found()
        except EvalError as error:
            return _message(409, "This page cannot be made", error.sentence)

    def _answer(self, path: str, query: dict[str, str]) -> ServedPage:
        match path.split("/"):
            case ["", ""]:
                if not hmac.compare_digest(query.get("token", "").encode(errors="replace"), self._token):
                    return _message(
                        403,
                        "This is not the whole address",
                        "The runs are shown to whoever started the server. Open the address that the command printed, "
                        "with its token.",
                    )
                return ServedPage(200, self._list())
            case ["", "run", key, (page.PAGE | page.REPLIES_PAGE) as name]:
                place = self._places().get(key)
                body = open_archive(place).read(name) if place else None
                return ServedPage(200, body, STORED_PAGE_POLICY) if body is not None else _not_found()
            case ["", "compare"]:
                return self._compared(query.get("old", ""), query.get("new", ""))
            case _:
                return _not_found()

    def _list(self) -> bytes:
        runs: list[ListedRun] = []
        unreadable: list[str] = []
        for key, place in self._places().items():
            try:
                archive = open_archive(place)
                run = runfile.read_if_complete(archive.read(RUN_FILE), place)
                names = archive.names()
            except EvalError as error:
                unreadable.append(error.sentence)
                continue
            if run is not None:
                runs.append(ListedRun(key=key, place=place, run=run, has_page=page.PAGE in names))
        return page.list_as_html(self._folder, runs, unreadable)

    def _places(self) -> dict[str, str]:
        """The runs by their keys."""
        return {
            hmac.new(self._token, place.encode(errors="replace"), "sha256").hexdigest()[:32]: place
            for place in find_runs(self._folder)
        }

    def _compared(self, old: str, new: str) -> ServedPage:
        places = self._places()
        if old not in places or new not in places:
            return _message(400, "Nothing to compare", "Go back to the list and choose an old and a new run.")
        base, later = places[old], places[new]
        return ServedPage(200, page_of(open_archive(base), open_archive(later), python_api.compare(base, later)))


def _message(status: int, title: str, sentence: str) -> ServedPage:
    return ServedPage(status, page.message(title, sentence))


def _not_found() -> ServedPage:
    return _message(404, "There is no such page", "The list has all runs of the folder: go back to it.")
