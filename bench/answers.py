"""The reader of answers, and the search for what is odd in them, beside lm-eval's pattern for the last number."""

import re
import time
from statistics import median

from measure import Line, report
from model_accuracy_eval.diagnosis import anomalies
from model_accuracy_eval.diagnosis.anomalies import SeenReply
from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.filters.filters import EXTRACTORS

TURNS = 5
REPEATS = 40
REASONING = "Then there are 3 boxes with 4 eggs each, so 3 * 4 = 12 eggs, and we take away those that broke. \n" * 16
"""With an ending about 400 tokens."""
STATED = (
    "The answer is {}.", "So the answer is ({}).", "ANSWER: {}", "**Final Answer:** {}", "#### {}", "Answer: **{}**",
    r"\boxed{{{}}}", r"Therefore $x = \boxed{{{}}}$.", "<answer>{}</answer>", "{}",
)  # fmt: skip
KINDS = {"choice_letter": "B", "number_answer": "12", "maths_answer": r"\frac{1}{2}"}
LAST_NUMBER = re.compile(r"(-?[$0-9.,]{2,})|(-?[0-9]+)")
PROBLEM = Problem(id=0, messages=(), references=("B",), choices=("Oslo", "Rome", "Paris", "Bonn"))


ODD = "anomalies"


def seconds(read: str | None) -> float:
    """CPU time for one reply, over all endings."""
    began = time.process_time()
    for _ in range(REPEATS):
        for ending in STATED:
            reply = REASONING + ending.format(KINDS.get(read or "", "12"))
            if read is None:
                LAST_NUMBER.findall(reply)
            elif read == ODD:
                anomalies.kinds(SeenReply(text=reply, finish_reason="stop", chunks=400, tokens=400, cap=512))
            else:
                EXTRACTORS[read](reply, PROBLEM)
    return (time.process_time() - began) / REPEATS / len(STATED)


def main() -> None:
    turns = [{name: seconds(name) for name in (None, *KINDS, ODD)} for _ in range(TURNS)]
    pattern = median(turn[None] for turn in turns)
    lines = []
    for name in (*KINDS, ODD):
        ours = median(turn[name] for turn in turns)
        ratio = median(turn[None] / turn[name] for turn in turns)
        costs = f"{ours * 1e6:.0f} µs", f"{pattern * 1e6:.0f} µs"
        lines.append(Line(name, *costs, f"{ratio:.1f}×", "≥ 1.5×", ratio >= 1.5))
    print(report(lines))


if __name__ == "__main__":
    main()
