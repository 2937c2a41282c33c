"""`view`: a real server over a folder of runs, asked as browsers, other pages and attackers ask it."""

import hashlib
import http.client
import json
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.browser import find_chromium, opened
from tests.unit.report.fixed_report import many, single

from model_accuracy_eval.commands import view
from model_accuracy_eval.commands.view import STORED_PAGE_POLICY
from model_accuracy_eval.errors import BadReuse, BadValue
from model_accuracy_eval.run_folder import runfile

SECRET = b"nobody is to read this"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two runs, a link to one of them, a broken one, and files that are none of theirs."""
    for name, report in (("a" * 32, many()), ("b" * 32, single())):
        folder = tmp_path / "outputs" / name
        folder.mkdir(parents=True)
        (folder / "run.json").write_bytes(runfile.finished(report, ()))
        (folder / "report.html").write_bytes(f"<p>page of {name[0]}</p>".encode())
        (folder / "secret.txt").write_bytes(SECRET)
    (tmp_path / "outputs" / "latest").symlink_to("b" * 32)
    broken = tmp_path / "outputs" / "broken"
    broken.mkdir()
    (broken / "run.json").write_bytes(b'{"schema": 7}')
    (tmp_path / "secret.txt").write_bytes(SECRET)
    return tmp_path / "outputs"


@pytest.fixture
def address(runs: Path) -> Iterator[str]:
    with view.serving(str(runs), 0) as address:
        yield address


def ask(
    address: str, path: str, host: str | None = None, method: str = "GET"
) -> tuple[int, bytes, http.client.HTTPMessage]:
    """The path goes out as it is written; "/" is the list, asked for with its token."""
    path = f"/?{urlsplit(address).query}" if path == "/" else path
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=10)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", urlsplit(address).netloc if host is None else host)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body, answer.headers


def links(body: bytes) -> list[str]:
    return [part.split('"')[0] for part in body.decode().split('href="')[1:] if part.startswith("/run/")]


def test_the_list_has_every_run_once(address: str) -> None:
    """A link to a run is no second one; what cannot be read is named."""
    status, body, _ = ask(address, "/")
    assert status == 200
    assert len(links(body)) == 2
    assert b"my-model@1.0" in body
    assert b"Left out" in body
    assert b"broken" in body


def test_pages_of_runs_are_served_and_kept_apart(address: str) -> None:
    """A stored page may come from anybody, so it gets an origin of its own; nothing may frame or sniff anything."""
    pages = set()
    for link in links(ask(address, "/")[1]):
        status, body, headers = ask(address, link)
        assert status == 200
        assert headers["Content-Security-Policy"] == STORED_PAGE_POLICY
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["X-Content-Type-Options"] == "nosniff"
        pages.add(body)
    assert pages == {b"<p>page of a</p>", b"<p>page of b</p>"}


@pytest.mark.parametrize(
    "host",
    ["evil.test", "evil.test:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil.test:{port}", "", "[::1]:{port}"],
)
def test_other_hosts_are_refused(address: str, host: str) -> None:
    """A name that somebody points at this machine reaches nothing."""
    status, body, _ = ask(address, "/", host.format(port=urlsplit(address).port))
    assert status == 421
    assert b"Runs" not in body


def test_localhost_is_this_machine(address: str) -> None:
    """In small and capital letters."""
    for name in ("localhost", "LocalHost"):
        assert ask(address, "/", f"{name}:{urlsplit(address).port}")[0] == 200


def test_no_path_leads_to_the_disk(address: str, runs: Path) -> None:
    """Neither out of the folder nor to other files in it, however it is written."""
    key = links(ask(address, "/")[1])[0].split("/")[2]
    for path in (
        "/secret.txt", "/../secret.txt", "/run/../../secret.txt", f"/run/{key}/secret.txt", f"/run/{key}/run.json",
        f"/run/{key}/../secret.txt", f"/run/{key}/..%2fsecret.txt", "/run/%2e%2e/secret.txt", f"/run/{'a' * 32}/report.html",
        f"/run/{runs}/report.html", "//secret.txt", "/run//report.html", "/latest/report.html", "/run/latest/report.html",
        f"http://127.0.0.1/run/{key}/secret.txt", "/\\..\\secret.txt", "/run/" + "x" * 5000 + "/report.html", "//[", "*",
    ):  # fmt: skip
        status, body, _ = ask(address, path)
        assert status in (400, 404), path
        assert SECRET not in body


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_nothing_can_be_changed(address: str, method: str) -> None:
    """Only GET and HEAD are known."""
    assert ask(address, "/", method=method)[0] == 501


def test_a_browser_that_goes_away_is_not_told(address: str, capfd: pytest.CaptureFixture[str]) -> None:
    """The next one is served, and the terminal stays quiet."""
    for _ in range(3):
        with socket.create_connection((urlsplit(address).hostname or "", urlsplit(address).port or 0)) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.sendall(f"GET / HTTP/1.1\r\nHost: {urlsplit(address).netloc}\r\n\r\n".encode())
    assert ask(address, "/")[0] == 200
    assert capfd.readouterr().err == ""


def test_head_has_no_body(address: str) -> None:
    """But the length."""
    status, body, headers = ask(address, "/", method="HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["Content-Length"]) > 1000


def test_what_cannot_be_compared_says_why(address: str) -> None:
    """Unknown runs, one run, and runs without their files: a page with one sentence."""
    first, second = (link.split("/")[2] for link in links(ask(address, "/")[1]))
    assert ask(address, "/compare")[0] == 400
    assert ask(address, f"/compare?old={first}&new=../../secret.txt")[0] == 400
    status, body, _ = ask(address, f"/compare?old={first}&new={second}")
    assert status == 409
    assert b"This page cannot be made" in body


def test_other_accounts_of_this_machine_see_nothing(address: str, runs: Path) -> None:
    """They can connect, and know neither the token nor what a run's key is made with."""
    other = [hashlib.sha256(str(runs / name).encode()).hexdigest() for name in ("a" * 32, "b" * 32)]
    for path in ("/?", "/?token=", "/?token=0123", "/index.html", "/?token=%ff", *(
        f"/run/{key[:size]}/report.html" for key in other for size in (16, 32)
    )):  # fmt: skip
        status, body, _ = ask(address, path)
        assert status in (403, 404), path
        assert b"my-model" not in body
        assert b"page of" not in body
    assert b"Open the address that the command printed" in ask(address, "/?")[1]
    with view.serving(str(runs), 0) as again:
        assert urlsplit(again).query != urlsplit(address).query
        assert {*links(ask(again, "/")[1])}.isdisjoint(links(ask(address, "/")[1]))


