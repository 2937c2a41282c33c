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

Two lists of faults came from somebody who had not seen the probes. Of the first, ten could be met by a client, and the
probes of then saw four; all are rows of this table now. Of the second, **4 of 15 were seen, and none had its cause
fully named**: probes vary one thing at a time, so faults of top_p beside a temperature, greedy requests beside sampled
ones, a list of stop strings or usage of several choices stay unseen. `PASS` says what was looked at, and nothing else.
False alarms: none in 35 runs on the healthy adapter and 20 on vLLM 0.32 for CPUs."""
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
