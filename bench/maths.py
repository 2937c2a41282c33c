"""`math_equal` beside math-verify, on the table of pairs: the first verdict, and every one after it."""

import sys
from statistics import median

from measure import Line, report, run

PAIRS = """
from tests.maths_pairs import TOPICS
huge = ("9^{9^", "10^{10^", "7^{10^", "99999999!")  # what math-verify would compute for ever
pairs = [pair for topic in TOPICS for pair in (*topic.same, *topic.different)]
pairs = [pair for pair in pairs if not any(start in "".join(pair) for start in huge)]
"""
OURS = "from model_accuracy_eval.scoring.maths import equal"
THEIRS = """
import logging
from math_verify import parse, verify
logging.disable()
def equal(answer, right):
    answer, right = (text if "$" in text or "boxed" in text else f"${text}$" for text in (answer, right))
    return verify(parse(right, parsing_timeout=None), parse(answer, parsing_timeout=None), timeout_seconds=None)
"""
FIRST = "equal('x+1', '1+x')"
EACH = """
import time
began = time.process_time()
for right, answer in pairs * {times}: equal(answer, right)
print((time.process_time() - began) / len(pairs) / {times})
"""
TURNS = 3


def verdict(equal: str, times: int) -> float:
    """Seconds of CPU time for one pair."""
    return float(run([sys.executable, "-c", PAIRS + equal + EACH.format(times=times)]).output.split()[-1])


def main() -> None:
    first = [[run([sys.executable, "-c", f"{equal}\n{FIRST}"]) for equal in (OURS, THEIRS)] for _ in range(TURNS)]
    each = [(verdict(OURS, 10), verdict(THEIRS, 1)) for _ in range(TURNS)]
    ours, theirs = (median(costs[side].cpu for costs in first) for side in (0, 1))
    memory = [median(costs[side].rss_mb for costs in first) for side in (0, 1)]
    one, other = (median(turn[side] for turn in each) for side in (0, 1))
    ratio = median(turn[1] / turn[0] for turn in each)
    lines = [
        Line("start and first verdict: CPU", f"{ours:.2f} s", f"{theirs:.2f} s", f"{theirs / ours:.1f}×", "", None),
        Line("peak memory", f"{memory[0]:.0f} MB", f"{memory[1]:.0f} MB", f"{memory[1] / memory[0]:.1f}×", "", None),
        Line("a verdict: CPU", f"{one * 1e3:.2f} ms", f"{other * 1e3:.1f} ms", f"{ratio:.0f}×", "≥ 5×", ratio >= 5),
    ]
    print(report(lines))


if __name__ == "__main__":
    main()
