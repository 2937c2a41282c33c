"""What needs more than Python: libraries and compilers. Without them a run is refused with their names."""

import shutil

import pytest
from tests.e2e.test_code_references import DATA, exam_of
from tests.fake_ports import fake_ports
from tests.sandboxed import run_all

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.records import Attempt, ClientLimits, RunPlan, Sampling
from model_accuracy_eval.records.code import Program
from model_accuracy_eval.run.shared_sandbox import check_sandbox
from model_accuracy_eval.sandbox.backends import open_sandbox
from model_accuracy_eval.scoring.figures.scorecard import Scorecard

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="benchmark files are not in ../shared/data")


def programs(name: str, limit: int, *, wrong: bool = False) -> list[Program]:
    """The reference solutions as replies; wrong ones come from other problems."""
    ready = exam_of(name, limit)
    card = Scorecard(ready.task, 1, (1,))
    texts = [problem.references[0] for problem in ready.problems]
    texts = texts[1:] + texts[:1] if wrong else texts
    return [
        ask
        for problem, text in zip(ready.problems, texts, strict=True)
        for ask in card.asks(problem, [Attempt(problem=problem.id, index=0, text=f"```\n{text}\n```")])
        if isinstance(ask, Program)
    ]


def test_bigcodebench_without_its_libraries_is_refused_with_their_names(sandbox: str) -> None:
    """Before anything is asked: a model is not to blame for an image that lacks pandas."""
    prepared = exam_of("bigcodebench", None)
    plan = RunPlan(
        run_id="0" * 32, stamp="s", tasks=(prepared.task,), sampling=Sampling(), client_limits=ClientLimits()
    )
    with pytest.raises(Refused, match=r"cannot judge bigcodebench.*lacks .*folium.*--sandbox-image"):
        check_sandbox(plan, [prepared], fake_ports(open_sandbox=lambda: open_sandbox(sandbox, {})))


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_humaneval_x_in_javascript() -> None:
    """Failed assertions of its tests are only printed by node, and count all the same."""
    right, wrong = programs("humaneval_x_js", 12), programs("humaneval_x_js", 12, wrong=True)
    found = run_all("none", right + wrong)
    assert [one.passed for one in found[:12]] == [True] * 12, [one.detail for one in found[:12]]
    assert not any(one.passed for one in found[12:])
    assert {one.integrity for one in found} == {"exit code"}


@pytest.mark.skipif(shutil.which("c++") is None or shutil.which("javac") is None, reason="there is no compiler")
@pytest.mark.parametrize("name", ["humaneval_x_cpp", "humaneval_x_java"])
def test_humaneval_x_with_compilers(name: str) -> None:
    """C++ and Java: reference solutions compile and pass, those of other problems do not."""
    right, wrong = programs(name, 4), programs(name, 4, wrong=True)
    found = run_all("none", right + wrong)
    assert [one.passed for one in found[:4]] == [True] * 4, [one.detail for one in found[:4]]
    assert not any(one.passed for one in found[4:])
