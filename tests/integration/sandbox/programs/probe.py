"""A program that prints all it can see of what others may have left, for comparison with a worker that nobody had."""

PROBE = """
import ctypes, glob, json, os, resource, signal, socket, sys, time
from pathlib import Path

libc = ctypes.CDLL(None)

def read(path):
    try: return Path(path).read_text()
    except OSError as error: return type(error).__name__

def properties(path):
    try: it = os.stat(path)
    except OSError as error: return type(error).__name__
    is_now = all(abs(moment - time.time()) < 86400 for moment in (it.st_atime, it.st_mtime))
    return [oct(it.st_mode), it.st_uid, it.st_gid, is_now, os.listxattr(path), sorted(os.listdir(path))]

def how_run(pid):
    return [os.getpriority(os.PRIO_PROCESS, pid), sorted(os.sched_getaffinity(pid)), os.sched_getscheduler(pid),
            os.sched_getparam(pid).sched_priority, libc.syscall(252, 1, pid)]

def can_bind(kind, port):
    with socket.socket(socket.AF_INET, kind) as one:
        try: one.bind(("127.0.0.1", port))
        except OSError as error: return error.errno
    return True

def rows(path):
    return len(read(path).splitlines())

def look():
    processes = sorted(name for name in os.listdir("/proc") if name.isdigit())
    return {
        "self": how_run(0),
        "first": how_run(1),
        "limits": [resource.getrlimit(kind) for kind in range(resource.RLIM_NLIMITS if hasattr(resource, "RLIM_NLIMITS") else 16)],
        "processes": [read(f"/proc/{pid}/comm").strip() for pid in processes],
        "folders": {path: properties(path) for path in ("/tmp", "/dev/shm", "/dev/mqueue", ".")},
        "cwd": os.getcwd(),
        "umask": os.umask(0o022),
        "variables": dict(os.environ),
        "path": sys.path,
        "files": sorted(os.listdir("/proc/self/fd")),
        "ids": [os.getuid() > 0, os.getgid(), os.getsid(0) == os.getpid(), sorted(os.getgroups())],
        "oom": read("/proc/self/oom_score_adj"),
        "slack": libc.prctl(30),
        "personality": libc.personality(0xFFFFFFFF),
        "masks": [line for line in read("/proc/self/status").splitlines() if line[:3] in ("Sig", "Shd", "Cap", "NoN", "Sec") and line[:4] != "SigQ"],
        "handlers": [str(signal.getsignal(number)) for number in sorted(signal.valid_signals())],
        "objects": [rows(f"/proc/sysvipc/{kind}") for kind in ("shm", "sem", "msg")],
        "sockets": [rows(f"/proc/net/{kind}") for kind in ("tcp", "tcp6", "udp", "unix")],
        "traffic": [read("/proc/net/snmp"), read("/proc/net/snmp6")],
        "ports": [can_bind(kind, port) for kind in (1, 2) for port in (5000, 5001)],
        "name": [socket.gethostname() == read("/etc/hostname").strip(), read("/proc/sys/kernel/domainname")],
        "loaded": sorted(sys.modules),
        "random": __import__("random").random(),
        "groups": read("/proc/self/loginuid"),
    }

def f(x):
    for name, value in look().items():
        print(json.dumps([name, str(value)[:60], hash(str(value))]))
    return x * x
"""
