"""deploy.sh as a user without rights: what it can and cannot reach, and that it can still serve."""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from tests.integration.process.tools import environment, make_adapter
from tests.waiting import free_port, until

from model_accuracy_eval.adapter.adapter_process import ProcessLauncher
from model_accuracy_eval.errors import Refused
from model_accuracy_eval.hubs.file_hub import FileHub
from model_accuracy_eval.records import DataFile, DataSource
from model_accuracy_eval.run_folder.run_folder import RunFolder
from model_accuracy_eval.system.unprivileged_user import UnprivilegedUser, unprivileged_user

if os.geteuid() != 0:
    pytest.skip("only root starts processes as another user", allow_module_level=True)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """One that everybody can get to, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def output(folder: Path, deploy: str, *, user: UnprivilegedUser, model_path: str = "", **variables: str) -> str:
    """What deploy.sh printed until it ended."""
    log = folder / "deploy.log"
    launcher = ProcessLauncher(environment(**variables), user=user)
    running = launcher.start(
        folder=make_adapter(folder / "adapter", deploy), model_path=model_path, port=free_port(), log=str(log)
    )
    try:
        until(lambda: running.exit_code() is not None, "deploy.sh ends")
    finally:
        running.stop()
    return log.read_text()


def test_it_is_nobody_we_know(open_folder: Path) -> None:
    """Another number, no group of ours, no rights to be got from sudo or su; a home of its own that it can write to."""
    user = unprivileged_user()
    deploy = "id -u; id -G; grep -E 'NoNewPrivs|CapEff' /proc/self/status; touch $HOME/a made && echo written in $HOME"
    uid, groups, *status, written = output(open_folder, deploy, user=user).splitlines()
    assert int(uid) == user.uid
    assert "0" not in groups.split()
    assert {line.split()[1].lstrip("0") for line in status} == {"1", ""}
    home = written.removeprefix("written in ")
    assert not Path(home).exists()


def test_what_we_have_is_out_of_its_reach(open_folder: Path) -> None:
    """Neither the environment and the memory of this process, nor a run's folder, nor files of root."""
    store = RunFolder(str(open_folder / "run"), private=True)
    store.append("predictions/gold.jsonl", b'{"gold": "42"}\n')
    secret = open_folder / "commands"
    secret.write_text("")
    targets = [
        f"cat /proc/{os.getpid()}/environ", f"cat /proc/{os.getpid()}/mem", f"cat {store.root}/predictions/gold.jsonl",
        f"ls {store.root}", f"echo forged >> {store.root}/predictions/gold.jsonl", f"echo forged >> {secret}",
        f"kill -9 {os.getpid()}", f"rm -rf {secret}",
    ]  # fmt: skip
    deploy = "\n".join(f"if ({target}) > /dev/null 2>&1; then echo 'reached: {target}'; fi" for target in targets)
    said = output(open_folder, f"{deploy}\necho tried", user=unprivileged_user())
    store.close()
    assert said == "tried\n"
    assert secret.read_text() == ""


def test_weights_that_it_cannot_read_are_refused(open_folder: Path) -> None:
    """Before deploy.sh fails over them in its own words; readable ones are read."""
    weights = open_folder / "weights"
    weights.mkdir()
    (weights / "model").write_text("weights")
    user = unprivileged_user()
    assert "weights" in output(open_folder, "cat $MODEL_PATH/model", user=user, model_path=str(weights))
    weights.chmod(0o700)
    with pytest.raises(Refused, match=r"cannot read the weights .*\(chmod -R o\+rX"):
        output(open_folder, "exit 0", user=user, model_path=str(weights))


def test_right_answers_that_it_can_read_are_refused(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the folder and the command, after which they are read by us alone; a file beside us is closed itself."""
    guarded = FileHub(
        {"MODEL_ACCURACY_EVAL_CACHE": str(open_folder / "cache")}, guard=unprivileged_user().refuse_answers
    )
    data = open_folder / "data"
    data.mkdir()
    (data / "rows.jsonl").write_text('{"answer": "42"}\n')
    with pytest.raises(
        Refused, match=rf"rows\.jsonl holds right answers, .* type, before this step: chmod 700 {data}\."
    ):
        next(guarded.parts(DataFile(name="rows"), str(data)))
    data.chmod(0o700)
    assert next(guarded.parts(DataFile(name="rows"), str(data))).content == b'{"answer": "42"}\n'
    monkeypatch.chdir(open_folder)
    Path("near.jsonl").write_text("{}")
    with pytest.raises(Refused, match=r"chmod 600 near\.jsonl\."):
        next(guarded.parts(DataFile(name="near"), None))


def test_our_own_cache_of_data_is_closed(open_folder: Path) -> None:
    """It was made with the user's usual rights, by `tasks prepare`; the weights beside it stay readable."""
    cache, user = open_folder / "cache", unprivileged_user()
    for name in ("data/0123456789ab", "weights"):
        (cache / name).mkdir(parents=True)
    kept = cache / "data" / hashlib.sha256(b"{}").hexdigest() / "rows.jsonl"
    kept.parent.mkdir()
    kept.write_bytes(b"{}")
    assert user.can_read(str(kept))
    guarded = FileHub({"MODEL_ACCURACY_EVAL_CACHE": str(cache)}, guard=user.refuse_answers)
    pinned = DataFile(name="rows.jsonl", source=DataSource(url="hf:a/b@c/rows.jsonl", hash=kept.parent.name))
    assert next(guarded.parts(pinned, None)).place == str(kept)
    assert not user.can_read(str(kept))
    assert user.can_read(str(cache / "weights"))


def test_the_groups_of_the_npus_nodes_are_its_own(tmp_path: Path) -> None:
    """The driver lets members of a group use an NPU; root's group is none of them."""
    for name, group in (("davinci0", 1234), ("davinci_manager", 1234), ("devmm_svm", 0), ("null", 77)):
        (tmp_path / name).touch()
        os.chown(tmp_path / name, 0, group)
    assert unprivileged_user(tmp_path).groups == (1234,)


def _sleeps(process: psutil.Process, uid: int) -> bool:
    return bool(process.info["uids"].real == uid and process.info["cmdline"][:1] == ["sleep"])


def test_its_stack_is_read_as_that_user(open_folder: Path) -> None:
    """By the adapter's own python3, which whoever wrote the adapter may have replaced."""
    user = unprivileged_user()
    variables = environment(PATH=f"{open_folder}/adapter:{os.environ['PATH']}")
    folder = make_adapter(open_folder / "adapter", "exec sleep 600")
    fake = Path(folder) / "python3"
    fake.write_text("#!/bin/sh\nsleep 600 &\nid -u\n")
    fake.chmod(0o755)
    launcher = ProcessLauncher(variables, user=user)
    running = launcher.start(folder=folder, model_path="", port=free_port(), log=str(open_folder / "deploy.log"))
    try:
        assert running.stack(8000) == str(user.uid)
        sleeping = [one for one in psutil.process_iter(["uids", "cmdline"]) if _sleeps(one, user.uid)]
        assert len(sleeping) == 1, "deploy.sh alone"
    finally:
        running.stop()
