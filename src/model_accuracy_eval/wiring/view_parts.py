"""The local pages of `view`."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from model_accuracy_eval import compare_page, view, wiring
from model_accuracy_eval.ports import Archive
from model_accuracy_eval.run import previous_run
from model_accuracy_eval.run.previous_run import PreviousRun
from model_accuracy_eval.run_folder.run_folder import find_runs
from model_accuracy_eval.system import loopback_server
from model_accuracy_eval.system.loopback_server import ServedPage


@contextmanager
def serving(folder: str, port: int) -> Iterator[str]:
    """Serves the pages of a folder of runs while entered; gives the address, with a new token each time.

    Refuses a folder that is not there.
    """
    list(find_runs(folder))
    token = secrets.token_hex(16)
    viewer = view.RunViewer(folder, lambda: find_runs(folder), wiring.run_archive, _compared, token)

    def serve_page(address: str) -> ServedPage:
        answer = viewer.answer(address)
        return ServedPage(answer.status, answer.body, view.STORED_PAGE_POLICY if answer.stored else "")

    with loopback_server.serving(serve_page, port) as address:
        yield f"{address}?token={token}"


def _compared(old: Archive, new: Archive) -> bytes:
    return compare_page.as_html(old, new, previous_run.compare(PreviousRun(old), PreviousRun(new)))
