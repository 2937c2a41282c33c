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
were not. `PASS` says what was looked at, and nothing else.

Beside a healthy replica, `diagnose` with both addresses says of each what it says of it alone. A run of 800 samples on
both showed 22 of 55 by itself, before or behind its questions: nine by name, the others as replicas that differ. It
blamed the healthy one for none. What no answer of that run depends on, such as a wrong usage, it did not show."""
_ALARMS = """\
## False alarms

Whole diagnoses of servers that are right:

| server | model | runs | found | could not look |
|---|---|---|---|---|
| the example adapter's own | its weights | 50 | nothing | `lengths` |
| vLLM 0.32 for CPUs, eager | the example adapter's | 49, two in bfloat16 | nothing | `lengths` |
| | random weights that write words | 2 | nothing | `lengths` |
| llama.cpp, neutral samplers, no cache | the example adapter's | 34 | `forms` | `decoding`, `lengths` |
| | random weights that write words | 11 | `forms` | `decoding`, `lengths` |
| | random weights that write bytes | 8 | nothing | nine, such as `samplers` |

What `forms` says of llama.cpp is right: its usage counts the first of two choices alone. `lengths` asks for a word to
be repeated, which these models cannot. No alarm in 51 runs of vLLM and 53 of llama.cpp rules out, with 95 %
confidence, more than 6 in 100 that are false; it does not show that fewer than 1 in 100 are. Each run of an engine had
seeds of its own. `structured` came after most of them: it looked in eight of these runs of llama.cpp.

The random weights found six false alarms that the example adapter's could not, in `surprise`, `cache`, `samplers` and
the check before a run: parts of characters that a service tells as one token, or not at all; a mark such as `<think>`
that replies show as a text; the drawn token told in the place of the last of the likeliest; a token that is a zero
byte. They are mended, with a test each, and the runs of such weights above came after. A model that never ends fails
`ends`, as random weights do on vLLM. llama.cpp with its defaults fails `samplers` (a `min_p` of its own) and
`lasting` (answers from a spoilt cache after streams of several choices): faults of its own."""
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
