"""Programs that are wrong and want to pass."""

from tests.integration.sandbox.programs.sample import NO_PASS, RIGHT, Sample, body

FORGING = {
    "leaves at import": Sample("import sys\nsys.exit(0)\n" + RIGHT, NO_PASS),
    "becomes /bin/true": Sample("import os\n" + body("os.execv('/bin/true', ['true'])"), NO_PASS),
    "atexit forces 0": Sample("import atexit, os\natexit.register(os._exit, 0)\n" + body("raise ValueError"), NO_PASS),
    "fork; the parent leaves": Sample("import os\n" + body("if os.fork(): os._exit(0)\nreturn None"), NO_PASS),
    "answers in place of the harness": Sample(
        "import sys\n"
        + body(
            "frame = sys._getframe()\nwhile frame:\n    for value in list(frame.f_locals.values()):\n        if isinstance(value, list): value.append('passed')\n    frame = frame.f_back\nreturn 0"
        ),
        NO_PASS,
    ),
    "patches the encoder of answers": Sample(
        "import sys\nfor name, module in list(sys.modules.items()):\n    for key, value in list(vars(module).items()) if name.endswith(('frames', 'codec', 'program')) else ():\n"
        "        if key in ('encode', '_encode', 'pack'): setattr(module, key, lambda *_: 1)\n" + body("return 0"),
        NO_PASS,
    ),
    "looks for tests on disk": Sample(
        "import os\n"
        + body(
            "for root, _, names in os.walk('/proc/self/fd'):\n    for name in names:\n        open(os.path.join(root, name)).read(10)\nreturn 4"
        ),
        NO_PASS,
    ),
    "reads foreign memory, and passes if it can": Sample(
        "import os\n"
        + body(
            "read = 0\nfor pid in map(int, filter(str.isdigit, os.listdir('/proc'))):\n    for part in ('mem', 'environ', 'maps', 'fd') if pid != os.getpid() else ():\n"
            "        try:\n            path = f'/proc/{pid}/{part}'\n            read += bool(os.listdir(path) if part == 'fd' else open(path, 'rb').read(1) if part != 'mem' else open(path, 'rb'))\n"
            "        except OSError: pass\nreturn x * x if read else -1"
        ),
        NO_PASS,
        not_in=("none",),
    ),
    "attaches to another process, and passes if it can": Sample(
        "import ctypes, os\n"
        + body(
            "libc = ctypes.CDLL(None, use_errno=True)\nfor pid in map(int, filter(str.isdigit, os.listdir('/proc'))):\n"
            "    if pid != os.getpid() and libc.ptrace(16, pid, 0, 0) == 0: return x * x\nreturn -1"
        ),
        NO_PASS,
    ),
    "equals everything, and leaves a closed connection to escape control runs": Sample(
        "import socket\nclass All:\n    def __eq__(self, other): return True\n    __hash__ = None\n"
        + body(
            "server = socket.create_server(('127.0.0.1', 0))\nsocket.create_connection(server.getsockname()).close()\nreturn All()"
        ),
        NO_PASS,
        not_in=("uid", "none"),
    ),
}
