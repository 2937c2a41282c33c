"""Copies of hubs' datasets in a folder of the user, as the hubs' own tools leave them.

<folder>/<owner>/<name>/…                                  a clone or a download to a folder
<folder>/<name>/…                                          the same without its owner
<folder>/datasets--<owner>--<name>/snapshots/<commit>/…    the cache of Hugging Face's tools
"""

from collections.abc import Iterator
from pathlib import Path

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.hubs import split_choice, split_layout, zip_files
from model_accuracy_eval.records import DataFile, HubSplit


def files_of(split: HubSplit, folder: Path) -> tuple[DataFile, ...]:
    """The files of the split in the first copy that has it; none if no copy has it."""
    for root in _roots(split, folder):
        paths = sorted(path.relative_to(root).as_posix() for path in _files(root))
        if any(split_layout.has_script(name, paths) for name in (split.hf, split.ms)):
            continue  # the files are what its script reads, not its rows
        card = root / "README.md"
        text = card.read_text(encoding="utf-8", errors="replace") if card.is_file() else ""
        asked = split
        if len(split_layout.from_names(paths)) == 1 and not split_layout.from_card(text, paths):
            asked = HubSplit(split=split.split)  # a copy of one configuration alone need not name it
        try:
            found = split_choice.find(text, paths, str(root), asked)
        except split_choice.NoSuchSplit:
            continue
        if found:
            return tuple(DataFile(name=str(root / path)) for path in found.files)
    return ()


def _files(root: Path) -> Iterator[Path]:
    """All files, those inside of zip files included. A zip file that is damaged is refused: it may have rows, too."""
    for path in root.rglob("*"):
        if zip_files.is_zip(path):
            yield from (path / name for name in zip_files.members(path))
        elif path.is_file():
            yield path


def _roots(split: HubSplit, folder: Path) -> Iterator[Path]:
    for name in filter(None, (split.hf, split.ms)):
        yield from _existing(folder / name, folder / name.rpartition("/")[2])
        for parent in (folder, folder / "hub"):
            snapshots = parent / f"datasets--{name.replace('/', '--')}" / "snapshots"
            commits = sorted(path for path in snapshots.glob("*") if path.is_dir())
            if split.revision and snapshots / split.revision in commits:
                commits = [snapshots / split.revision]
            if len(commits) > 1:
                raise BadValue(
                    f"{snapshots} has {len(commits)} versions of {name}, and nothing says which is meant: give "
                    f"the folder of one as --data-dir, such as {commits[0]}."
                )
            yield from commits


def _existing(*folders: Path) -> Iterator[Path]:
    yield from (folder for folder in folders if folder.is_dir())
