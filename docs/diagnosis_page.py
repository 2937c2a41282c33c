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
probes of then saw four. Of the second, 4 of 15 were seen, and none had its cause fully named: those probes varied one
thing at a time. Now they cross what may meet (samplers, forms, choices, stop strings, company, history), and take
back what does not matter until the cause is left. All of both lists are rows of this table, which is no proof for a
third one. Of ten faults that the probes' own author invented after them, in other places, **8 were seen, 6 with their
whole cause named**; a cache that takes one block too many of another prompt, and log-probabilities told behind top_p,
were not. `PASS` says what was looked at, and nothing else."""
_ALARMS = """\
## False alarms

Whole diagnoses of servers that are right, with the example adapter's weights:

| server | runs | found | could not look |
|---|---|---|---|
| the example adapter's own | 48 | nothing | `lengths` |
| vLLM 0.32 for CPUs, eager | 10, two in bfloat16 | nothing | `lengths` |
| llama.cpp, neutral samplers, no cache | 10 | `forms`: usage counts the first choice alone | `decoding`, `lengths` |

`lengths` asks for a word to be repeated, which this model cannot. That there was no alarm rules out, with 95 %
confidence, more than 7 in 100 runs of the adapter's own server, and more than 26 in 100 of each engine, for any probe
that could look and for all together; it does not show that fewer than 1 in 100 are false. `diagnose` draws with the
same seeds each time, so the runs of the adapter's own server drew alike; each run of an engine had seeds of its own.
`forms` and `cache` have learnt more since most of these runs. llama.cpp with its defaults fails `samplers` (a `min_p`
of its own) and `lasting` (answers from a spoilt cache after streams of several choices): faults of its own."""
_NOT = "none, as it agrees with itself"


def page(note: str) -> str:
    probes = [f"| `{probe.name}` | {probe.about} |" for probe in PROBES]
    faults = [f"| {name} | {f'`{probe}`' if probe else _NOT} |" for name, (_, probe) in FAULTS.items()]
    parts = [
        "# What diagnose sees",
        note,
        _ABOUT,
        _ALARMS,
        "\n".join(["| probe | looks whether |", "|---|---|", *probes]),
        "\n".join(["| fault of the server | seen by |", "|---|---|", *faults]),
    ]
    return "\n\n".join(parts) + "\n"
