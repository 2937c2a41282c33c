"""Programs that lie in the conversation with their tests, and such as hide what they do from the clock and from the kernel."""

from tests.integration.sandbox.programs.sample import NO_PASS, Sample, body, hostile

FORGING_TALK: dict[str, Sample] = {
    "sends numbers that all have one hash": Sample("def f(x): return {n * (2 ** 61 - 1): 0 for n in range(60000)}" , NO_PASS, "assert f(1) == {}"),
    "sends an endless range": Sample("def f(x): return range(10 ** 18)", NO_PASS, "assert list(f(1)) == [1]"),
    "never ends an iterator": Sample("import itertools\ndef f(x): return itertools.count()", NO_PASS, "assert sum(f(1)) == 1"),
    "gets what the tests get": Sample("def f(get, g):\n    try: return get(g, '__globals__')['right']\n    except Exception as e: return str(e)", NO_PASS, "right = 41\ndef g(): return right\nassert f(getattr, g) == 41"),
    "sets what the tests set": Sample("def f(put, g):\n    try: put(g, '__code__', (lambda *_: None).__code__)\n    except Exception: pass\n    return 0", NO_PASS, "def right(): return 41\nassert f(setattr, right) == right()"),
    "calls what the tests call with words of its own": Sample("def f(go, g):\n    try: return go('right')\n    except Exception as e: return str(e)", NO_PASS, "right = 41\ndef look(name): return globals()[name + '_']\nassert f(look, None) == right"),
    "gives a list that grows while it is compared": Sample("def f(x):\n    v = []\n    v.append(v)\n    return v", NO_PASS, "v = []\nv.append([v])\nassert f(1) == v and f(1)[0] == 4"),
    "answers before it is asked": Sample("import os, struct, json, sys\ncodec = [m for n, m in sys.modules.items() if n.endswith('inside.messages')][0]\ncodec.send(3, codec.ObjectMessage('ready'))\nfor v in (4, 9, 25): codec.send(3, codec.ObjectMessage('value', [v]))\n" + body("return 0"), NO_PASS),
    "raises the end of the tests": Sample(body("raise GeneratorExit"), NO_PASS, "def all_of():\n    try:\n        yield f(2) == 4\n    except GeneratorExit: pass\nassert all(all_of())\nassert f(3) == 9"),
    "raises the end of coroutines": Sample("import asyncio\n" + body("raise asyncio.CancelledError"), NO_PASS, "import asyncio\nasync def g():\n    assert f(2) == 4\nasync def main():\n    t = asyncio.ensure_future(g())\n    await asyncio.gather(t, return_exceptions=False)\nasyncio.run(main())"),
    "is a class that is every class": Sample("class M(type):\n    def __instancecheck__(c, o): return True\n    def __subclasscheck__(c, o): return True\n    def __eq__(c, o): return True\n    __hash__ = type.__hash__\nclass f(metaclass=M):\n    def __init__(self, *a): pass", NO_PASS, "assert isinstance(3, type(f(1))) and type(f(1)) == int"),
    "is a key that is every key": Sample("class K(str):\n    def __hash__(self): return hash('right')\n    def __eq__(self, o): return True\ndef f(x): return K('wrong')", NO_PASS, "assert {'right': 1}[f(1)] == 1"),
    "is a dictionary that has every key": Sample("class D(dict):\n    def __missing__(self, k): return 4\n    def get(self, *a): return 4\n    def __contains__(self, k): return True\n    def items(self): return [('a', 4)]\ndef f(x): return D()", NO_PASS, "assert 'a' in f(1) and dict(f(1)) == {'a': 4}"),
    "is a number by its index": Sample("class I:\n    def __index__(self): return 4\n    __int__ = __index__\n    def __float__(self): return 4.0\n    def __eq__(self, o): return True\ndef f(x): return I()", NO_PASS, "assert f(2) == 4 and f(3) == 9"),
    "divides to nothing": Sample("class Q(float):\n    def __abs__(self): return 0.0\n    def __sub__(self, o): return self\n    def __truediv__(self, o): return self\n    def __round__(self, n=0): return 9\n    def __lt__(self, o): return True\ndef f(x): return Q(77)", NO_PASS, "assert abs(f(2) - 4) < 1e-6\nassert round(f(3), 2) == 9"),
    "asks the tests without end": Sample("def f(g):\n    while True: g(1)", ("timeout",), "assert f(lambda x: x) == 1"),
    "asks the tests in a circle": Sample("def f(g): return g(g)", NO_PASS, "def g(h): return f(h)\nassert f(g) == 1"),
}  # fmt: skip

HOSTILE_TALK: dict[str, Sample] = {
    "burns time in children that nobody counts": hostile("signal.signal(signal.SIGCHLD, signal.SIG_IGN)\nwhile True:\n    if attempt(os.fork) == 0:\n        end = time.monotonic() + 0.02\n        while time.monotonic() < end: pass\n        os._exit(0)\n    time.sleep(0.022)", ("timeout",)),
    "waits for a brother made by vfork": hostile("if libc.syscall(56, 0x4000 | 0x8000 | 17, 0, 0, 0, 0) == 0: time.sleep(600)\ntime.sleep(600)", ("timeout",)),
    "notes without end on its files": hostile("for number in range(10 ** 6):\n    name = f'f{number % 16000}'\n    open(name, 'a').close()\n    os.setxattr(name, f'user.n{number // 16000}', b'x' * 60000)"),
    "leaves a thousand timers and signals": hostile("signal.pthread_sigmask(signal.SIG_BLOCK, range(34, 65))\nfor _ in range(20000): libc.sigqueue(os.getpid(), 40, 0)\nif os.fork() == 0:\n    for _ in range(20000): libc.sigqueue(os.getpid(), 41, 0)\n    time.sleep(600)"),
    "locks what all read": hostile("for p in ('/usr/bin/python3', '/etc/passwd', '/usr/lib', '/bin/sh'):\n    try: fcntl.flock(os.open(p, 0), fcntl.LOCK_EX | fcntl.LOCK_NB)\n    except OSError: pass\nif os.fork() == 0: time.sleep(600)"),
    "takes all watches": hostile("kept = [libc.inotify_init() for _ in range(200)]\nfor _ in range(6):\n    if os.fork() == 0:\n        kept += [libc.inotify_init() for _ in range(200)]\n        time.sleep(600)"),
    "reads its answers back to the tests": hostile("import select\nlink = socket.socket(fileno=os.dup(3))\nlink.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)\nlink.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)\nlink.shutdown(socket.SHUT_RD)\nreturn 'x' * 1000000"),
    "sends half an answer and lives": hostile("os.write(3, struct.pack('>I', 1000) + b'[\"value\"')\ntime.sleep(600)", ("timeout",)),
    "sends an answer by bytes": hostile("data = b'[\"value\",[4],{},\"\",[],[],\"\",false,[],null]'\nfor b in struct.pack('>I', len(data) + 10**6) + data:\n    os.write(3, bytes([b])); time.sleep(0.01)\nwhile True: os.write(3, b' '); time.sleep(0.01)", ("timeout",)),
}  # fmt: skip
