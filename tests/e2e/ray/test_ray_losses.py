"""A run loses its Ray cluster, or meets another run there."""

import re
import shlex
from pathlib import Path

from tests.e2e import command
from tests.e2e.ray.ray_nodes import RayNodes
from tests.e2e.ray.ray_runs import JSON, answers, asked, figures, processes_of, run, start
from tests.waiting import until


def test_a_run_that_loses_the_head_says_so_and_goes_on(
    cluster: RayNodes, adapter: Path, questions: Path, expected: JSON, tmp_path: Path
) -> None:
    """Replicas that are there answer on for a while; then a report, one sentence, and the command to type."""
    out = tmp_path / "out"
    (adapter / "seconds").write_text("3")
    (tmp_path / "nodes").mkdir()
    with RayNodes(tmp_path / "nodes") as doomed:
        words = asked(adapter, questions, out, "--engine", "ray", "--resources", "NPU=2")
        process = start(*words, address=doomed.address)
        until(lambda: answers(out) > 20, "some are answered", 120)
        doomed.head.lose_control()
        done = command.finish(process, 120)
        assert done.code == 4, done.err + done.out
        port = doomed.address.rpartition(":")[2]
        assert re.search(rf"The Ray cluster is lost: its head node [\d.]+:{port} has not answered for 40 s", done.out)
        until(lambda: not processes_of(adapter), "the servers have ended", 60)
    (typed,) = re.findall(r"^Next: model-accuracy-eval (run .*--reuse .*)$", done.out, re.MULTILINE)
    folder = command.only_run(out)
    kept = command.journal(folder, "lengths")
    (adapter / "seconds").write_text("0")
    again = run(*shlex.split(typed), address=cluster.address)
    assert again.code == 0, again.err
    assert figures(folder) == expected
    assert kept.items() <= command.journal(folder, "lengths").items()
