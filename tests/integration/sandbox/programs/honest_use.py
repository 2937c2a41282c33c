"""Right programs that use what a hostile one uses, too: processes, files, sockets, signals, limits and much memory."""

from tests.integration.sandbox.programs.sample import Sample, honest

PROCESSES = {
    "multiplies in a pool of processes": honest("""
        from multiprocessing import get_context
        def square(n): return n * n
        def f(x):
            with get_context("fork").Pool(2) as pool: return pool.map(square, [x])[0]
    """),
    "shares memory with a name": honest("""
        from multiprocessing import shared_memory
        def f(x):
            memory = shared_memory.SharedMemory(create=True, size=8)
            try:
                memory.buf[0] = abs(x)
                return memory.buf[0] ** 2
            finally:
                memory.close(); memory.unlink()
    """),
    "ends a child that is slow": honest("""
        import subprocess
        def f(x):
            try: subprocess.run(["sleep", "60"], timeout=0.1)
            except subprocess.TimeoutExpired: return x * x
    """),
    "runs programs in asyncio": honest("""
        import asyncio
        async def ask(x):
            child = await asyncio.create_subprocess_exec("expr", str(x), "*", str(x), stdout=asyncio.subprocess.PIPE)
            return int((await child.communicate())[0])
        def f(x): return asyncio.run(ask(x))
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
    "maps a file": honest("""
        import mmap
        def f(x):
            with open("map", "w+b") as file:
                file.write(bytes(4096))
                file.flush()
                with mmap.mmap(file.fileno(), 0) as memory:
                    memory[:4] = b"%4d" % (x * x)
                    return int(memory[:4])
    """),
    "knows who it is": honest("""
        import getpass, os, pwd
        def f(x): return x * x if pwd.getpwuid(os.getuid()).pw_name == getpass.getuser() == "nobody" else None
    """)._replace(not_in=("uid", "none")),
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
    "serves in asyncio": honest("""
        import asyncio
        async def answer(reader, writer):
            writer.write(str(int(await reader.readline()) ** 2).encode() + b"\\n")
            await writer.drain(); writer.close()
        async def ask(x):
            async with await asyncio.start_unix_server(answer, "s"):
                reader, writer = await asyncio.open_unix_connection("s")
                writer.write(f"{x}\\n".encode())
                result = int(await reader.readline())
                writer.close()
                return result
        def f(x): return asyncio.run(ask(x))
    """),
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
    "has a large stack": honest("""
        import sys, threading
        sys.setrecursionlimit(100000)
        threading.stack_size(64 << 20)
        def f(x):
            result = []
            def down(n): return x * x if n == 0 else down(n - 1)
            thread = threading.Thread(target=lambda: result.append(down(20000)))
            thread.start(); thread.join()
            return result[0]
    """),
}

HONEST_USE: dict[str, Sample] = {**PROCESSES, **SIGNALS, **FILES, **NETWORK, **SPACE}
