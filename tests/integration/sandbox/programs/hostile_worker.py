"""Programs that want to end, stop or block the worker that runs them."""

from tests.integration.sandbox.programs.sample import NO_PASS, Sample, body, hostile

SIGNALS = {
    "leaves, and a child keeps its connection": Sample(
        "import os, time\n" + body("if os.fork(): os._exit(0)\ntime.sleep(600)"), ("exited",)
    ),
    "kills all it may": Sample("import os\n" + body("os.kill(-1, 9)\nreturn 0"), NO_PASS, not_in=("none",)),
    "kills its parent": Sample("import os\n" + body("os.kill(os.getppid(), 9)\nreturn 0"), NO_PASS, not_in=("none",)),
    "sends the first process every signal": hostile("for number in range(1, 65): attempt(os.kill, 1, number)"),
    "signals the first process by a descriptor": hostile("signal.pidfd_send_signal(os.pidfd_open(1), 2)"),
    "signals the first process by a pipe": hostile(
        """
        reader, writer = os.pipe()
        attempt(fcntl.fcntl, reader, fcntl.F_SETOWN, 1)
        fcntl.fcntl(reader, 10, int(signal.SIGINT))
        fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC)
        for _ in range(100): os.write(writer, b"x")
        """
    ),
    "kills its process group": hostile("os.killpg(0, 9)", ("crashed",)),
    "interrupts its process group": hostile("os.killpg(0, 2)\ntime.sleep(600)"),
    "stops everybody": hostile("libc.kill(-1, 19)\nos.kill(os.getpid(), 19)", ("timeout",)),
    "kills every process that it sees": hostile(
        "for pid in filter(str.isdigit, os.listdir('/proc')): attempt(os.kill, int(pid), 9)"
    ),
    "reports ends of children all the time": hostile(
        "while True: attempt(os.kill, os.getppid(), signal.SIGCHLD)", ("timeout",)
    ),
    "ignores every signal and loops": hostile(
        "for number in range(1, 65):\n    try: signal.signal(number, signal.SIG_IGN)\n    except (OSError, ValueError): pass\n"
        "while True: pass",
        ("timeout",),
    ),
    "is woken by three timers": hostile(
        "for kind in (0, 1, 2): signal.setitimer(kind, 0.01, 0.01)\nwhile True: pass", ("crashed",)
    ),
    "wants to die with its parent": hostile("libc.prctl(1, 0)\nif os.fork(): os._exit(0)\ntime.sleep(600)"),
}

PROCESSES = {
    "makes orphans all the time": hostile(
        """
        while True:
            if attempt(os.fork) == 0:
                if attempt(os.fork) == 0: time.sleep(0.01)
                os._exit(0)
            attempt(os.wait)
        """,
        ("timeout",),
    ),
    "makes children that nobody hears of": hostile(
        "for _ in range(10):\n    if libc.syscall(56, 0, 0, 0, 0, 0) == 0: time.sleep(600)"
    ),
    "waits for a child made by vfork": hostile("if libc.syscall(58) == 0: time.sleep(600)", ("timeout",)),
    "changes its name to look like another state": hostile(
        "libc.prctl(15, b'x) R 1 (')\ntime.sleep(600)", ("timeout",)
    ),
    "runs in real time": hostile(
        "attempt(os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(50))\nwhile True: pass", ("timeout",)
    ),
    "dumps its core": hostile(
        "try: resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20))\nexcept (OSError, ValueError): pass\nos.abort()",
        ("crashed",),
    ),
    "gives itself no limits to live with": hostile(
        "for kind in range(16): attempt(resource.setrlimit, kind, (0, 0))\nopen('a', 'w').write('x' * 9999)"
    ),
}

MESSAGES = {
    "writes into every descriptor": hostile("for number in range(100): attempt(os.write, number, b'x' * 100)"),
    "sends what is nested too deep": hostile(
        "data = b'[' * 100000\nfor number in range(3, 100): attempt(os.write, number, struct.pack('>I', len(data)) + data)"
    ),
    "makes its output wait": hostile(
        "fcntl.fcntl(1, 1031, 4096)\nos.set_blocking(1, False)\nwhile True: attempt(os.write, 1, b'y' * 5000)",
        ("output_limit",),
    ),
    "closes every descriptor and loops": hostile("os.closerange(0, 1000)\nwhile True: pass", NO_PASS),
    "prints no text": hostile("while True: os.write(1, bytes(range(256)) * 100)", ("output_limit",)),
    "raises what cannot be described": hostile(
        "class Odd(Exception):\n    def __str__(self): raise SystemExit\n    __repr__ = __str__\nraise Odd",
        ("error", "exited"),
    ),
    "sends itself in pieces of text that is none": hostile("raise ValueError('\\ud800' * 1000 + '\\0')", ("error",)),
}

SPACE = {
    "makes files without end": hostile("for number in range(10 ** 9): open(f'f{number}', 'w').close()", ("error",)),
    "makes files in shared memory without end": hostile(
        "for number in range(10 ** 9): open(f'/dev/shm/f{number}', 'w').close()", ("error",)
    ),
    "maps more than there is": hostile(
        "import mmap\nkept = []\nwhile True: kept.append(mmap.mmap(-1, 1 << 30))", ("error", "out_of_memory")
    ),
    "fills pipes": hostile(
        """
        kept = []
        while True:
            kept.append(os.pipe())
            attempt(fcntl.fcntl, kept[-1][1], 1031, 1 << 20)
            os.set_blocking(kept[-1][1], False)
            attempt(os.write, kept[-1][1], b'x' * (1 << 20))
        """,
        ("error",),
    ),
    "makes timers without end": hostile("while libc.timerfd_create(1, 0) >= 0: pass"),
    "writes a file with a hole": hostile("os.truncate(os.open('f', 66), 1 << 50)", ("error", "crashed")),
}

HOSTILE_WORKER = {**SIGNALS, **PROCESSES, **MESSAGES, **SPACE}
