"""A judge model, end to end: a task file that wants one, two services, two keys, and judging again without asking."""

from pathlib import Path
from typing import Any

from tests.e2e import command
from tests.servers.fault_server import FaultServer, Style

TASK = """\
task: capitals
dataset_path: json
dataset_kwargs:
  data_files: {test: capitals.jsonl}
test_split: test
output_type: generate_until
doc_to_text: "{{question}}"
doc_to_target: "{{answer}}"
scorer:
  type: judge
  kwargs:
    prompt: "Right: {reference}. Said: {answer}. The same?"
"""
ROWS = '{"question": "Capital of France?", "answer": "Paris"}\n{"question": "Capital of Italy?", "answer": "Rome"}\n'
KEYS = {"MODEL_ACCURACY_EVAL_API_KEY": "marker-model-key", "MODEL_ACCURACY_EVAL_JUDGE_KEY": "marker-judge-key"}


def model(request: dict[str, Any]) -> list[str]:
    """Knows one capital."""
    return ["The city of Paris."] * request.get("n", 1)


def judge(request: dict[str, Any]) -> list[str]:
    """Sees that Paris is Paris."""
    return ["yes" if "Right: Paris." in request["messages"][-1]["content"] else "no"]


def keys(server: FaultServer) -> set[str | None]:
    return {exchange.headers.get("authorization") for exchange in server.requests}


def setup_files(folder: Path) -> list[object]:
    (folder / "capitals.yaml").write_text(TASK)
    (folder / "capitals.jsonl").write_text(ROWS)
    return ["--datasets", folder / "capitals.yaml", "--data-dir", folder, "--out", folder / "out", "-n", "2"]


def test_a_judge_model_decides_and_is_asked_once(tmp_path: Path) -> None:
    """Each service gets its own key and no other; the second time nobody is asked and the figures are the same."""
    common = setup_files(tmp_path)
    with FaultServer(model) as served, FaultServer(judge) as judging:
        common += ["--judge-endpoint", judging.url, "--judge-model", "wise"]
        done = command.run("run", "--endpoint", served.url, *common, **KEYS)
        assert done.code == 0, done.err
        assert (keys(served), keys(judging)) == ({"Bearer marker-model-key"}, {"Bearer marker-judge-key"})
        assert [chat["model"] for chat in judging.chats] == ["wise", "wise"]
        assert "50.00" in done.out
        run = command.only_run(tmp_path / "out")
        untold = command.run("run", "--mode", "eval", "--reuse", run, **KEYS)
        assert (untold.code, f"type it again: --judge-endpoint {judging.url}." in untold.err) == (2, True), untold.err
        again = command.run("run", "--mode", "eval", "--reuse", run, "--judge-endpoint", judging.url, **KEYS)
        assert (again.code, len(judging.chats)) == (0, 2), again.err
        assert "50.00" in again.out
    assert "marker-" not in done.out + done.err
    assert not [path for path in run.rglob("*") if path.is_file() and b"marker-" in path.read_bytes()]


def test_model_and_judge_on_one_url_get_their_own_keys(tmp_path: Path) -> None:
    """What the judge is asked carries the judge's key, all else the model's, although both are the same service."""
    common = setup_files(tmp_path)

    def both(request: dict[str, Any]) -> list[str]:
        return judge(request) if request["model"] == "wise" else model(request)

    with FaultServer(both) as served:
        done = command.run(
            "run", "--endpoint", served.url, "--judge-endpoint", served.url, "--judge-model", "wise", *common, **KEYS
        )
        assert (done.code, "50.00" in done.out) == (0, True), done.err
        by_judging: dict[bool, set[str | None]] = {True: set(), False: set()}
        for exchange in (one for one in served.requests if one.method == "POST"):
            judging = b'"wise"' in exchange.body
            by_judging[judging].add(exchange.headers.get("authorization"))
    assert by_judging == {True: {"Bearer marker-judge-key"}, False: {"Bearer marker-model-key"}}


def test_replies_are_collected_first_and_judged_later_by_any_judge(tmp_path: Path) -> None:
    """--mode infer needs no judge; --mode eval names one, then another, and the model is not asked again."""
    common = setup_files(tmp_path)

    def never(_request: dict[str, Any]) -> list[str]:
        return ["no"]

    with FaultServer(model) as served, FaultServer(judge) as first, FaultServer(never) as second:
        done = command.run("run", "--mode", "infer", "--endpoint", served.url, *common)
        assert done.code == 0, done.err
        asked, run = len(served.requests), command.only_run(tmp_path / "out")
        for server, name, share in ((first, "wise", "50.00"), (second, "stern", "0.00")):
            again = command.run(
                "run", "--mode", "eval", "--reuse", run, "--judge-endpoint", server.url, "--judge-model", name
            )
            assert again.code == 0, again.err
            assert f"{share} " in again.out, again.out
            assert [chat["model"] for chat in server.chats] == [name, name]
        assert len(served.requests) == asked


def run_judged(tmp_path: Path, judging: FaultServer, *more: object, n: str = "1") -> command.Done:
    with FaultServer(model) as served:
        return command.run(
            "run", "--endpoint", served.url, "--datasets", tmp_path / "capitals.yaml", "--data-dir", tmp_path,
            "--out", tmp_path / "out", "-n", n, "--judge-endpoint", judging.url, "--judge-model", "wise", *more,
        )  # fmt: skip


def test_a_judge_may_think_and_its_thoughts_are_no_opinion(tmp_path: Path) -> None:
    """It has 2,048 tokens unless it is told otherwise; the no of its thoughts is not its answer."""
    setup_files(tmp_path)

    def thinks(request: dict[str, Any]) -> list[str]:
        return ["<think>no, wait, no</think>yes"]

    with FaultServer(thinks) as judging:
        done = run_judged(tmp_path, judging, "--debug")
    assert (done.code, "100.00" in done.out) == (0, True), done.err
    assert {chat["max_tokens"] for chat in judging.chats} == {2048}


def test_an_opinion_that_never_comes_is_a_fault_and_no_bad_mark(tmp_path: Path) -> None:
    """A thought that used all tokens up: no figure, and the sentence says why."""
    setup_files(tmp_path)

    def thinks_on(request: dict[str, Any]) -> list[str]:
        return ["<think>no, and so on"]

    with FaultServer(thinks_on, style=Style(reason="length")) as judging:
        done = run_judged(tmp_path, judging)
        assert done.code == 5, done.out
        assert {chat["max_tokens"] for chat in judging.chats} == {2048}
    log = next((tmp_path / "out").rglob("logs/eval/*/capitals.out")).read_text()
    assert "The judge used its 2048 tokens up before it said anything." in log
