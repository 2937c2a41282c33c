"""How the memory lies that every process of a job begins with."""

import subprocess
import sys

import pytest

NEW_OBJECTS = """
from model_accuracy_eval.sandbox.inside import warm_memory
make = {make}
many = [make(number) for number in range(1000, 3000)]
del many[::40]
{settle}
new = [make(number) for number in range(9000, 9025)]
print(len({{id(one) >> 12 for one in new}}))
"""
"""Fifty objects are gone from among many; prints in how many pages of memory the next 25 are."""

OF_SIZE = {
    32: "lambda number: number",
    112: "lambda _: bytes(79)",
    512: "lambda _: bytes(479)",
}


def pages(size: int, settle: str) -> int:
    script = NEW_OBJECTS.format(make=OF_SIZE[size], settle=settle)
    return int(subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout)


@pytest.mark.parametrize("size", OF_SIZE)
def test_new_objects_are_in_pages_of_their_own_and_not_in_holes(size: int) -> None:
    assert pages(size, "warm_memory.settle()") <= 25 * size // 4096 + 3 < pages(size, "")
