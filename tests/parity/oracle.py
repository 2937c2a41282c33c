"""Runs in an environment that has lm-evaluation-harness: its own requests and scores for task files, as JSON.

Standard input: {"tasks": {name: folder of its family}, "data": folder, "limit": n, "replies": {prompt: [reply, …]},
"keep": folder or null}, where its own files of results and samples are to be kept.
Rows are read from the data folder instead of a hub; the model is scripted, so that both sides hear the same.
"""

# mypy: ignore-errors

import json
import sys
from collections import Counter
from pathlib import Path

import datasets
from lm_eval.api.model import LM
from lm_eval.evaluator import simple_evaluate
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager
from oracle_words import weigh


class Scripted(LM):
    """Weighs by `weigh`, and replies from a list."""

    def __init__(self, replies):
        super().__init__()
        self._replies = replies
        self._told = Counter()

    def loglikelihood(self, requests):
        return [weigh(*request.args[:2]) for request in requests]

    def loglikelihood_rolling(self, requests):
        return [weigh("", request.args[0])[0] for request in requests]

    def generate_until(self, requests):
        return [self._reply(request.task_name, request.args[0]) for request in requests]

    def _reply(self, task, prompt):
        """The next one that the task hears to this prompt, which another task may ask too."""
        texts = self._replies.get(prompt, ["no reply was written for this prompt"])
        self._told[task, prompt] += 1
        return texts[(self._told[task, prompt] - 1) % len(texts)]


def local(data):
    """`datasets.load_dataset`, reading what lies in a folder."""

    def load(path, name=None, data_files=None, **_):
        if data_files is not None and path in ("json", "csv"):
            found = {split: data / file.removeprefix("hf://datasets/") for split, file in data_files.items()}
            return datasets.DatasetDict(
                {split: datasets.Dataset.from_list(rows(file)) for split, file in found.items()}
            )
        folder = data.joinpath(path, *([name] if name is not None else []))
        return datasets.DatasetDict(
            {file.stem: datasets.Dataset.from_list(rows(file)) for file in sorted(folder.glob("*.jsonl"))}
        )

    return load


def rows(file):
    if file.suffix == ".csv":
        return datasets.Dataset.from_csv(str(file)).to_list()
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]


def tell(samples, results):
    """What was asked for each row, how, and the figures."""
    asked = {one["doc_id"]: one["arguments"] for one in samples if one["filter"] == samples[0]["filter"]}
    settings = [part for arguments in asked.values() for pair in arguments for part in pair if isinstance(part, dict)]
    return {
        "asked": [
            [[part for part in pair if isinstance(part, str)] for pair in asked[place]] for place in sorted(asked)
        ],
        "generation": settings[0] if settings else None,
        "scores": {key: value for key, value in results.items() if isinstance(value, float | int)},
    }


def keep(found, folder):
    """As `--output_path FOLDER --log_samples` does."""
    tracker = EvaluationTracker(output_path=folder)
    tracker.save_results_aggregated(found, found["samples"])
    for name, samples in found["samples"].items():
        tracker.save_results_samples(name, samples)


def main():
    job = json.load(sys.stdin)
    datasets.load_dataset = local(Path(job["data"]))
    manager = TaskManager(include_path=sorted(set(job["tasks"].values())), include_defaults=False)
    found = simple_evaluate(
        model=Scripted(job["replies"]),
        tasks=list(job["tasks"]),
        task_manager=manager,
        limit=job["limit"],
        num_fewshot=job["examples"],
        bootstrap_iters=0,
        log_samples=True,
    )
    told = {name: tell(found["samples"].get(name, []), found["results"].get(name, {})) for name in job["tasks"]}
    if job["keep"]:
        keep(found, job["keep"])
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