def test_only_loopback_is_listened_to(address: str) -> None:
    """Another address of this machine refuses the connection."""
    others = {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for other in others - {"127.0.0.1"}:
        if not other.startswith("127."):
            with pytest.raises(OSError), socket.create_connection((other, urlsplit(address).port or 0), timeout=2):
                pass


def test_new_runs_appear(runs: Path) -> None:
    """The folder is looked at anew; an empty one has a page, too."""
    empty = runs.parent / "empty"
    empty.mkdir()
    with view.serving(str(empty), 0) as address:
        assert b"no run in this folder yet" in ask(address, "/")[1]
        (runs / ("a" * 32)).rename(empty / "moved")
        assert len(links(ask(address, "/")[1])) == 1


def test_a_port_in_use_and_a_missing_folder_are_said(address: str, runs: Path) -> None:
    """One sentence each, with what to type."""
    port = urlsplit(address).port or 0
    with pytest.raises(BadValue, match=f"Port {port} .* --port"), view.serving(str(runs), port):
        pass
    with pytest.raises(BadReuse, match="There is no"), view.serving(str(runs / "none"), 0):
        pass


def test_the_command_says_where_and_ends_by_ctrl_c(runs: Path) -> None:
    """The address is the first thing that it prints; Ctrl-C is its ordinary end."""
    command = [sys.executable, "-u", "-m", "model_accuracy_eval", "view", str(runs), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split(": ")[1].strip()
        assert len(urlsplit(address).query) > 30
        assert ask(address, "/")[0] == 200
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
        assert (process.returncode, errors) == (0, "")
    finally:
        process.kill()
        process.communicate()


def test_the_list_is_filtered_in_the_browser(address: str, tmp_path: Path) -> None:
    """By words in any order; the script is the page's own, and nothing else is asked for."""
    with opened(find_chromium(), tmp_path) as tab:
        tab.open(address)
        tab.wait("!document.querySelector('#run-filter input').hidden")
        tab.get("document.querySelector('#run-filter input').focus()")
        tab.write("1.0 COMPLETE")
        shown = "[...document.querySelectorAll('#runs tbody tr')].filter(row => !row.hidden).length"
        assert tab.wait(f"{shown} === 1")
        assert tab.get("document.querySelector('#run-filter [role=status]').textContent") == "1 of 2 runs"
        assert [json.loads(one) for one in tab.troubles() if "favicon" not in one] == []
