"""The page of faults that `diagnose` was tried with, from the table that its test runs."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "example-adapter"))
from tests.servers.broken_adapter import FAULTS

from model_accuracy_eval.diagnosis.probes import PROBES

_ABOUT = """\
`diagnose` was tried with the [example adapter](../../example-adapter/README.md), a real network, and one fault of an
inference engine at a time. A test holds this table true, and that the healthy adapter passes. *Seen by*: the probe that
is there for it; others may fail, too. What agrees with itself takes a
[reference](../how-to/diagnose.md#beside-a-trusted-service).

Twelve faults were thought up by somebody who had not seen the probes. Of the ten of them that a client could meet, the
probes of then saw four; all are rows of this table now. So a fault of a new class may well be missed: `PASS` says what
was looked at, and nothing else. False alarms: none in 25 runs on the healthy adapter and 20 on vLLM 0.32 for CPUs."""
_NOT = "none, as it agrees with itself"


def page(note: str) -> str:
    probes = [f"| `{probe.name}` | {probe.about} |" for probe in PROBES]
    faults = [f"| {name} | {f'`{probe}`' if probe else _NOT} |" for name, (_, probe) in FAULTS.items()]
    parts = [
        "# What diagnose sees",
        note,
        _ABOUT,
        "\n".join(["| probe | looks whether |", "|---|---|", *probes]),
        "\n".join(["| fault of the server | seen by |", "|---|---|", *faults]),
    ]
    return "\n\n".join(parts) + "\n"
