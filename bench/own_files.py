"""How replies to own questions are judged: 150 files by kind × 20 styles of replies, with the truth known.

    python bench/own_files.py

A point is for files of a kind that are all judged as people mean it; else a number says how many are not. Each of these
is listed below the table.
"""

import csv
import io
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from model_accuracy_eval.records import Attempt, PreparedDataset
from model_accuracy_eval.scoring.figures.judging import judge
from model_accuracy_eval.tasks import preparation
from model_accuracy_eval.tasks.importers import own_questions
from model_accuracy_eval.tasks.rows import parse

# Question, right answer, wrong answer.
NUMBERS = [("What is 6 times 7?", "42", "45"), ("How far is it in km?", "72", "45"), ("What is 2 minus 9?", "-7", "7"),
           ("How many people live there?", "1,234", "1,432"), ("What is half of 7?", "3.5", "4.5")]  # fmt: skip
TEXTS = [("What is the capital of France?", "Paris", "London"),
         ("Who painted the Mona Lisa?", "Leonardo da Vinci", "Raphael"), ("Is the earth flat?", "no", "yes"),
         ("中国的首都是哪里？", "北京", "上海"), ("Which language has goroutines?", "Go", "C#")]  # fmt: skip
OPTIONS = ["Lyon", "Paris", "Nice", "Lille"]
STYLES: dict[str, tuple[Callable[[str, str], str], bool]] = {
    "bare": (lambda x, _: x, True),
    "period": (lambda x, _: f"{x}.", True),
    "bold": (lambda x, _: f"**{x}**", True),
    "quoted": (lambda x, _: f'"{x}"', True),
    "Answer:": (lambda x, _: f"Answer: {x}", True),
    "ANSWER: last": (lambda x, _: f"The question has 3 parts, and I look at each.\n\nANSWER: {x}", True),
    "boxed": (lambda x, _: rf"\boxed{{{x}}}", True),
    "the answer is": (lambda x, _: f"The answer is {x}.", True),
    "bold Answer, aside": (lambda x, _: f"**Answer: {x}** (see step 3)", True),
    "steps, therefore": (
        lambda x, _: f"1. I read it.\n2. I think for 5 minutes.\n\nTherefore, the answer is **{x}**.",
        True,
    ),
    "thoughts": (lambda x, w: f"<think>Perhaps {w}?</think>{x}", True),
    "final, 100 % sure": (lambda x, _: f"Final answer: {x}\n\nI am 100% sure.", True),
    "here it is": (lambda x, _: f"Sure! Here is the answer:\n\n{x}", True),
    "JSON": (lambda x, _: json.dumps({"answer": x}, ensure_ascii=False), True),
    "wrong bare": (lambda _, w: w, False),
    "wrong stated": (lambda _, w: f"The answer is {w}.", False),
    "does not know": (lambda _x, _w: "I do not know.", False),
    "denied": (lambda x, _: f"It is not {x}.", False),
    "wrong, not right": (lambda x, w: f"ANSWER: {w} (not {x})", False),
    "taken back": (lambda x, w: f"The answer is {x}. Wait, no: the answer is {w}.", False),
}


