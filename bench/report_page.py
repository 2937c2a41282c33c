"""The report page of a large run: how long it takes to make, its size and memory, and how soon a browser shows it.

The replies are random words, which compress worse than what models say. Needs Chromium.
"""

import argparse
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser import Tab, find_chromium, opened  # noqa: E402
from tests.unit.report.test_page import dataset_result, problem_result, report  # noqa: E402
from tests.unit.report.test_page_replies import answer  # noqa: E402

from model_accuracy_eval.records import Usage, VerdictReason  # noqa: E402
from model_accuracy_eval.report import page, page_replies  # noqa: E402

SAMPLES = 5
WORDS = (ROOT / "README.md").read_text().split()
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
STATUS = "document.querySelector('#explorer [role=status]').textContent"


def written(file: Path, problems: int) -> None:
    """A journal of random replies of some sixty words."""
    chance = random.Random(1)
    with file.open("wb") as journal:
        for number in range(problems):
            for index in range(SAMPLES):
                text = " ".join(chance.choices(WORDS, k=60))
                usage = Usage(prompt_tokens=60, completion_tokens=80)
                request = f"{number}-{index}"
                journal.write(answer(number, index, f"{text} {number}.{index}.", usage=usage, request=request))


def kinds() -> Iterator[tuple[VerdictReason, ...]]:
    right: tuple[VerdictReason, ...] = ("right",)
    wrong: tuple[VerdictReason, ...] = ("wrong",)
    while True:
        yield right * SAMPLES
        yield wrong + right * (SAMPLES - 1)


def memory() -> int:
    """The most that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def browse(tab: Tab, folder: Path, problems: int) -> None:
    tab.open((folder / "report.html").as_uri())
    tab.wait("!document.getElementById('explorer').hidden")
    print(f"first paint                 {tab.get(PAINTED):8.0f} ms")
    began = time.monotonic()
    tab.click("#explorer tbody a")
    tab.wait("document.querySelector('dialog')?.open")
    print(f"a problem opened            {1000 * (time.monotonic() - began):8.0f} ms")
    tab.press("Escape")
    tab.get("document.querySelector('#explorer input').focus()")
    began = time.monotonic()
    tab.write(f" {problems - 1}.4.")
    tab.wait(f"/ found$/.test({STATUS})", 120)
    print(f"all texts searched          {1000 * (time.monotonic() - began):8.0f} ms: {tab.get(STATUS)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=20_000)
    problems = parser.parse_args().problems
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        written(folder / "journal.jsonl", problems)
        results = tuple(problem_result(number, why) for number, why in zip(range(problems), kinds(), strict=False))
        whole = report(dataset_result(results))
        print(f"{problems:,} problems of {SAMPLES} samples, a journal of {size(folder / 'journal.jsonl')}")
        before, began = memory(), time.process_time()
        with (folder / "journal.jsonl").open("rb") as lines:
            packed = {"sums": page_replies.pack(whole.dataset_results[0], lines, [], [])}
        (folder / page.PAGE).write_bytes(page.as_html(whole, {}, packed))
        parts = page.replies_page(whole, {}, packed)
        print(
            f"made in (processor)         {time.process_time() - began:8.1f} s, with {memory() - before} MB more memory"
        )
        print(f"{page.PAGE}                 {size(folder / page.PAGE):>8}")
        if parts is not None:
            with (folder / page.REPLIES_PAGE).open("wb") as file:
                file.write(parts)
            print(f"{page.REPLIES_PAGE}                {size(folder / page.REPLIES_PAGE):>8}")
        with opened(find_chromium(), folder) as tab:
            browse(tab, folder, problems)


def size(file: Path) -> str:
    return f"{file.stat().st_size / 1e6:.1f} MB"


if __name__ == "__main__":
    main()
