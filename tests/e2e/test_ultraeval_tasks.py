"""A run over UltraEval's task files, against services over real HTTP: generated, weighed, and every postprocess."""

import json
import math
import re
from pathlib import Path

import pytest
from tests.e2e import command, ultraeval_folder
from tests.e2e.ultraeval_folder import JSON, SEAS
from tests.servers.fault_server import FaultServer
from tests.servers.likelihood_server import VLLM_NO_BOS, LikelihoodServer
from tests.unit.scoring.answers.test_ultraeval_answers import READ

from model_accuracy_eval.scoring.answers.ultraeval_answers import POSTPROCESS

MARKED = {name: text for name, text, answer in reversed(READ) if answer.strip()}
"""One reply for every postprocess function."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """UltraEval's folder, with a run over a task for every postprocess function."""
    rows = {
        f"datasets/posts/data/{name}.jsonl": [{"question": f"Read {name}", "answer": POSTPROCESS[name](text)}]
        for name, text in MARKED.items()
    }
    run = [ultraeval_folder.task(name, "posts", "transform.py", postprocess=name) for name in MARKED]
    return ultraeval_folder.write(tmp_path / "ultra", rows, run)


def run(url: str, root: Path, *arguments: object) -> tuple[command.Done, dict[str, JSON]]:
    """What the command said, and the results of every dataset."""
    out = root / "out"
    done = command.run("run", "--endpoint", url, "--out", out, "--trust-python", *arguments)
    return done, {path.stem: json.loads(path.read_bytes()) for path in out.glob("[0-9a-f]*/results/*/*.json")}


def rows_of(root: Path) -> list[str]:
    (summary,) = root.glob("out/[0-9a-f]*/summary/*.csv")
    return summary.read_text(encoding="utf-8").splitlines()


def answer(request: JSON) -> list[str]:
    """The first of two samples is right but for every third question, the second always wrong."""
    question = request["messages"][-1]["content"].rpartition("Question: ")[2]
    place = int((re.findall(r"\d", question) or ["0"])[0])
    return [f"The answer is {SEAS[place] if place % 3 else 'nowhere'}.", "No."][: request.get("n", 1)]


def test_u5_u7_u9_u12_u19_a_generating_task_end_to_end(root: Path) -> None:
    """Layout, parameters, two samples of which the first counts or their mean, and both metrics under their names."""
    with FaultServer(answer) as server:
        done, results = run(server.url, root, "--datasets", root / "datasets/tides/config/high_gen.json")
        asked = [one.json for one in server.requests if "Answer in a word" in str(one.json)]
    assert done.code == 0, done.err
    prompts = {request["messages"][0]["content"] for request in asked}
    layout = r"Answer in a word \{or two\}\.\n\n(The tide high \d\.\nQuestion: [^\n]*\nAnswer: [^\n]+\n\n){2}The tide high \d\.\nQuestion: [^\n]*\nAnswer: "
    assert len(prompts) == 6
    assert all(re.fullmatch(layout, prompt) for prompt in prompts)
    assert {(request["temperature"], tuple(request["stop"]), len(request["messages"])) for request in asked} == {
        (0.5, ("\n\n",), 1)
    }
    found = results["tides_high_gen"]
    assert found["accuracy"] == pytest.approx(100 * 4 / 6)
    assert found["likeness"] == pytest.approx(100 * 4 / 6 / 2)


def test_u2_a_dataset_of_several_tasks_has_their_plain_mean(root: Path) -> None:
    """By its name in a folder, as by a list of its tasks."""
    with FaultServer(answer) as server:
        done, results = run(server.url, root, "--datasets", "tides", "--tasks-path", root / "datasets", "--limit", "4")
    assert done.code == 0, done.err
    assert {"tides_high_gen", "tides_low_gen"} <= set(results)
    (mean,) = [line for line in rows_of(root) if line.startswith("tides,") and ",accuracy," in line]
    assert mean.endswith("50.00")


def test_u11_every_postprocess_function_end_to_end(root: Path) -> None:
    """A run file with a task for each: the reply is read, and found equal to what the row says is right."""

    def reply(request: JSON) -> list[str]:
        return [MARKED.get(request["messages"][-1]["content"].removeprefix("Read "), "ready")] * request.get("n", 1)

    with FaultServer(reply) as server:
        done, results = run(server.url, root, "--datasets", root / "configs/run.json", "-n", "1")
    assert done.code == 0, done.err
    assert {name for name, found in results.items() if found.get("accuracy") == 100.0} >= {
        f"posts_{name.replace('_', '-')}_gen" for name in POSTPROCESS
    }


