"""The launcher on a plain machine, against a real engine."""

import json
import socket
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.integration.container.conftest import Start
from tests.integration.container.tools import EXAMPLE, get, served
from tests.waiting import free_port, is_open, until

from model_accuracy_eval.adapter.adapter_container import AdapterContainer
from model_accuracy_eval.errors import AdapterFailed, BadValue, Refused, Stopped
from model_accuracy_eval.system.docker_engine import MARK

if TYPE_CHECKING:
    from docker import DockerClient

SERVE = 'exec python3 server.py {host} "$PORT"\n'
LOOPBACK, EVERYWHERE = SERVE.format(host="127.0.0.1"), SERVE.format(host="0.0.0.0")


def ended(box: AdapterContainer) -> str:
    until(lambda: box.exit_code() is not None, "deploy.sh ends")
    return box.tail(1000)


def left(client: "DockerClient", repository: str) -> list[str]:
    found = client.containers.list(all=True, filters={"label": f"{MARK}.repository={repository}"}, ignore_removed=True)
    return [str(one.name) for one in found]


def test_example_adapter(start: Start, client: "DockerClient", repository: str) -> None:
    """The example adapter serves on localhost though it listens on its own loopback; the stop leaves nothing."""
    port = free_port()
    box = start("", folder=str(EXAMPLE), model_path=str(EXAMPLE / "weights"), port=port)
    assert f'"id":"{EXAMPLE}/weights"' in served(port)
    assert "Requirement already satisfied: numpy" in box.tail(20)
    assert left(client, repository) == [box.name]
    words = json.loads(box.stack(port))["serving"]
    assert words[1:] == ["./server.py", f"{EXAMPLE}/weights", "--port", str(port)]
    box.stop()
    box.stop()
    assert left(client, repository) == []
    assert not is_open(port)
    assert box.exit_code() == -9


def test_what_a_container_says_of_its_stack_is_bounded(start: Start) -> None:
    """A python3 of its own that talks without end keeps nobody."""
    box = start("printf '#!/bin/sh\\nexec yes\\n' > $(command -v python3)\necho replaced\nsleep 600\n")
    until(lambda: "replaced" in box.tail(9), "python3 is another one")
    assert box.stack(8000) == ""


def test_published_on_the_loopback_alone(start: Start) -> None:
    """A server that listens everywhere in its container is reached by 127.0.0.1, and by no other address of ours."""
    port = free_port()
    start(EVERYWHERE, port=port)
    assert served(port) == "served"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing; names our address
        address = probe.getsockname()[0]
    assert get(port, host=address) is None


def test_exit_code(start: Start) -> None:
    """A script that ends is told with its exit code, and its last words are in the log by then."""
    box = start("echo last words\nexit 7\n")
    assert ended(box) == "last words"
    assert box.exit_code() == 7


def test_shebang(start: Start) -> None:
    """The interpreter of the first line runs the script where the image has it; else sh does."""
    assert ended(start('#!/usr/bin/env bash\necho "${BASH_VERSION:+bash}" "$0"\n')) == "bash deploy.sh"
    assert ended(start("#!/opt/none/fish\necho sh $0\n")).splitlines()[-1] == "sh deploy.sh"


def test_out_of_memory(start: Start) -> None:
    """A container killed for its memory says so, with its limit; on a busy machine the engine may have missed why."""
    box = start("exec python3 -c 'x = bytearray(400 << 20)'\n", memory="64m")
    assert "the container was killed because it used more than its limit of 64 MiB (out of memory)" in ended(box)
    assert box.exit_code() == 137


def test_what_was_killed_without_the_engines_knowledge(start: Start) -> None:
    """As the kernel does where the host has no memory left."""
    said = ended(start("sh -c 'kill -9 $$'\n"))
    assert "(out of memory), or by another program: the engine does not say why" in said


