"""How the fork server's modules reach a Python that has no package of ours: as text, through its standard input."""

import json
from functools import lru_cache
from importlib import resources

PACKAGE = "model_accuracy_eval.sandbox.inside"

BOOTSTRAP = """
import importlib, marshal, os, sys
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
def compiled():
    import json
    sources = json.loads(message(0))
    return marshal.dumps({name: compile(source, name, "exec") for name, source in sources.items()})
def from_child(work):
    reader, writer = os.pipe()
    if not os.fork():
        data = work()
        with open(writer, "wb") as file:
            file.write(len(data).to_bytes(4, "big") + data)
        os._exit(0)
    os.close(writer)
    data = message(reader)
    os.close(reader)
    os.wait()
    return data
class SentModules:
    def __init__(self, codes):
        self.codes = codes
        self.packages = {name.rpartition(".")[0] for name in codes}
    def find_spec(self, name, path=None, target=None):
        if name in self.codes:
            return ModuleSpec(name, self, is_package=name in self.packages)
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        exec(self.codes.pop(module.__name__), module.__dict__)
sys.path[:] = [place for place in sys.path if place]
sys.meta_path.insert(0, SentModules(marshal.loads(from_child(compiled))))
importlib.import_module("PACKAGE.fork_hooks").keep()
importlib.import_module("PACKAGE.fork_server").main()
""".replace("PACKAGE", PACKAGE)
"""For `python3 -c`: it prints nothing before it has received all modules, and does not import from its own folder.
A child compiles them: that leaves holes all over the memory, which each fork would pay for."""


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
