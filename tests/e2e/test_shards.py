"""Shards of one run, asked one by one and merged, are that run."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import command
from tests.e2e.test_judge import model, setup_files
from tests.fake_ports import seal
from tests.servers.fault_server import FaultServer

JSON = dict[str, Any]
PROBLEMS = 10


def answer(request: JSON) -> list[str]:
    """Right or wrong by question and seed alone, as a real service is."""
    question, seed = request["messages"][-1]["content"].partition("\n")[0], request.get("seed") or 0
    digests = [hashlib.sha256(f"{question}/{seed + index}".encode()).digest() for index in range(request.get("n", 1))]
    return [f"#### {len(question) if digest[0] % 2 else 0}" for digest in digests]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return command.lengths(tmp_path / "lengths.jsonl", PROBLEMS)


def evaluated(server: FaultServer, questions: Path, out: Path, *more: object) -> Path:
    done = command.run("run", "--endpoint", server.url, "--datasets", questions, "-n", 3, "--out", out, *more)
    assert done.code == 0, done.err
    return command.only_run(out)


def told(folder: Path, dataset: str = "lengths") -> JSON:
    """What the report says about the answers, without what a clock says."""
    whole = json.loads((folder / "run.json").read_text())["datasets"][dataset]
    return {name: value for name, value in whole.items() if name != "speed"}


def test_what_is_no_whole_run_is_not_merged(tmp_path: Path, questions: Path) -> None:
    """A shard too few, one twice, one of another run, a run without shards: each in a sentence, and nothing is left."""
    with FaultServer(answer) as server:
        zero, one = (evaluated(server, questions, tmp_path / f"s{at}", "--shard", f"{at}/3") for at in (0, 1))
        other = evaluated(server, questions, tmp_path / "other", "--shard", "2/3", "--temperature", 0.5)
        whole = evaluated(server, questions, tmp_path / "whole")
    out = tmp_path / "merged"
    for folders, sentence in (
        ((zero, one), "merged from 0/3, 1/3, 2/3, but there are 0/3, 1/3"),
        ((zero, zero), "merged from 0/3, 1/3, 2/3, but there are 0/3. With --allow-missing"),
        ((zero, one, other), "temperature was not there, is 0.5"),
        ((whole, zero), "is not a shard: it was run without --shard"),
        ((tmp_path, zero), "is not the folder of a run"),
    ):
        done = command.run("merge", *folders, "--out", out)
        assert (done.code, sentence in done.err) == (2, True), done.err
        assert not list(out.glob("*")), sentence


@pytest.fixture
def judged_shards(tmp_path: Path) -> list[Path]:
    """Two shards of one problem each, judged by a model that has gone away since."""
    common = setup_files(tmp_path)
    folders = []
    with FaultServer(model) as served, FaultServer(lambda _request: ["yes"]) as judging:
        judge = ["--judge-endpoint", judging.url, "--judge-model", "wise"]
        for at in (0, 1):
            out = tmp_path / f"s{at}"
            done = command.run("run", "--endpoint", served.url, *common, *judge, "--out", out, "--shard", f"{at}/2")
            assert (done.code, "100.00" in done.out) == (0, True), done.err
            folders.append(command.only_run(out))
    return folders


def zipped(folder: Path) -> Path:
    """The run as an artifact is downloaded."""
    return Path(shutil.make_archive(str(folder), "zip", folder))


@pytest.mark.parametrize("packed", [False, True])
def test_judgements_travel_with_the_replies(judged_shards: list[Path], tmp_path: Path, *, packed: bool) -> None:
    """What was judged in a shard is not asked again, be it a folder or a zip of one."""
    shards = [zipped(folder) if packed else folder for folder in judged_shards]
    done = command.run("merge", *shards, "--out", tmp_path / "merged")
    assert (done.code, "100.00" in done.out) == (0, True), done.out + done.err


def test_shards_of_two_judges_are_not_mixed(judged_shards: list[Path], tmp_path: Path) -> None:
    """Else the order of the arguments would say who judges."""
    (config,) = (judged_shards[1] / "configs").glob("*.py")
    config.write_text(config.read_text().replace("'judge_model': 'wise'", "'judge_model': 'stern'"))
    seal(judged_shards[1])
    done = command.run("merge", *judged_shards, "--out", tmp_path / "merged")
    assert (done.code, "--judge-model 'stern'" in done.err) == (2, True), done.err


def test_a_line_that_a_crash_cut_off_costs_no_other(tmp_path: Path, questions: Path) -> None:
    """The half line at the end of one journal does not spoil the first of the next; no manifest speaks for that shard."""
    with FaultServer(answer) as server:
        folders = [evaluated(server, questions, tmp_path / f"s{at}", "--shard", f"{at}/2") for at in (0, 1)]
        single = evaluated(server, questions, tmp_path / "whole")
    with (folders[0] / f"predictions/{command.LABEL}/lengths.jsonl").open("ab") as journal:
        journal.write(b'{"data_abbr":"leng')
    (folders[0] / "manifest.sha256").unlink()
    (folders[0] / "run.json").write_text(json.dumps(command.facts(folders[0]) | {"status": "running"}))
    done = command.run("merge", *folders, "--out", tmp_path / "merged")
    assert done.code == 0, done.err
    merged = told(command.only_run(tmp_path / "merged"))
    assert f"'{folders[0]}' did not come to its end" in merged["notes"].pop(0)
    assert merged == told(single)


@pytest.mark.parametrize(
    ("more", "code", "sentence"),
    [
        ([], 7, "merged without the shard 1/3"),
        (["--gate", "lengths: avg@3 >= 2"], 0, "lengths: avg@3 >= 2 passed"),
        (["--gate", "lengths: avg@3 >= 50"], 7, "lengths: avg@3 >= 50 undecided"),
        (["--gate", "lengths: avg@3 >= 99"], 1, "lengths: avg@3 >= 99 failed"),
    ],
)
def test_a_missing_shard_counts_as_lost(
    tmp_path: Path, questions: Path, more: list[object], code: int, sentence: str
) -> None:
    """Its samples are not correct in the figure, and a gate is decided where they could not change it."""
    with FaultServer(answer) as server:
        folders = [
            evaluated(server, questions, tmp_path / f"s{at}", *more, "--gate-on", "point", "--shard", f"{at}/3")
            for at in (0, 2)
        ]
    done = command.run("merge", *folders, "--allow-missing", "--out", tmp_path / "merged")
    assert (done.code, sentence in done.out) == (code, True), done.out + done.err
    merged = command.only_run(tmp_path / "merged")
    counts = command.facts(merged)["datasets"]["lengths"]["counts"]
    assert (counts["planned"], counts["answered"], counts["missing"]) == (30, 21, 9)
    assert "9 of 30 samples were never asked" in done.out
    again = command.run("run", "--mode", "eval", "--reuse", merged)
    assert again.code == code, "judged again, it says the same"


def test_what_a_missing_shard_lacked_can_be_asked_in_the_merged_run(tmp_path: Path, questions: Path) -> None:
    """Then it is the single run."""
    with FaultServer(answer) as server:
        folder = evaluated(server, questions, tmp_path / "s0", "--shard", "0/2")
        single = evaluated(server, questions, tmp_path / "whole")
        assert command.run("merge", folder, "--allow-missing", "--out", tmp_path / "merged").code == 7
        merged = command.only_run(tmp_path / "merged")
        done = command.run("run", "--reuse", merged)
    assert done.code == 0, done.out + done.err
    assert told(merged) == told(single)


def test_shards_split_a_sample(tmp_path: Path, questions: Path) -> None:
    """Merged, they are the run of the sample; the first problems, or a sample of another size, are never mixed in."""
    with FaultServer(answer) as server:
        shards = [
            evaluated(server, questions, tmp_path / f"s{at}", "--limit", 7, "--shard", f"{at}/2") for at in (0, 1)
        ]
        single = evaluated(server, questions, tmp_path / "whole", "--limit", 7)
        other = evaluated(server, questions, tmp_path / "other", "--first", 7, "--shard", "1/2")
    assert command.run("merge", *shards, "--out", tmp_path / "merged").code == 0
    assert told(command.only_run(tmp_path / "merged")) == told(single)
    assert told(single)["draw"]["of"] == PROBLEMS
    for command_line, change in (
        (("merge", shards[0], other), "limit was 7, is not there; first was not there, is 7"),
        (
            ("run", "--reuse", single, "--limit", 0, "--first", 7),
            "limit was 7, is not there; first was not there, is 7",
        ),
        (("run", "--reuse", single, "--limit", 8), "limit was 7, is 8"),
    ):
        done = command.run(*command_line)
        assert (done.code, change in done.err) == (2, True), done.err


@pytest.mark.parametrize("fact", ["commit", "image", "weights"])
def test_shards_of_two_commits_images_or_weights_are_not_mixed(tmp_path: Path, questions: Path, fact: str) -> None:
    """A branch, a tag or a hub may move between two jobs of a matrix."""
    with FaultServer(answer) as server:
        folders = [evaluated(server, questions, tmp_path / f"s{at}", "--shard", f"{at}/2") for at in (0, 1)]
    for at, folder in enumerate(folders):
        run = command.facts(folder)
        run["identity"] |= {"repository": "acme/adapter", fact: f"its-{at}"}
        (folder / "run.json").write_text(json.dumps(run))
        seal(folder)
    done = command.run("merge", *folders, "--out", tmp_path / "merged")
    assert (done.code, "its-0" in done.err, "its-1" in done.err) == (2, True, True), done.err


def test_the_verdict_of_merged_shards_never_hangs_on_their_order(tmp_path: Path, questions: Path) -> None:
    """Shards with unlike gates, or one without any, are refused with the difference; gates given to `merge` decide."""
    low, high = "lengths: avg@3 >= 2", "lengths: avg@3 >= 99"
    with FaultServer(answer) as server:
        zero, one = (
            evaluated(server, questions, tmp_path / f"s{at}", "--shard", f"{at}/2", "--gate", gate)
            for at, gate in enumerate((low, high))
        )
        free = evaluated(server, questions, tmp_path / "free", "--shard", "1/2")
    out = tmp_path / "merged"
    for first, second in ((zero, one), (one, zero), (zero, free), (free, zero)):
        done = command.run("merge", first, second, "--out", out)
        assert done.code == 2, done.out
        assert f"'{zero}'" in done.err
        assert f"--gate '{low}'" in done.err
        assert (f"--gate '{high}'" in done.err) == (free not in {first, second})
        assert "merge --gate" in done.err
        assert not out.exists()
    for wrong in (
        ("--gate", "lengths avg"),
        ("--gate", "lengths: f9 >= 3"),
        ("--gate", low, "--baseline", tmp_path / "no"),
    ):
        done = command.run("merge", zero, one, "--out", out, *wrong)
        assert done.code == 2, done.out
        assert not out.exists(), "a folder that nobody asked for"
    for gate, code in ((low, 0), (high, 1)):
        done = command.run("merge", one, zero, "--out", tmp_path / str(code), "--gate", gate)
        assert done.code == code, done.err
        (entry,) = command.facts(command.only_run(tmp_path / str(code)))["gates"]
        assert (entry["gate"], entry["decision"]) == (gate, "failed" if code else "passed")
    done = command.run("merge", zero, one, "--out", out, "--gate", low, "--on-undecided", "pass", "--confidence", 99)
    assert done.code == 0, done.err
