"""Gates as users write them, such as `gsm8k: avg@5 >= 75`, read and matched with the figures that a run will have.

gsm8k: avg@5 >= 75 and cons@5 >= 70     both, with one dataset
*: drop <= 1 vs baseline                every dataset: its first figure may lose a point
gsm8k: pass@5 > baseline - 0.5          in points, as the figures are
mmlu: accuracy[college_physics] >= 40   one part of a dataset
scenario: reliability-first             the conditions of a table, for every dataset
anomalies <= 0.1%                       odd replies, in every dataset
speed: ttft_p95 <= 800ms                how fast the service was, over all datasets
speed: tokens_per_s >= baseline - 5%    in per cent of the baseline's figure
allow: samplers                         no gate: a finding about the service that does not refuse the run
"own: #1.jsonl": "f1,strict" >= 0.4%    names with characters of the language are quoted
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from msgspec.structs import replace

from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.records import Gate
from model_accuracy_eval.records.plan import SPEED, speed_unit

Unit = Literal["verdict share", "share", "number", "falling share", "falling number"]
"""Of a figure: per cent of right samples or problems, per cent of something else, or any number; of falling ones
less is better."""
Units = Mapping[str, Mapping[str, Unit]]
"""Dataset → the names of its figures, the headline first, and their units."""

EVERY_DATASET = "*"
ANY_PART = "[*]"
"""After the name of a figure that parts of the dataset have, too; their names are known when the data is."""
HEADLINE = "drop"
ANOMALIES = "anomalies"
"""The share of odd replies, which every dataset has; a line may say nothing else."""

SPEED_UNITS: Mapping[str, Unit] = {
    **{f"{name}_{percent}": "falling number" for name in ("ttft", "tpot", "e2e") for percent in ("p50", "p95")},
    "tokens_per_s": "number",
    "requests_per_s": "number",
}
"""Times in milliseconds: to the first token, between tokens, to the end of an answer."""

ALLOW = "allow"
FINDINGS = ("thinking", "samplers", "template", "replicas")
"""What is looked at before a run with gates, which a finding refuses."""

SCENARIOS = {
    "reliability-first": {"cons@k": 80, "pass@k": 90},
    "fault-tolerance-first": {"pass@k": 80, "avg@n": 70},
    "balanced": {"avg@n": 75},
}
"""AISBench's guide to metrics: what each figure has to be above, in per cent."""

_QUOTED = r"""(?:"[^"]+"|'[^']+')"""
_POINTS = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_DATASET = re.compile(rf"""\s*(?P<dataset>{_QUOTED}|[^:"'<>=]*?[^:"'<>=\s])\s*:\s*(?P<conditions>.*?)\s*""")
_CONDITION = re.compile(
    rf"""(?P<metric>{_QUOTED}|[^"'<>=]*?[^"'<>=\s])\s*(?P<comparison>>=|<=|==|>|<)\s*"""
    rf"(?:(?P<number>[+-]?{_POINTS})\s*(?P<unit>%|ms|s)?"
    rf"|baseline(?:\s*(?P<sign>[+-])\s*(?P<points>{_POINTS})\s*%?)?)"
)
_DROP = re.compile(
    rf"(?P<metric>{_QUOTED}|[^\"'<>=]*?)\s*\bdrop\s*(?P<comparison><=|<)\s*(?P<points>{_POINTS})\s*%?"
    r"(?:\s+vs\.?\s+baseline)?"
)
_COMMENT = re.compile(r"""((?:"[^"]*"|'[^']*'|[^"'#]|(?<!\s)#)*)(?:\s#.*)?""")
_AND = re.compile(r"""\s+and\s+(?=(?:[^"']|"[^"]*"|'[^']*')*$)""")
_PART = re.compile(r"(?P<figure>.+?)\[(?P<part>.+)\]")
_SIZED = re.compile(r"(pass|cons)@(\d+)")


def parse(text: str) -> tuple[Gate, ...]:
    """The gates of every line, with names as they are written; blank lines and comments after `#` are skipped."""
    return tuple(gate for line in text.splitlines() if (bare := _bare(line)) for gate in _gates(bare))


