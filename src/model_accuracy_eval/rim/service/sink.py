"""What a transport hands the bytes of an answer to, and the limits that go with it."""

from collections.abc import Callable

Sink = Callable[[bytes, float], int]
"""Takes body bytes and their time; answers WAITING, FLOWING or ENOUGH. What it raises ends the stream."""

WAITING = 0
"""Nothing of worth yet, such as a ping: the waiting goes on."""
FLOWING = 1
"""The answer grows: the idle limit starts anew."""
ENOUGH = 2
"""The answer is complete: what else the body holds is of no interest."""

KEPT = 64 * 1024
"""Bytes of an error body that are kept."""
MOMENT = 0.2
"""Seconds that a complete answer waits for its body to end, which makes the connection reusable."""
