"""`results/<label>/<dataset>.json`: unrounded figures, 0..100, and every problem with its n verdicts."""

from typing import Any

import msgspec

from model_accuracy_eval.records import RunPlan, Sheet, Tally
from model_accuracy_eval.scoring.estimators import avg_at_n, cons_at_k, pass_at_k


def file(label: str, dataset: str) -> str:
    return f"results/{label}/{dataset}.json"


def as_json(sheet: Sheet, plan: RunPlan) -> bytes:
    """Figures first, under their names in the summary, as AISBench has it; then what ours add."""
    whole: dict[str, Any] = {row.metric: row.value for row in sheet.rows}
    whole["intervals"] = {row.metric: row.interval for row in sheet.rows}
    whole["version"] = sheet.version
    whole["counts"] = sheet.counts
    whole["notes"] = sheet.notes
    whole["speed"] = sheet.speed
    whole["rows"] = sheet.rows
    if sheet.ran:
        whole["ran"] = sheet.ran
    whole["details"] = [_details(sheet.dataset, tally, plan.k) for tally in sheet.tallies]
    return msgspec.json.format(msgspec.json.encode(whole), indent=4) + b"\n"


def _details(dataset: str, tally: Tally, k: tuple[int, ...]) -> dict[str, Any]:
    """AISBench's fields of a problem (`pred`, `answer`, `correct` have one entry a sample), grouped by problem."""
    figures: dict[str, float] = {}
    if tally.c is not None:
        sizes = [size for size in k if size <= tally.n]
        figures[f"avg@{tally.n}"] = 100 * avg_at_n(tally.n, tally.c)
        figures |= {f"pass@{size}": 100 * pass_at_k(tally.n, tally.c, size) for size in sizes}
        figures |= {f"cons@{size}": 100 * cons_at_k(tally.n, tally.c, size) for size in sizes}
    return {
        "example_abbr": f"{dataset}_{tally.problem}",
        "id": tally.problem,
        "n": tally.n,
        "c": tally.c,
        **figures,
        "pred": tally.answers,
        "answer": [tally.references[0]] * tally.n,
        "correct": [why == "right" for why in tally.why],
        "why": tally.why,
        **_rest(tally, figures),
    }


def _rest(tally: Tally, told: dict[str, float]) -> dict[str, Any]:
    """What `c` does not say already."""
    plain = tally.c is not None
    others = {
        name: value
        for name, value in tally.figures.items()
        if name not in told and not (plain and name.startswith("accuracy"))
    }
    rest = {
        "values": None if plain else tally.values,
        "figures": others,
        "category": tally.category,
        "cut": tally.cut,
    }
    return {name: value for name, value in rest.items() if value}
