"""All programs by their names: honest, wrong, and hostile to their tests, their worker or their neighbours."""

from tests.integration.sandbox.programs.forging import FORGING
from tests.integration.sandbox.programs.forging_answers import FORGING_ANSWERS, FORGING_OBJECTS
from tests.integration.sandbox.programs.forging_tests import FORGING_TESTS
from tests.integration.sandbox.programs.honest import HONEST
from tests.integration.sandbox.programs.honest_awkward import HONEST_AWKWARD
from tests.integration.sandbox.programs.honest_classes import BROKEN_CLASSES, HONEST_CLASSES
from tests.integration.sandbox.programs.honest_python import HONEST_PYTHON
from tests.integration.sandbox.programs.honest_tools import HONEST_TOOLS
from tests.integration.sandbox.programs.honest_use import HONEST_USE
from tests.integration.sandbox.programs.hostile_kernel import HOSTILE_KERNEL
from tests.integration.sandbox.programs.hostile_neighbour import HOSTILE_NEIGHBOUR
from tests.integration.sandbox.programs.hostile_talk import FORGING_TALK, HOSTILE_TALK
from tests.integration.sandbox.programs.hostile_worker import HOSTILE_WORKER
from tests.integration.sandbox.programs.reaching import REACHING
from tests.integration.sandbox.programs.sample import Sample
from tests.integration.sandbox.programs.wrong import WRONG

THEMES = {
    "honest": {**HONEST, **HONEST_PYTHON, **HONEST_USE, **HONEST_TOOLS, **HONEST_AWKWARD, **HONEST_CLASSES},
    "wrong": {**WRONG, **BROKEN_CLASSES},
    "forging": FORGING,
    "hostile_worker": HOSTILE_WORKER,
    "hostile_neighbour": HOSTILE_NEIGHBOUR,
    "hostile_talk": {**FORGING_TALK, **HOSTILE_TALK},
    "reaching": REACHING,
    "forging_answers": FORGING_ANSWERS,
    "forging_objects": FORGING_OBJECTS,
    "forging_tests": FORGING_TESTS,
    "hostile_kernel": HOSTILE_KERNEL,
}
CATALOGUE: dict[str, Sample] = {
    f"{theme}: {name}": sample for theme, samples in THEMES.items() for name, sample in samples.items()
}
