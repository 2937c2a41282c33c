"""A run over UltraEval's task files, against services over real HTTP: generated, weighed, and programs."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import command
from tests.servers.fault_server import FaultServer
from tests.servers.likelihood_server import VLLM_NO_BOS, LikelihoodServer

JSON = dict[str, Any]

TIDES_GEN = """import random

from UltraEval.tasks.postprocess import ExactMatchPost


def transform(data, num_sample: int, r: random.Random, dataset_name: str):
    _, right = ExactMatchPost()([], data["answer"])
    return {
        "input": f"{data['passage']}\\nQuestion: {data['question']}\\nAnswer: ",
        "output": data["answer"],
        "processed_output": right,
    }
"""
TIDES_PPL = """import random


def transform(data, num_sample: int, r: random.Random, dataset_name: str):
    right = max(data["target_scores"], key=data["target_scores"].get)
    return {"input": f"Question: {data['question']}\\nAnswer: ", "output": right, "processed_output": right}
"""
PLAIN = """def transform(data, num_sample, r, dataset_name):
    return {"input": data["question"], "output": "", "processed_output": data["answer"]}
"""

SEAS = ["North Sea", "Rome", "London", "a mat", "Paris", "New York"]


def task(name: str, dataset: str, transform: str, **fields: Any) -> JSON:
    return {
        "task_name": name,
        "path": f"datasets/{dataset}/data/{name}.jsonl",
        "description": "",
        "transform": f"datasets/{dataset}/{transform}",
        "fewshot": 0,
        "generate": {"method": "generate", "params": ""},
        "postprocess": "",
        "metric": {"accuracy": {"evaluation": {"type": "exact_match"}}},
    } | fields


def tides() -> dict[str, list[JSON]]:
    """Two tasks of six rows."""
    return {
        name: [
            {
                "passage": f"The tide {name} {place}.",
                "question": f"Where is the {name} tide {place}?",
                "target_scores": {sea: int(at == place) for at, sea in enumerate(SEAS[:4] if place < 4 else SEAS)},
                "answer": [SEAS[place], "the sea"],
            }
            for place in range(6)
        ]
        for name in ("high", "low")
    }


def generating(name: str) -> JSON:
    """Every field in use."""
    return task(
        name,
        "tides",
        "transform_gen_v0.py",
        description="Answer in a word {or two}.",
        fewshot=2,
        generate={"method": "generate", "params": "models/model_params/twice.json"},
        postprocess="exact_match_post",
        metric={
            "accuracy": {"evaluation": {"type": "in_match"}},
            "likeness": {"evaluation": {"type": "f1_score"}, "aggregation": {"type": "mean"}},
        },
    )


def weighing(name: str, postprocess: str = "") -> JSON:
    metric = {
        "accuracy": {"evaluation": {"type": "log_prob"}},
        "share": {"evaluation": {"type": "log_prob_mc2"}},
    }
    method = {"method": "loglikelihood", "params": ""}
    return task(
        name, "tides", "transform_ppl_v0.py", fewshot=1, generate=method, postprocess=postprocess, metric=metric
    )


def write(root: Path, read: dict[str, list[JSON]], run: list[JSON]) -> Path:
    """A folder as UltraEval's; `read` has further rows by path, and `run` is a list of tasks in `configs/run.json`."""
    files = {
        "datasets/tides/transform_gen_v0.py": TIDES_GEN,
        "datasets/tides/transform_ppl_v0.py": TIDES_PPL,
        "datasets/posts/transform.py": PLAIN,
        "models/model_params/twice.json": json.dumps({"temperature": 0.5, "sampling_num": 2, "stop": ["\n\n"]}),
        "configs/run.json": json.dumps(run),
    }
    for name in ("high", "low"):
        files[f"datasets/tides/config/{name}_gen.json"] = json.dumps(generating(name))
    files["datasets/tides/config/high_ppl.json"] = json.dumps(weighing("high"))
    files["datasets/tides/config/low_ppl.json"] = json.dumps(weighing("low", "general_torch_ppl_norm"))
    rows = read | {f"datasets/tides/data/{name}.jsonl": made for name, made in tides().items()}
    files |= {path: "".join(json.dumps(row) + "\n" for row in made) for path, made in rows.items()}
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "ultra", {}, [])


def run(url: str, root: Path, *arguments: object) -> tuple[command.Done, dict[str, JSON]]:
    """What the command said, and the results of every dataset."""
    out = root / "out"
    done = command.run("run", "--endpoint", url, "--out", out, "--trust-python", *arguments)
    return done, {path.stem: json.loads(path.read_bytes()) for path in out.glob("[0-9a-f]*/results/*/*.json")}


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
        for prompt, row in zip(prompts, tides()[name], strict=True):
            worth = list(row["target_scores"].values())
            loss = losses(server, prompt, list(row["target_scores"]), norm=norm)
            right.append(worth[loss.index(min(loss))])
            parts = [math.exp(min(loss) - one) for one in loss]
            shares.append(sum(parts[: worth.index(0)]) / sum(parts))
    assert 0 < sum(right) < len(right) == 6
    found = results[f"tides_{name}_ppl"]
    assert found["accuracy"] == pytest.approx(100 * sum(right) / 6)
    assert found["share"] == pytest.approx(100 * sum(shares) / 6)


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
        task(name, "posts", "transform.py", generate=method, metric=metric, postprocess=post)
        for name, post in (("human", "humaneval_post"), ("mbpp", "new_mbpp_post"))
    ]
    root = write(tmp_path / "ultra", rows, tasks)
    with FaultServer(lambda request: bodies.get(request["messages"][-1]["content"], ["ready"] * 2)) as server:
        done, results = run(server.url, root, "--datasets", root / "configs/run.json", "--sandbox", sandbox)
    assert done.code == 0, done.err
    for name in ("posts_human_gen", "posts_mbpp_gen"):
        found = results[name]
        assert (found["pass@1(pass_k)"], found["pass@2(pass_k)"], found["passed"]) == (50.0, 100.0, 50.0)
