"""Made-up rows in the true columns of each dataset's files, and scripted models that answer them.

A fixture is `tests/unit/tasks/fixtures/<name of the data file>.json`:
rows      at least five, as the hub has them; more only where solved examples are drawn from them
right     optional: what a model says whose answers are right: a text in which {} is the right answer, or one for each row
wrong     optional: the same for one whose answers are wrong
judge     optional: {"right": …, "wrong": …}, what a judge model replies to them
Where the hub has a picture, a row has {"drawn": its shade}; for a sound, {"heard": its tone}.
asked     optional: how many problems they are, where some are left out
full      optional: what right answers reach, if that is not 100
"""

import hashlib
import json
from functools import cache
from pathlib import Path, PurePath
from typing import Any, Literal

from tests.pictures import png
from tests.sounds import wav

from model_accuracy_eval.records import (
    Attempt,
    DataFile,
    DataRow,
    Loglikelihood,
    Media,
    MediaKind,
    Opinion,
    PreparedDataset,
    Problem,
    Question,
    SummaryRow,
    TaskSpec,
)
from model_accuracy_eval.scoring.figures import judging
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.scoring.metrics.metric_type import Ask, AskResult
from model_accuracy_eval.system import media_files
from model_accuracy_eval.tasks import preparation, rows

FOLDER = Path(__file__).parent / "unit" / "tasks" / "fixtures"
WRONG = "170017"
"""A reply that is no answer to any of the questions."""

Said = Literal["right", "wrong"]


def place(file: DataFile) -> Path:
    """Where the fixture of a data file is."""
    name = PurePath(file.name.removesuffix(".gz"))
    return FOLDER / name.with_suffix(".json") if name.suffix else FOLDER / f"{name}.json"


@cache
def fixture(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def read(file: DataFile, fields: tuple[str, ...]) -> list[DataRow]:
    """The made-up rows of a file, checked as real ones are."""
    lines = "\n".join(json.dumps(row) for row in fixture(place(file))["rows"])
    own = tuple(field for field in fields if field not in file.adds)
    parsed = rows.parse(f"{place(file).stem}.jsonl", lines.encode(), own)
    named = (media_files.with_pictures("a row", _with_pictures(row), file.pictures, FOLDER) for row in parsed)
    found = [{**row, **file.adds} for row in named]
    # The files of further subjects have the columns of the first one's; those of other kinds have rows of their own.
    return found + [row for other in file.more if place(other).is_file() for row in read(other, fields)]


def _with_pictures(value: Any) -> Any:
    """{"drawn": 7} is a picture of that shade, {"heard": 7} a sound, as they come out of a table file."""
    match value:
        case {"drawn": shade}:
            return _media("image", "png", png(shade))
        case {"heard": tone}:
            return _media("audio", "wav", wav(tone))
        case dict():
            return {key: _with_pictures(item) for key, item in value.items()}
        case list():
            return list(map(_with_pictures, value))
    return value


def prepared(task: TaskSpec) -> PreparedDataset:
    return preparation.assemble(task, read)


def _media(kind: MediaKind, form: str, content: bytes) -> Media:
    return Media(kind=kind, format=form, sha256=hashlib.sha256(content).hexdigest(), size=len(content))


def shown(problem: Problem) -> str:
    """A problem as it is sent, for people to read."""
    parts = [f"── {message.role} ──\n{message.shown}" for message in problem.messages]
    parts += [f"── user, after the reply ──\n{follow_up}" for follow_up in problem.follow_ups]
    if problem.candidates:
        for context in dict.fromkeys(candidate.context for candidate in problem.candidates):
            endings = [one.continuation for one in problem.candidates if one.context == context]
            weighed = "\n".join(json.dumps(ending, ensure_ascii=False) for ending in endings)
            parts.append(f"── text ──\n{context}\n── weighed after it ──\n{weighed}")
    elif problem.text:
        parts.append(f"── text ──\n{problem.text}")
    parts += [f"── function ──\n{json.dumps(one, ensure_ascii=False)}" for one in problem.functions]
    answer = " | ".join(problem.right)
    return "\n".join([*parts, f"── right answer ──\n{answer}\n"])


def figures(task: TaskSpec, said: Said) -> tuple[SummaryRow, ...]:
    """The summary of a model whose answers are all right, or all wrong."""
    ready = prepared(task)

    def judge_says(ask: Ask) -> AskResult | None:
        assert isinstance(ask, Question)
        return Opinion(text=fixture(place(task.data))["judge"][said])

    card = Scorecard(task, 1, (1,), ask_results=judge_says)
    for number, problem in enumerate(ready.problems):
        card.judge(problem, [_attempt(ready.task.of(problem), problem, number, said)])
    return card.rows(ready.version)


def _attempt(task: TaskSpec, problem: Problem, number: int, said: Said) -> Attempt:
    if task.kind == "generate":
        return judging.constant_sample(problem, _reply(task, problem, number, said))
    places = problem.gold if problem.choices else (0,)
    likely = [(place in places) == (said == "right") for place in range(len(problem.candidates))]
    values = tuple(Loglikelihood(logprob=-0.001 if one else -1000.0, tokens=2, greedy=one) for one in likely)
    return Attempt(problem=problem.id, index=0, method="echo", loglikelihoods=values)


def _reply(task: TaskSpec, problem: Problem, number: int, said: Said) -> str:
    form = fixture(place(task.data)).get(said)
    if isinstance(form, list):
        return str(form[number])
    return (form or ("Answer: {}" if problem.choices else "{}")).replace(
        "{}", problem.references[0] if said == "right" else _wrong(problem)
    )


def _wrong(problem: Problem) -> str:
    """Among options the letter of one that is not right."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(problem.choices)]
    return next((letter for letter in letters if letter not in problem.references), WRONG)
