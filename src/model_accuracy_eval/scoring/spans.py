"""What a reply says of the words of a text: lm-eval's filters for named entities and for parts of speech."""

import json
import re

from model_accuracy_eval.records import Problem

_LABELS = {
    "PER": ("person", "people", "persons", "per"),
    "LOC": ("location", "counties", "places", "country", "continent", "loc"),
    "ORG": ("organization", "company", "org"),
    "DATE": ("time", "date"),
}
_LABEL_OF = {word: label for label, words in _LABELS.items() for word in words}
_WORD = re.compile(rf"\b({'|'.join(_LABEL_OF)})\s*:")
_ENTITIES = re.compile(rf"\b({'|'.join(_LABELS)}):\s*([^$]+)")
_TAGGED = re.compile(r"\('[^']*', '([^']*)'\)")


def format_span(text: str, problem: Problem) -> str:
    """`per: ada $ loc: kenya`, each entity behind a label of its own; `none` is no entity."""
    labelled = _WORD.sub(lambda word: f"{_LABEL_OF[word[1]]}:", text.lower())
    parted = labelled.replace("$$", "$").rstrip("$").replace("\n", "$").strip()
    entities = (
        (label.lower(), name.strip()) for label, names in _ENTITIES.findall(parted) for name in names.split(",")
    )
    return " $ ".join(f"{label}: {name}" for label, name in entities if name.lower() != "none")


def regex_pos(text: str, problem: Problem) -> str | None:
    """The tags of pairs such as `('Ada', 'PROPN')`, as a JSON list."""
    tags = _TAGGED.findall(text)
    return json.dumps(tags) if tags else None
