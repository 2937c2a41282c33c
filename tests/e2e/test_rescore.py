"""`rescore` as people call it, on the files that tools leave behind."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import command

GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "rescore.md"


def run_folder(folder: Path) -> Path:
    """A run of AISBench's: four problems, three equal samples each, two of them solved, and its own figures."""
    kept = folder / "predictions" / "vllm-api-stream-chat" / "sums.jsonl"
    kept.parent.mkdir(parents=True)
    gold = [5, 8, 11, 14]
    rows = [
        {"data_abbr": "sums", "id": problem, "success": True, "uuid": "0" * 32, "origin_prompt": [],
         "prediction": f"It is {gold[problem] if problem % 2 == 0 else 99}.", "gold": str(gold[problem])}
        for problem in range(4) for _ in range(3)
    ]  # fmt: skip
    kept.write_text("".join(json.dumps(row) + "\n" for row in rows))
    claimed = folder / "results" / "vllm-api-stream-chat" / "sums.json"
    claimed.parent.mkdir(parents=True)
    claimed.write_text('{"accuracy (3 runs average)": 50.0, "avg@3": 50.0, "pass@3": 100.0, "cons@3": 50.0}')
    return kept


def test_the_guide_shows_what_is_printed(tmp_path: Path) -> None:
    """The example of the wrong pairing, word by word."""
    done = command.run("rescore", str(run_folder(tmp_path)))
    assert (done.code, done.err) == (0, "")
    assert done.out in GUIDE.read_text()


def test_packed_files_and_json(tmp_path: Path) -> None:
    """`.gz` is read as it is; programs get every figure unrounded."""
    kept = run_folder(tmp_path)
    packed = tmp_path / "elsewhere.jsonl.gz"
    packed.write_bytes(gzip.compress(kept.read_bytes()))
    (told,) = json.loads(command.run("rescore", "--json", "--k", "1,2", str(packed)).out)
    ours = {figure["metric"]: figure["ours"] for figure in told["figures"]}
    assert ours == {
        "accuracy (3 runs average)": 50.0, "avg@3": 50.0, "pass@1": 50.0, "pass@2": 50.0, "cons@1": 50.0, "cons@2": 50.0,
    }  # fmt: skip


# Samples of lm-eval, and beside them results that tell how its metrics were set.


STAMP = "2026-03-26T15-13-26.123456"
LENIENT = {"ignore_case": True, "ignore_punctuation": True, "regexes_to_ignore": [","]}
FLAT = {"metric": "exact_match", "aggregation": "mean", "higher_is_better": True, **LENIENT}
NESTED = {"metric": "exact_match", "aggregation": "mean", "higher_is_better": True, "kwargs": LENIENT}
STEPS = {"whole": [{"function": "take_first"}], "behind": [{"function": "regex", "regex_pattern": "(lo.*)"}]}
TARGETS = ("LOL!", "lo,l", "seven")
"""The model always said `lol`: right two times of three, if one is lenient."""


def sample(number: int, target: str, *, filtered: str = "none", said: str = "lol", **judged: Any) -> dict[str, Any]:
    """A line as lm-eval writes it."""
    return {
        "doc_id": number, "doc": {"question": "?", "answer": target}, "target": target,
        "arguments": {"gen_args_0": {"arg_0": "?", "arg_1": {"until": ["\n"]}}},
        "resps": [[said]], "filtered_resps": [said], "filter": filtered, "metrics": list(judged),
        "doc_hash": "0" * 64, "prompt_hash": "0" * 64, "target_hash": "0" * 64, **judged,
    }  # fmt: skip


def lenient(filtered: str) -> list[dict[str, Any]]:
    verdicts = zip(TARGETS, (1.0, 1.0, 0.0), strict=True)
    return [sample(at, gold, filtered=filtered, exact_match=one) for at, (gold, one) in enumerate(verdicts)]


def config(*metrics: dict[str, Any], nested: bool = False, **more: Any) -> dict[str, Any]:
    """A task as 0.4 dumps it, or as 0.5 does, which gives every filter its own metrics."""
    own = {"metric_list": list(metrics)} if nested else {}
    filters = [{"name": name, "filter": steps, **own} for name, steps in STEPS.items()]
    common = {"task": "sums", "output_type": "generate_until", "process_results": None, "unsafe_code": False}
    return {**common, "metric_list": list(metrics), "filter_list": filters, **more}


