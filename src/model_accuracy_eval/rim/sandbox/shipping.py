"""The fork server as text, for a Python that has nothing of ours: its modules, lowest first, and what takes them."""

import json
from functools import lru_cache
from importlib import resources

PACKAGE = "model_accuracy_eval.rim.sandbox.inside"
_MODULES = (
    "frames", "codec", "kernel", "leftovers", "endings", "jail", "job", "libraries", "program", "judge", "together",
    "foreign", "server",
)  # fmt: skip

BOOT = """
import json, os, sys, types
if sys.version_info < (3, 10):
    sys.exit("Python 3.10 or newer is needed, and this is " + sys.version.split()[0])
def take(count):
    found = b""
    while len(found) < count:
        chunk = os.read(0, count - len(found))
        if not chunk:
            os._exit(0)
        found += chunk
    return found
sys.path[:] = [place for place in sys.path if place]
for name, text in json.loads(take(int.from_bytes(take(4), "big"))):
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__ = []
    exec(compile(text, name, "exec"), module.__dict__)
module.main()
"""
"""For `python3 -c`: silent until it has been sent all of it, and without the current folder as a place of modules."""


@lru_cache(maxsize=1)
def bundle() -> bytes:
    """What BOOT takes. The packages above come first, empty, so that imports find their way."""
    parts = PACKAGE.split(".")
    packages = [[".".join(parts[:depth]), ""] for depth in range(1, len(parts) + 1)]
    folder = resources.files(PACKAGE)
    modules = [[f"{PACKAGE}.{name}", (folder / f"{name}.py").read_text(encoding="utf-8")] for name in _MODULES]
    body = json.dumps(packages + modules).encode()
    return len(body).to_bytes(4, "big") + body