def allowed(lines: Iterable[str]) -> set[str]:
    """The findings about a service that refuse no run: those that lines with `allow:` name."""
    bare = [_DATASET.fullmatch(_bare(line)) for text in lines for line in text.splitlines()]
    return {name for match in bare if match and match["dataset"] == ALLOW for name in _findings(match["conditions"])}


def _findings(listed: str) -> list[str]:
    if not listed:
        raise BadValue(f"'{ALLOW}:' names no finding; known are {', '.join(FINDINGS)}.")
    names = re.split(r"[\s,]+", listed)
    for name in names:
        if name not in FINDINGS:
            raise UnknownName("finding", name, FINDINGS, where=f" in '{ALLOW}: {listed}'")
    return names


def _bare(line: str) -> str:
    if line.lstrip().startswith("#"):
        return ""
    match = _COMMENT.fullmatch(line)
    return (match[1] if match else line).strip()


def _gates(line: str) -> Iterator[Gate]:
    if line.startswith(ANOMALIES) and _CONDITION.fullmatch(line):
        line = f"{EVERY_DATASET}: {line}"
    match = _DATASET.fullmatch(line)
    if match is None:
        raise _not_a_gate(line)
    dataset, conditions = _unquoted(match["dataset"]), match["conditions"]
    if match["dataset"] == ALLOW:
        _findings(conditions)
        return
    if dataset == "scenario":
        if conditions not in SCENARIOS:
            raise UnknownName("scenario", conditions, SCENARIOS, where=f" in the gate '{line}'")
        for figure, least in SCENARIOS[conditions].items():
            yield _gate(EVERY_DATASET, f"{figure} > {least}", line)
        return
    for condition in _AND.split(conditions):
        yield _gate(dataset, condition, line)


def _gate(dataset: str, condition: str, line: str) -> Gate:
    if drop := _DROP.fullmatch(condition):
        return Gate(
            dataset=dataset,
            metric=_unquoted(drop["metric"]) or HEADLINE,
            comparison=">=" if drop["comparison"] == "<=" else ">",
            threshold=-float(drop["points"]) + 0.0,
            from_baseline=True,
            drop=True,
        )
    match = _CONDITION.fullmatch(condition)
    if match is None:
        raise _not_a_gate(line)
    points = float(match["number"] or match["points"] or 0)
    is_time = dataset == SPEED and bool(speed_unit(match["metric"]))
    if match["unit"] in {"ms", "s"} and not is_time:
        raise _not_a_gate(line)
    if is_time and match["number"] and not match["unit"] and 0 < points < 1:
        raise BadValue(f"In the gate '{line}', {points:g} could be seconds: write {points:g}s, or {points:g}ms.")
    if match["unit"] == "s":
        points *= 1000
    if match["number"] is None and points > 100:
        raise _not_a_gate(line)
    return Gate(
        dataset=dataset,
        metric=_unquoted(match["metric"]),
        comparison=match["comparison"],  # type: ignore[arg-type]  # the pattern allows no other
        threshold=-points if match["sign"] == "-" else points,
        from_baseline=match["number"] is None,
        percent=match["unit"] == "%",
    )


def _unquoted(name: str) -> str:
    return name[1:-1] if name[:1] in {'"', "'"} else name


def _not_a_gate(line: str) -> BadValue:
    if line.startswith("kl."):
        return BadValue(f"'{line}' is about a reference, which no run has: diagnose --reference FILE --gate '{line}'.")
    return BadValue(
        f"'{line}' is not a gate: write 'DATASET: METRIC >= NUMBER', such as 'demo_arithmetic: avg@5 >= 60', "
        "or 'baseline - NUMBER' in place of the number; names with special characters in quotes."
    )


def sizes(figures: Iterable[str]) -> set[int]:
    """The k of all pass@k and cons@k among these names."""
    return {int(match[2]) for name in figures if (match := _SIZED.fullmatch(name))}


def resolve(gates: Iterable[Gate], datasets: Units, groups: Units) -> tuple[Gate, ...]:
    """The same gates with the names of figures as the report has them, one for every dataset that is meant."""
    return tuple(resolved for gate in gates for resolved in _resolved(gate, datasets, groups))