def test_requirements(start: Start, tmp_path: Path) -> None:
    """requirements.txt is installed inside first, relative paths and all, out of reach of the adapter's modules."""
    package = tmp_path / "adapter" / "probe"
    package.mkdir(parents=True)
    (tmp_path / "adapter" / "json.py").write_text("raise SystemExit('shadowed')")
    info = "Metadata-Version: 2.1\nName: probe\nVersion: 1.5\n"
    wheel(
        package / "probe-1.5-py3-none-any.whl", {"probe.py": "word = 'found'\n", "probe-1.5.dist-info/METADATA": info}
    )
    deploy = "exec python3 -I -c 'import probe; print(probe.word)'\n"
    box = start(deploy, "./probe/probe-1.5-py3-none-any.whl\n", environ={"PIP_NO_INDEX": "1"})
    assert ended(box).rpartition("── deploy.sh\n")[2] == "found"


def wheel(path: Path, files: dict[str, str]) -> None:
    tags = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**files, "probe-1.5.dist-info/WHEEL": tags, "probe-1.5.dist-info/RECORD": ""}.items():
            archive.writestr(name, text)


def test_failing_requirement(start: Start, client: "DockerClient", repository: str) -> None:
    """pip's failure is a sentence with its exit code, its last words are the detail, and nothing is left."""
    with pytest.raises(AdapterFailed, match=r"requirements.txt failed with exit code 1\.") as caught:
        start("echo never\n", "no-such-package-anywhere==1\n", environ={"PIP_NO_INDEX": "1"})
    assert "No matching distribution found for no-such-package-anywhere==1" in caught.value.detail
    assert left(client, repository) == []


def test_no_secret_inside(start: Start, tmp_path: Path) -> None:
    """Tokens, the runner's variables, the socket and our own paths stay out; what was meant for the adapter is there."""
    (tmp_path / "adapter").mkdir()
    environ = {
        "INPUT_TOKEN": "MARKER-1", "ACTIONS_RUNTIME_TOKEN": "MARKER-2", "HF_TOKEN": "MARKER-3", "STATE_X": "MARKER-4",
        "COPY_OF_IT": "x MARKER-3", "DOCKER_HOST": "unix:///var/run/docker.sock", "OUR_FOLDER": "/MARKER-5",
        "VLLM_USE_MODELSCOPE": "True", "OWN_FILE": str(tmp_path / "adapter" / "deploy.sh"),
    }  # fmt: skip
    told = ended(
        start("env; cat /proc/*/environ; mount; ls -a / /run /var/run; cat $OWN_FILE >/dev/null", environ=environ)
    )
    assert "MARKER" not in told
    assert "docker.sock" not in told
    assert "VLLM_USE_MODELSCOPE=True" in told
    assert f"OWN_FILE={tmp_path}/adapter/deploy.sh" in told


def test_adapter_is_a_copy(start: Start, tmp_path: Path) -> None:
    """The adapter may write in its folder without changing the caller's; weights within it are read-only."""
    weights = tmp_path / "adapter" / "weights"
    weights.mkdir(parents=True)
    (weights / "model").write_text("numbers")
    deploy = 'echo new > made; cat made "$MODEL_PATH/model"; echo; pwd; echo x > "$MODEL_PATH/model" || echo refused\n'
    told = ended(start(deploy, model_path=str(weights)))
    assert told.splitlines()[:2] == ["new", "numbers"]
    assert told.splitlines()[-1] == "refused"
    assert str(tmp_path / "adapter") in told
    assert not (tmp_path / "adapter" / "made").exists()
    assert (weights / "model").read_text() == "numbers"


def test_hub_cache(start: Start, tmp_path: Path) -> None:
    """Weights in a hub's cache are links to files beside them, which are given too."""
    snapshot = tmp_path / "cache" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (tmp_path / "cache" / "blobs").mkdir()
    (tmp_path / "cache" / "blobs" / "f00").write_text("numbers")
    (snapshot / "model").symlink_to("../../blobs/f00")
    assert ended(start('cat "$MODEL_PATH/model"', model_path=str(snapshot))) == "numbers"


def test_weights_refused(start: Start, tmp_path: Path) -> None:
    """Weights that do not exist, and those behind which the engine's socket lies, are refused."""
    with pytest.raises(Refused, match=r"There are no weights at .*/none; give --model"):
        start("", model_path=str(tmp_path / "none"))
    (tmp_path / "weights").symlink_to("/var/run")
    with pytest.raises(Refused, match=r"holds the container engine's socket, which no adapter may get"):
        start("", model_path=str(tmp_path / "weights"), environ={"DOCKER_HOST": "unix:///var/run/docker.sock"})


