"""Real replies of many models, read again: what ours reads beside what their origin read, and who is right.

    python bench/corpus.py FOLDER [--differences] [--page docs/reference/answers.md]

FOLDER has files SOURCE.jsonl with one reply on each line: `id` (repository@commit:path#row), `source`, `model`, `kind`
(letter, number, expression or text), `options` or how many `letters` there are, `gold`, `reply`, `origin_answer`, and
`few_shot`: what each question of the prompt begins with, if the prompt has solved examples.

corpus.csv keeps, for each reply on which ours and the origin's answer differed: the origin's answer, ours when the
reply was read for the first time, and what the reply states, judged once by its text: alternatives if several can be
defended, a dash if it states none. The texts of the replies are not kept here.
"""

import argparse
import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

from model_accuracy_eval.records import Message, Problem, Step
from model_accuracy_eval.report.markdown import text
from model_accuracy_eval.scoring.answers.reader import Doubtful
from model_accuracy_eval.scoring.filters import filters
from model_accuracy_eval.scoring.metrics import exact

VERDICTS = Path(__file__).with_name("corpus.csv")
FILTERS = {"letter": "choice_letter", "number": "number_answer", "expression": "maths_answer", "text": "short_answer"}
MARK = "<!-- Made by bench/corpus.py. -->"
HEADING = "## Read from real replies"
NONE = "-"
_AROUND_TEXT = " \t\r\n.,*_`\"'$"
_AROUND_FORMULA = re.compile(r"^\s*(?:\\\(|\\\[|\$)|(?:\\\)|\\\]|\$)\s*$")


@dataclass(frozen=True, kw_only=True)
class CorpusReply:
    id: str
    source: str
    model: str
    kind: str
    reply: str
    origin_answer: str | None
    gold: str | None = None
    options: Sequence[str] | None = None
    letters: int = 0
    few_shot: str | None = None
    question: str = ""
    chat: bool = True

    @property
    def problem(self) -> Problem:
        choices = tuple(map(str, self.options or ("",) * self.letters))
        prompt = f"{self.few_shot} …\nA: …\n\n{self.few_shot} …\n" if self.few_shot else ""
        messages = (Message(role="user", content=self.question),) if self.question else ()
        return Problem(id=0, messages=messages, text=prompt, references=(self.gold or "",), choices=choices)


@dataclass(frozen=True, kw_only=True)
class ReplyVerdict:
    """What a reply states, judged once by its text."""

    id: str
    origin: str | None
    before: str | None
    stated: tuple[str | None, ...]


def read_verdicts(path: Path = VERDICTS) -> dict[str, ReplyVerdict]:
    def answer(cell: str) -> str | None:
        return None if cell == NONE else cell

    with path.open(encoding="utf-8", newline="") as stream:
        return {
            row["id"]: ReplyVerdict(
                id=row["id"],
                origin=answer(row["origin"]),
                before=answer(row["before"]),
                stated=tuple(map(answer, row["stated"].split(" | "))),
            )
            for row in csv.DictReader(stream)
        }


def read_replies(folder: Path) -> Iterator[CorpusReply]:
    for path in sorted(folder.glob("*.jsonl")):
        with path.open(encoding="utf-8") as stream:
            yield from (CorpusReply(**json.loads(line)) for line in stream if line.strip())


def read_answer(reply: CorpusReply) -> str | None:
    is_yes_or_no = reply.kind == "text" and (reply.gold or "").lower() in {"yes", "no"}
    name = "yes_or_no" if is_yes_or_no else FILTERS[reply.kind]
    (answer,) = filters.run([Step(name=name)], [reply.reply], reply.problem)
    return answer


def is_same(kind: str, left: str | None, right: str | None) -> bool:
    if left is None or right is None:
        return left is right
    left, right = (_AROUND_FORMULA.sub("", side).strip(_AROUND_TEXT) for side in (left, right))
    if left.casefold() == right.casefold():
        return True
    is_value = kind in {"number", "expression"}
    return is_value and (exact.same_number(left, right) or exact.same_formula(left, right))


def outcome(kind: str, answer: str | None, origin: str | None, verdict: ReplyVerdict | None) -> str:
    """`right`, `not found`, `misread`, or `open`: it differs from the origin's, and nobody has read the reply."""
    if verdict is None:
        return "right" if is_same(kind, answer, origin) else "open"
    if any(is_same(kind, answer, stated) for stated in verdict.stated):
        return "right"
    return "misread" if answer is not None else "not found"


@dataclass(frozen=True, kw_only=True)
class ReplyResult:
    reply: CorpusReply
    answer: str | None
    verdict: ReplyVerdict | None

    @property
    def outcome(self) -> str:
        return outcome(self.reply.kind, self.answer, self.reply.origin_answer, self.verdict)

    @property
    def differs(self) -> bool:
        return not is_same(self.reply.kind, self.answer, self.reply.origin_answer)

    @property
    def origin(self) -> str:
        return outcome(self.reply.kind, self.reply.origin_answer, None, self.verdict) if self.verdict else "right"

    @property
    def before(self) -> str:
        return outcome(self.reply.kind, self.verdict.before, None, self.verdict) if self.verdict else "right"


HEAD = (
    "source",
    "replies",
    "models",
    "differ",
    "ours right",
    "origin right",
    "not found",
    "misread",
    "of them doubtful",
    "both at first",
)


