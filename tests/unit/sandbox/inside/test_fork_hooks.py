"""What modules want called at forks: not at the server's, but at those of programs."""

import subprocess
import sys

SCRIPT = """
import os
from model_accuracy_eval.sandbox.inside import fork_hooks

fork_hooks.keep()
import random  # which draws a new seed in each child

foreign = []
os.register_at_fork(before=lambda: foreign.append("called"))  # as a library may


def seed_in_child():
    reader, writer = os.pipe()
    if not os.fork():
        os.write(writer, str(random.random()).encode())
        os._exit(0)
    os.wait()
    return os.read(reader, 100).decode()


random.seed(0)
print(seed_in_child() == seed_in_child(), len(foreign))
fork_hooks.hand_over()
print(seed_in_child() == seed_in_child(), len(foreign))
"""


def test_the_hooks_of_the_standard_library_wait_until_they_are_handed_over() -> None:
    done = subprocess.run([sys.executable, "-I", "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "2", "False", "4"]
