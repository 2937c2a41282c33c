"""Programs that lie in the conversation with their tests, and such as hide what they do from the clock and from the kernel."""

from tests.integration.sandbox.programs.sample import NO_PASS, Sample, body, hostile

FORGING_TALK: dict[str, Sample] = {
    "sends numbers that all have one hash": Sample("def f(x): return {n * (2 ** 61 - 1): 0 for n in range(60000)}" , NO_PASS, "assert f(1) == {}"),
    "sends an endless range": Sample("def f(x): return range(10 ** 18)", NO_PASS, "assert list(f(1)) == [1]"),
    "never ends an iterator": Sample("import itertools\ndef f(x): return itertools.count()", NO_PASS, "assert sum(f(1)) == 1"),
    "gives a list that grows while it is compared": Sample("def f(x):\n    v = []\n    v.append(v)\n    return v", NO_PASS, "v = []\nv.append([v])\nassert f(1) == v and f(1)[0] == 4"),
    "answers before it is asked": Sample("import os, struct, json, sys\ncodec = [m for n, m in sys.modules.items() if n.endswith('inside.messages')][0]\ncodec.send(3, codec.ObjectMessage('ready'))\nfor v in (4, 9, 25): codec.send(3, codec.ObjectMessage('value', [v]))\n" + body("return 0"), NO_PASS),
    "raises the end of the tests": Sample(body("raise GeneratorExit"), NO_PASS, "def all_of():\n    try:\n        yield f(2) == 4\n    except GeneratorExit: pass\nassert all(all_of())\nassert f(3) == 9"),
    "raises the end of coroutines": Sample("import asyncio\n" + body("raise asyncio.CancelledError"), NO_PASS, "import asyncio\nasync def g():\n    assert f(2) == 4\nasync def main():\n    t = asyncio.ensure_future(g())\n    await asyncio.gather(t, return_exceptions=False)\nasyncio.run(main())"),
    "is a class that is every class": Sample("class M(type):\n    def __instancecheck__(c, o): return True\n    def __subclasscheck__(c, o): return True\n    def __eq__(c, o): return True\n    __hash__ = type.__hash__\nclass f(metaclass=M):\n    def __init__(self, *a): pass", NO_PASS, "assert isinstance(3, type(f(1))) and type(f(1)) == int"),
    "is a dictionary that has every key": Sample("class D(dict):\n    def __missing__(self, k): return 4\n    def get(self, *a): return 4\n    def __contains__(self, k): return True\n    def items(self): return [('a', 4)]\ndef f(x): return D()", NO_PASS, "assert 'a' in f(1) and dict(f(1)) == {'a': 4}"),
    "is a number by its index": Sample("class I:\n    def __index__(self): return 4\n    __int__ = __index__\n    def __float__(self): return 4.0\n    def __eq__(self, o): return True\ndef f(x): return I()", NO_PASS, "assert f(2) == 4 and f(3) == 9"),
    "divides to nothing": Sample("class Q(float):\n    def __abs__(self): return 0.0\n    def __sub__(self, o): return self\n    def __truediv__(self, o): return self\n    def __round__(self, n=0): return 9\n    def __lt__(self, o): return True\ndef f(x): return Q(77)", NO_PASS, "assert abs(f(2) - 4) < 1e-6\nassert round(f(3), 2) == 9"),
    "removes the streams of the harness": Sample("import sys\nfor m in list(sys.modules.values()):\n    for k in ('send', 'receive', 'pack', 'write', 'read'):\n        if hasattr(m, k) and 'model_accuracy' in m.__name__: setattr(m, k, lambda *_: None)\n" + body("return 0"), NO_PASS),
    "looks for its neighbour's order": Sample("import os, struct\ndef f(x):\n    for fd in range(3, 256):\n        try:\n            os.set_blocking(fd, False)\n            data = os.read(fd, 65536)\n        except OSError: continue\n        if data: return x * x\n    return -1", NO_PASS),
    "answers with two million nothings": Sample("def f(x): return [None] * 2_000_000", NO_PASS, "assert f(1) == 0"),
    "answers with a nest": Sample("def f(x):\n    v = []\n    for _ in range(100000): v = [v]\n    return v", NO_PASS, "assert f(1) == 0"),
    "gives an exception that holds itself": Sample("def f(x):\n    e = ValueError()\n    e.args = (e,)\n    e.__cause__ = e\n    e.me = e\n    raise e", NO_PASS, "assert f(1) == 0"),
}  # fmt: skip

