"""A fork server on this machine, without a sandbox around it: what its processes wait for."""

import time
from pathlib import Path

import pytest

from model_accuracy_eval.records.code import Limits, Program
from model_accuracy_eval.sandbox.backends import UnconfinedBackend
from model_accuracy_eval.sandbox.inside.messages import ServerInfo, body_size, pack, unpack
from model_accuracy_eval.sandbox.program_judging import make_order
from model_accuracy_eval.sandbox.worker import WorkerSize, modules_message


def test_no_program_runs_and_none_is_judged_where_its_tests_do_not_start(tmp_path: Path) -> None:
    """Nobody has seen to it that they cannot be looked into. (These end their process because they are no text.)"""
    marker = tmp_path / "the program ran"
    connection = UnconfinedBackend().start(WorkerSize.of(Limits()))
    try:
        connection.send(modules_message() + pack(connection.settings))
        deadline = time.monotonic() + 60
        unpack(ServerInfo, connection.receive(body_size(connection.receive(4, deadline)), deadline))
        tests, code = b"\xff", f"open({str(marker)!r}, 'w')".encode()
        order = make_order("split", Program(code="", tests=""))._replace(tests_size=len(tests), code_size=len(code))
        connection.send(pack(order) + tests + code)
        with pytest.raises((EOFError, ConnectionError)):
            connection.receive(4, deadline)
        assert "the tests' process did not start" in connection.stderr()
    finally:
        connection.kill()
    assert not marker.exists()
