"""Which files of a dataset have the rows of a split: its card says it, or the files' names do.

A layout is configuration → split → files in order. Both sources follow the rules of Hugging Face's `datasets` library,
but where it would join files of several configurations into one split, they stay apart.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import yaml

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import DataSource
from model_accuracy_eval.system import table_files

DATA_ENDINGS = (".jsonl", ".json", ".csv", ".tsv", *table_files.ENDINGS)
"""Endings of data files that a task names without one, in the order in which they are looked for."""

Splits = Mapping[str, tuple[str, ...]]
Layout = Mapping[str, Splits]

UNNAMED = "default"
"""What the only configuration is called where none has a name."""

_WORDS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "dev", "val"),
    "test": ("test", "testing", "eval", "evaluation"),
}
"""Split → the words in names of folders and files that say it."""
SHARD = re.compile(r"(?P<split>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\b.*")
_CONVERTED = re.compile(r"(?P<config>[^/]+)/(?P<split>[^/]+)/\d{4}\.parquet")
PARTIAL = "partial-"
"""How the hub begins the name of a split of which it converted only the first gigabytes."""
_NO_DATA = {"config.json", "dataset_info.json", "dataset_infos.json", "dataset_dict.json"}


def has_script(name: str, paths: Iterable[str]) -> bool:
    """Whether the dataset's rows are made by Python of its own; the names of its files say nothing then."""
    return f"{name.rpartition('/')[2]}.py" in paths


def from_card(card: str, paths: Sequence[str]) -> Layout:
    """The layout that the front matter of the README declares; empty if it declares none."""
    layout: dict[str, Splits] = {}
    for declared in _configs(card):
        folder = str(declared.get("data_dir") or "").strip("/.")
        inside = {
            path.removeprefix(f"{folder}/"): path for path in paths if not folder or path.startswith(f"{folder}/")
        }
        files = declared.get("data_files")
        if files is None and not folder:
            continue  # it names its configuration only, for a script
        if files is None:
            splits: Splits = _by_names(list(inside))
        else:
            splits = {split: _matching(patterns, list(inside)) for split, patterns in _patterns(files).items()}
        name = str(declared.get("config_name") or UNNAMED)
        layout[name] = {split: tuple(inside[path] for path in found) for split, found in splits.items() if found}
    return layout


def default_config(card: str) -> str:
    """The configuration that the card calls its default one; empty if it names none."""
    return next((str(entry.get("config_name") or UNNAMED) for entry in _configs(card) if entry.get("default")), "")


def from_names(paths: Sequence[str]) -> Layout:
    """The layout that folders and file names say. Folders that are no splits are configurations."""
    files = [path for path in paths if _is_data(path)]
    prefix = ""
    while files and all(path.startswith("data/") for path in files):
        files, prefix = [path.removeprefix("data/") for path in files], f"{prefix}data/"
    tops = {path.partition("/")[0] for path in files}
    configs = [""] if any("/" not in path for path in files) or any(map(_split_word, tops)) else sorted(tops)
    layout = {}
    for config in configs:
        inside = [path.removeprefix(f"{config}/") for path in files if not config or path.startswith(f"{config}/")]
        start = f"{prefix}{config}/" if config else prefix
        splits = {split: tuple(start + path for path in found) for split, found in _by_names(inside).items()}
        if splits:
            layout[config or UNNAMED] = splits
    return layout


def from_converted(paths: Sequence[str]) -> Layout:
    """The layout of the branch that the hub converts datasets to: `config/split/0000.parquet`."""
    layout: dict[str, dict[str, tuple[str, ...]]] = {}
    for path in sorted(paths):
        if match := _CONVERTED.fullmatch(path):
            splits = layout.setdefault(match["config"], {})
            splits[match["split"]] = (*splits.get(match["split"], ()), path)
    return layout


def _configs(card: str) -> list[dict[str, Any]]:
    """The configurations in the YAML between the first two lines of dashes."""
    match = re.match(r"\ufeff?---\s*\n(.*?)\n---\s*(\n|$)", card.replace("\r\n", "\n"), re.DOTALL)
    try:
        fields = yaml.safe_load(match[1]) if match else None
    except (yaml.YAMLError, ValueError):
        return []  # the hub itself shows such a card as having none
    configs = fields.get("configs") if isinstance(fields, dict) else None
    return [entry for entry in configs if isinstance(entry, dict)] if isinstance(configs, list) else []