def test_shared_memory(start: Start) -> None:
    """The size of /dev/shm is what was asked for, 1 GiB unless told."""
    deploy = "df --output=size -B1M /dev/shm | tail -1"
    assert ended(start(deploy)).split() == ["1024"]
    assert ended(start(deploy, shm_size="128m")).split()[-1] == "128"
    with pytest.raises(BadValue, match="shm-size is 'much'; it takes a number with a unit, such as 1g or 512m"):
        start(deploy, shm_size="much")


def test_missing_image(start: Start) -> None:
    """An image that is nowhere to be had is a sentence with the next command."""
    image = "127.0.0.1:9/nobody/nothing"
    with pytest.raises(
        Refused, match=rf"The image {image} is not on this machine, .*docker login, docker pull {image}"
    ):
        start("", image=image)


def test_taken_port(start: Start, client: "DockerClient", repository: str) -> None:
    """A port that another program has is told, and the half-made container is removed."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(AdapterFailed, match="Another program has the port; `ss -ltnp` shows which"):
            start(EVERYWHERE, port=taken.getsockname()[1])
    assert left(client, repository) == []


def test_no_half_start(start: Start, client: "DockerClient", repository: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stop while the container is being filled removes it."""

    def interrupted(*_: object) -> None:
        raise Stopped(2, "SIGINT")

    monkeypatch.setattr("model_accuracy_eval.system.docker_engine.run_attended", interrupted)
    with pytest.raises(Stopped):
        start(EVERYWHERE)
    assert left(client, repository) == []


CONFINED = """
grep -E 'NoNewPrivs|CapEff' /proc/self/status
cat /sys/fs/cgroup/pids.max /sys/fs/cgroup/pids/pids.max 2>/dev/null
python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)' 2>&1 | tail -1
mknod /tmp/disk b 8 0 2>&1
"""


def test_it_has_few_rights_and_limits(start: Start, client: "DockerClient") -> None:
    """No rights from files, no raw sockets, no device nodes, a bound on processes and on memory."""
    container = start(f"{CONFINED}\nexec sleep 60")
    until(lambda: "mknod" in container.tail(5), "deploy.sh has tried everything")
    limits = client.containers.get(container.name).attrs["HostConfig"]
    memory = client.info()["MemTotal"]
    capabilities, privileges, processes, socket, node = container.tail(5).splitlines()
    assert int(capabilities.split()[1], 16).bit_count() == 7
    assert privileges.split() == ["NoNewPrivs:", "1"]
    assert processes == "32768"
    assert "Operation not permitted" in socket
    assert "Operation not permitted" in node
    assert 0.8 * memory < limits["Memory"] < memory


def test_a_flood_of_output_is_bounded(start: Start, log: str) -> None:
    """Its beginning and its end stay, and a line says that something is missing."""
    container = start("echo first; head -c 75000000 /dev/zero | tr '\\0' 'x' | fold -w 1000; echo last")
    assert "last" in ended(container)
    text = Path(log).read_text()
    assert len(text) <= 65 << 20
    assert text.startswith("first\n")
    assert "the log was longer than 64 MiB; a part was left out here" in text


@pytest.mark.parametrize("link", ["weights", "models"])
def test_a_link_in_the_workspace_chooses_no_mount(link: str, start: Start, tmp_path: Path) -> None:
    """Neither the folder itself nor one above it; the refusal names what to write. A folder of the workspace is fine."""
    workspace, other = tmp_path / "workspace", tmp_path / "workspace" / "secrets"
    (other / "weights").mkdir(parents=True)
    (workspace / link).symlink_to(other / "weights" if link == "weights" else other)
    path = workspace / "weights" if link == "weights" else workspace / "models" / "weights"
    with pytest.raises(
        Refused, match=f"leads over a link to {other / 'weights'}, .*: give model {other / 'weights'} itself"
    ):
        start("", model_path=str(path), environ={"GITHUB_WORKSPACE": str(workspace)})
    with pytest.raises(Refused, match="which holds the whole workspace"):
        start("", model_path=str(tmp_path), environ={"GITHUB_WORKSPACE": str(workspace)})
    start("sleep 60", model_path=str(other / "weights"), environ={"GITHUB_WORKSPACE": str(workspace)})