def losses(server: LikelihoodServer, prompt: str, options: list[str], *, norm: bool) -> list[float]:
    """As UltraEval counts them: all tokens but the first of each prompt, or the mean behind those that all share."""
    read = [server.model.vocabulary.encode(prompt + option) for option in options]
    told = [[float(server.model.logprobs(ids[:at])[ids[at]]) for at in range(1, len(ids))] for ids in read]
    if not norm:
        return [-sum(one) for one in told]
    same = next(at for at, ids in enumerate(zip(*read, strict=False)) if len(set(ids)) > 1)
    return [-sum(one[same - 1 :]) / len(one[same - 1 :]) for one in told]


@pytest.mark.parametrize(("name", "norm"), [("high", False), ("low", True)])
def test_u8_u10_u13_u14_a_weighing_task_end_to_end(root: Path, name: str, norm: bool) -> None:
    """Both figures are those of UltraEval's own sums over the tokens of each prompt with each option."""
    with LikelihoodServer(style=VLLM_NO_BOS) as server:
        done, results = run(server.url, root, "--datasets", f"tides_{name}_ppl", "--tasks-path", root)
        assert done.code == 0, done.err
        (shown,) = root.glob(f"out/[0-9a-f]*/predictions/*/tides_{name}_ppl.json")
        prompts = [row["origin_prompt"][0]["prompt"] for row in json.loads(shown.read_bytes()).values()]
        right, shares = [], []
        for prompt, row in zip(prompts, ultraeval_folder.tides()[name], strict=True):
            worth = list(row["target_scores"].values())
            loss = losses(server, prompt, list(row["target_scores"]), norm=norm)
            right.append(worth[loss.index(min(loss))])
            parts = [math.exp(min(loss) - one) for one in loss]
            shares.append(sum(parts[: worth.index(0)]) / sum(parts))
    assert 0 < sum(right) < len(right) == 6
    found = results[f"tides_{name}_ppl"]
    assert found["accuracy"] == pytest.approx(100 * sum(right) / 6)
    assert found["share"] == pytest.approx(100 * sum(shares) / 6)


def test_python_is_run_only_with_trust(root: Path) -> None:
    """And everything that stands against a task is said at once."""
    done = command.run("tasks", "show", root / "datasets/tides/config/high_gen.json")
    assert done.code == 2
    assert "its rows are made by Python (datasets/tides/transform_gen_v0.py), which is run only with" in done.err


def test_tasks_show_prints_a_task_file_and_its_first_prompt(root: Path) -> None:
    """As it would be sent."""
    done = command.run("tasks", "show", root / "datasets/tides/config/low_gen.json", "--trust-python")
    assert done.code == 0, done.err
    assert "name: tides_low_gen\n" in done.out
    assert "Question: Where is the low tide 0?\nAnswer: " in done.out


def test_u17_u19_programs_of_both_benchmarks_end_to_end(sandbox: str, tmp_path: Path) -> None:
    """Two samples of each, of which one is right: pass@1 is a half, pass@2 all; without an aggregation, their mean."""
    bodies = {"human": ["    return x + 1\n", "    return x\n"], "mbpp": ["def inc(x): return x + 1", "oops("]}
    human: JSON = {"prompt": "def inc(x):\n", "test": "def check(f):\n    assert f(1) == 2", "entry_point": "inc"}
    mbpp: JSON = {"text": "Inc.", "code": "", "task_id": 1, "test_setup_code": "", "challenge_test_list": []}
    rows: dict[str, list[JSON]] = {
        "datasets/posts/data/human.jsonl": [{"question": "human", "answer": "", **human}],
        "datasets/posts/data/mbpp.jsonl": [
            {"question": "mbpp", "answer": "", "test_list": ["assert inc(2) == 3"], **mbpp}
        ],
    }
    run_ = {"evaluation": {"type": "function_execution"}}
    metric = {"pass_k": run_ | {"aggregation": {"type": "pass_k"}}, "passed": run_}
    method = {"method": "generate", "params": {"sampling_num": 2, "temperature": 0.5}}
    tasks = [
        ultraeval_folder.task(name, "posts", "transform.py", generate=method, metric=metric, postprocess=post)
        for name, post in (("human", "humaneval_post"), ("mbpp", "new_mbpp_post"))
    ]
    root = ultraeval_folder.write(tmp_path / "ultra", rows, tasks)
    with FaultServer(lambda request: bodies.get(request["messages"][-1]["content"], ["ready"] * 2)) as server:
        done, results = run(server.url, root, "--datasets", root / "configs/run.json", "--sandbox", sandbox)
    assert done.code == 0, done.err
    for name in ("posts_human_gen", "posts_mbpp_gen"):
        found = results[name]
        assert (found["pass@1(pass_k)"], found["pass@2(pass_k)"], found["passed"]) == (50.0, 100.0, 50.0)
