"""Runs a coroutine on a chosen event loop and leaves nothing behind."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest
from tests.waiting import HANGING

T = TypeVar("T")

LOOPS = ("asyncio", "uvloop")


def run(coroutine: Coroutine[Any, Any, T], kind: str = "asyncio") -> T:
    if kind == "uvloop":
        loop: asyncio.AbstractEventLoop = pytest.importorskip("uvloop").new_event_loop()
    else:
        loop = asyncio.new_event_loop()
    try:
        asyncio.set_event_loop(loop)
        return loop.run_until_complete(asyncio.wait_for(coroutine, HANGING))
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        asyncio.set_event_loop(None)
        loop.close()
