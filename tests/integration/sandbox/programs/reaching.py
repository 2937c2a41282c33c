"""Programs that would pass if they reached what they must not: other processes, the machine, the network."""

from tests.integration.sandbox.programs.sample import reaching

_OTHERS = "[pid for pid in map(int, filter(str.isdigit, os.listdir('/proc'))) if pid != os.getpid()]"


def _call(number: int, *arguments: object) -> str:
    """Whether a system call of x86_64 succeeds."""
    return f"libc.syscall({', '.join(map(str, (number, *arguments)))}) >= 0"


def _of_first(path: str) -> str:
    return f"open('/proc/1/{path}', 'rb').read(1) is not None"


REACHING = {
    "the first process's memory": reaching(_of_first("mem")),
    "the first process's variables": reaching(_of_first("environ")),
    "the first process's addresses": reaching("open('/proc/1/maps').read()"),
    "the first process's descriptors": reaching("os.listdir('/proc/1/fd')"),
    "the first process's input": reaching("os.open('/proc/1/fd/0', os.O_RDWR) > 0"),
    "the first process's likelihood to be ended": reaching("open('/proc/1/oom_score_adj', 'w').write('1000')"),
    "the first process's limits": reaching("resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0)) is not None"),
    "the first process's punctuality": reaching("os.write(os.open('/proc/1/timerslack_ns', os.O_WRONLY), b'1000000000')"),
    "the first process's priority": reaching(
        "os.setpriority(os.PRIO_PROCESS, 1, 19) or os.getpriority(os.PRIO_PROCESS, 1) == 19"
    ),
    "the first process's cores": reaching(
        "os.sched_setaffinity(1, {min(os.sched_getaffinity(0))}) or len(os.sched_getaffinity(1)) < len(os.sched_getaffinity(0))"
    ),
    "the first process's policy": reaching(
        "os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)) or os.sched_getscheduler(1) == os.SCHED_IDLE"
    ),
    "the first process's turn at disks": reaching("libc.syscall(251, 1, 1, 3 << 13) or libc.syscall(252, 1, 1) == 3 << 13"),
    "other processes' memory": reaching(f"[open(f'/proc/{{pid}}/mem', 'rb') for pid in {_OTHERS}]"),
    "other processes' descriptors": reaching(
        f"any(libc.syscall(438, os.pidfd_open(pid), number, 0) >= 0 for pid in {_OTHERS} for number in range(9))"
    ),
    "other processes by tracing": reaching(f"any(libc.ptrace(16, pid, 0, 0) == 0 for pid in {_OTHERS})"),
    "other processes' pages": reaching(f"any(libc.syscall(279, pid, 0, 0, 0, 0, 0) >= 0 for pid in {_OTHERS})"),
    "shared memory of System V": reaching(_call(29, 0, 4096, 0o1600)),
    "semaphores of System V": reaching(_call(64, 0, 1, 0o1600)),
    "messages of System V": reaching(_call(68, 0, 0o1600)),
    "queues": reaching("libc.mq_open(b'/q', os.O_CREAT | os.O_RDWR, 0o600, None) >= 0"),
    "keys": reaching(_call(250, 0, -3, 1)),
    "a key of its own": reaching("libc.syscall(248, b'user', b'name', b'data', 4, -4) >= 0"),
    "a queue in the kernel": reaching("libc.syscall(425, 4, ctypes.create_string_buffer(256)) >= 0"),
    "faults of pages": reaching(_call(323, 1)),
    "programs in the kernel": reaching("libc.syscall(321, 0, ctypes.create_string_buffer(128), 128) >= 0"),
    "counters of the processor": reaching("libc.syscall(298, ctypes.create_string_buffer(128), 0, -1, -1, 0) >= 0"),
    "a namespace of users": reaching(_call(272, 0x10000000)),
    "a child in a namespace of users": reaching("libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0) >= 0"),
    "a child by the newer call": reaching(
        "libc.syscall(435, struct.pack('11Q', 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0), 88) >= 0"
    ),
    "the first process's namespaces": reaching("libc.setns(os.open('/proc/1/ns/mnt', 0), 0) == 0"),
    "a mount": reaching("libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0"),
    "a mount by the newer call": reaching("libc.syscall(430, b'tmpfs', 0) >= 0"),
    "the end of a mount": reaching("libc.umount2(b'/tmp', 2) == 0"),
    "another root": reaching("os.chroot('/tmp') is None"),
    "another user": reaching("os.setuid(0) is None or os.setuid(1) is None"),
    "another group": reaching("os.setgid(0) is None"),
    "more groups": reaching("os.setgroups([0, 4]) is None"),
    "another name of the machine": reaching("socket.sethostname('mine') is None"),
    "another time": reaching("time.clock_settime(time.CLOCK_REALTIME, 0) is None"),
    "another reboot": reaching("libc.reboot(0) == 0"),
    "modules of the kernel": reaching("libc.syscall(313, 0, b'', 0) >= 0"),
    "the kernel's log": reaching("libc.klogctl(3, ctypes.create_string_buffer(99), 99) > 0"),
    "a device": reaching("os.mknod('d', 0o666 | stat.S_IFBLK, os.makedev(254, 0)) is None"),
    "a file by its number": reaching(
        "libc.syscall(304, os.open('/', 0), struct.pack('ii8s', 8, 1, b'\\2'), 0) >= 0"
    ),
    "any other file": reaching(
        "[path for pattern in ('/dev/**', '/etc/**', '/run/**', '/var/**', '/proc/*', '/proc/1/*', '/proc/sys/**')"
        " for path in glob.glob(pattern, recursive=True)"
        " if not path.startswith(('/dev/shm', '/proc/1/timerslack')) and os.path.isfile(path) and os.access(path, os.W_OK)]"
    ),
    "the machine's settings": reaching("open('/sys/power/state', 'w').write('')"),
    "control groups": reaching("os.mkdir('/sys/fs/cgroup/mine') is None"),
    "the system's folders": reaching("any(attempt(open, f'{place}/f', 'w') for place in ('/', '/usr', '/etc', '/var', '/usr/bin', '/run'))"),
    "its commands": reaching("any(b'assert' in open(f'/proc/{pid}/cmdline', 'rb').read() for pid in os.listdir('/proc') if pid.isdigit())"),
    "raw packets": reaching("socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)"),
    "the kernel's network settings": reaching("socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)"),
    "the cipher of the kernel": reaching("socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)"),
    "virtual machines' sockets": reaching("socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)"),
    "the network": reaching("socket.create_connection(('192.0.2.1', 80), 0.2)"),
    "a name server": reaching("socket.gethostbyname('example.invalid')"),
    "the engine's socket": reaching("socket.socket(1).connect('/var/run/docker.sock') is None"),
    "the machine's network": reaching("len(open('/proc/net/dev').read().splitlines()) > 3"),
    "calls by their other numbers": reaching("libc.syscall(0x40000000 + 39) > 0"),
}  # fmt: skip
