"""One run, and what terminal, page, comment, check, run.json, history, compare and view say of it: the same sentence."""

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import command
from tests.servers.fault_server import FaultServer

from model_accuracy_eval.report import comment, markdown
from model_accuracy_eval.run_folder import kept_run
from model_accuracy_eval.run_folder.run_archive import open_archive


def adds(wrong: int, reply: str) -> Callable[[dict[str, Any]], list[str]]:
    """Whose first sums are wrong: they have this reply."""

    def answer(request: dict[str, Any]) -> list[str]:
        number = int(re.findall(r"\d+", request["messages"][-1]["content"])[0])
        return [reply.format(right=number + 1, wrong=number + 2) if number < wrong else f"ANSWER: {number + 1}"]

    return answer


NEAR = (
    r"sums: 24 of 24 replies judged wrong contain the right answer: ('Not \d+ but 777\.' \(row \d+; right: '\d+'\)(; )?)"
    r"{3}\. If they are right, judge what is kept again: model-accuracy-eval run --mode eval --reuse \S+ --match contains\. "
)


@pytest.mark.parametrize(("reply", "first"), [("I get {wrong}.", ""), ("Not {right} but 777.", NEAR)])
def test_every_surface_says_the_same_sentence(reply: str, first: str, tmp_path: Path) -> None:
    """With the figure and its limits, what has changed, and who has answered; what is to be looked at leads it. The
    comment has replies that are wrong."""
    (tmp_path / "sums.jsonl").write_text(
        "".join(json.dumps({"question": f"{number}+1?", "answer": number + 1}) + "\n" for number in range(40))
    )
    runs: list[Path] = []
    for wrong in (4, 24):
        baseline = ("--baseline", runs[0]) if runs else ()
        with FaultServer(adds(wrong, reply)) as server:
            printed = command.run(
                "run", "--endpoint", server.url, "--datasets", tmp_path / "sums.jsonl", "--out", tmp_path / "out",
                "-n", "1", "--model-name", "gpt-4", *baseline,
            )  # fmt: skip
        assert printed.code == 0, printed.err
        runs += [path.parent for path in tmp_path.glob("out/[0-9a-f]*/run.json") if path.parent not in runs]
    sentence = json.loads((runs[1] / "run.json").read_text())["sentence"]
    assert re.search(rf"^{first}sums: accuracy is 40.00 %, and [\d.]+ \.\. [\d.]+ if asked again \(95 %\)\. Against the run "
                     r"\w{8}: accuracy of sums fell by 50\.00 points \([\d.]+ \.\. [\d.]+, 95 %\), 20 problems have fewer right "
                     r"samples and 0 more\. Asked for the model 'gpt-4', 'm' answered\.", sentence), sentence  # fmt: skip
    report = kept_run.opened(open_archive(str(runs[1]))).report()
    body = comment.as_comment(report)
    listed = command.run("view", tmp_path / "out", "--no-browser").out.partition("file://")[2].strip()
    surfaces = {
        "terminal": printed.out,
        "page": html.unescape((runs[1] / "report.html").read_text()),
        "history": command.run("history", tmp_path / "out").out,
        "compare": command.run("compare", *runs).out,
        "view": html.unescape(Path(listed).read_text()),
    }
    assert [name for name, text in surfaces.items() if sentence not in text] == []
    assert markdown.text(sentence, 2000) in body
    assert comment.as_check(report).title.startswith(f"Complete, no gate: {sentence[:150]}")
    assert body.count("is right, and a reply is: ") == 3
    in_chinese = command.run("compare", *runs, MODEL_ACCURACY_EVAL_LANGUAGE="zh")
    assert (in_chinese.code, "40 题中，0 题的正确样本比之前多，20 题比之前少" in in_chinese.out) == (0, True), (
        in_chinese.out
    )
    refused = command.run("compare", *runs, MODEL_ACCURACY_EVAL_LANGUAGE="fr")
    assert (refused.code, "There is no language called 'fr'" in refused.err) == (2, True), refused.err
