"""Right programs that use what a hostile one uses, too: processes, files, sockets, signals, limits and much memory."""

from tests.integration.sandbox.programs.sample import Sample, honest

PROCESSES = {
    "ends a child that is slow": honest("""
        import subprocess
        def f(x):
            try: subprocess.run(["sleep", "60"], timeout=0.1)
            except subprocess.TimeoutExpired: return x * x
    """),
}

SIGNALS = {
    "has an alarm": honest("""
        import signal, time
        def f(x):
            result = []
            signal.signal(signal.SIGALRM, lambda *_: result.append(x * x))
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            while not result: time.sleep(0.01)
            return result[0]
    """),
    "signals itself": honest("""
        import os, signal
        def f(x):
            result = []
            signal.signal(signal.SIGUSR1, lambda *_: result.append(x * x))
            os.kill(os.getpid(), signal.SIGUSR1)
            return result[0]
    """),
    "lowers its limits": honest("""
        import resource
        def f(x):
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
            return x * x if resource.getrlimit(resource.RLIMIT_NOFILE) == (64, 64) else None
    """),
}

FILES = {
    "leaves files behind": honest("""
        def f(x):
            with open(f"file{x}", "w") as file: file.write(str(x * x))
            return int(open(f"file{x}").read())
    """),
    "knows who it is": honest("""
        import getpass, os, pwd
        def f(x): return x * x if pwd.getpwuid(os.getuid()).pw_name == getpass.getuser() == "nobody" else None
    """)._replace(not_in=("uid", "container", "none")),
}

NETWORK = {
    "talks to itself": honest("""
        import socket, threading
        def f(x):
            with socket.create_server(("127.0.0.1", 0)) as server:
                def answer():
                    one, _ = server.accept()
                    with one: one.sendall(str(int(one.recv(99)) ** 2).encode())
                threading.Thread(target=answer).start()
                with socket.create_connection(server.getsockname()) as client:
                    client.sendall(str(x).encode())
                    return int(client.recv(99))
    """)._replace(not_in=("uid", "none")),
}

SPACE = {
    "takes two hundred megabytes": honest("""
        def f(x):
            kept = bytearray(200 << 20)
            return x * x if len(kept) == 200 << 20 else None
    """),
    "copes with too little memory": honest("""
        def f(x):
            try: bytearray(64 << 30)
            except MemoryError: return x * x
    """),
    "prints what is no text": honest("""
        import sys
        def f(x):
            sys.stdout.buffer.write(bytes(range(256)))
            print("\\ud800".encode("utf-8", "surrogatepass"), file=sys.stderr)
            return x * x
    """),
}

HONEST_USE: dict[str, Sample] = {**PROCESSES, **SIGNALS, **FILES, **NETWORK, **SPACE}
