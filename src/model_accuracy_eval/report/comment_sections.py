"""The one comment of a pull request: a section for each identity, merged from what several jobs and runs have to say.

Each run adds what it knows to what is there, so the order in which they end does not matter: of each series the newest
run is shown, by the order of the commits and then by its start, and every other run is one line. What is needed for
that stands in the comment, hidden.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from model_accuracy_eval.records import Conclusion, Identity, Record
from model_accuracy_eval.records.report import is_same
from model_accuracy_eval.report import markdown
from model_accuracy_eval.report.comment import LONGEST_COMMENT
from model_accuracy_eval.report.endings import CONCLUSIONS
from model_accuracy_eval.report.languages import say

MARKER = "<!-- model-accuracy-eval -->"
"""The first line, by which the comment is found again."""

WORST_FIRST: tuple[Conclusion, ...] = ("failed", "broken", "refused", "undecided", "stopped", "complete", "passed")
_SUPERSEDED_SHOWN = 8
_SECTION = re.compile(r"^<!-- section (\{.*?\}) -->\n(.*?)\n?^<!-- /section -->$", re.DOTALL | re.MULTILINE)


class CommentSection(Record, frozen=True, kw_only=True):
    """What one run says about one identity."""

    identity: Identity
    run: str
    """Of the workflow, and the attempt: 4711-1."""
    started: float
    conclusion: Conclusion
    words: str
    """How it ended."""
    url: str = ""
    text: str = ""
    """Empty where only its line has room."""

    @property
    def key(self) -> tuple[str, str]:
        return self.identity.key, self.run

    @property
    def line(self) -> str:
        words = markdown.link(markdown.clip(self.words, 100), self.url)
        return f"{CONCLUSIONS[self.conclusion].mark} {words}: {markdown.literal(self.identity.line, 300)}"


def parse(body: str) -> list[CommentSection]:
    """The sections of a comment; what somebody has damaged in it is left out."""
    sections = []
    for told, text in _SECTION.findall(body.replace("\r\n", "\n")):
        try:
            section = msgspec.json.decode(told, type=CommentSection)
        except msgspec.DecodeError:
            continue
        sections.append(msgspec.structs.replace(section, text=text.strip("\n")))
    return sections


def merge(sections: Iterable[CommentSection], order: Sequence[str] | None, repository: str) -> str:
    """The comment below its marker.

    Of two sections of one run about one identity the later one counts. `order`: commits of the pull request, the oldest
    first, its head last; None: unknown. `repository`: which they are of.
    """
    known = {each.key: each for each in sorted(sections, key=lambda each: each.started)}
    places = {commit: place for place, commit in enumerate(order or ())}
    current, superseded = _split(list(known.values()), places)
    several, room = len(current) > 1, LONGEST_COMMENT - 200  # for the headline
    lines, hidden, old = [], [], []
    for each in current:
        note = _note(each, order[-1] if order else None, known.values(), repository)
        line, bare = f"- {each.line}", _hidden(each, "", note)
        room -= (len(line) + 1) * several + len(bare) + 2
        if room < 0:
            break
        lines.append(line)
        hidden.append((each, note, bare))
    for each in superseded[:_SUPERSEDED_SHOWN]:
        line = f"{_hidden(each)}\n- {markdown.code(each.identity.commit[:7])} {_past(each)}"
        room -= len(line) + 2
        if room >= 0:
            old.append(line)
    parts = [_headline(current, lines)] if several else []
    for each, note, bare in hidden:
        whole = _hidden(each, each.text, note)
        fits = len(whole) - len(bare) <= room
        room -= (len(whole) - len(bare)) * fits
        parts.append(whole if fits else bare)
    return "\n\n".join((*parts, *old))


def _split(
    sections: Sequence[CommentSection], places: Mapping[str, int]
) -> tuple[list[CommentSection], list[CommentSection]]:
    """Those that hold, the worst first, and those that newer ones have taken the place of, the newest first.

    Of the newest run of a series all hold that are about different things, as jobs of one name may be.
    """

    def age(section: CommentSection) -> tuple[int, float, str]:
        return places.get(section.identity.commit, -1), section.started, section.run

    newest = {each.identity.series: each for each in sorted(sections, key=age)}
    hold = {
        (each.identity.series, each.identity.subject): each
        for each in sorted(sections, key=age)
        if _job_of(each) == _job_of(newest[each.identity.series])
    }
    current = sorted(hold.values(), key=lambda each: (WORST_FIRST.index(each.conclusion), each.identity.line))
    return current, sorted((each for each in sections if each not in current), key=age, reverse=True)


def _job_of(section: CommentSection) -> tuple[str, str]:
    """One workflow run on one commit, whatever the attempt."""
    return section.run.partition("-")[0], section.identity.commit


def _note(section: CommentSection, head: str | None, known: Iterable[CommentSection], repository: str) -> str:
    """What a reader has to know who sees the pull request as it is now."""
    if not is_same(section.identity.repository, repository) or section.identity.commit == head:
        return ""
    if head is None:
        return say("⚠️ GitHub did not say whether the head of this pull request is still this commit.")
    evaluated = any(each.identity.commit == head for each in known)
    name = markdown.code(head[:12])
    if evaluated:
        return say("⚠️ The head of this pull request is {commit} now; this is about an earlier commit.", commit=name)
    return say("⚠️ The head of this pull request is {commit} now, which was not evaluated.", commit=name)


def _headline(current: Sequence[CommentSection], lines: Sequence[str]) -> str:
    worst = CONCLUSIONS[current[0].conclusion]
    rest = [say("- and {count} more, for which there is no room", count=len(current) - len(lines))] * (
        len(lines) < len(current)
    )
    evaluations = say("{count} evaluations", count=len(current))
    heading = f"### {worst.mark} {say('Model accuracy')}: {say(worst.words)} · {evaluations}"
    return "\n".join([heading, "", *lines, *rest])


def _past(section: CommentSection) -> str:
    words = say(CONCLUSIONS[section.conclusion].words)
    label = markdown.text(section.identity.label, 60)
    return say("{verdict}, superseded ({label})", verdict=f"{words[0].lower()}{words[1:]}", label=label)


def _hidden(section: CommentSection, text: str = "", note: str = "") -> str:
    told = msgspec.json.encode(msgspec.structs.replace(section, text="")).decode()
    told = told.replace("<", r"\u003c").replace(">", r"\u003e")  # so that it cannot end itself
    return "\n\n".join(filter(None, (f"<!-- section {told} -->\n{text}\n<!-- /section -->", note)))
