"""`predictions/<label>/<dataset>.json`: the documented view of the journal, sorted by problem and sample."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

_WEIGHT = ("logprob", "tokens", "greedy")
_decode = msgspec.json.Decoder().decode


def as_json(lines: Iterable[bytes], n: int) -> Iterator[bytes]:
    """`{"0": {"origin_prompt", "prediction", "gold"}, …}`; for n > 1 a list, with null for what is missing.

    Where options were weighed, the prediction is the likeliest, and `weighed` has an entry for each.
    """
    problems: dict[int, dict[str, Any]] = {}
    for line in lines:
        sample = _decode(line)
        entry = problems.setdefault(
            sample["id"],
            {"origin_prompt": sample["origin_prompt"], "prediction": [None] * n, "gold": sample["gold"]},
        )
        entry["prediction"][sample["index"]] = sample["prediction"]
        if sample.get("weighed"):
            entry["weighed"] = [one and dict(zip(_WEIGHT, one, strict=True)) for one in sample["weighed"]]
    yield b"{"
    for place, (number, entry) in enumerate(sorted(problems.items())):
        if n == 1:
            entry["prediction"] = entry["prediction"][0]
        body = msgspec.json.format(msgspec.json.encode(entry), indent=4).replace(b"\n", b"\n    ")
        yield b'%s\n    "%d": %s' % (b"," if place else b"", number, body)
    yield b"\n}\n"
