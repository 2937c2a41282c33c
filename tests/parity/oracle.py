"""Runs in an environment that has lm-evaluation-harness: its own requests and scores for task files, as JSON.

Standard input: {"tasks": {name: folder of its family}, "data": folder, "limit": n, "replies": {prompt: [reply, …]},
"examples": n or null, "draws": of its bootstrap, "alone": whether each task is run by itself, and why it stopped is told,
"keep": folder or null}, where its own files of results and samples are to be kept.
Rows are read from the data folder instead of a hub; the model is scripted, so that both sides hear the same.
"""

# mypy: ignore-errors

import json
import os
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path

os.environ["LMEVAL_DISABLE_MULTIPROC"] = "1"

import datasets
from lm_eval.api.model import LM
from lm_eval.evaluator import simple_evaluate
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager
from oracle_words import weigh

IS_NEXT = version("lm_eval").startswith("0.5")


class Scripted(LM):
    """Weighs by `weigh`, and replies from a list."""

    def __init__(self, replies):
        super().__init__()
        self._replies = replies
        self._told = Counter()

    def loglikelihood(self, requests):
        return [weigh(*request.args[:2]) for request in requests]

    def loglikelihood_rolling(self, requests):
        """0.5 wants pairs, and gives the text behind an empty context."""
        told = [weigh("", request.args[-1])[0] for request in requests]
        return [(one, False) for one in told] if IS_NEXT else told

    def generate_until(self, requests):
        return [self._reply(request.task_name, request.args[0]) for request in requests]

    def _reply(self, task, prompt):
        """The next one that the task hears to this prompt, which another task may ask too."""
        texts = self._replies.get(prompt, ["no reply was written for this prompt"])
        self._told[task, prompt] += 1
        return texts[(self._told[task, prompt] - 1) % len(texts)]


def local(data):
    """`datasets.load_dataset`, reading what lies in a folder."""

    def load(path, name=None, data_files=None, split=None, **_):
        if data_files is not None and path in ("json", "csv"):
            files = {one: data / file.removeprefix("hf://datasets/") for one, file in data_files.items()}
        else:
            folder = data.joinpath(path, *([name] if name is not None else []))
            files = {file.stem: file for file in sorted(folder.glob("*.jsonl"))}
        if split is None:
            return datasets.DatasetDict({one: datasets.Dataset.from_list(rows(file)) for one, file in files.items()})
        return [datasets.Dataset.from_list(rows(files[one.removesuffix("[:]")])) for one in split]

    return load


def rows(file):
    if file.suffix == ".csv":
        return datasets.Dataset.from_csv(str(file)).to_list()
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]


def tell(found, name):
    """What was asked for each row, how, and the figures."""
    samples = found["samples"].get(name, [])
    asked = {one["doc_id"]: one["arguments"] for one in samples if one["filter"] == samples[0]["filter"]}
    settings = [part for arguments in asked.values() for pair in arguments for part in pair if isinstance(part, dict)]
    rolling = found["configs"].get(name, {}).get("output_type") == "loglikelihood_rolling"
    return {
        "asked": [
            [[part for part in pair if isinstance(part, str)][-1 if rolling else 0 :] for pair in asked[place]]
            for place in sorted(asked)
        ],
        "generation": settings[0] if settings else None,
        "scores": {key: value for key, value in found["results"][name].items() if isinstance(value, float | int)},
        "right": [one["target"] for one in samples],
        "better": found["higher_is_better"].get(name, {}),
    }


def keep(found, folder):
    """As `--output_path FOLDER --log_samples` does."""
    tracker = EvaluationTracker(output_path=folder)
    tracker.save_results_aggregated(found, found["samples"])
    for name, samples in found["samples"].items():
        tracker.save_results_samples(name, samples)


def evaluated(job, manager, names):
    return simple_evaluate(
        model=Scripted(job["replies"]),
        tasks=names,
        task_manager=manager,
        limit=job["limit"],
        num_fewshot=job["examples"],
        bootstrap_iters=job["draws"],
        log_samples=True,
    )


def why_it_stops(job, manager, name):
    try:
        evaluated(job, manager, [name])
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def main():
    job = json.load(sys.stdin)
    datasets.load_dataset = local(Path(job["data"]))
    manager = TaskManager(include_path=sorted(set(job["tasks"].values())), include_defaults=False)
    if job["alone"]:
        told = {name: why_it_stops(job, manager, name) for name in job["tasks"]}
    else:
        found = evaluated(job, manager, list(job["tasks"]))
        told = {name: tell(found, name) for name in found["results"]}
        if job["keep"]:
            keep(found, job["keep"])
    sys.stdout.write("\n" + json.dumps(told))


if __name__ == "__main__":
    main()
