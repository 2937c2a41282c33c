"""A user's own data file → a task. Its columns decide which of three shapes it has; the first two are AISBench's:

question, answer                 the reply must be the answer (as a number or as mathematics where the answers are)
question, A, B, C, …, answer     multiple choice; the answer is the letter
messages, or lists of messages   the reply is compared with the conversation's last
"""

from pathlib import PurePath

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import DataFile, Pipeline, Prompt, Step, TaskSpec
from model_accuracy_eval.scoring.answer_kinds import answer_kind
from model_accuracy_eval.tasks import conversations, prompt_parts
from model_accuracy_eval.tasks.rows import DataRow, parse

_FIELDS = ("question", "answer")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def looks_like_file(name: str) -> bool:
    """Whether a name has a slash or the ending of a data file, which names of datasets never have."""
    return "/" in name or name.removesuffix(".gz").endswith((".jsonl", ".json", ".csv"))


def from_file(path: str, data: bytes) -> TaskSpec:
    """The task of a data file. Its name is the file's stem, as in AISBench."""
    if "messages" in parse(path, data, ())[0]:
        parse(path, data, ("messages",))
        return conversations.task(_name(path), path)
    rows = parse(path, data, _FIELDS)
    letters = [letter for letter in _LETTERS if letter in rows[0]]
    return _choice(path, rows, letters) if len(letters) > 1 else _open(path, rows)


def _name(path: str) -> str:
    return PurePath(path.removesuffix(".gz")).stem


def _open(path: str, rows: list[DataRow]) -> TaskSpec:
    reference, references = _reference(rows)
    kind = answer_kind(references)
    return TaskSpec(
        name=_name(path),
        about=f"Own questions whose answer is {kind.noun}.",
        data=DataFile(name=path),
        fields=_FIELDS,
        prompt=Prompt(question="{{ question }}"),
        reference=reference,
        max_tokens=1024,
        pipelines=(Pipeline(filters=(Step(name="strip_thoughts"), kind.filter), metrics=(kind.metric,)),),
    )


def _reference(rows: list[DataRow]) -> tuple[str, list[str]]:
    """The template of the right answer, and all right answers. In GSM8K's format they follow the last ####."""
    answers = [str(row["answer"]) for row in rows]
    if all("####" in answer for answer in answers):
        return "{{ answer | after('####') }}", [answer.rpartition("####")[2].strip() for answer in answers]
    return "{{ answer }}", answers


def _choice(path: str, rows: list[DataRow], letters: list[str]) -> TaskSpec:
    expected = list(_LETTERS[: len(letters)])
    if letters != expected:
        raise BadData(
            f"{path}, line 1: the options must be called {', '.join(expected)}, but are {', '.join(letters)}."
        )
    for number, row in enumerate(rows, start=1):
        if str(row["answer"]) not in letters:
            raise BadData(
                f"{path}, row {number}: the field 'answer' must be one of {', '.join(letters)}, not '{row['answer']}'."
            )
    options = "\n".join(f"{letter}. {{{{ {letter} }}}}" for letter in letters)
    return TaskSpec(
        name=_name(path),
        about=f"Own multiple-choice questions with {len(letters)} options.",
        data=DataFile(name=path),
        fields=("question", *letters, "answer"),
        prompt=Prompt(
            question=f"{{{{ question }}}}\n\n{options}\n\nThink it through if you need to, then end with: ANSWER: X"
            f" (one of {', '.join(letters)})."
        ),
        reference="{{ answer }}",
        choices=f"{{{{ [{', '.join(letters)}] | map('string') | list | tojson }}}}",
        max_tokens=1024,
        pipelines=prompt_parts.LETTER_PIPELINES,
    )
