"""What a verdict looks like on GitHub: comment, summary and check of whole runs, with and without a baseline."""

import hashlib

import pytest
from tests import golden_files
from tests.fake_ports import MemoryHub, MemoryStore, ScriptedAnswer
from tests.unit.report.comment_samples import LINKS
from tests.unit.run.test_pipeline import asked, evaluate, plan

from model_accuracy_eval.benchmarks import demo
from model_accuracy_eval.records import Identity, Report, Request
from model_accuracy_eval.report import comment

ROWS = b"".join(b'{"question": "What is %d + 1?", "answer": "#### %d"}\n' % (at, at + 1) for at in range(120))
GATES = {
    "passed": "demo_gsm8k: avg@5 >= 40\ndemo_gsm8k: pass@5 >= 70",
    "failed": "demo_gsm8k: avg@5 >= 70\ndemo_gsm8k: pass@5 >= 70",
    "undecided": "demo_gsm8k: avg@5 >= 53\ndemo_gsm8k: pass@5 >= 70",
    "passed early": "demo_gsm8k: avg@5 >= 30",
    "failed early": "demo_gsm8k: pass@5 >= 97",
    "passed on a baseline": "demo_gsm8k: avg@5 >= baseline - 15",
    "failed on a baseline": "demo_gsm8k: avg@5 >= baseline + 15",
    "undecided on a baseline": "demo_gsm8k: avg@5 >= baseline - 1",
    "failed early on a baseline": "demo_gsm8k: avg@5 >= baseline + 30",
}


def answers(seed: str) -> ScriptedAnswer:
    """A service that is right in half of all samples, in the same ones each time; every problem is as hard for all."""

    def answer(request: Request, choice: int) -> str:
        hard, luck = (
            hashlib.sha256(f"{word} {asked(request)}".encode()).digest()[0] for word in ("", f"{seed} {choice}")
        )
        return f"#### {asked(request) + 1 if (hard + luck) / 2 < 128 else 'unknown'}"

    return answer


def run(gate: str, seed: str, base: MemoryStore | None = None, *, early: bool = False) -> tuple[Report, MemoryStore]:
    hub = MemoryHub({demo.WORD_PROBLEMS.data.name: ROWS})
    the_plan = plan(gate=gate).with_settings(baseline="base" if base else None, stop_when_decided=early)
    return evaluate(the_plan, answers(seed), hub=hub, open_archive=lambda _: base)


ABOUT = Identity(repository="acme/adapter", commit="89abcdef0123", label="fake")


@pytest.mark.parametrize("name", GATES)
def test_a_verdict_looks_as_it_did(name: str) -> None:
    """Title and conclusion of the check, then the comment; the job summary is the same."""
    base = run("", "before")[1] if "baseline" in name else None
    report, _ = run(GATES[name], "now", base, early="early" in name)
    assert report.outcome.conclusion == name.split(maxsplit=1)[0]
    check = comment.as_check(report, identity=ABOUT, links=LINKS)
    shown = comment.as_comment(report, identity=ABOUT, links=LINKS)
    assert shown == check.summary == comment.as_summary(report, identity=ABOUT, links=LINKS)
    golden_files.check(f"verdicts/{name.replace(' ', '_')}.md", f"{check.conclusion}: {check.title}\n\n{shown}\n")


def test_no_two_verdicts_read_alike() -> None:
    """Conclusion, mark and gates differ wherever the verdict does."""
    texts = [(golden_files.FOLDER / f"verdicts/{name.replace(' ', '_')}.md").read_text() for name in GATES]
    assert len({text.partition("\n")[0] for text in texts}) == len(GATES)
    checks = {"passed": "success", "failed": "failure", "undecided": "action_required"}
    assert [text.partition(":")[0] for text in texts] == [checks[name.split(maxsplit=1)[0]] for name in GATES]
