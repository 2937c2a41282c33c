"""The RayJob of docs/how-to/ray.md, in pods that share no disk; a job that is stopped, and what a job shows of secrets."""

import json
import os
import re
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from tests.e2e import command
from tests.e2e.ray import ray_nodes
from tests.e2e.ray.ray_pods import Pods
from tests.e2e.ray.ray_runs import JSON, PORT, answers, figures, processes_of, run, slow
from tests.servers.fake_hub import Blob, FakeHub
from tests.waiting import HANGING, until

PAGE = command.ROOT / "docs" / "how-to" / "ray.md"
TOKEN = "hf_marker_of_a_token_that_nobody_may_see"
KEY = "key_marker_that_nobody_may_see"
OTHER_WORDS = {
    "--datasets gsm8k,math500": f"--datasets /adapter/lengths.jsonl --port {PORT}",
    "gsm8k: avg@5 >= 70": "lengths: avg@5 >= 50",
}
"""What is not on this machine → what is asked instead."""
FEWER = ("--replicas 8", "--replicas 2")
PROBLEMS = 150


def job_on_the_page() -> JSON:
    (found,) = (
        each for each in re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL) if "kind: RayJob" in each
    )
    spec: JSON = yaml.safe_load(found)["spec"]
    return spec


def entrypoint(*changed: tuple[str, str]) -> str:
    """The page's, on questions of ours; and what else a test changes."""
    words: str = job_on_the_page()["entrypoint"]
    for shown, instead in (*OTHER_WORDS.items(), *changed):
        assert words.count(shown) == 1, (shown, words)
        words = words.replace(shown, instead)
    return words


class Volumes:
    """The adapter, as Kubernetes mounts a ConfigMap: behind links; and the place of the results."""

    def __init__(self, folder: Path) -> None:
        self.adapter, self.results = folder / f"adapter-{folder.name}", folder / "results"
        self.results.mkdir()
        slow(folder / "files", 0)
        command.lengths(folder / "files" / "lengths.jsonl", PROBLEMS)
        script = folder / "files" / "deploy.sh"
        # It shows whose process it is, in whatever folder it was copied to.
        self.mark = Path(f"server-of-{folder.name}-{os.getpid()}")
        script.write_text(script.read_text().replace('"$seconds"', f'"$seconds" {self.mark}'))
        version = self.adapter / "..2026_01_01"
        self.adapter.mkdir()
        (folder / "files").rename(version)
        (self.adapter / "..data").symlink_to(version.name)
        for file in version.iterdir():
            (self.adapter / file.name).symlink_to(f"..data/{file.name}")

    def answer_after(self, seconds: float) -> None:
        (self.adapter / "..data" / "seconds").write_text(str(seconds))

    @property
    def by_name(self) -> dict[str, Path]:
        return {"adapter": self.adapter, "results": self.results}


@pytest.fixture(scope="module")
def volumes(tmp_path_factory: pytest.TempPathFactory) -> Volumes:
    return Volumes(tmp_path_factory.mktemp("volumes"))


@pytest.fixture(scope="module")
def pods(tmp_path_factory: pytest.TempPathFactory, volumes: Volumes) -> Iterator[Pods]:
    ray_nodes.python()
    with FakeHub() as hub:
        hub.push(
            "org/model", {"config.json": b"{}", "model.safetensors": Blob(b"x" * 100_000, large=True)}, token=TOKEN
        )
        spec = job_on_the_page()
        with Pods(
            spec,
            tmp_path_factory.mktemp("pods"),
            volumes.by_name,
            HF_TOKEN=TOKEN,
            MODEL_ACCURACY_EVAL_API_KEY=KEY,
            **hub.environment,
        ) as pods:
            yield pods


def followed(pods: Pods, words: str, job: str, *more: str) -> str:
    """The job until its end, and what it printed."""
    return command.finish(pods.submitted(words, job, *more)).out