def _patterns(files: Any) -> dict[str, list[str]]:
    """Split → patterns. What names no split is the training split."""
    if isinstance(files, dict):
        return {str(split): _texts(value) for split, value in files.items()}
    entries = files if isinstance(files, list) else [files]
    named: dict[str, list[str]] = {}
    for entry in entries:
        split, value = (
            (str(entry.get("split") or "train"), entry.get("path")) if isinstance(entry, dict) else ("train", entry)
        )
        named.setdefault(split, []).extend(_texts(value))
    return named


def _texts(value: Any) -> list[str]:
    return [str(one) for one in (value if isinstance(value, list) else [value]) if one is not None]


def _matching(patterns: Sequence[str], paths: Sequence[str]) -> tuple[str, ...]:
    """The files in the order of the patterns; those of one pattern in the order of their names."""
    found: dict[str, None] = {}
    for pattern in patterns:
        expression = _expression(pattern.removeprefix("./"))
        found |= {path: None for path in sorted(paths) if expression.fullmatch(path)}
    return tuple(found)


def _expression(pattern: str) -> re.Pattern[str]:
    """`*` and `?` stay within a folder, `**` does not, and [...] is one character of several."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]]+\])", pattern)
    meaning = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    known = [meaning.get(part) or (part.replace("[!", "[^") if part[:1] == "[" else re.escape(part)) for part in parts]
    return re.compile("".join(known))


def _is_data(path: str) -> bool:
    parts = path.split("/")
    hidden = any(part.startswith(".") for part in parts) or any(part.startswith("__") for part in parts[:-1])
    return path.removesuffix(".gz").endswith(DATA_ENDINGS) and not hidden and parts[-1] not in _NO_DATA


def _by_names(paths: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Splits by the first rule that finds any: numbered parts, folders called like splits, files called like them."""
    files = sorted(path for path in paths if _is_data(path))
    sharded: dict[str, list[str]] = {}
    for path in files:
        if match := SHARD.fullmatch(path.rpartition("/")[2]):
            sharded.setdefault(match["split"], []).append(path)
    if sharded:
        return {split: tuple(found) for split, found in sharded.items()}
    for words in (split_of_folders, lambda path: _split_word(path.rpartition("/")[2])):
        splits: dict[str, list[str]] = {}
        for path in files:
            if word := words(path):
                splits.setdefault(word, []).append(path)
        if splits:
            return {split: tuple(found) for split, found in _under_one_name(splits).items()}
    return {"train": tuple(files)} if files else {}


def same_split(one: str, other: str) -> bool:
    return any(one in words and other in words for words in _WORDS.values())


def _under_one_name(splits: dict[str, list[str]]) -> dict[str, list[str]]:
    """`dev.jsonl` is the validation split, unless there is another one of that meaning beside it."""
    named = {}
    for word, files in splits.items():
        split = next(split for split, words in _WORDS.items() if word in words)
        named[split if sum(same_split(word, other) for other in splits) == 1 else word] = files
    return named


def split_of_folders(path: str) -> str:
    return next(filter(None, map(_split_word, path.split("/")[:-1])), "")


def _split_word(name: str) -> str:
    """The word in it that is the name of a split; empty if there is none."""
    tokens = re.split(r"[-._ 0-9]+", name)
    return next((token for token in tokens if any(token in words for words in _WORDS.values())), "")


# The split that is asked for, among all files of a dataset: whole, or a sentence with what there is.


_SHOWN = 20


class NoSuchSplit(BadValue):
    """The dataset has no such configuration or split, or several that could be meant."""


def find(card: str, paths: Sequence[str], reference: str, split: DataSource) -> tuple[str, ...] | None:
    """The files of the split, in the order of their rows; None if neither card nor names say anything."""
    layout = from_card(card, paths)
    if layout:
        default = default_config(card)
        return choose(layout, reference, split.config, split.split, default=default, declared=True)
    if has_script(reference, paths):
        return None
    if layout := from_converted(paths):  # a commit of the branch with what the hub converted
        return choose(layout, reference, split.config, split.split, declared=True)
    layout = from_names(paths)
    return choose(layout, reference, split.config, split.split) if layout else None