def kept(folder: Path, rows: list[dict[str, Any]], told: dict[str, Any] | None, **results: float) -> str:
    """The two files of one run; `told` is the task's config."""
    if told is not None:
        whole = {"results": {"sums": {"alias": "sums", **results}}, "configs": {"sums": told}, "versions": {"sums": 1}}
        (folder / f"results_{STAMP}.json").write_text(json.dumps(whole, indent=2))
    file = folder / f"samples_sums_{STAMP}.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(file)


def rescored(*words: str) -> list[dict[str, Any]]:
    done = command.run("rescore", "--json", *words)
    assert (done.code, done.err) == (0, "")
    told: list[dict[str, Any]] = json.loads(done.out)
    return told


@pytest.mark.parametrize("told", [config(FLAT), config(NESTED, nested=True)], ids=["0.4", "0.5"])
def test_the_settings_of_both_versions_are_followed(told: dict[str, Any], tmp_path: Path) -> None:
    """Every filter's figure is the claimed one, sample by sample, and where the settings come from is told."""
    file = kept(tmp_path, [*lenient("whole"), *lenient("behind")], told)
    for result, name in zip(rescored(file), STEPS, strict=True):
        (figure,) = result["figures"]
        assert (figure["metric"], result["differing"]) == (f"exact_match,{name}", 0)
        assert figure["ours"] == pytest.approx(figure["claimed"]) == pytest.approx(200 / 3)
        assert f"as results_{STAMP}.json sets them" in result["scoring"]


def test_filters_may_have_settings_of_their_own(tmp_path: Path) -> None:
    """A strict filter beside a lenient one."""
    told = config(NESTED, nested=True)
    told["filter_list"][0]["metric_list"] = [{**NESTED, "kwargs": {}}]
    whole, behind = rescored(kept(tmp_path, [*lenient("whole"), *lenient("behind")], told))
    assert [result["figures"][0]["ours"] for result in (whole, behind)] == [0.0, pytest.approx(200 / 3)]


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (config(FLAT, process_results="def judge(doc, results):\n    return {}\n"), "judges by Python of its own"),
        (config({**FLAT, "aggregation": "mode"}), "its aggregation 'mode' is not known here"),
        (config(FLAT, task="sums") | {"filter_list": [{"name": "other", "filter": []}]}, "it has no filter 'whole'"),
    ],
)
def test_what_cannot_be_followed_says_why(told: dict[str, Any], reason: str, tmp_path: Path) -> None:
    """Then the metrics are judged with their usual settings, as without results."""
    (result,) = rescored(kept(tmp_path, lenient("whole"), told))
    assert (reason in result["scoring"], result["differing"]) == (True, 2), result["scoring"]


def test_a_figure_of_the_whole_is_claimed_by_the_results(tmp_path: Path) -> None:
    """BLEU has no value for a sample; lm-eval writes NaN where it knows none, and that claims nothing."""
    text = "the cat sat on the mat"
    rows = [sample(at, text, said=text, bleu=[text, text], ter=[text, text]) for at in range(2)]
    metrics = [{"metric": name, "aggregation": name} for name in ("bleu", "ter")]
    told = config(*metrics) | {"filter_list": None}
    results = {"bleu,none": 99.5, "bleu_stderr,none": 1.0, "ter,none": float("nan")}
    file = kept(tmp_path, rows, told, **results)
    (result,) = rescored(file)
    figures = {figure["metric"]: (figure["ours"], figure["claimed"]) for figure in result["figures"]}
    assert figures == {"bleu": (pytest.approx(100.0), 99.5), "ter": (0.0, None)}
    assert "nan" not in command.run("rescore", file).out


def test_refusals_are_one_sentence(tmp_path: Path) -> None:
    """Results that are none, and samples whose metrics nobody here knows."""
    file = kept(tmp_path, lenient("whole"), None)
    (tmp_path / f"results_{STAMP}.json").write_text("{")
    done = command.run("rescore", file)
    assert (done.code, done.out) == (2, "")
    assert f"results_{STAMP}.json: this is not a results file of lm-eval" in done.err
    kept(tmp_path, [sample(0, "seven", own=1.0)], config({"metric": "own"}))
    done = command.run("rescore", file)
    assert (done.code, done.out) == (2, "")
    assert "is judged by own, which is not known here: name the task's file with --task" in done.err
