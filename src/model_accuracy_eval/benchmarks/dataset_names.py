"""Names of datasets: how other tools write them, and what is near a name that nobody knows."""

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from model_accuracy_eval.benchmarks import aisbench_names
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
    "Pictures": (
        "vqa", "chart", "ocr", "ocrbench", "omnidocbench", "refcoco", "image", "vision", "mmmu", "mmstar", "mmbench",
        "diagram", "picture", "pope",
    ),
    "Function calls": ("bfcl", "functioncall", "toolcall"),
    "Graded by a judge": ("hle", "humanity", "harm", "jailbreak", "safety", "toxi"),
    "Long texts": (
        "longbench", "longcontext", "leval", "lcr", "infinitebench", "needle", "needlebench", "haystack", "niah",
    ),
    "Translation": ("flores", "wmt", "translat", "iwslt"),
    "Sound and video": ("audio", "video", "videobench", "sound", "speech", "voice"),
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
    aisbench: Mapping[str, str]
    """AISBench's names → ours."""

    def spellings(self) -> Iterable[tuple[str, str]]:
        """Every name in its normal form, and the one under which the table has it; none stands for two."""
        for task in self._tasks:
            for name in (task.name, *task.aliases):
                yield normal(name), task.name
        for name in self.groups:
            yield normal(name), name
        for name, ours in self.aisbench.items():
            yield normal(name), ours

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
        """What of these names is another spelling, for readers who typed it: `HumanEval+ → humaneval_plus`; of
        AISBench's names also what is otherwise here."""
        pairs = ((name, self.meant(name, among)) for name in dict.fromkeys(names))
        return ", ".join(f"{name} → {known}{self._otherwise(name, known)}" for name, known in pairs if name != known)

    def _otherwise(self, name: str, known: str) -> str:
        theirs = self._of_aisbench.get(normal(name))
        task = next((task for task in self._tasks if task.name == known), None)
        otherwise = aisbench_names.differences(theirs, task) if theirs and task else ""
        return f" ({otherwise})" if otherwise else ""

    def unknown(self, name: str) -> UnknownDataset:
        """The error for a name that the table does not have. It never takes another dataset for a slip: names that
        begin otherwise or have other numbers are not suggested."""
        base, _, prompt = name.rpartition("@")
        if base and (of := self.canonical(base)):
            others = [known for _, known in self.spellings() if known.startswith(f"{of}@")]
            has = f"there are: {', '.join(others)}" if others else "it has one alone"
            return UnknownDataset(f"The dataset '{of}' has no prompt called '{prompt}'; {has}.")
        if of_base := self._in_family(name):
            return UnknownDataset(
                f"There is no dataset called '{name}'; did you mean {' or '.join(of_base)}?",
                next_step="model-accuracy-eval tasks list",
            )
        near = [self._known[form] for form in difflib.get_close_matches(normal(name), self._known, 5, _NEAR)]
        slips = [known for known in dict.fromkeys(near) if _may_be_a_slip(normal(name), normal(known))]
        beginning = [
            one for form, one in self._known.items() if len(normal(name)) >= 3 and form.startswith(normal(name))
        ]
        shortest = sorted(dict.fromkeys(beginning), key=lambda one: (len(one), one))
        heading = self._kind(normal(aisbench_names.base(name)))
        of_kind = list({task.data.name: task.name for task in reversed(self.sections.get(heading or "", ()))}.values())
        hint = f"; did you mean {' or '.join(slips[:3])}?" if slips else "."
        if beginning and not slips:
            hint += f" These begin so: {', '.join(shortest[:_SHOWN])}."
        elif heading and not slips:
            hint += f" Of the kind '{heading}' there are {', '.join(of_kind[: -_SHOWN - 1 : -1])} and others."
        return UnknownDataset(
            f"There is no dataset called '{name}'{hint} `model-accuracy-eval tasks list` shows all of them. Tasks of "
            f"lm-eval come from their folder: --tasks-path FOLDER --datasets {name.partition('@')[0]}; datasets of a "
            "hub by their address: --datasets hf:OWNER/NAME.",
            next_step="model-accuracy-eval tasks list",
        )

    def _in_family(self, name: str) -> list[str]:
        """For a name of AISBench's form, those of the same dataset, the nearest first."""
        base = aisbench_names.base(name)
        written = {normal(known): known for known in (*self._known.values(), *self.aisbench)}
        family = [form for form in written if base != name and form.startswith(normal(base))]
        near = difflib.get_close_matches(normal(name), family, 3, 0.0)
        return [written[form] for form in near] if len(base) > 2 else []

    def _kind(self, form: str) -> str | None:
        words = [(len(word), heading) for heading, words in KINDS.items() for word in words if word in form]
        return max(words, key=lambda found: found[0])[1] if words else None

    @property
    def _tasks(self) -> Iterable[TaskSpec]:
        return (task for section in self.sections.values() for task in section)

    @cached_property
    def _of_aisbench(self) -> dict[str, str]:
        return {normal(name): name for name in self.aisbench}

    @cached_property
    def _known(self) -> dict[str, str]:
        return dict(self.spellings())


def _may_be_a_slip(name: str, known: str) -> bool:
    return name[:1] == known[:1] and re.findall(r"\d+", name) == re.findall(r"\d+", known)
