"""bfcl_simple, bfcl_multiple, bfcl_parallel, bfcl_parallel_multiple, bfcl_irrelevance: function calls of the Berkeley
Function-Calling Leaderboard, version 4, that are judged by their syntax trees.

Home: https://gorilla.cs.berkeley.edu/leaderboard.html. Licence: Apache-2.0.
A row: {"id": "simple_python_0", "question": [[{"role": "user", "content": "…"}]], "function": [{"name": "…", …}]}, and
in a second file {"id": "simple_python_0", "ground_truth": [{"name": {"parameter": [allowed values]}}]}.
Asked: the user's words, with the row's functions as tools of the request. In the form `bfcl_simple@prompt` the
functions stand in the system message, in words of our own, and the reply is a list of calls in Python.
Judged: as the leaderboard's checker does: the expected functions, with the required parameters and no others, each
value of its type and among the allowed ones; several calls in any order. In `irrelevance` no function fits, and no call
is right. The group's figure is the plain mean of the four categories with calls.
"""

import msgspec

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataRow, DataSource, MetricUse, Pipeline, Prompt, Step, TaskSpec

_AT = (
    "github:ShishirPatil/gorilla@6ea57973c7a6097fd7c5915698c54c17c5b1b6c8/berkeley-function-call-leaderboard/"
    "bfcl_eval/data"
)

_CATEGORIES = {
    "simple": (
        "one function, one call",
        "82dd63ba502eb2520c6b5d1d9a5c4b590e03ff261565175561f6228a367d1991",
        "90cd5bc653690ee8e459b5b3f3fc9458606f7f3fcbf795bb51b7dc581f8c86dc",
    ),
    "multiple": (
        "several functions, one call",
        "aef168155ebd74b7ac2401198b201343bc7d16d7a3d7e0d4e6d8ee82c6969b2a",
        "244e00ce9395df948bcafc7bee64e8f9c87ef70887587d83cae45b13699f3047",
    ),
    "parallel": (
        "one function, several calls",
        "19f51a82eff42e5d62541aa500115a056eb78f437c2ba1f10415fd7c8e5dda84",
        "8a6aa19c1adddc6a5a2f7e40f9dbf30cc7e95815e7b830c90589ab318229e0f0",
    ),
    "parallel_multiple": (
        "several functions, several calls",
        "8863ea8433239f55c5f016154cf0830853c89f693c6ea270396a2fa121960579",
        "5ebf24f458c1f16300c05505d83d6f0a1b68b79be273a033febd0d4f840507e3",
    ),
    "irrelevance": (
        "functions of which none fits, no call",
        "2b6ed4c2e992cdcf5f1678a701851f944bef7550ee026ed1ddb89efed5be01a6",
        "",
    ),
}
"""Category → what is asked for, and the hashes of its questions and of its answers."""

_SYSTEM = """You call functions to do what the user asks for. These are the functions, as JSON:

{{ function | tojson }}

Reply with the calls alone, as a Python list: [name(parameter=value, …), name(…)]. Give every parameter by its name. If
none of the functions fits, or a value that is needed was not given, say so in words instead of calling one."""


def _file(category: str) -> DataFile:
    _, questions, answers = _CATEGORIES[category]
    name = "simple_python" if category == "simple" else category
    return DataFile(
        name=f"bfcl/BFCL_v4_{name}.jsonl",
        source=DataSource(url=f"{_AT}/BFCL_v4_{name}.json", hash=questions),
        more=(
            DataFile(
                name=f"bfcl/possible_answer_{name}.jsonl",
                source=DataSource(url=f"{_AT}/possible_answer/BFCL_v4_{name}.json", hash=answers),
            ),
        )
        if answers
        else (),
    )


def _native(category: str) -> TaskSpec:
    calls = category != "irrelevance"
    return TaskSpec(
        name=f"bfcl_{category}",
        about=f"Function calls: {_CATEGORIES[category][0]}.",
        home="https://gorilla.cs.berkeley.edu/leaderboard.html",
        licence="Apache-2.0",
        aliases=("bfcl_simple_python", "BFCL_v4_simple_python") if category == "simple" else (f"BFCL_v4_{category}",),
        prompt_of="official",
        data=_file(category),
        views=(Step(name="joined", args={"field": "id"}),) if calls else (),
        fields=("id",),
        prompt=Prompt(question="{{ question[0][-1].content }}"),
        reference="{{ ground_truth | tojson }}" if calls else "no call",
        key=("id",),
        extras=("function", "ground_truth") if calls else ("function",),
        functions="function",
        max_tokens=1024,
        pipelines=(
            Pipeline(
                filters=(Step(name="strip_thoughts"),),
                metrics=(MetricUse(name="expected_calls" if calls else "no_call", label="accuracy"),),
            ),
        ),
    )


def _prompted(task: TaskSpec) -> TaskSpec:
    return msgspec.structs.replace(
        task,
        name=f"{task.name}_prompt",
        aliases=(),
        about=f"{task.about[:-1]}; asked for in words, for services without tools.",
        prompt_of="",
        prompt=Prompt(question="{{ question[0][-1].content }}", system=_SYSTEM),
        functions="",
    )


NATIVE = tuple(map(_native, _CATEGORIES))
PROMPTED = tuple(map(_prompted, NATIVE))


def joined(rows: list[DataRow], *, field: str) -> list[DataRow]:
    """One row of all that have the same value of a field, with the columns of each."""
    together: dict[str, DataRow] = {}
    for row in rows:
        together[str(row[field])] = {**together.get(str(row[field]), {}), **row}
    return list(together.values())


TASKS = (*NATIVE, *PROMPTED)
VIEWS = {"joined": joined}
GROUPS = (prompt_parts.plain_mean("bfcl", NATIVE[:4]), prompt_parts.plain_mean("bfcl_prompt", PROMPTED[:4]))