def told(pods: Pods, job: str) -> JSON:
    """What the dashboard says of a job."""
    with urllib.request.urlopen(f"{pods.dashboard}/api/jobs/{job}", timeout=HANGING) as reply:
        facts: JSON = json.load(reply)
    return facts


def results(folder: Path) -> JSON:
    """The figures, without the place where the questions lay."""
    return {name: {**each, "sources": []} for name, each in figures(folder).items()}


@pytest.fixture(scope="module")
def expected(volumes: Volumes, tmp_path_factory: pytest.TempPathFactory) -> JSON:
    """The figures of a run on this machine."""
    ray_nodes.python()
    volumes.answer_after(0)
    out = tmp_path_factory.mktemp("here")
    done = run(
        "run", volumes.adapter, "--model", volumes.adapter, "--datasets", volumes.adapter / "lengths.jsonl",
        "--out", out, "--port", PORT,
    )  # fmt: skip
    assert done.code == 0, done.err
    return results(command.only_run(out))


def test_the_documented_job_has_the_figures_of_one_machine(pods: Pods, volumes: Volumes, expected: JSON) -> None:
    """Adapter and weights reach pods that have neither; the results lie in their volume when the job has ended."""
    volumes.answer_after(3)
    printed = followed(pods, entrypoint(), "documented")
    job = told(pods, "documented")
    assert (job["status"], job["driver_exit_code"]) == ("SUCCEEDED", 0), printed
    (folder,) = (path for path in volumes.results.iterdir() if (path / "run.json").is_file() and not path.is_symlink())
    there = command.facts(folder)
    assert results(folder) == expected
    assert there["gates"][0]["decision"] == "passed"
    assert f"{len(there['replicas'])} replicas answered: " in printed
    assert "8 replicas wait for nodes of the Ray cluster, each with NPU=2." in printed
    assert len({each["replica"].partition(":")[0] for each in there["replicas"]}) == 2
    assert not processes_of(volumes.mark)


def test_a_job_that_is_stopped_goes_on_with_reuse(pods: Pods, volumes: Volumes, expected: JSON) -> None:
    """`ray job stop` ends every deploy.sh on all pods; what was answered is not asked again."""
    out = volumes.results / "stopped"
    volumes.answer_after(2)
    words = entrypoint(FEWER, ("--out /results", "--out /results/stopped"))
    process = pods.submitted(words, "stopped")
    until(lambda: answers(out) > 50, "some are answered")
    assert processes_of(volumes.mark)
    pods.ray("job", "stop", "stopped")
    printed = command.finish(process).out
    until(lambda: not processes_of(volumes.mark), "the servers have ended")
    assert told(pods, "stopped")["status"] == "STOPPED", printed
    folder = command.only_run(out)
    kept = command.journal(folder, "lengths")
    assert len(kept) < PROBLEMS * 5
    volumes.answer_after(0)
    again = followed(pods, f"{words} --reuse /results/stopped/{folder.name}", "again")
    assert told(pods, "again")["driver_exit_code"] == 0, again
    assert results(folder) == expected
    assert kept.items() <= command.journal(folder, "lengths").items()


def test_no_secret_is_shown_by_ray(pods: Pods) -> None:
    """Neither by what it lists, nor in a log of any pod: tokens and keys stay in the environment of the nodes."""
    shown = [pods.ray("list", kind, "--detail", "--limit", "1000") for kind in ("actors", "jobs", "tasks", "workers")]
    assert "ReplicaNode" in shown[0], shown[0]
    files = [path for disk in pods.disks for path in disk.rglob("*") if not path.is_symlink()]
    assert any(path.name.startswith("job-driver-") for path in files)
    for path in files:
        with suppress(FileNotFoundError):  # Ray replaces files of its own while we look
            shown += [path.read_text(errors="replace")] if path.is_file() else []
    assert not [text for text in shown if TOKEN in text or KEY in text]
