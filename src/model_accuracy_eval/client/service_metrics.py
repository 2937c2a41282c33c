"""What a service counts of itself while a probe asks it, as far as it tells: evidence beside the finding."""

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

_LINE = re.compile(r"(?P<name>[\w:]+)(?:\{.*\})?\s+(?P<value>\S+)")
_RUNNING = ("vllm:num_requests_running", "sglang:num_running_reqs", "llamacpp:requests_processing")
_PREEMPTED = ("vllm:num_preemptions_total", "sglang:num_retracted_requests_total")
_CACHED = (
    ("vllm:prefix_cache_hits_total", "vllm:prefix_cache_queries_total"),
    ("vllm:gpu_prefix_cache_hits_total", "vllm:gpu_prefix_cache_queries_total"),
    ("sglang:cached_tokens_total", "sglang:prompt_tokens_total"),
)
_ACCEPTED = (
    ("vllm:spec_decode_num_accepted_tokens_total", "vllm:spec_decode_num_draft_tokens_total"),
    ("llamacpp:spec_decode_num_accepted_tokens_total", "llamacpp:spec_decode_num_draft_tokens_total"),
)
"""The names that engines have for the same, in their texts for Prometheus."""


def read(text: str) -> dict[str, float]:
    """Name → value, the sum over all labels."""
    found: dict[str, float] = {}
    for line in text.splitlines():
        if not line.startswith("#") and (match := _LINE.match(line)):
            try:
                value = float(match["value"])
            except ValueError:
                continue
            if math.isfinite(value):
                found[match["name"]] = found.get(match["name"], 0.0) + value
    return found


class Metered(NamedTuple):
    """What was read before, and since then."""

    before: Mapping[str, float]
    after: Mapping[str, float]
    running: float = 0.0
    """The most that were served at once, of all times at which it was read."""

    @property
    def shown(self) -> str:
        """Such as: 812 of 1,234 prompt tokens from its cache, 3 requests preempted. Empty: it tells nothing."""
        told = [f"up to {self.running:,.0f} requests at once"] if self.running > 1 else []
        for words, pairs in (("prompt tokens from its cache", _CACHED), ("drafted tokens accepted", _ACCEPTED)):
            counted = [(self._since(part), self._since(whole)) for part, whole in pairs]
            told += [f"{part:,.0f} of {whole:,.0f} {words}" for part, whole in counted if whole][:1]
        preempted = sum(self._since(name) for name in _PREEMPTED)
        return ", ".join(told + [f"{preempted:,.0f} preemptions"] * (preempted > 0))

    def since_then(self, after: Mapping[str, float]) -> "Metered":
        """Also at a further time."""
        now = max((after.get(name, 0.0) for name in _RUNNING), default=0.0)
        return Metered(self.before, after, max(self.running, now))

    def _since(self, name: str) -> float:
        return max(0.0, self.after.get(name, 0.0) - self.before.get(name, 0.0))
