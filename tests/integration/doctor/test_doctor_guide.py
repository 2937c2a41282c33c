"""The guide's example, against the example adapter as it is."""

import re
from pathlib import Path

from tests.example_adapter.client import start, stop
from tests.integration.doctor.test_doctor import look, states

GUIDE = Path(__file__).parents[3] / "docs" / "how-to" / "doctor.md"


def test_the_guide_shows_what_is_printed() -> None:
    """Line by line, but for the speed, for where the weights lie, and for tenths of seconds."""
    process = start("weights", "--port", "0")
    try:
        assert process.stdout is not None
        code, output = look("--endpoint", process.stdout.readline().split()[-1])
    finally:
        stop(process)
    block = re.search(r"doctor --endpoint \S+\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert block is not None
    assert code == 0
    changing = ("model", "speed")
    told, shown = (
        [re.sub(r"\d\.\d s\b", "0.0 s", line) for line in text.splitlines() if line[6:].split()[0] not in changing]
        for text in (output, block[1])
    )
    assert told == shown
    assert states(output) == states(block[1])
