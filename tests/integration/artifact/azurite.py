"""Azurite as blob store: a container of its own, and addresses signed as Azure documents it."""

import base64
import hashlib
import hmac
import os
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

ACCOUNT, CONTAINER = "reports", "artifacts"
KEY = base64.b64encode(b"MARKER-KEY-OF-A-STORE-FOR-TESTS").decode()
_SERVICE_VERSION = "2019-12-12"
_EXPIRY = "2099-01-01T00:00:00Z"


class AzureStore:
    """Signs addresses of blobs; `base` is the address of the account."""

    def __init__(self, base: str) -> None:
        self._base = base

    def make_container(self) -> None:
        fields = [ACCOUNT, "rwc", "b", "co", "", _EXPIRY, "", "", _SERVICE_VERSION, ""]
        query = {"restype": "container", "sv": _SERVICE_VERSION, "ss": "b", "srt": "co", "sp": "rwc", "se": _EXPIRY}
        query["sig"] = _signature("\n".join(fields))
        url = f"{self._base}/{CONTAINER}?{urllib.parse.urlencode(query)}"
        urllib.request.urlopen(urllib.request.Request(url, data=b"", method="PUT")).close()

    def sign(self, name: str, *, write: bool) -> str:
        allowed = "cw" if write else "r"
        resource = f"/blob/{ACCOUNT}/{CONTAINER}/{name}"
        fields = [allowed, "", _EXPIRY, resource, "", "", "", _SERVICE_VERSION, "b", "", "", "", "", "", ""]
        query = {"sv": _SERVICE_VERSION, "sr": "b", "sp": allowed, "se": _EXPIRY, "sig": _signature("\n".join(fields))}
        return f"{self._base}/{CONTAINER}/{name}?{urllib.parse.urlencode(query)}"

    def read(self, name: str) -> bytes:
        with urllib.request.urlopen(self.sign(name, write=False)) as answer:
            data: bytes = answer.read()
            return data


def start(packages: Path, folder: Path) -> tuple["subprocess.Popen[str]", AzureStore]:
    main = packages / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"
    options = ["--blobHost", "127.0.0.1", "--blobPort", "0", "--skipApiVersionCheck", "--disableTelemetry", "--silent"]
    process = subprocess.Popen(
        ["node", str(main), *options, "--location", str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "AZURITE_ACCOUNTS": f"{ACCOUNT}:{KEY}"},
    )
    assert process.stdout is not None
    for line in process.stdout:
        if "successfully listens on" in line:
            store = AzureStore(f"{line.split()[-1]}/{ACCOUNT}")
            store.make_container()
            return process, store
    raise AssertionError(f"Azurite ended with {process.wait()}")


def _signature(text: str) -> str:
    return base64.b64encode(hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()).decode()
