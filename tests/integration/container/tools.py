"""Adapters for containers, and a program that runs the launcher inside a container, as the action does."""

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from tests.base_image import BASE
from tests.integration.process import tools
from tests.waiting import until

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "src"
EXAMPLE = ROOT / "example-adapter"

ADAPTER_IMAGE = "model-accuracy-eval-test-adapter:1"
SELF_IMAGE = "model-accuracy-eval-test-self:1"
DOCKERFILES = {
    ADAPTER_IMAGE: f"FROM {BASE}\nRUN pip install --quiet numpy\n",
    SELF_IMAGE: f"FROM {BASE}\nRUN pip install --quiet docker msgspec psutil\nENV OF_OUR_IMAGE=1\n",
}

SERVER = """
import http.server, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"served")
http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Answer).serve_forever()
"""

INSIDE = """
import json, os, sys, time, urllib.request
import msgspec
from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.adapter.adapter_container import ContainerLauncher, ContainerOptions

order = json.loads(sys.argv[1])
launcher = ContainerLauncher(os.environ, msgspec.convert(order["options"], ContainerOptions))
objection = launcher.objection(order["folder"])
said = {"objection": objection and objection.sentence}
try:
    box = launcher.start(folder=order["folder"], model_path=order["model_path"], port=8000, log=order["log"])
except EvalError as error:
    print(json.dumps(said | {"sentence": error.sentence}), flush=True)
    sys.exit(0)
try:
    while "answer" not in said and box.exit_code() is None:
        try:
            said["answer"] = urllib.request.urlopen("http://localhost:8000/v1/models", timeout=5).read().decode()
        except OSError:
            time.sleep(0.05)
    if not order.get("serves", True):
        while box.exit_code() is None:
            time.sleep(0.05)
    print(json.dumps(said | {"name": box.name, "code": box.exit_code()}), flush=True)
    while order.get("linger"):
        time.sleep(60)
finally:
    box.stop()
"""


def make_adapter(folder: Path, deploy: str, requirements: str | None = None) -> str:
    return tools.make_adapter(folder, deploy, requirements, SERVER)


def get(port: int, path: str = "/v1/models", host: str = "127.0.0.1") -> str | None:
    """What a server says; None while there is none."""
    try:
        with urllib.request.urlopen(f"http://{host}:{port}{path}", timeout=5) as reply:
            return str(reply.read().decode())
    except (OSError, urllib.error.URLError):
        return None


def served(port: int, path: str = "/v1/models") -> str:
    found: list[str | None] = []

    def answers() -> bool:
        found.append(get(port, path))
        return found[-1] is not None

    until(answers, f"a server answers on port {port}")
    return found[-1] or ""


def report(output: bytes) -> dict[str, Any]:
    """The last line of the program inside."""
    return dict(json.loads(output.decode().strip().splitlines()[-1]))
