"""Folders of task files: tasks, groups and tags found by name, groups unfolded into their tasks."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from model_accuracy_eval.tasks.lm_eval.reading import Fields, Files, load

_NAME = re.compile(rb"""^["']?(?:task|group)["']?[ ]*:[ ]*["']?([^\s"'#\[{]+)""", re.MULTILINE)
_INCLUDE = re.compile(rb"""^["']?include["']?[ ]*:((?:[ ]*\S+)|(?:\s*-[ ]*\S+)+)""", re.MULTILINE)


class Shelf:
    """The files are read once, and as texts: only what is asked for is parsed."""

    def __init__(self, files: Files, folders: Sequence[str]) -> None:
        self._files = files
        self._texts = {path: files.read(path) for folder in folders for path in files.under(folder)}
        self._paths: dict[str, str] = {}
        for path, text in self._texts.items():
            for name in _NAME.findall(text):
                self._paths.setdefault(name.decode("utf-8", "replace"), path)

    def names(self) -> list[str]:
        return sorted(self._paths)

    def fields(self, name: str) -> Fields | None:
        """The fields of the task or group of that name."""
        return load(self._files, self._paths[name]) if name in self._paths else None

    def tagged(self, tag: str) -> list[str]:
        """Names of the tasks that have the tag, their own or an included one."""
        found: set[str] = set()
        for path in self._mentioning(tag):
            fields = load(self._files, path)
            tags = fields.get("tag") or []
            if isinstance(fields.get("task"), str) and tag in (tags if isinstance(tags, list) else [tags]):
                found.add(fields["task"])
        return sorted(found)

    def _mentioning(self, word: str) -> Iterator[str]:
        """Files in which the word stands, and those that include them, however far."""
        sought = re.compile(rb"(?<![\w.-])" + re.escape(word.encode()) + rb"(?![\w.-])")
        hits = {path for path, text in self._texts.items() if sought.search(text)}
        grown = True
        while grown:
            including = {path for path in self._texts if path not in hits and self._includes(path) & hits}
            grown = bool(including)
            hits |= including
        return iter(sorted(hits))

    def _includes(self, path: str) -> set[str]:
        stated = _INCLUDE.search(self._texts[path])
        names = re.findall(r"[^\s\"'\[\],]+", stated[1].decode("utf-8", "replace")) if stated else []
        return {str(PurePath(path).parent / name) for name in names if name != "-"}
