"""The memory of the fork server, as every process of a job begins with it.

A page that such a process writes to is copied for it. What it makes had better lie together, in pages that are new to
it, and not in the holes between what the server has made.
"""

import gc

_STEP, _LARGEST = 16, 512
_POOL, _POOL_HEAD = 1 << 14, 48
"""Python keeps small objects of one size, rounded up, in pools; the first of a pool lies behind the pool's head."""
_MOST = 4 * _POOL
"""Bytes for each size, where memory is laid out in another way."""

_BATCH = 16
_kept: list[object] = []


def settle() -> None:
    """Called once everything is loaded: no collection moves or visits it after that, and its holes are filled."""
    gc.collect()
    for size in range(_STEP, _LARGEST + 1, _STEP):
        _fill_pools(size)
    gc.freeze()


def _fill_pools(size: int) -> None:
    """Keeps objects of that size until they come from a new pool: then none of those in use has room."""
    for _ in range(_MOST // size // _BATCH):
        batch = [_object_of(size, number) for number in range(_BATCH)]
        _kept.append(batch)
        places = set(map(id, batch))
        if any(place % _POOL == _POOL_HEAD and place + size in places for place in places):
            return


def _object_of(size: int, number: int) -> object:
    """An object that takes that much memory, and that the collector does not look after."""
    if size == _STEP:
        return object()
    if size == 2 * _STEP:
        return _MOST + number  # a number that is not there yet
    return bytes(size - bytes.__basicsize__)
