"""ifeval: 541 prompts with one to three instructions each, such as "no commas", that a program can check.

Home: https://github.com/google-research/google-research/tree/master/instruction_following_eval, arXiv:2311.07911.
Licence: Apache-2.0.
A row: {"key": 1001, "prompt": "…", "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
Asked: the prompt as it is.
Judged: by 25 checkers. prompt_level counts the prompts whose instructions are all followed, inst_level the
instructions; strict takes the reply as it is, loose also without its first line, its last line, or its asterisks.
Needs the extra `ifeval`.
"""

from model_accuracy_eval.errors import BadData, UsageError
from model_accuracy_eval.records import (
    DataFile,
    DataRow,
    DataSource,
    JSONObject,
    MetricUse,
    Pipeline,
    Prompt,
    Step,
    TaskSpec,
)
from model_accuracy_eval.scoring.metrics.ifeval_instructions import instruction

TASK = TaskSpec(
    name="ifeval",
    about="Instructions that a program can check: words, lengths, formats, languages.",
    home="https://github.com/google-research/google-research/tree/master/instruction_following_eval",
    licence="Apache-2.0",
    data=DataFile(
        name="ifeval/input_data.jsonl",
        source=DataSource(
            url="github:josejg/instruction_following_eval@0c495b2f95155e8b10acb919ae283bfb4d5be6e2/instruction_following_eval/data/input_data.jsonl",
            hash="67ffeee0fcb87c317c5b08a2de85557b4a7e96ada6178aa645b4954fe4b53d49",
        ),
    ),
    views=(Step(name="instructions"),),
    fields=("prompt", "instruction_id_list", "kwargs"),
    prompt=Prompt(question="{{ prompt }}"),
    reference="{{ instruction_id_list | join(', ') }}",
    key=("key",),
    extras=("instructions",),
    max_tokens=1280,
    pipelines=(
        Pipeline(
            filters=(Step(name="strip_thoughts"),),
            metrics=(
                MetricUse(name="every_instruction", label="prompt_level_strict_acc"),
                MetricUse(name="each_instruction", label="inst_level_strict_acc"),
                MetricUse(name="every_instruction", label="prompt_level_loose_acc", args={"loose": True}),
                MetricUse(name="each_instruction", label="inst_level_loose_acc", args={"loose": True}),
            ),
        ),
    ),
)


def instructions(rows: list[DataRow]) -> list[DataRow]:
    """With the column `instructions`, made of the names in `instruction_id_list` and the arguments in `kwargs`."""
    return [{**row, "instructions": _of(row, number)} for number, row in enumerate(rows, start=1)]


def _of(row: DataRow, number: int) -> list[JSONObject]:
    names, arguments = row["instruction_id_list"], row["kwargs"]
    if not (isinstance(names, list) and isinstance(arguments, list) and len(names) == len(arguments)):
        raise BadData(
            f"Row {number}: instruction_id_list and kwargs are lists of the same length, but here they are "
            f"{names!r:.80} and {arguments!r:.80}."
        )
    try:
        return [instruction(*pair) for pair in zip(names, arguments, strict=True)]
    except UsageError as error:
        raise BadData(f"Row {number}: {error.sentence}") from error


TASKS = (TASK,)
VIEWS = {"instructions": instructions}
