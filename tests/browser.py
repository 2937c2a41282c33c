"""A real Chromium, driven over its debugging pipe: pages are opened, clicked, typed into and looked at."""

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from tests.waiting import HANGING

OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
_KEYS = {"Escape": 27, "ArrowLeft": 37, "ArrowRight": 39, "Enter": 13}
_LOOK = "new Promise((done) => setTimeout(() => {{ try {{ done({expression}) }} catch {{ done(false) }} }}, 10))"


def find_chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        assert not os.environ.get("CI"), "CI has no Chromium"
        pytest.skip("no Chromium on this machine")
    return found


class _Refused(Exception):
    """The browser cannot do that now."""


class Tab:
    """One tab. What is evaluated in it is JavaScript, and comes back as JSON."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, os.fdopen(answers, "rb")
        self._number = 0
        self._session = ""
        self.events: list[dict[str, Any]] = []

    def begin(self) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        self._answers.close()

    def call(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._commands, data) :]
        while True:
            answer = json.loads(self._read())
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise _Refused(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def _read(self) -> bytes:
        parts = bytearray()
        while (byte := self._answers.read(1)) != b"\0":
            assert byte, "the browser is gone"
            parts += byte
        return bytes(parts)

    def open(self, address: str) -> None:
        """A hash alone does not load a page again, so the tab leaves it first."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)

    def get(self, expression: str) -> Any:
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def wait(self, expression: str, seconds: float = HANGING) -> Any:
        """Until it is true; a page that is still being opened has no answer yet."""
        end = monotonic() + seconds
        while monotonic() < end:
            with suppress(_Refused):
                if got := self.get(_LOOK.format(expression=expression)):
                    return got
        raise AssertionError(f"never: {expression}")

    def click(self, selector: str) -> None:
        self.get(f"document.querySelector({selector!r}).click()")

    def press(self, key: str) -> None:
        text = {"text": key} if len(key) == 1 else {}
        code = _KEYS.get(key, ord(key[0].upper()))
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **text)

    def write(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def look(self, *, width: int = 1280, height: int = 900, phone: bool = False, dark: bool = False) -> None:
        """How the page is seen from now on."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}
        self.call("Emulation.setDeviceMetricsOverride", **metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, file: Path, *, whole: bool = False) -> None:
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(shot["data"]))

    def troubles(self) -> list[str]:
        """Exceptions and errors that the page caused, and addresses that it asked for beside its own."""
        self.get("1")
        found = [json.dumps(event["params"]) for event in self.events if event.get("method") in {
            "Runtime.exceptionThrown", "Log.entryAdded"}]  # fmt: skip
        asked = [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent" and event["params"]["type"] != "Document"
        ]
        return found + [address for address in asked if not address.startswith("data:")]


@contextmanager
def opened(chromium: str, folder: Path) -> Iterator[Tab]:
    """A browser with one tab, ended with the block."""
    commands_read, commands_write = os.pipe()
    answers_read, answers_write = os.pipe()
    script = f'exec "$0" "$@" 3<&{commands_read} 4>&{answers_write}'
    command = [
        "bash",
        "-c",
        script,
        chromium,
        *OPTIONS,
        "--remote-debugging-pipe",
        f"--user-data-dir={folder / 'chromium'}",
    ]
    with (folder / "chromium.log").open("wb") as log:
        process = subprocess.Popen(command, pass_fds=(commands_read, answers_write), stdout=log, stderr=log)
    os.close(commands_read)
    os.close(answers_write)
    tab = Tab(commands_write, answers_read)
    try:
        tab.begin()
        yield tab
        tab._session = ""
        tab.call("Browser.close")
    finally:
        os.close(commands_write)
        tab.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
