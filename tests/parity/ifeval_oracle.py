"""Runs in an environment that has lm-evaluation-harness: what its own IFEval says about replies, as JSON.

Standard input: {"rows": […], "replies": [[reply, …] for each row], "planned": how many of them the figures are of, "data": an empty folder}.
NLTK reads its tables from that folder, written there from the package that carries them; language detection draws with a seed, as ours does.
"""

# mypy: ignore-errors

import json
import os
import sys
from pathlib import Path

from langdetect import DetectorFactory
from punkt.data import english


def write_tables(folder):
    """As NLTK's own download lays them down."""
    place = folder / "tokenizers" / "punkt_tab" / "english"
    place.mkdir(parents=True)
    tables = {
        "abbrev_types.txt": english.ABBREV_TYPES,
        "sent_starters.txt": english.SENT_STARTERS,
        "collocations.tab": ["\t".join(pair) for pair in english.COLLOCATIONS],
        "ortho_context.tab": [f"{word}\t{context}" for word, context in english.ORTHO_CONTEXT.items()],
    }
    for name, lines in tables.items():
        (place / name).write_text("\n".join(sorted(lines)), encoding="utf-8")


def main():
    job = json.load(sys.stdin)
    write_tables(Path(job["data"]))
    os.environ["NLTK_DATA"] = job["data"]  # before NLTK is imported
    DetectorFactory.seed = 0
    from lm_eval.tasks.ifeval import utils  # noqa: PLC0415

    verdicts = [
        [utils.process_results(row, [reply]) for reply in replies]
        for row, replies in zip(job["rows"], job["replies"], strict=True)
    ]
    told = [found for of_row in verdicts for found in of_row[: job["planned"]]]
    figures = {
        name: utils.agg_inst_level_acc([found[name] if name.startswith("inst") else [found[name]] for found in told])
        for name in told[0]
    }
    json.dump({"verdicts": verdicts, "figures": figures}, sys.stdout)


if __name__ == "__main__":
    main()
