"""MultiPL-E for real: a made-up task in its columns, in each language, asked both ways, compiled and run.

Go, Java, Perl and Rust need the image of docker/humaneval_x; `make references` runs these where it is.
"""

import json
import re
import shutil
from pathlib import Path

import pytest
from tests.e2e import command
from tests.multipl_e_rows import ROWS
from tests.real_data import filled
from tests.sandboxed import EVERY, lacks, run_all
from tests.servers.fault_server import FaultServer

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.records import Attempt
from model_accuracy_eval.records.code import Execution, Program
from model_accuracy_eval.scoring.figures.scorecard import Scorecard

IMAGE = "mae-humaneval-x"
TOOLS = {"cpp": "c++", "js": "node", "sh": "bash"}
"""What may be on any machine."""


def judged(short: str, kind: str, image: str | None = None) -> dict[str, Execution]:
    """What comes of right and wrong replies to a chat, as a block, as a body and in another class, and of a text that
    goes on with the prompt."""
    translated = ROWS[short]
    right = {
        "chat": f"Here it is:\n```{short}\n{translated.whole}```\nIt counts.",
        "body": f"```\n{translated.body}\n```",
        "base": translated.body,
    }
    right["whole prompt"] = f"```\n{translated.prompt}{closed(short)}\n```"
    wrong = {f"wrong {name}": re.sub(r"(2\)?) == 0", r"\1 == 3", text) for name, text in right.items()}
    replies = {**right, **wrong}
    programs = {name: program(short, text, base=name.endswith("base")) for name, text in replies.items()}
    return dict(zip(programs, run_all(kind, programs.values(), image), strict=True))


def closed(short: str) -> str:
    """The body to its own end."""
    translated = ROWS[short]
    ends = [place for stop in translated.stop if (place := translated.body.find(stop)) >= 0]
    body = translated.body[: min(ends)]
    return {"java": f"{body}\n    }}\n}}", "cpp": f"{body}\n}}", "rs": f"{body}\n}}", "sh": f"{body}\n}}"}.get(
        short, body
    )


def program(short: str, text: str, *, base: bool) -> Program:
    card = Scorecard(find(f"multipl_e_humaneval_{short}{'_base' if base else ''}"), 1, (1,))
    (ask,) = card.asks(ROWS[short].problem(), [Attempt(problem=0, index=0, text=text)])
    assert isinstance(ask, Program)
    return ask


def assert_told_apart(found: dict[str, Execution]) -> None:
    told = {name: (one.verdict, one.detail, one.output) for name, one in found.items()}
    assert {name: one for name, one in told.items() if (one[0] == "passed") == name.startswith("wrong")} == {}
    assert {one.verdict for name, one in found.items() if name.startswith("wrong")} <= {"failed", "crashed"}, told


@pytest.mark.parametrize("short", TOOLS)
def test_replies_are_judged_here(short: str) -> None:
    """With the tools of this machine."""
    if shutil.which(TOOLS[short], path="/usr/local/bin:/usr/bin:/bin") is None:
        pytest.skip(f"there is no {TOOLS[short]}")
    assert_told_apart(judged(short, "none"))


@pytest.mark.skipif(not EVERY or lacks(IMAGE) is not None, reason=f"`make references` runs this where there is {IMAGE}")
@pytest.mark.parametrize("short", ROWS)
def test_replies_are_judged_in_the_image(short: str) -> None:
    """Every language with what its tests use."""
    assert_told_apart(judged(short, "docker", IMAGE))


def test_a_program_is_what_its_authors_would_run() -> None:
    """Prompt, completion up to the first end, and tests: the same text but for blanks around the brace."""
    for short, translated in ROWS.items():
        made = program(short, translated.body, base=True)
        ends = min(place for stop in translated.stop if (place := translated.body.find(stop)) >= 0)
        theirs = f"{translated.prompt}{translated.body[:ends]}\n{translated.tests}"
        assert "".join(f"{made.code}\n{made.tests}".split()) == "".join(theirs.split())


def test_a_run_over_http(tmp_path: Path) -> None:
    """From the question to the figure."""
    translated = ROWS["sh"]
    (tmp_path / "multipl_e").mkdir()
    file = tmp_path / "multipl_e/humaneval-sh.jsonl"
    file.write_text(json.dumps(translated.row()) + "\n", encoding="utf-8")
    filled(file, find("multipl_e_humaneval_sh"))
    with FaultServer(lambda _: f"```bash\n{translated.whole}```") as server:
        done = command.run(
            "run", "--endpoint", server.url, "--datasets", "multipl_e_humaneval_sh", "--data-dir", tmp_path,
            "--out", tmp_path / "out", "-n", 1, "--sandbox", "none", "--first", 1,
        )  # fmt: skip
    assert done.code == 0, done.err
    results = command.only_run(tmp_path / "out") / f"results/{command.LABEL}"
    (found,) = (path for path in results.iterdir() if path.suffix == ".json")
    assert json.loads(found.read_bytes())["accuracy"] == 100.0
