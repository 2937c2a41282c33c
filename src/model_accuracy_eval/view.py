"""`view`: what is at which address, over the runs of a folder. Runs are known by keys, so no address is a path.

The list is shown to who has the token. Keys are made with it, so that whoever has not seen the list knows none of them;
the address of a run's page, which that page can read, is of no use for another one.
"""

import hmac
from collections.abc import Callable, Iterable
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.ports import Archive
from model_accuracy_eval.report import page
from model_accuracy_eval.report.page import ListedRun
from model_accuracy_eval.run_folder import runfile
from model_accuracy_eval.run_folder.runfile import RUN_FILE

STORED_PAGE_POLICY = "sandbox allow-scripts"
"""A page of a run may come from anywhere: it is shown, and may not read what else is at this address."""
_PAGES = (page.PAGE, page.REPLIES_PAGE)
_WHOLE_ADDRESS = (
    "The runs are shown to whoever started the server. Open the address that the command printed, with its token."
)


class ViewAnswer(NamedTuple):
    """Status and page; `stored`: the page was found in a run's folder, and not made here."""

    status: int
    body: bytes
    stored: bool = False


class RunViewer:
    """Answers requests for the pages of a folder. The folder is looked at anew for each list, so new runs appear."""

    def __init__(
        self,
        folder: str,
        find_runs: Callable[[], Iterable[str]],
        open_archive: Callable[[str], Archive],
        compare: Callable[[Archive, Archive], bytes],
        token: str,
    ) -> None:
        """`compare` makes the page of two runs. `token` is what the list is asked for with."""
        self._folder = folder
        self._find_runs = find_runs
        self._open_archive = open_archive
        self._compare = compare
        self._token = token.encode()

    def answer(self, address: str) -> ViewAnswer:
        """`address` is a path with its query, as it stands in the request."""
        try:
            parts = urlsplit(address)
            query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
            return self._answer(parts.path, query)
        except ValueError:
            return _not_found()
        except EvalError as error:
            return ViewAnswer(409, page.message("This page cannot be made", error.sentence))

    def _answer(self, path: str, query: dict[str, str]) -> ViewAnswer:
        match path.split("/"):
            case ["", ""]:
                if not hmac.compare_digest(query.get("token", "").encode(errors="replace"), self._token):
                    return ViewAnswer(403, page.message("This is not the whole address", _WHOLE_ADDRESS))
                return ViewAnswer(200, self._list())
            case ["", "run", key, name] if name in _PAGES:
                return self._stored(key, name)
            case ["", "compare"]:
                return self._compared(query.get("old", ""), query.get("new", ""))
            case _:
                return _not_found()

    def _list(self) -> bytes:
        runs: list[ListedRun] = []
        unreadable: list[str] = []
        for key, place in self._places().items():
            try:
                archive = self._open_archive(place)
                run = runfile.read_if_complete(archive.read(RUN_FILE), place)
                names = archive.names()
            except EvalError as error:
                unreadable.append(error.sentence)
                continue
            if run is not None:
                runs.append(ListedRun(key=key, place=place, run=run, has_page=page.PAGE in names))
        return page.list_as_html(self._folder, runs, unreadable)

    def _places(self) -> dict[str, str]:
        return {self._key_of(place): place for place in self._find_runs()}

    def _key_of(self, place: str) -> str:
        return hmac.new(self._token, place.encode(errors="replace"), "sha256").hexdigest()[:32]

    def _stored(self, key: str, name: str) -> ViewAnswer:
        place = self._places().get(key)
        body = self._open_archive(place).read(name) if place else None
        return ViewAnswer(200, body, stored=True) if body is not None else _not_found()

    def _compared(self, old: str, new: str) -> ViewAnswer:
        places = self._places()
        if old not in places or new not in places:
            return ViewAnswer(
                400, page.message("Nothing to compare", "Go back to the list and choose an old and a new run.")
            )
        return ViewAnswer(200, self._compare(self._open_archive(places[old]), self._open_archive(places[new])))


def _not_found() -> ViewAnswer:
    return ViewAnswer(404, page.message("There is no such page", "The list has all runs of the folder: go back to it."))
