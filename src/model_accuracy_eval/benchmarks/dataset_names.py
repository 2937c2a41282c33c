"""Names of datasets: how other tools write them, and what is near a name that nobody knows."""

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from model_accuracy_eval.errors import UnknownDataset
from model_accuracy_eval.records import TaskGroup, TaskSpec

KINDS = {
    "Mathematics": ("math", "gsm", "aime", "amc", "arith", "algebra", "geometry", "hmmt", "olympiad"),
    "Knowledge and thought": (
        "mmlu", "exam", "knowledge", "science", "med", "law", "gpqa", "eval", "reason", "logic", "arc", "bbh",
        "fact", "truth",
    ),
    "Knowledge in Chinese": ("chinese", "ceval", "cmmlu", "gaokao", "clue"),
    "Everyday thought": ("swag", "grande", "commonsense", "piqa", "siqa", "story"),
    "Following instructions": ("instruct", "follow", "chat", "bench", "arena"),
    "Reading and spelling": ("squad", "reading", "race", "qa", "trivia", "comprehension", "passage", "spell"),
    "Code": ("code", "human", "mbpp", "program", "swe", "sql", "apps", "contest"),
    "Pictures": ("vqa", "chart", "ocr", "image", "vision", "mmmu", "mmstar", "mmbench", "diagram", "picture", "pope"),
    "Function calls": ("bfcl", "functioncall", "toolcall"),
    "Graded by a judge": ("hle", "humanity", "harm", "jailbreak", "safety", "toxi"),
    "Long texts": ("longbench", "longcontext", "leval", "lcr", "infinitebench", "needle", "haystack", "niah"),
    "Translation": ("flores", "wmt", "translat", "iwslt"),
    "Sound and video": ("audio", "video", "sound", "speech", "voice"),
    "Base models (CORE)": ("bigbench", "core", "lm"),
}  # fmt: skip
"""Heading of the table → parts of names that belong under it; the longest that a name has decides."""

_NEAR = 0.8
"""How much two names have in common that differ by a slip of the keyboard."""
_SHOWN = 12


_BETWEEN_WORDS = re.compile(r"[\s_.,:;/@()\[\]{}\-‐-―]+")


def normal(name: str) -> str:
    """A name as it is compared: letter case and what stands between words do not matter, such as `-`, `_` and `@`. All
    other signs do: HumanEval+ is another benchmark than HumanEval, and C# is not C."""
    return _BETWEEN_WORDS.sub("", name).casefold()


@dataclass(frozen=True)
class DatasetNames:
    """All names of the table: of its datasets, which may have several, and of its groups."""

    sections: Mapping[str, Sequence[TaskSpec]]
    groups: Mapping[str, TaskGroup]

    def spellings(self) -> Iterable[tuple[str, str]]:
        """Every name in its normal form, and the one under which the table has it; none stands for two."""
        for task in self._tasks:
            for name in (task.name, *task.aliases):
                yield normal(name), task.name
        for name in self.groups:
            yield normal(name), name

    def canonical(self, name: str) -> str | None:
        """The table's own name for what is called by this one."""
        known = self._known
        if normal(name) in known:
            return known[normal(name)]
        base, _, prompt = name.rpartition("@")
        return known.get(normal(f"{known[normal(base)]}@{prompt}")) if base and normal(base) in known else None

    def meant(self, name: str, among: Collection[str]) -> str:
        """The name among these that is written so, also before `@format` or `@from..to`; if there is none, itself."""
        base, _, form = name.rpartition("@")
        spelled = (name, self.canonical(name), f"{self.canonical(base)}@{form}")
        return next((known for known in spelled if known and known in among), name)

    def understood(self, names: Iterable[str], among: Collection[str]) -> str:
        """What of these names is another spelling, for readers who typed it: `HumanEval+ → humaneval_plus`."""
        pairs = ((name, self.meant(name, among)) for name in dict.fromkeys(names))
        return ", ".join(f"{name} → {known}" for name, known in pairs if name != known)

    def unknown(self, name: str) -> UnknownDataset:
        """The error for a name that the table does not have. It never takes another dataset for a slip: names that
        begin otherwise or have other numbers are not suggested."""
        base, _, prompt = name.rpartition("@")
        if base and (of := self.canonical(base)):
            others = [known for _, known in self.spellings() if known.startswith(f"{of}@")]
            return UnknownDataset(name, prompts=(of, prompt, others))
        near = [self._known[form] for form in difflib.get_close_matches(normal(name), self._known, 5, _NEAR)]
        slips = [known for known in dict.fromkeys(near) if _may_be_a_slip(normal(name), normal(known))]
        beginning = [
            one for form, one in self._known.items() if len(normal(name)) >= 3 and form.startswith(normal(name))
        ]
        shortest = sorted(dict.fromkeys(beginning), key=lambda one: (len(one), one))
        heading = self._kind(normal(name))
        of_kind = list({task.data.name: task.name for task in reversed(self.sections.get(heading or "", ()))}.values())
        return UnknownDataset(
            name, near=slips[:3], kind=heading, of_kind=of_kind[: -_SHOWN - 1 : -1], beginning=shortest[:_SHOWN]
        )

    def _kind(self, form: str) -> str | None:
        words = [(len(word), heading) for heading, words in KINDS.items() for word in words if word in form]
        return max(words, key=lambda found: found[0])[1] if words else None

    @property
    def _tasks(self) -> Iterable[TaskSpec]:
        return (task for section in self.sections.values() for task in section)

    @cached_property
    def _known(self) -> dict[str, str]:
        return dict(self.spellings())


def _may_be_a_slip(name: str, known: str) -> bool:
    return name[:1] == known[:1] and re.findall(r"\d+", name) == re.findall(r"\d+", known)