def jsonl(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def table(rows: list[dict[str, Any]], mark: str = ",") -> bytes:
    held = io.StringIO()
    lines = csv.DictWriter(held, list(rows[0]), delimiter=mark)
    lines.writeheader()
    lines.writerows(rows)
    return held.getvalue().encode()


File = tuple[str, bytes, str, str]
"""Its name and content, what a right reply says, and what a wrong one says."""


def of_pair(question: str, x: str, w: str) -> Iterator[tuple[str, File]]:
    """Kind and file, for a question with an open answer."""
    row = {"question": question, "answer": x}
    talk = [{"role": "user", "content": question}]
    yield "jsonl", ("a.jsonl", jsonl(row), x, w)
    yield "json", ("a.json", json.dumps([row]).encode(), x, w)
    yield "csv", ("a.csv", table([row]), x, w)
    yield "csv with ;", ("a.csv", table([row], ";"), x, w)
    yield "tsv", ("a.tsv", table([row], "\t"), x, w)
    yield "other names", ("a.jsonl", jsonl({"prompt": question, "target": x, "id": "q-1"}), x, w)
    yield "messages, answer", ("a.jsonl", jsonl({"messages": talk, "answer": x}), x, w)
    yield "messages alone", ("a.jsonl", jsonl({"messages": [*talk, {"role": "assistant", "content": x}]}), x, w)
    yield "list of answers", ("a.jsonl", jsonl({**row, "answer": [x, f"{x} exactly"]}), x, w)
    yield "aliases", ("a.jsonl", jsonl({**row, "answer": f"{x} exactly", "aliases": [x], "match": "text"}), x, w)
    yield "wrong named", ("a.jsonl", jsonl({**row, "incorrect_answers": [w]}), x, w)
    yield "context", ("a.jsonl", jsonl({**row, "context": "Read 12 lines first."}), x, w)
    solved = {"problem": question, "solution": rf"We think. So it is \boxed{{{x}}}."}
    yield "boxed solution", ("a.jsonl", jsonl(solved), x, w)


def with_options(place: int) -> Iterator[tuple[str, File]]:
    """The same for a question with options, of which one is right."""
    x, w, right = "ABCD"[place], "ABCD"[place - 1], OPTIONS[place]
    asked = {"question": "Which one is it?"}
    listed = dict(zip("ABCD", OPTIONS, strict=True))
    inside = {
        "question": "Which one?\n" + "\n".join(f"{letter}) {text}" for letter, text in listed.items()),
        "answer": x,
    }
    yield "options, letter", ("a.jsonl", jsonl({**asked, "choices": OPTIONS, "answer": x}), x, w)
    yield "options, text", ("a.jsonl", jsonl({**asked, "options": OPTIONS, "answer": right}), x, w)
    yield "options as columns", ("a.csv", table([{**asked, **listed, "answer": x}]), x, w)
    yield "options inside", ("a.jsonl", jsonl(inside), x, w)
    positions = jsonl(*({**asked, "choices": OPTIONS, "answer": each} for each in (place, 0)))
    yield "positions from 0", ("a.jsonl", positions, x, w)


def files() -> Iterator[tuple[str, File]]:
    for kind, pairs in (("number", NUMBERS), ("text", TEXTS)):
        for pair in pairs:
            yield from ((f"{kind}: {shape}", file) for shape, file in of_pair(*pair))
    for place in range(4):
        yield from ((f"option: {shape}", file) for shape, file in with_options(place))


def prepared(name: str, data: bytes) -> PreparedDataset:
    task = own_questions.from_file(name, data)
    return preparation.build(task, parse(name, data, task.fields), [], None)


def main() -> int:
    """Prints the table; returns how many verdicts are not as people mean them."""
    wrong: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    counts: dict[str, int] = defaultdict(int)
    told = []
    for kind, (name, data, x, w) in files():
        counts[kind] += 1
        paper = prepared(name, data)
        problem = paper.problems[0]
        for style, (reply, is_right) in STYLES.items():
            text = reply(x, w)
            verdict = judge(
                problem, [Attempt(problem=problem.id, index=0, text=text)], paper.task.pipelines[0]
            ).verdicts[0]
            if (verdict.why == "right") != is_right:
                wrong[kind][style] += 1
                told.append(f"{kind}, {style}: {text!r} is {verdict.why}; {x!r} is right")
    width = max(map(len, counts))
    print("\n".join(f"{letter} {style}" for letter, style in zip("abcdefghijklmnopqrstuvwxyz", STYLES, strict=False)))
    print(f"{'':{width}}  files  {'  '.join('abcdefghijklmnopqrst'[: len(STYLES)])}")
    for kind, count in counts.items():
        print(f"{kind:{width}}  {count:5}  {'  '.join(str(wrong[kind][style] or '.') for style in STYLES)}")
    print(
        f"{sum(counts.values())} files, {sum(counts.values()) * len(STYLES):,} replies, {len(told)} not judged as meant"
    )
    print("\n".join(told))
    return len(told)


if __name__ == "__main__":
    sys.exit(bool(main()))