def choose(
    layout: Layout, reference: str, config: str, split: str, *, default: str = "", declared: bool = False
) -> tuple[str, ...]:
    """The files of a split. Where several could be meant, or none is, the sentence lists what there is.

    `default`: the configuration that is meant where none is named. `declared`: a card says which files these are.
    """
    config = config or _only(layout, default)
    if config not in layout:
        missing = f"has no configuration '{config}'" if config else f"has {len(layout)} configurations"
        raise NoSuchSplit(
            f"{reference} {missing}: {_listed(layout)}. Name one, such as {reference}:{_example(layout)}."
        )
    splits = layout[config]
    found = _split_named(splits, split)
    if found is None:
        missing = f"has no split '{split}'" if split else f"has {len(splits)} splits"
        cut = " Its hub converted only the first part of it." if f"{PARTIAL}{split}" in splits else ""
        raise NoSuchSplit(
            f"{reference}, configuration '{config}', {missing}: {_listed(splits)}.{cut} Name one, such as "
            f"{reference}:{config}:{min(splits)}."
        )
    if not declared:
        _check_one_set(reference, found, splits[found])
    _check_shards(reference, found, splits[found])
    return splits[found]


def _only(layout: Layout, default: str) -> str:
    if len(layout) == 1:
        return next(iter(layout))
    return default or (UNNAMED if UNNAMED in layout else "")


def _split_named(splits: Splits, split: str) -> str | None:
    if not split:
        return next(iter(splits)) if len(splits) == 1 else None
    if split in splits:
        return split
    # `dev` and `validation` are one split, unless there are both.
    alike = [name for name in splits if same_split(name, split)]
    return alike[0] if len(alike) == 1 else None


def _check_one_set(reference: str, split: str, files: tuple[str, ...]) -> None:
    kinds = sorted({PurePosixPath(file.removesuffix(".gz")).suffix for file in files})
    if len(kinds) > 1:
        raise BadValue(
            f"{reference} has the split '{split}' in {len(kinds)} formats ({', '.join(kinds)}), which may hold the "
            f"same rows: {', '.join(files[:_SHOWN])}. Put one of them under --data-dir."
        )
    places = {path.rpartition("/")[0] for path in files}
    plain = {re.sub(r"[\d._ -]+", " ", path.removesuffix(".gz").rpartition(".")[0]) for path in files}
    if len(plain) > 1 and not all(split_of_folders(path) for path in files) and not all(map(SHARD.fullmatch, files)):
        raise BadValue(
            f"{reference} has {len(files)} files in {len(places)} {'folder' if len(places) == 1 else 'folders'} for "
            f"the split '{split}', which may be different questions: {', '.join(files[:_SHOWN])}. Put the right one "
            "under --data-dir, or give its address as the dataset."
        )


def _check_shards(reference: str, split: str, files: tuple[str, ...]) -> None:
    shards: dict[str, list[re.Match[str]]] = {}
    for match in filter(None, (SHARD.fullmatch(file) for file in files)):
        shards.setdefault(match["split"], []).append(match)
    if len(shards) > 1:
        raise BadValue(
            f"{reference} has the split '{split}' in {len(shards)} places, which may be different questions: "
            f"{', '.join(sorted(shards)[:_SHOWN])}. Name one as the configuration."
        )
    for parts in shards.values():
        count = int(parts[0]["count"])
        there = [int(part["number"]) for part in parts]
        if there != list(range(count)) or len({part["count"] for part in parts}) > 1:
            raise BadValue(
                f"{reference} has {len(there)} of the {count} parts of the split '{split}' "
                f"({', '.join(files[:3])}, …): its upload was left unfinished, or goes on. Name an earlier revision."
            )


def _listed(names: Iterable[str]) -> str:
    names = sorted(names)
    more = f", and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN]) or 'none'}{more}"


def _example(layout: Layout) -> str:
    config = min(layout, default=UNNAMED)
    splits = layout.get(config, {})
    return f"{config}:{'test' if 'test' in splits else min(splits, default='test')}"
