"""The command to type next is the one that was typed, with what was wrong put right."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from model_accuracy_eval.cli import main
from model_accuracy_eval.commands import next_command
from model_accuracy_eval.errors import BadData, BadReuse, BadValue, MissingData, Refused, UnknownName


@pytest.mark.parametrize(
    ("typed", "step"),
    [
        ("run --endpoit http://x:1 --dataset gsm8k", "run --endpoint http://x:1 --dataset gsm8k"),
        ("run --endpoit=http://x:1", "run --endpoint=http://x:1"),
        ("run --modle x", "run --model x"),
        ("run --foo x", "run --help"),
        ("rescore a.jsonl --out x", "rescore --help"),
        ("view --folder x", "view x"),
        ("view --folder=x", "view x"),
        ("histroy --json", "history --json"),
        ("tasks shwo gsm8k", "tasks show gsm8k"),
        ("tasks nonsense", "tasks --help"),
        ("nonsense", "--help"),
        ("--nonsense", "--help"),
        ("report", "report outputs/latest"),
        ("compare outputs/a", "compare outputs/a outputs/latest"),
        ("batch", "batch IN.jsonl"),
        ("demo --task-type foo", "demo --task-type text-generation"),
        ("demo --port=abc --out x", "demo --port 8000 --out x"),
        ("run adapter --gate", "run adapter --gate 'DATASET: METRIC >= NUMBER'"),
        ("run adapter extra --limit 3", "run adapter --limit 3"),
        ("export outputs/a", "export outputs/a --format junit"),
    ],
)
def test_what_the_parser_refuses_is_mended(typed: str, step: str) -> None:
    """One sentence and one command, exit code 2; neither usage nor a page of help."""
    done = CliRunner().invoke(main, typed.split())
    assert done.exit_code == 2
    sentence, last = done.output.splitlines()[0], done.output.splitlines()[-1]
    assert sentence.startswith("Error: ")
    assert last == f"Next: model-accuracy-eval {step}"
    assert "Usage:" not in done.output


def test_no_command_at_all_is_help() -> None:
    """And asking for it is no mistake."""
    assert "Next:" not in CliRunner().invoke(main, []).output
    assert "Next:" not in CliRunner().invoke(main, ["tasks", "--help"]).output


@pytest.mark.parametrize(
    ("sentence", "typed", "step"),
    [
        (
            "The gate 'b: avg@1 >= 0.7' can be read in two ways: … Write 'avg@1 >= 70' for the share, or …",
            ["run", "--gate", "a: avg@1 >= 60", "--gate", "b: avg@1 >= 0.7"],
            "run --gate 'a: avg@1 >= 60' --gate 'b: avg@1 >= 70'",
        ),
        *(
            (
                f"'q: accuracy {typed}' is not a gate: write …",
                ["run", "--datasets", "/mine/q.csv", "--gate", f"q: accuracy {typed}"],
                f"run --datasets /mine/q.csv --gate 'q: {meant}'",
            )
            for typed, meant in (
                ("≥ 50", "accuracy >= 50"),
                ("=> 50,5%", "accuracy >= 50.5%"),
                ("about 50", "METRIC >= NUMBER"),
                (">= 1.000,5", "METRIC >= NUMBER"),
            )
        ),
        ("k = 5 needs at least 5 samples of every problem, but …", ["run", "-n", "3"], "run --num-return-sequences 5"),
        ("mine is judged by Python of its own (f.py:g): allow it with --trust-python.", ["run"], "run --trust-python"),
        (
            "The setting 'runtime' cannot be 'pod' (here): expected one of …",
            ["run", "--runtime", "pod"],
            "run --runtime process",
        ),
        (
            "Give an adapter folder or --endpoint, not both: one is deployed, the other already runs.",
            ["run", "mine", "--endpoint", "http://a:1", "--limit", "3", "--endpoint=http://b:1"],
            "run mine --limit 3",
        ),
        (
            "A shard decides no gate, so --stop-when-decided and --shard 0/2 exclude each other.",
            ["run", "--stop-when-decided", "--shard", "0/2"],
            "run --shard 0/2",
        ),
        (
            "An endpoint is named twice: http://a:1, http://b:1, http://a:1/. Each replica is to be named once.",
            ["run", "--endpoint", "http://a:1", "--endpoint", "http://b:1", "--endpoint", "http://a:1/", "-n", "1"],
            "run -n 1 --endpoint http://a:1/ --endpoint http://b:1",
        ),
        (
            "4 replicas with 2 NPUs each need more than the devices 0,1,2,3,4.",
            ["run", "--replicas", "4", "--devices-per-replica", "2"],
            "run --replicas 2 --devices-per-replica 2",
        ),
        (
            "The gate 'a: pass@5 >= 6' needs pass@5, and --only avg@5 leaves it out: add it to --only, or leave --only out.",
            ["run", "--only", "avg@5"],
            "run --only avg@5,pass@5",
        ),
        (
            "Port 8001 is already in use by x, … Give --port 8003, from which on 3 ports are free.",
            ["run", "--port", "8000", "--replicas", "3"],
            "run --port 8003 --replicas 3",
        ),
        ("The run x has its own limit: leave --limit out.", ["rescore", "x", "--limit", "3"], "rescore x"),
        ("devices is 'two'; it takes auto, all, none, or …", ["run", "--devices", "two"], "run --devices auto"),
    ],
)
def test_what_a_sentence_asks_for_is_in_the_command(sentence: str, typed: list[str], step: str) -> None:
    """In the place of what was typed, of several gates in that of the one that is meant."""
    assert next_command.of_error(BadValue(sentence), typed) == f"model-accuracy-eval {step}"


@pytest.mark.parametrize(
    ("sentence", "typed", "step"),
    [
        ("The rows of gsm8k have no date.", "run --datasets arc_easy,gsm8k@2025-01..", "tasks show gsm8k"),
        ("Nothing of --retries is known here.", "run --datasets gsm8k", "run --help | grep -A 3 -e --retries"),
        ("Nothing is known.", "tasks show gsm8k", "tasks show --help"),
        (
            "Give an adapter folder or --endpoint, not both: one is deployed, the other already runs.",
            "run --config eval.yml",
            "run --help | grep -A 3 -e --endpoint",
        ),
    ],
)
def test_what_nobody_can_mend_is_shown(sentence: str, typed: str, step: str) -> None:
    """The dataset or the option that the sentence names; all options only where it names neither."""
    assert next_command.of_error(BadValue(sentence), typed.split()) == f"model-accuracy-eval {step}"


def test_commands_in_sentences_are_taken_as_they_are() -> None:
    """An extra that is missing, and a run to go on with."""
    assert next_command.of_error(BadValue("A needs b, which is not installed: pip install 'x[b]'."), ["run"]) == (
        "pip install 'x[b]'"
    )
    stopped = BadReuse("The run 'a/b' did not come to its end: go on with it by --reuse a/b.")
    assert next_command.of_error(stopped, ["report", "a/b"]) == "model-accuracy-eval run --reuse a/b"


def test_slips_are_mended_where_they_stand(tmp_path: Path) -> None:
    """In the command, or shown in the file that has them; a name that is like no other is left to the reader."""
    error = UnknownName("metric", "exact_mach", ["exact_match", "f1"])
    assert next_command.of_error(error, ["run", "--gate", "a: exact_mach >= 6"]) == (
        "model-accuracy-eval run --gate 'a: exact_match >= 6'"
    )
    file = tmp_path / "task.yaml"
    file.write_text("metric: exact_mach")
    assert next_command.of_error(error, ["run", "--datasets", str(file)]) == f"grep -n exact_mach {file}"
    assert next_command.of_error(UnknownName("metric", "zzz", ["f1"]), ["run"]) == "model-accuracy-eval run --help"


def test_files_that_are_not_there_are_looked_for(tmp_path: Path) -> None:
    """A similar name is taken; else the folder is shown."""
    (tmp_path / "mine.jsonl").write_text("{}")
    words = ["run", "--datasets", f"gsm8k,{tmp_path}/mine.json"]
    assert next_command.of_error(MissingData("…"), words) == (
        f"model-accuracy-eval run --datasets gsm8k,{tmp_path}/mine.jsonl"
    )
    assert next_command.of_error(MissingData("…"), ["run", "--datasets", f"{tmp_path}/no/x.csv"]) == f"ls {tmp_path}"


def test_files_of_questions_are_checked_again(tmp_path: Path) -> None:
    """A row without an answer, wherever the file was named."""
    file = tmp_path / "mine.jsonl"
    file.write_text("{}")
    assert next_command.of_error(BadData("row 3: the field 'answer' is empty."), ["plan", "--datasets", str(file)]) == (
        f"model-accuracy-eval tasks check {file}"
    )


def test_what_is_no_run_is_replaced_by_the_newest_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is none, by the command that makes one; never by the command that has just failed."""
    monkeypatch.chdir(tmp_path)
    for command in ("report", "history", "view"):
        assert next_command.of_error(BadReuse("…"), [command, "nope"]) == "model-accuracy-eval demo"
    (tmp_path / "outputs/latest").mkdir(parents=True)
    (tmp_path / "outputs/latest/run.json").write_text("{}")
    for typed, step in (
        ("report outputs/nope", "report outputs/latest"),
        ("history nope", "history outputs"),
        ("view nope", "view outputs"),
        ("run --reuse nope -n 1", "run --reuse outputs/latest -n 1"),
        ("compare outputs/latest outputs/nope", "history outputs"),
    ):
        assert next_command.of_error(BadReuse("…"), typed.split()) == f"model-accuracy-eval {step}"


def test_a_refusal_of_another_kind_has_the_check_of_the_machine() -> None:
    """As before."""
    assert next_command.of_error(Refused("No place to run code."), ["run"]) == "model-accuracy-eval doctor"


def test_the_sentence_names_the_option_that_the_command_has() -> None:
    """Not the first of all that are a little like it."""
    done = CliRunner().invoke(main, ["run", "--modle", "x"])
    assert done.output.splitlines()[0] == "Error: No such option '--modle'. Did you mean '--model'?"
    done = CliRunner().invoke(main, ["run", "--foo", "x"])
    assert done.output.splitlines()[0] == "Error: No such option '--foo'."


def test_runs_beside_a_latest_that_is_gone_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder that has no runs of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "run.json").write_text("{}")
    (tmp_path / "latest").symlink_to("gone")
    words = ["compare", str(tmp_path / "latest"), "b"]
    assert next_command.of_error(BadReuse("There is no run."), words) == f"model-accuracy-eval history {tmp_path}"