def cells(name: str, results: Sequence[ReplyResult]) -> tuple[str, ...]:
    differing = [result for result in results if result.differs]
    ours = Counter(result.outcome for result in results)
    before = Counter(result.before for result in results)
    return (
        name if name.startswith("*") else text(name),
        f"{len(results):,}",
        f"{len({result.reply.model for result in results})}",
        f"{len(differing)}",
        f"{sum(result.outcome == 'right' for result in differing)}",
        f"{sum(result.origin == 'right' for result in differing)}",
        _share(ours["not found"], len(results)),
        _share(ours["misread"], len(results)),
        str(sum(result.outcome == "misread" and isinstance(result.answer, Doubtful) for result in results)),
        _share(before["not found"] + before["misread"], len(results)),
    )


def _share(count: int, total: int) -> str:
    return f"{count} ({100 * count / total:.2f} %)" if count else "0"


def page_part(results: Sequence[ReplyResult]) -> str:
    rows = [cells(name, _of(results, name)) for name in sorted({result.reply.source for result in results})]
    rows.append(cells("**all**", results))
    repositories: dict[str, set[str]] = {}
    for result in results:
        repositories.setdefault(result.reply.source, set()).add(result.reply.id.partition(":")[0])
    models = {result.reply.model for result in results}
    unsettled = sum(result.outcome == "open" for result in results)
    about = (
        f"{len(results):,} replies of {len(models)} models, as other projects saved them, read by ours and by the "
        "origin's own rule. Every reply on which they differ was judged once by its text; its id, the answers and what "
        "it states are kept in `bench/corpus.csv`. *Misread*: another answer comes out than the reply states, or one "
        "where it states none; *of them doubtful*: reports say how many such answers they count. *Not found*: none "
        "comes out where one is stated; reports count these apart. *Both at first*: when nobody had seen the replies; "
        "what was misread then has been mended since, so that this is what to expect of others. Each sample was read "
        "when what the one before had shown was mended. Of 1,353 replies of 33 models in 8 repositories 8 were misread "
        "(0.59 %), 6 as doubtful, and 10 not found; of 510 others three (0.59 %), two as doubtful; of 480 two (0.42 "
        "%), one as doubtful; of 456 one (0.22 %), as doubtful. Of 903 of 56 models in 13 other repositories, a third "
        "of them not in English, 14 were misread (1.55 %), two as doubtful: 9 by two models that put explanations into "
        "boxes. 41 were not found: 23 in Bengali and Swahili, whose words were not known, and 11 that name options as "
        '"b) …". Of 404 others of these 6 were misread (1.49 %), three as doubtful, 4 of them such boxes; of 357 more, '
        "with another repository, two (0.56 %), one as doubtful. Of 500 replies that were read as by their origins, "
        "three were misread. Earlier, 10,702 replies of 32 other repositories had been used up in the same way, with "
        "0.33 % misread after mending; what was judged then is in the file too."
    )
    if unsettled:
        about += f" Not judged yet: {unsettled}."
    return "\n".join(
        [
            fill(about, 120),
            "",
            *_table([HEAD, *rows]),
            "",
            *_table(
                (name, replies, *counts) for name, replies, _, *counts in [("model", *HEAD[1:]), *by_model(results)]
            ),
            "",
            "Sources:",
            "",
            *(f"- {text(name)}: {', '.join(sorted(places))}" for name, places in sorted(repositories.items())),
        ]
    )


def by_model(results: Sequence[ReplyResult]) -> list[tuple[str, ...]]:
    """A row for every model of whose replies one is or was not read right; one for all others."""
    models: dict[str, list[ReplyResult]] = {}
    for result in results:
        models.setdefault(result.reply.model, []).append(result)
    others = [
        model
        for model, of_model in models.items()
        if all(result.outcome == result.before == "right" for result in of_model)
    ]
    rows = [cells(model, models[model]) for model in sorted(set(models) - set(others), key=str.casefold)]
    rest = [result for model in others for result in models[model]]
    return [*rows, cells("others", rest)] if rest else rows


def _of(results: Iterable[ReplyResult], source: str) -> list[ReplyResult]:
    return [result for result in results if result.reply.source == source]


def _table(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for place, row in enumerate(rows):
        yield f"| {' | '.join(row)} |"
        if place == 0:
            yield "|" + "---|" * len(row)


def with_part(page: str, part: str) -> str:
    """The page with this part under its heading, up to the next one."""
    before, found, rest = page.partition(f"{HEADING}\n")
    behind = re.search(r"^## ", rest, re.MULTILINE)
    after = rest[behind.start() :] if behind else ""
    front = before if found else f"{before.rstrip()}\n\n"
    return f"{front}{HEADING}\n\n{MARK}\n\n{part}\n" + (f"\n{after}" if after else "")


def differences(results: Iterable[ReplyResult]) -> Iterator[str]:
    for result in results:
        if result.outcome != "right":
            stated = result.verdict.stated if result.verdict else ()
            shown = " | ".join(one or NONE for one in stated) or "nobody has looked"
            yield f"{result.outcome}\t{result.reply.id}\tours {result.answer!r}\tstated {shown}"


def read_all(folder: Path, verdicts: Mapping[str, ReplyVerdict]) -> list[ReplyResult]:
    return [
        ReplyResult(reply=reply, answer=read_answer(reply), verdict=verdicts.get(reply.id))
        for reply in read_replies(folder)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--differences", action="store_true", help="list the replies that are not read right")
    parser.add_argument("--page", type=Path, help="the page whose part is written anew; default: print it")
    options = parser.parse_args()
    results = read_all(options.folder, read_verdicts())
    if not results:
        parser.error(f"there are no replies in {options.folder}")
    if options.differences:
        print("\n".join(differences(results)))
    part = page_part(results)
    if options.page:
        page = options.page.read_text(encoding="utf-8") if options.page.is_file() else "# Answers\n"
        options.page.write_text(with_part(page, part), encoding="utf-8")
    else:
        print(part)


if __name__ == "__main__":
    main()
