"""Programs that leave something behind for those that run after them."""

from tests.integration.sandbox.programs.sample import NO_PASS, Sample, body, hostile

_SAYING = "import os\nos.write(1, b'a program before you was here')\n"
"""A module that would be seen at work."""

FILES = {
    "removes all it may": Sample(
        "import shutil, os\n"
        + body("for name in os.listdir('/'): shutil.rmtree('/' + name, ignore_errors=True)\nreturn 0"),
        NO_PASS,
        not_in=("uid", "none"),
    ),
    "makes locked folders of two thousand levels": hostile(
        "for _ in range(2000): os.mkdir('d'); os.chdir('d')\nfor _ in range(2000): os.chdir('..'); os.chmod('d', 0)"
    ),
    "makes names that are no text": hostile(
        "for name in (b'\\xff\\xfe', b'\\n', b' ', b'-rf', b'\\x1b[2J', b'a' * 255, '\\u202e'.encode()): open(name, 'w'); os.mkdir(name + b'd' if len(name) < 255 else b'e')"
    ),
    "locks the folder of all": hostile("attempt(os.chmod, '/tmp', 0)\nattempt(os.chmod, '/dev/shm', 0)"),
    "notes something on the folder of all": hostile("attempt(os.setxattr, '/tmp', 'user.note', b'was here')"),
    "moves the folder away": hostile("attempt(os.rename, '/tmp', '/dev/shm/tmp')\nattempt(os.rmdir, '/tmp')"),
    "leaves a file in shared memory": hostile("open('/dev/shm/f', 'w').write('was here')"),
    "leaves a file among queues": hostile("attempt(open, '/dev/mqueue/f', 'w')"),
    "leaves shared memory of Python": hostile(
        "from multiprocessing import shared_memory, resource_tracker\nresource_tracker.register = lambda *_: None\n"
        "shared_memory.SharedMemory('left', create=True, size=4096)"
    ),
    "leaves modules that Python would import": hostile(
        f"for name in ('json', 'os', 'random', 'unittest', 'sitecustomize'): open(f'{{name}}.py', 'w').write({_SAYING!r})"
    ),
    "leaves a module for every start of Python": hostile(
        "place = os.path.expanduser('~/.local/lib/python%d.%d/site-packages' % sys.version_info[:2])\nos.makedirs(place)\n"
        f"open(place + '/usercustomize.py', 'w').write({_SAYING!r})\nopen(place + '/left.pth', 'w').write('import usercustomize')"
    ),
    "leaves a pipe with a name": hostile("os.mkfifo('f')\nos.mkfifo('/dev/shm/f')"),
    "leaves a socket with a name": hostile("socket.socket(1).bind('s')"),
    "leaves a file that is open and locked": hostile(
        "file = open('f', 'w')\nfcntl.flock(file, fcntl.LOCK_EX)\nattempt(fcntl.fcntl, file, fcntl.F_SETLEASE, fcntl.F_WRLCK)\nif os.fork() == 0: time.sleep(600)"
    ),
    "leaves a file that may not be written": hostile(
        "open('f', 'w')\nos.chmod('f', 0)\nlibc.ioctl(os.open('f', 0), 0x40086602, struct.pack('L', 0x30))"
    ),
    "turns a folder into a link all the time": hostile(
        """
        if os.fork(): return 0
        while True:
            attempt(os.mkdir, 'd'); attempt(os.rmdir, 'd')
            attempt(os.symlink, '/etc', 'd'); attempt(os.unlink, 'd')
        """
    ),
    "makes files while they are removed": hostile(
        "os.setsid()\nif os.fork(): return 0\nfor number in range(10 ** 9): attempt(os.mkdir, f'd{number % 100}')"
    ),
}

PROCESSES = {
    "leaves a daemon": hostile(
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork(): os._exit(0)\n    time.sleep(600)"
    ),
    "leaves a process that makes others": hostile(
        "if os.fork() == 0:\n    while True:\n        if attempt(os.fork) == 0: os._exit(0)\n        attempt(os.waitpid, -1, os.WNOHANG)"
    ),
    "leaves a shell that waits": hostile(
        "subprocess.Popen(['sh', '-c', 'trap \"\" 1 2 3 15; while :; do sleep 1; done'])"
    ),
    "leaves a thread": hostile("threading.Thread(target=time.sleep, args=(600,)).start()"),
    "changes how the first process is run": hostile(
        "attempt(os.setpriority, 0, 1, 19)\nattempt(os.sched_setaffinity, 1, {0})\nattempt(os.sched_setscheduler, 1, os.SCHED_IDLE, os.sched_param(0))\nlibc.syscall(251, 1, 1, 3 << 13)"
    ),
    "changes its own properties": hostile(
        "os.umask(0)\nlibc.personality(0x0040000)\nlibc.prctl(29, 1)\nos.environ['LEFT'] = '1'\nlibc.prctl(4, 0)\nresource.setrlimit(resource.RLIMIT_NOFILE, (9, 9))"
    ),
}

NETWORK = {
    "leaves a port that was just closed": hostile(
        """
        server = socket.create_server(('127.0.0.1', 5000))
        client = socket.create_connection(('127.0.0.1', 5000))
        accepted, _ = server.accept()
        for one in (accepted, client, server): one.close()
        """
    ),
    "leaves a server without a file": hostile(
        "server = socket.socket(1)\nserver.bind('\\0left')\nserver.listen()\nif os.fork() == 0: time.sleep(600)"
    ),
}

HOSTILE_NEIGHBOUR = {**FILES, **PROCESSES, **NETWORK}
