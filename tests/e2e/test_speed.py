"""How fast a service was, from a run's own requests: what is said is what its journal shows, and gates hold it."""

import json
from pathlib import Path
from typing import Any

import numpy
import pytest
from tests.e2e import command
from tests.fake_ports import seal
from tests.servers.fault_server import FaultServer, Style


def evaluated(out: Path, *words: object, style: Style | None = None) -> tuple[command.Done, dict[str, Any], Path]:
    questions = command.lengths(out / "lengths.jsonl", 240)
    with FaultServer(style=style) as server:
        done = command.run(
            *("run", "--endpoint", server.url, "--datasets", questions, "--out", out / "runs", "-n", 1),
            *("--concurrency", 4, *words),
        )
    folder = command.only_run(out / "runs")
    return done, json.loads((folder / "run.json").read_bytes()), folder


def test_what_is_said_is_what_the_journal_shows(tmp_path: Path) -> None:
    """Times are percentiles of samples that were sent while the service was loaded, and every one of them is there."""
    done, run, folder = evaluated(tmp_path)
    assert done.code == 0, done.err
    lines = [
        json.loads(line) for line in (folder / f"predictions/{command.LABEL}/lengths.jsonl").read_text().splitlines()
    ]
    slowest = numpy.array([1000 * line["timings"]["e2e"] for line in lines])
    speed = run["speed"]
    assert speed["figures"].keys() == {
        "ttft_p50", "ttft_p95", "tpot_p50", "tpot_p95", "e2e_p50", "e2e_p95", "tokens_per_s", "requests_per_s",
    }  # fmt: skip
    assert (
        slowest.min() <= speed["figures"]["e2e_p50"]["value"] <= speed["figures"]["e2e_p95"]["value"] <= slowest.max()
    )
    assert 0 < speed["requests"] <= 240
    assert 0 < speed["under_way"] <= 4
    assert speed["client"]["busy"] >= 0


def test_judged_again_it_is_the_same(tmp_path: Path) -> None:
    """Who judges a run a second time measures nothing anew."""
    _, run, folder = evaluated(tmp_path)
    done = command.run("run", "--mode", "eval", "--reuse", folder)
    assert done.code == 0, done.err
    assert json.loads((folder / "run.json").read_bytes())["speed"] == run["speed"]


def test_shards_keep_their_own_speed(tmp_path: Path) -> None:
    """A merged run has the mean of its shards' figures, which none of their clocks shares; gates hold it, and a history
    follows it."""
    shards = []
    for at in range(2):
        (tmp_path / str(at)).mkdir()
        same = command.lengths(tmp_path / "lengths.jsonl", 240)
        shards.append(evaluated(tmp_path / str(at), "--shard", f"{at}/2", "--datasets", same)[1:])
    words = ("--out", tmp_path / "merged", "--gate", "speed: e2e_p95 <= 600s")
    done = command.run("merge", *(folder for _, folder in shards), *words)
    assert "merged" in done.out, done.err
    folder = command.only_run(tmp_path / "merged")
    merged = json.loads((folder / "run.json").read_bytes())
    parts = [run["speed"] for run, _ in shards]
    assert (merged["speed"]["shards"], merged["speed"]["requests"]) == (2, sum(each["requests"] for each in parts))
    for name, figure in merged["speed"]["figures"].items():
        values = [each["figures"][name]["value"] for each in parts]
        assert figure["value"] == pytest.approx(sum(values) / 2)
    assert [gate["value"] for gate in merged["gates"]] == [merged["speed"]["figures"]["e2e_p95"]["value"]]
    quiet = {
        **merged,
        "status": "passed",
        "speed": {**merged["speed"], "limited": ""},
    }  # whatever else this machine does
    (folder / "run.json").write_text(json.dumps(quiet))
    seal(folder)
    told = command.run("history", tmp_path / "merged", "--metric", "tokens_per_s", "--json")
    (series,) = json.loads(told.out)["series"]
    assert (series["dataset"], series["sampling"]["concurrency"]) == ("speed", 4)
    assert series["points"][0]["value"] == merged["speed"]["figures"]["tokens_per_s"]["value"]
    plain = command.run("history", tmp_path / "merged", "--fail-on-regression")
    assert "speed, ttft_p50\n" in plain.out


def test_a_service_that_does_not_stream_or_count_has_fewer_figures(tmp_path: Path) -> None:
    """Unknown is absent, and a gate on it stays open with the reason."""
    gate = ("--gate", "speed: ttft_p95 <= 1ms")
    done, run, _ = evaluated(tmp_path, *gate, style=Style(stream=False, usage="none"))
    assert "ttft_p95" not in run["speed"]["figures"]
    assert done.code == 7
    assert "speed: ttft_p95 <= 1ms undecided: it was not measured." in done.out


def test_a_baseline_has_its_speed(tmp_path: Path) -> None:
    """One that lacks the figure is refused before anything is asked."""
    _, _, folder = evaluated(tmp_path, style=Style(stream=False))
    (tmp_path / "b").mkdir()
    rate, first = ("speed: requests_per_s >= baseline - 99%", "speed: ttft_p50 <= baseline + 5%")
    _, run, _ = evaluated(tmp_path / "b", "--baseline", folder, "--gate", rate)
    assert run["gates"][0]["gate"] == rate
    words = ("--datasets", tmp_path / "lengths.jsonl", "-n", 1, "--out", tmp_path / "c", "--concurrency", 4)
    refused = command.run("run", "--endpoint", "http://127.0.0.1:9", *words, "--baseline", folder, "--gate", first)
    assert refused.code == 2
    assert "could never be decided" in refused.err
    assert "does not say its ttft_p50" in refused.err
