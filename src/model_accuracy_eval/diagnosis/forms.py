"""Whether an answer is the same in every form that it can be asked for in, and in every mixture of forms.

`FACTORS` has a row for each thing that a request may ask for beside its question. Answers are asked for in mixtures of
their values; where one is wrong, each value is taken back as long as it stays wrong. What is left is the cause.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from model_accuracy_eval.diagnosis.known_answers import Complaint, Known, hot_requests, known_answers
from model_accuracy_eval.diagnosis.probe import Needle, ProbeResult, short, unanswered
from model_accuracy_eval.ports import Subject
from model_accuracy_eval.records import Fault, Request

_QUESTIONS = 12
_MIXTURES = 400
_AT_ONCE = 4
_TRIED = 3
"""Wrong answers of one kind that are looked into."""
_SURELY = 2
"""How often an answer has to be wrong again, alone, before its form is the cause."""
_MOST_TOLD = 20
_OTHER_STOPS = ("#@#@1", "zQzQ~", "~^~^0")
"""Texts that no answer has."""


class AnswerForm(NamedTuple):
    """What is asked for beside a question. The defaults are how the known answers were asked for."""

    sampling: int = 0
    choices: int = 1
    told: int | None = _MOST_TOLD
    streamed: bool = False
    stops: tuple[int, int] | None = None
    """The place of the string that stands in the answer, in a list of so many; 0: none of them does."""
    is_cut: bool = False

    @property
    def words(self) -> str:
        said = [factor.values[getattr(self, name)] for name, factor in _changed(self).items()]
        return " and ".join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)


class Factor(NamedTuple):
    """One row: the values of a field and how they are told, and what to look at if they make an answer wrong."""

    values: Mapping[Any, str]
    advice: str


FACTORS: Mapping[str, Factor] = {
    "sampling": Factor(
        {0: "greedy", 1: "drawn with a seed", 2: "drawn with a seed at a high temperature"},
        "look at how the server hands each request its sampler and seed",
    ),
    "choices": Factor(
        {1: "one", 2: "one of 2 choices", 4: "one of 4 choices"},
        "look at how the server puts the choices of a request together, and what it counts",
    ),
    "told": Factor(
        {_MOST_TOLD: "told", None: "asked for without log-probabilities"}
        | {k: f"asked for with top_logprobs {k}" for k in (0, 1, 5)},
        "look at where the server takes the log-probabilities that it tells from",
    ),
    "streamed": Factor(
        {False: "whole", True: "streamed"},
        "look at the server's output parsers (reasoning, tools, detokenizer) with stream true and false",
    ),
    "stops": Factor(
        {None: "unstopped", (0, 3): "asked for with stop strings that it lacks", (1, 1): "ended by a stop string"}
        | {(place, 4): f"ended by stop string {place} of 4" for place in range(1, 5)},
        "look at how the server finds stop strings: all of the list, and across the tokens in which they begin and end",
    ),
    "is_cut": Factor({False: "whole", True: "cut at max_tokens"}, "look at how the server counts towards max_tokens"),
}
"""The first value of each is the one of the known answers."""


def _changed(form: AnswerForm) -> dict[str, Factor]:
    return {name: factor for name, factor in FACTORS.items() if getattr(form, name) != next(iter(factor.values))}


class _Case(NamedTuple):
    question: int
    form: AnswerForm


class _Wrong(NamedTuple):
    case: _Case
    known: Known
    complaint: Complaint


Bases = Mapping[tuple[int, int, int], Known]
"""Number of the question, sampling, and choices → the known answer."""


async def forms(subject: Subject, needles: Sequence[Needle]) -> ProbeResult:
    """Mixtures of forms, some answers in flight, then what was wrong again alone and with fewer changes."""
    bases = await _bases(subject, needles)
    dice = random.Random(0)  # noqa: S311 - the same mixtures each time
    cases = [
        _Case(dice.randrange(_QUESTIONS), AnswerForm(*(dice.choice([*factor.values]) for factor in FACTORS.values())))
        for _ in range(_MIXTURES)
    ]
    cases = [usable for case in cases if (usable := _usable(case, bases))]
    if not cases:
        return ProbeResult("SKIP", "No question is answered alike twice with log-probabilities or seeds.")
    answered, wrong = await _asked(subject, bases, cases, _AT_ONCE)
    if silent := unanswered(answered, len(cases)):
        return silent
    for rule in dict.fromkeys(each.complaint.rule for each in wrong):
        for one in [each for each in wrong if each.complaint.rule == rule][:_TRIED]:
            if cause := await _cause(subject, bases, one):
                return _fault(cause, cases, wrong)
    drawn = sum(case.form.sampling > 0 for case in cases)
    return ProbeResult(
        "PASS",
        f"{answered} answers in {len({case.form for case in cases})} mixtures of forms are as they should be, {drawn} "
        "of them drawn with seeds.",
    )


async def _bases(subject: Subject, needles: Sequence[Needle]) -> Bases:
    longest = [needle.request for needle in sorted(needles, key=lambda needle: -len(needle.text))[:_QUESTIONS]]
    drawn = [replace(request, temperature=1.0, seed=100 + number) for number, request in enumerate(longest)]
    kinds = (longest, drawn, await hot_requests(subject, needles, _QUESTIONS))
    asked = {
        (number, sampling, choices): replace(request, n=choices)
        for sampling, requests in enumerate(kinds)
        for number, request in enumerate(requests)
        for choices in FACTORS["choices"].values
    }
    names = {id(request): name for name, request in asked.items()}
    return {names[id(known.request)]: known for known in await known_answers(subject, [*asked.values()])}


def _usable(case: _Case, bases: Bases) -> _Case | None:
    """The case as far as its answer is long enough; None where that is not known."""
    form, known = case.form, _known(case, bases)
    if known is None:
        return None
    if form.stops and len(known.reply.text) < 3:
        form = form._replace(stops=None)
    if form.is_cut and ((form.stops and form.stops[0]) or len(known.reply.tokens) < 3 or not _is_spelt(known)):
        form = form._replace(is_cut=False)
    return case._replace(form=form)


def _is_spelt(known: Known) -> bool:
    """Whether the texts of the tokens are the text; at its end may be one that shows none."""
    return all("".join(token.text for token in each.tokens).startswith(each.text) for each in known.reply.choices)


def _known(case: _Case, bases: Bases) -> Known | None:
    return bases.get((case.question, case.form.sampling, case.form.choices))


def _ends_of(case: _Case, known: Known) -> tuple[tuple[str, ...], int | None]:
    """The stop strings and the cap of the case."""
    text, tokens = known.reply.text, known.reply.tokens
    cap = max(1, len(tokens) // 2) if case.form.is_cut else None
    if case.form.stops is None:
        return (), cap
    place, count = case.form.stops
    if not place:
        return _OTHER_STOPS, cap
    begin = 1 + case.question % (len(text) - 1)
    stop = text[begin : begin + 1 + case.question % 3]
    return (*_OTHER_STOPS[: place - 1], stop, *_OTHER_STOPS[place - 1 : count - 1]), None


def _request(case: _Case, known: Known) -> Request:
    """Stop strings are sent as a further field, else the client cuts."""
    stops, cap = _ends_of(case, known)
    told = case.form.told
    without = {} if case.form.streamed else {"logprobs": False}
    extra = without if told is None else {"logprobs": True, "top_logprobs": told}
    return replace(
        known.request,
        max_tokens=known.request.max_tokens if cap is None else cap,
        extra={**extra, **({"stop": list(stops)} if stops else {})},
    )


async def _asked(subject: Subject, bases: Bases, cases: Sequence[_Case], at_once: int = 1) -> tuple[int, list[_Wrong]]:
    """How many were answered, and what is wrong."""
    pairs = [(case, known) for case in cases if (known := _known(case, bases))]
    requests = [(_request(case, known), case.form.streamed) for case, known in pairs]
    replies = await subject.answered(requests, at_once)
    answered, wrong = 0, []
    for (case, known), reply in zip(pairs, replies, strict=True):
        if not isinstance(reply, Fault):
            answered += 1
            if found := known.complaint(reply, *_ends_of(case, known)):
                wrong.append(_Wrong(case, known, found))
    return answered, wrong


async def _cause(subject: Subject, bases: Bases, first: _Wrong) -> _Wrong | None:
    """The same with as few changes as make it wrong; None where it is right alone."""

    async def again(case: _Case) -> _Wrong | None:
        usable = _usable(case, bases)
        if usable != case:
            return None
        answered, wrong = await _asked(subject, bases, [case] * _SURELY)
        of_rule = [each for each in wrong if each.complaint.rule == first.complaint.rule]
        return of_rule[0] if len(of_rule) == _SURELY == answered else None

    cause = await again(first.case)
    for name, factor in _changed(first.case.form).items() if cause else ():
        simpler = [*factor.values][: [*factor.values].index(getattr(first.case.form, name))]
        for value in simpler:
            case = cause.case if cause else first.case
            if fewer := await again(case._replace(form=case.form._replace(**{name: value}))):
                cause = fewer
                break
    return cause


def _fault(cause: _Wrong, cases: Sequence[_Case], wrong: Sequence[_Wrong]) -> ProbeResult:
    form = cause.case.form
    names = list(_changed(form))

    def is_such(case: _Case) -> bool:
        return all(getattr(case.form, name) == getattr(form, name) for name in names)

    such = sum(map(is_such, cases))
    bad = sum(is_such(each.case) and each.complaint.rule == cause.complaint.rule for each in wrong)
    where = f"Where an answer is {form.words}" if names else "In every form"
    return ProbeResult(
        "FAIL",
        f"{where}, {cause.complaint.says} ({short(cause.known.text)}); {bad} of {such} such answers are wrong.",
        FACTORS[names[-1]].advice if names else "speeds and caps follow from usage: look at how the server counts",
    )
