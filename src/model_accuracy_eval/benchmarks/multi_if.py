r"""multi_if: 4,501 conversations of three turns in eight languages; each turn adds an instruction to those before it.

Home: https://github.com/facebookresearch/Multi-IF, arXiv:2410.15553. Licence: CC-BY-NC-2.0.
A row: {"key": "1001:1:en", "language": "English", "turn_1_prompt": "{\"role\": \"user\", \"content\": \"…\"}",
"turn_1_instruction_id_list": "[\"punctuation:no_comma\"]", "turn_1_kwargs": "[\"{}\"]", …}: JSON in texts, for turns 1
to 3; a turn that is not there is "None" or empty.
Asked: the turns, each after the model's own reply to the one before.
Judged: as ifeval, each turn by all instructions so far; words and sentences are counted as the reply's language does.
The first row is the mean of a conversation's turns. The published figure of a turn is the mean of its four rows.
A letter to count that is not one of a to z is counted; the published program draws another one at random. Words in
Hindi are counted between vowel signs, as Python's `re` and so the published figures have them, not NLTK 3.10.
Needs the extra `ifeval`.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData, EvalError
from model_accuracy_eval.records import (
    DataFile,
    DataRow,
    DataSource,
    Grouping,
    JSONObject,
    MetricUse,
    Pipeline,
    Prompt,
    Step,
    TaskSpec,
)
from model_accuracy_eval.scoring.metrics.ifeval_instructions import instruction

_TURNS = (1, 2, 3)
_FILTERS = (Step(name="strip_thoughts"),)


def _metric(name: str, label: str, **args: Any) -> MetricUse:
    return MetricUse(name=name, label=label, args={"edition": "multi_if", **args})


_STRICT = _metric("every_instruction", "prompt_level_strict_acc")
_LOOSE = _metric("every_instruction", "prompt_level_loose_acc", loose=True)

TASK = TaskSpec(
    name="multi_if",
    aliases=("multiif", "multi-if"),
    about="Instructions that a program can check, in conversations of three turns and in eight languages.",
    home="https://github.com/facebookresearch/Multi-IF",
    licence="CC-BY-NC-2.0",
    prompt_of="official",
    data=DataFile(
        name="multi_if/multiIF_20241018.csv",
        source=DataSource(
            hf="facebook/Multi-IF", ms="facebook/Multi-IF", revision="0ab97ce0b45c7f57772e8ba2ac1616f4b00bd3aa"
        ),
    ),
    views=(Step(name="instructed_turns"),),
    fields=("key", "language", "turn_1_prompt", "turn_1_instruction_id_list", "turn_1_kwargs"),
    prompt=Prompt(question="{{ turns[0] }}", follow_ups="{{ turns[1:] | tojson }}"),
    reference="{{ followed[-1] }}",
    turn_references="{{ followed | tojson }}",
    key=("key",),
    category="language",
    extras=tuple(f"turn_{turn}_instructions" for turn in _TURNS),
    max_tokens=4096,
    pipelines=(
        Pipeline(turn="each", filters=_FILTERS, metrics=(_STRICT, _LOOSE)),
        *(
            Pipeline(
                name=f"turn {turn}",
                turn=turn,
                filters=_FILTERS,
                metrics=(
                    _STRICT,
                    _metric("each_instruction", "inst_level_strict_acc"),
                    _LOOSE,
                    _metric("each_instruction", "inst_level_loose_acc", loose=True),
                ),
            )
            for turn in _TURNS
        ),
    ),
    grouping=Grouping(by="category"),
)


def instructed_turns(rows: list[DataRow]) -> list[DataRow]:
    """With the texts of the turns, and the instructions for each of them, as lists."""
    return [{**row, **_conversation(row, number)} for number, row in enumerate(rows, start=1)]


def _conversation(row: Mapping[str, Any], number: int) -> DataRow:
    turns = []
    found: DataRow = {}
    for turn in _TURNS:
        said = row.get(f"turn_{turn}_prompt")
        if said in {None, "", "None"}:
            break
        try:
            turns.append(msgspec.json.decode(str(said), type=dict[str, str])["content"])
            found[f"turn_{turn}_instructions"] = _instructions(row, turn)
        except (msgspec.MsgspecError, KeyError, EvalError) as error:
            raise BadData(f"Row {number}, turn {turn}: {getattr(error, 'sentence', error)}") from error
    if not turns:
        raise BadData(f"Row {number} has no first turn.")
    followed = [", ".join(one["name"] for one in instructions) for instructions in found.values()]
    absent: DataRow = {f"turn_{turn}_instructions": [] for turn in _TURNS[len(turns) :]}
    return {"turns": turns, "followed": followed, **found, **absent}


def _instructions(row: Mapping[str, Any], turn: int) -> list[JSONObject]:
    names = msgspec.json.decode(str(row[f"turn_{turn}_instruction_id_list"]), type=list[str])
    texts = msgspec.json.decode(str(row[f"turn_{turn}_kwargs"]), type=list[str])
    if len(names) != len(texts):
        raise BadData(f"there are {len(names)} instructions, and arguments for {len(texts)}.")
    return [instruction(name, msgspec.json.decode(text, type=dict)) for name, text in zip(names, texts, strict=True)]


TASKS = (TASK,)
VIEWS = {"instructed_turns": instructed_turns}
