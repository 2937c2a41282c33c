"""`plan`, the real command on the demo's questions: nothing is asked, and what can be shown is said."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.fake_ports import seal

from model_accuracy_eval.cli import main

GOLDEN = Path(__file__).parents[2] / "golden"


def planned(*arguments: str) -> tuple[int, list[str]]:
    done = CliRunner().invoke(main, ["plan", "--offline", *arguments])
    return done.exit_code, done.output.splitlines()


def test_each_gate_stands_under_its_dataset() -> None:
    """Sizes, requests, and the figures that would pass and fail."""
    code, lines = planned("--datasets", "demo_gsm8k,demo_arithmetic", "--gate", "*: avg@5 >= 70", "--limit", "20")
    assert code == 0
    # Of two gates each has to be surer of a failure.
    shown = "avg@5 >= 70 passes from 78.00, fails up to 60.00 at the latest (95 %); between them it stays undecided."
    of_all = "passes from 90.91, fails up to 45.45 on all 100 problems (95 %); between them it stays undecided."
    assert lines == [
        "demo_gsm8k: 20 problems × 5 samples, 100 requests",
        f"  demo_gsm8k: {shown}",
        "demo_arithmetic: 20 problems × 5 samples (20 of 100, drawn at random), 100 requests",
        f"  demo_arithmetic: avg@5 >= 70 {of_all}",
        "200 requests in all",
    ]


def test_what_is_read_as_another_spelling_is_said_first() -> None:
    """By every command that takes names of datasets."""
    named = ("--datasets", "Demo-GSM8K", "--gate", "demo gsm8k: avg@5 >= 70")
    assert planned(*named)[1][0] == "Demo-GSM8K → demo_gsm8k, demo gsm8k → demo_gsm8k"
    for command in ("show", "check"):
        done = CliRunner().invoke(main, ["tasks", command, "Demo-GSM8K"])
        assert done.output.splitlines()[0] == "Demo-GSM8K → demo_gsm8k"


def test_what_more_samples_cannot_give_is_not_promised() -> None:
    """At temperature 0 the samples of a problem are one."""
    asked = ("--datasets", "demo_gsm8k", "--gate", "demo_gsm8k: avg@5 >= 70", "-n", "5")
    assert "passes from 78.00" in planned(*asked)[1][1]
    assert "passes from 90.00" in planned(*asked, "--temperature", "0")[1][1]


def test_passages_are_what_counts_for_other_problems(tmp_path: Path) -> None:
    """They are said with the gate, because more questions about them help little."""
    rows = [{"context": f"Text {at // 4}.", "question": f"{at}?", "answer": str(at)} for at in range(12)]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, rows)))
    asked = ("--datasets", str(tmp_path / "mine.jsonl"), "--gate", "mine: avg@5 >= 70", "--gate-on", "problems")
    assert planned(*asked, "--columns", "cluster=context")[1][1].endswith(
        "depends on how unlike these are. They share 3 clusters, and these are what counts."
    )
    assert planned(*asked)[1][1].endswith("depends on how unlike these are.")


def test_requests_are_spent_on_more_problems() -> None:
    """But on no fewer samples than the gated figures need."""
    _, lines = planned("--datasets", "demo_arithmetic", "--budget", "60")
    assert "60 requests for demo_arithmetic are best spent on 60 problems × 1 sample: --limit 60 -n 1" in lines
    _, lines = planned("--datasets", "demo_arithmetic", "--budget", "60", "--gate", "demo_arithmetic: pass@5 >= 70")
    assert "60 requests for demo_arithmetic are best spent on 12 problems × 5 samples: --limit 12 -n 5" in lines


def test_a_budget_is_spent_on_all_problems_whatever_the_limit() -> None:
    """The true figure is that of all of them; the first ones decide no gate."""
    _, lines = planned("--datasets", "demo_arithmetic", "--limit", "20", "--budget", "60")
    assert "60 requests for demo_arithmetic are best spent on 60 problems × 1 sample: --limit 60 -n 1" in lines
    code, lines = planned("--datasets", "demo_arithmetic", "--first", "20", "--gate", "demo_arithmetic: avg@5 >= 70")
    assert code == 2
    assert lines[0].startswith("Error: The first 20 problems are no sample, so they decide no gate: take --limit 20, ")
    assert planned("--datasets", "demo_arithmetic", "--first", "20")[1] == [
        "demo_arithmetic: 20 problems × 5 samples (the first 20 of 100), 100 requests"
    ]


def test_a_small_sample_stays_one_whatever_the_budget(tmp_path: Path) -> None:
    """More requests make it no larger, so that none are advised."""
    rows = [{"question": f"{at}?", "answer": str(at)} for at in range(130)]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, rows)))
    _, lines = planned("--datasets", f"{tmp_path / 'mine.jsonl'}@tiny,demo_arithmetic", "--budget", "60")
    assert lines[0] == "mine@tiny: 100 problems × 5 samples (100 of 130, drawn at random), 500 requests"
    assert "mine@tiny is 100 of 130, drawn at random, whatever the budget" in lines
    assert [line for line in lines if "best spent" in line] == [
        "60 requests for demo_arithmetic are best spent on 60 problems × 1 sample: --limit 60 -n 1"
    ]


def test_too_few_requests_are_refused() -> None:
    """With the number that the figures need."""
    code, lines = planned("--datasets", "demo_arithmetic", "--budget", "3", "--gate", "demo_arithmetic: cons@5 >= 70")
    assert code == 2
    assert any("need 5 samples of a problem" in line for line in lines)
    assert any("Give a --budget of 5 or more" in line for line in lines)


def test_minutes_are_requests_at_the_pace_of_an_earlier_run(tmp_path: Path) -> None:
    """Minutes of its asking alone; a run that asked nothing has no pace."""

    def keep(run: dict[str, Any]) -> None:
        (tmp_path / "run.json").write_text(json.dumps(run))
        seal(tmp_path)

    run = json.loads((GOLDEN / "many" / "run.json").read_text())
    answered = sum(entry["counts"]["answered"] for entry in run["datasets"].values())
    keep({**run, "seconds": {"infer": 30.0, "score": 1000.0}})
    arguments = ["--datasets", "demo_arithmetic", "--baseline", str(tmp_path), "--budget"]
    _, lines = planned(*arguments, "2.5 min")
    assert f"{5 * answered} requests for demo_arithmetic are best spent on" in " ".join(lines)
    keep({**run, "seconds": {"infer": 30.0}, "answered_before": answered - 2})
    _, lines = planned(*arguments, "60 min")
    assert "240 requests for demo_arithmetic are best spent on" in " ".join(lines)
    keep({**run, "seconds": {"score": 1000.0}})
    code, lines = planned(*arguments, "2.5m")
    assert (code, "does not say how fast the service is" in " ".join(lines)) == (2, True)


@pytest.mark.parametrize(
    ("budget", "sentence"),
    [
        ("0", "'0' is neither a number of requests, such as 2000, nor of minutes, such as 30m."),
        ("2h", "'2h' is neither a number of requests"),
        ("-3", "'-3' is neither a number of requests"),
        ("30m", "name it by --baseline"),
    ],
)
def test_a_budget_that_is_none_is_refused(budget: str, sentence: str) -> None:
    """With what it can be."""
    code, lines = planned("--datasets", "demo_arithmetic", "--budget", budget)
    assert (code, sentence in " ".join(" ".join(lines).split())) == (2, True), lines