def _resolved(gate: Gate, datasets: Units, groups: Units) -> Iterator[Gate]:
    every = {SPEED: SPEED_UNITS, **datasets, **groups}
    if gate.dataset != EVERY_DATASET and gate.dataset not in every:
        raise UnknownName("dataset", gate.dataset, every, where=f" in the gate '{gate}'")
    for dataset in datasets if gate.dataset == EVERY_DATASET else [gate.dataset]:
        units = every[dataset] if dataset not in datasets else {**every[dataset], ANOMALIES: "falling share"}
        metric = figure_named(gate.metric, units)
        if metric is None:
            raise UnknownName("metric", gate.metric, units, where=f" in the gate '{gate}'")
        if not gate.from_baseline:
            _check_unit(gate, _unit(metric, units))
        yield replace(_turned(gate, _unit(metric, units)), dataset=dataset, metric=metric)


def _turned(gate: Gate, unit: Unit) -> Gate:
    """A figure that is better when it is lower loses by rising."""
    if gate.drop and unit.startswith("falling"):
        gate = replace(gate, comparison="<=" if gate.comparison == ">=" else "<", threshold=-gate.threshold + 0.0)
    return replace(gate, drop=False)


def figure_named(name: str, units: Mapping[str, Unit]) -> str | None:
    """The figure that a name means; `accuracy`, `avg`, `pass@k` and `cons@k` mean one whatever n is."""
    if name in units:
        return name
    if part := of_part(name):
        return _figure_of_part(*part, units)
    headline = next(iter(units), None)
    is_verdict = headline is not None and units[headline] == "verdict share"
    is_accuracy = is_verdict or (headline or "").startswith("accuracy (")  # of partly right answers, too
    if name in {HEADLINE, "avg"} or (name == "accuracy" and is_accuracy):
        return headline
    kind, _, size = name.partition("@")
    if not is_verdict or kind not in {"avg", "pass", "cons"}:
        return None
    if size in {"n", "k"}:
        named = [each for each in units if _is_plain(each, kind)]
        return max(named, key=lambda each: int(each.partition("@")[2]), default=headline)
    # Of one sample a problem, all three are its accuracy.
    return headline if size == "1" and not any(_is_plain(each, "avg") for each in units) else None


def of_part(figure: str) -> tuple[str, str] | None:
    """The whole dataset's figure and the part, of a name such as `accuracy[algebra]`."""
    match = _PART.fullmatch(figure)
    return (match["figure"], match["part"]) if match else None


def _figure_of_part(figure: str, part: str, units: Mapping[str, Unit]) -> str | None:
    """Parts have figures of the headline, which is the average of n samples by any of its names."""
    whole = figure_named(figure, units)
    names = [whole] if whole is not None else []
    if whole is not None and _is_plain(whole, "avg"):
        names += [next(iter(units))]
    has = (f"{name}[{part}]" for name in names if {f"{name}{ANY_PART}", f"{name}[{part}]"} & units.keys())
    return next(has, None)


def _unit(metric: str, units: Mapping[str, Unit]) -> Unit:
    part = of_part(metric)
    return units[metric if part is None or metric in units else f"{part[0]}{ANY_PART}"]


def _is_plain(figure: str, kind: str) -> bool:
    return figure.startswith(f"{kind}@") and figure[len(kind) + 1 :].isdecimal()


def _check_unit(gate: Gate, unit: Unit) -> None:
    number = f"{gate.threshold:.12g}"
    if unit.endswith("number"):
        if gate.percent:
            raise BadValue(f"The gate '{gate}' has a number in per cent, but {gate.metric} is no percentage.")
        return
    if 0 < gate.threshold <= 1 and not gate.percent:
        condition = f"{gate.metric} {gate.comparison}"
        raise BadValue(
            f"The gate '{gate}' can be read in two ways: as {number} per cent, and as a share, which is "
            f"{100 * gate.threshold:.12g} per cent. Write '{condition} {100 * gate.threshold:.12g}' for the share, or "
            f"'{condition} {number}%' for {number} per cent."
        )
    if not 0 <= gate.threshold <= 100:
        raise BadValue(
            f"The gate '{gate}' can never be decided by {gate.metric}, which lies in 0..100: {number} does not."
        )
