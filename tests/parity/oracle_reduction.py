"""Runs in an environment that has lm-eval 0.5: its own pass@k. JSON in: [[values, k or null], …]; out: what it makes of each."""

# mypy: ignore-errors

import json
import sys

from lm_eval.api.registry import get_reduction

reduce = get_reduction("pass@k")
json.dump([reduce(None, values, k=k) for values, k in json.load(sys.stdin)], sys.stdout)
