"""A coroutine that runs beside a notebook's own event loop, and Ctrl-C in the notebook."""

import asyncio
import threading

import pytest

from model_accuracy_eval.system import clock


def test_ctrl_c_while_the_thread_starts_ends_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may come before anybody waits for the result; the work must not go on for nobody."""
    begin = threading.Thread.start

    def start(thread: threading.Thread) -> None:
        begin(thread)
        raise KeyboardInterrupt

    async def work() -> None:
        await asyncio.Event().wait()

    async def cell() -> None:
        with pytest.raises(KeyboardInterrupt):
            clock.run(work())

    monkeypatch.setattr(threading.Thread, "start", start)
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(cell())
    finally:
        loop.close()
    assert "event loop" not in [thread.name for thread in threading.enumerate()]
