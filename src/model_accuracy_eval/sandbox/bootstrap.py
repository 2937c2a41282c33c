"""How the fork server's modules reach a Python that has no package of ours: as text, through its standard input."""

import json
from functools import lru_cache
from importlib import resources

PACKAGE = "model_accuracy_eval.sandbox.inside"

BOOTSTRAP = """
import importlib, json, os, sys
from importlib.machinery import ModuleSpec
if sys.version_info < (3, 10):
    sys.exit("Python 3.10 or newer is needed, and this is " + sys.version.split()[0])
def read(descriptor, count):
    data = b""
    while len(data) < count:
        chunk = os.read(descriptor, count - len(data))
        if not chunk:
            os._exit(0)
        data += chunk
    return data
def message(descriptor):
    return read(descriptor, int.from_bytes(read(descriptor, 4), "big"))
class SentModules:
    def __init__(self, sources):
        self.sources = sources
        self.packages = {name.rpartition(".")[0] for name in sources}
    def find_spec(self, name, path=None, target=None):
        if name in self.sources:
            return ModuleSpec(name, self, is_package=name in self.packages)
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        exec(compile(self.sources.pop(module.__name__), module.__name__, "exec"), module.__dict__)
sys.path[:] = [place for place in sys.path if place]
sys.meta_path.insert(0, SentModules(json.loads(message(0))))
importlib.import_module("PACKAGE.fork_server").main()
""".replace("PACKAGE", PACKAGE)
"""For `python3 -c`: it prints nothing before it has received all modules, and does not import from its own folder."""


@lru_cache(maxsize=1)
def modules_message() -> bytes:
    """What BOOTSTRAP reads: the source of every module by its name, and empty packages above them."""
    parts = PACKAGE.split(".")
    sources = {".".join(parts[:depth]): "" for depth in range(1, len(parts) + 1)}
    for file in resources.files(PACKAGE).iterdir():
        if file.name.endswith(".py") and file.name != "__init__.py":
            sources[f"{PACKAGE}.{file.name.removesuffix('.py')}"] = file.read_text(encoding="utf-8")
    body = json.dumps(sources).encode()
    return len(body).to_bytes(4, "big") + body
