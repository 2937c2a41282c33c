"""A folder as UltraEval's, with tasks of our own: what is generated, what is weighed, and every postprocess function."""

import json
from pathlib import Path
from typing import Any

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
    """The folder; `read` has further rows by path, and `run` is a list of tasks in `configs/run.json`."""
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
