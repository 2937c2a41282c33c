"""Right programs that use what few do: tools of the interpreter and of the system, and values of unusual kinds."""

from tests.integration.sandbox.programs.sample import RIGHT, Sample, honest

HONEST_TOOLS: dict[str, Sample] = {
    "profiles itself": honest("import cProfile, io, pstats\ndef f(x):\n    p = cProfile.Profile()\n    y = p.runcall(pow, x, 2)\n    pstats.Stats(p, stream=io.StringIO()).print_stats()\n    return y"),
    "traces memory": honest("import tracemalloc\ntracemalloc.start()\ndef f(x):\n    tracemalloc.take_snapshot().statistics('lineno')\n    return x * x"),
    "dumps its stack on faults": honest("import faulthandler\nfaulthandler.enable()\ndef f(x):\n    faulthandler.dump_traceback()\n    return x * x"),
    "sees its lines": honest("import sys\nseen = []\ndef tracer(*event):\n    seen.append(event[1])\n    return tracer\ndef f(x):\n    sys.settrace(tracer)\n    y = (lambda n: n * n)(x)\n    sys.settrace(None)\n    return y if 'line' in seen else 0"),
    "has a terminal of its own": honest("import os, pty\ndef f(x):\n    ours, theirs = pty.openpty()\n    os.write(theirs, b'%d\\n' % (x * x))\n    return int(os.read(ours, 100))"),
    "runs a shell on a terminal": honest("import os, pty\ndef f(x):\n    data = b''\n    def read(fd):\n        nonlocal data\n        piece = os.read(fd, 1024)\n        data += piece\n        return piece\n    pty.spawn(['sh', '-c', f'echo $(({x} * {x}))'], read)\n    return int(data)"),
    "has a manager": honest("import multiprocessing\ndef f(x):\n    with multiprocessing.get_context('fork').Manager() as manager:\n        found = manager.dict()\n        found['y'] = x * x\n        return found['y']"),
    "meets at a barrier": honest("import multiprocessing as m\ndef work(b, q, x):\n    b.wait(5)\n    q.put(x * x)\ndef f(x):\n    c = m.get_context('fork')\n    b, q = c.Barrier(2), c.Queue()\n    p = c.Process(target=work, args=(b, q, x))\n    p.start()\n    b.wait(5)\n    y = q.get()\n    p.join()\n    return y"),
    "spawns without a fork": honest("import os\ndef f(x):\n    r, w = os.pipe()\n    pid = os.posix_spawn('/bin/sh', ['sh', '-c', f'echo $(({x} * {x}))'], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, w, 1)])\n    os.waitpid(pid, 0)\n    return int(os.read(r, 100))"),
    "ignores the ends of its children": honest("import os, signal, time\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\ndef f(x):\n    r, w = os.pipe()\n    if os.fork() == 0:\n        os.write(w, b'%d' % (x * x))\n        os._exit(0)\n    return int(os.read(r, 100))"),
    "copies within the kernel": honest("import os, tempfile\ndef f(x):\n    with tempfile.TemporaryFile() as a, tempfile.TemporaryFile() as b:\n        a.write(b'%d' % (x * x))\n        a.flush()\n        os.sendfile(b.fileno(), a.fileno(), 0, 100)\n        b.seek(0)\n        return int(b.read())"),
    "waits by epoll": honest("import os, select\ndef f(x):\n    r, w = os.pipe()\n    with select.epoll() as poll:\n        poll.register(r, select.EPOLLIN)\n        os.write(w, b'%d' % (x * x))\n        return int(os.read(poll.poll(1)[0][0], 100))"),
    "sorts by C": honest("import ctypes\nlibc = ctypes.CDLL(None)\nkind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))\ndef f(v):\n    a = (ctypes.c_int * len(v))(*v)\n    libc.qsort(a, len(v), 4, kind(lambda p, q: p[0] - q[0]))\n    return list(a)", "assert f([3, 1, 2]) == [1, 2, 3]"),
    "counts with fifty digits": honest("from decimal import Decimal, getcontext\ngetcontext().prec = 50\ndef f(x): return Decimal(1) / x", "from decimal import Decimal\nassert f(3) == Decimal('0.' + '3' * 50)"),
    "knows zones": honest("from datetime import datetime\nfrom zoneinfo import ZoneInfo\ndef f(x): return datetime(2024, x, 1, tzinfo=ZoneInfo('Europe/Paris'))", "assert f(7).utcoffset().total_seconds() == 7200\nassert f(1).tzinfo.key == 'Europe/Paris'"),
    "gives views": honest("def f(d): return d.keys(), d.values(), d.items()", "k, v, i = f({1: 2})\nassert list(k) == [1] and list(v) == [2] and list(i) == [(1, 2)] and 1 in k and (1, 2) in i and len(v) == 1"),
    "dispatches by type": honest("from functools import singledispatch\n@singledispatch\ndef f(x): return 'any'\n@f.register\ndef _(x: int): return 'int'\n@f.register(list)\ndef _(x): return 'list'", "assert [f(1), f([]), f('')] == ['int', 'list', 'any']"),
    "reads the machine's facts": honest("import platform, getpass, pwd, os\ndef f(x):\n    facts = platform.platform(), pwd.getpwuid(os.getuid()), os.cpu_count(), os.getloadavg(), os.uname()\n    return x * x if all(facts) else 0")._replace(not_in=("uid", "container")),  # those users have no name
    "packs by three ways": honest("import bz2, lzma, zlib\ndef f(x):\n    for m in (bz2, lzma, zlib): assert m.decompress(m.compress(b'a' * 1000)) == b'a' * 1000\n    return x * x"),
    "hashes by OpenSSL": honest("import hashlib, hmac, secrets\ndef f(x):\n    assert hmac.new(b'k', b'm', hashlib.sha256).hexdigest() and hashlib.pbkdf2_hmac('sha256', b'p', b's', 1000) and secrets.token_hex(4)\n    return x * x"),
    "reads XML and mail": honest("import xml.etree.ElementTree as E, email\ndef f(x): return int(E.fromstring(f'<a><b>{x * x}</b></a>')[0].text) if email.message_from_string('A: b\\n\\nc')['A'] == 'b' else 0"),
    "has weak references": honest("import weakref, gc\nclass A: pass\ndef f(x):\n    a = A(); r = weakref.WeakValueDictionary(k=a)\n    n = len(r)\n    del a\n    gc.collect()\n    return x * x if (n, len(r)) == (1, 0) else 0"),
    "recurses through a thread": honest("import sys, threading\ndef f(n):\n    out = []\n    def go():\n        def deep(k): return 0 if not k else 1 + deep(k - 1)\n        out.append(deep(n))\n    sys.setrecursionlimit(10 ** 6)\n    threading.stack_size(128 << 20)\n    t = threading.Thread(target=go); t.start(); t.join()\n    return out[0]", "assert f(20000) == 20000"),
    "has a name like ours": honest("class JobReport: pass\nCHECKED = __checked__ = 3\nProgramSide = serve = load = FILE = None\n" + RIGHT),
    "cleans all names": honest("def f(x): return x * x\nfor name in [n for n in dir() if not n.startswith('__') and n != 'f']: del globals()[name]"),
    "removes its own file": honest("import os\ntry: os.remove(__file__)\nexcept NameError: pass\n" + RIGHT),
    "changes the table of modules": honest("import sys\nfor name in [n for n in sys.modules if n.startswith('json')]: del sys.modules[name]\nimport json\ndef f(x): return json.loads(str(x * x))"),
    "closes its standard streams": honest("import os, sys\nsys.stdout.close(); sys.stdin.close()\nos.close(2)\n" + RIGHT),
    "prints after all": honest("import sys\nclass Quiet:\n    def write(self, _): pass\n    def flush(self): pass\nsys.stdout = sys.stderr = Quiet()\n" + RIGHT),
    "has no standard streams": honest("import sys\nsys.stdout = sys.stderr = sys.stdin = None\n" + RIGHT),
    "adds to what the tests hold": honest("def f(d, s, v):\n    d.setdefault('k', []).append(1); s |= {2}; v += [3]", "d, s, v = {}, set(), []\nfor _ in range(2): f(d, s, v)\nassert d == {'k': [1, 1]} and s == {2} and v == [3, 3]"),
}  # fmt: skip