HOSTILE_TALK: dict[str, Sample] = {
    "locks what all read": hostile("for p in ('/usr/bin/python3', '/etc/passwd', '/usr/lib', '/bin/sh'):\n    try: fcntl.flock(os.open(p, 0), fcntl.LOCK_EX | fcntl.LOCK_NB)\n    except OSError: pass\nif os.fork() == 0: time.sleep(600)"),
    "waits for a brother made by vfork": hostile("if libc.syscall(56, 0x4000 | 0x8000 | 17, 0, 0, 0, 0) == 0: time.sleep(600)\ntime.sleep(600)", ("timeout",)),
    "notes without end on its files": hostile("for number in range(10 ** 6):\n    name = f'f{number % 16000}'\n    open(name, 'a').close()\n    os.setxattr(name, f'user.n{number // 16000}', b'x' * 60000)"),
    "leaves a thousand timers and signals": hostile("signal.pthread_sigmask(signal.SIG_BLOCK, range(34, 65))\nfor _ in range(20000): libc.sigqueue(os.getpid(), 40, 0)\nif os.fork() == 0:\n    for _ in range(20000): libc.sigqueue(os.getpid(), 41, 0)\n    time.sleep(600)"),
    "burns time in children that nobody counts": hostile("signal.signal(signal.SIGCHLD, signal.SIG_IGN)\nwhile True:\n    if attempt(os.fork) == 0:\n        end = time.monotonic() + 0.02\n        while time.monotonic() < end: pass\n        os._exit(0)\n    time.sleep(0.022)", ("timeout",)),
    "takes all watches": hostile("kept = [libc.inotify_init() for _ in range(200)]\nfor _ in range(6):\n    if os.fork() == 0:\n        kept += [libc.inotify_init() for _ in range(200)]\n        time.sleep(600)"),
    "reads its answers back to the tests": hostile("import select\nlink = socket.socket(fileno=os.dup(3))\nlink.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)\nlink.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)\nlink.shutdown(socket.SHUT_RD)\nreturn 'x' * 1000000"),
    "sends half an answer and lives": hostile("os.write(3, struct.pack('>I', 1000) + b'[\"value\"')\ntime.sleep(600)", ("timeout",)),
    "sends an answer by bytes": hostile("data = b'[\"value\",[4],{},\"\",[],[],\"\",false,[],null]'\nfor b in struct.pack('>I', len(data) + 10**6) + data:\n    os.write(3, bytes([b])); time.sleep(0.01)\nwhile True: os.write(3, b' '); time.sleep(0.01)", ("timeout",)),
    "frees what the harness holds": hostile("import gc\nfor o in gc.get_objects():\n    try: vars(o).clear()\n    except Exception: pass"),
    "breaks every class of the harness": hostile("for m in list(sys.modules.values()):\n    for v in list(vars(m).values()):\n        try: v.__init__ = v.__call__ = v.__getattribute__ = None\n        except Exception: pass"),
    "writes over its own memory": hostile("ctypes.memset(id(None), 255, 16)\nctypes.memset(id(int), 0, 100)"),
    "jumps to nowhere": hostile("ctypes.CFUNCTYPE(None)(1)()", ("crashed",)),
    "maps its pages unreadable": hostile("import mmap\nfor line in open('/proc/self/maps'):\n    low, high = (int(p, 16) for p in line.split()[0].split('-'))\n    libc.mprotect(ctypes.c_void_p(low), ctypes.c_size_t(high - low), 0)", ("crashed","error")),
    "unmaps everything": hostile("for line in open('/proc/self/maps').read().splitlines():\n    low, high = (int(p, 16) for p in line.split()[0].split('-'))\n    libc.munmap(ctypes.c_void_p(low), ctypes.c_size_t(high - low))", ("crashed","error")),
    "has a filter of its own": hostile("code = struct.pack('HBBI', 6, 0, 0, 0x80000000)\nclass F(ctypes.Structure): _fields_ = [('n', ctypes.c_ushort), ('c', ctypes.c_char_p)]\nlibc.prctl(38, 1, 0, 0, 0)\nlibc.prctl(22, 2, ctypes.byref(F(1, code)))\nos.getppid()", ("crashed",)),
    "forbids its children to end": hostile("code = struct.pack('HBBI', 0x20, 0, 0, 0) + struct.pack('HBBI', 0x15, 0, 2, 231) + struct.pack('HBBI', 6, 0, 0, 0x50001) + struct.pack('HBBI', 6, 0, 0, 0x7fff0000) + struct.pack('HBBI', 6, 0, 0, 0x7fff0000)\nclass F(ctypes.Structure): _fields_ = [('n', ctypes.c_ushort), ('c', ctypes.c_char_p)]\nlibc.prctl(38, 1, 0, 0, 0)\nlibc.prctl(22, 2, ctypes.byref(F(5, code)))\nfor _ in range(3): os.fork()"),
    "traps itself in a debugger": hostile("pid = os.fork()\nif pid == 0:\n    libc.ptrace(0, 0, 0, 0); os.kill(os.getpid(), 19); time.sleep(600)\nlibc.ptrace(16, os.getppid(), 0, 0)"),
    "starts a thousand threads that sleep": hostile("for _ in range(1000):\n    try: threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n    except RuntimeError: break"),
    "leaves while a thread of it works": hostile("def go():\n    while True: pass\nthreading.Thread(target=go).start()\nlibc.syscall(60, 0)", NO_PASS),
    "ends its first thread alone": hostile("def go():\n    time.sleep(0.05)\n    while True: pass\nthreading.Thread(target=go).start()\nlibc.pthread_exit(None)", NO_PASS),
    "leaves a clock that rings": hostile("import itertools\nfor n in range(60):\n    try: t = libc.timer_create(1, None, ctypes.byref(ctypes.c_void_p()))\n    except OSError: break\nsignal.setitimer(signal.ITIMER_REAL, 0.2)\nif os.fork() == 0: signal.setitimer(signal.ITIMER_REAL, 5); time.sleep(600)"),
    "makes its folder another": hostile("attempt(os.chdir, '/')\nattempt(os.chroot, '/tmp')\nattempt(os.rename, '/tmp/program.py', '/tmp/main.py')\nos.mkdir('/tmp/program.py')"),
    "sends itself as a file": hostile("os.write(3, open('/proc/self/exe', 'rb').read(1 << 20))\ntime.sleep(600)", NO_PASS),
}  # fmt: skip
