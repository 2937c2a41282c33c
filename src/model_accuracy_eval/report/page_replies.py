"""Every reply of a run for the page: problems with their samples, in compressed chunks that the browser opens singly.

The journal is read once, line by line: a problem is compressed as soon as all its samples were read.
"""

import re
import zlib
from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from model_accuracy_eval.records import DatasetResult, Opinion, ProblemResult, VerdictReason
from model_accuracy_eval.records.code import Execution
from model_accuracy_eval.report.markdown import valid_unicode
from model_accuracy_eval.run_folder import journal, predictions
from model_accuracy_eval.run_folder.journal import AnswerLine, FailureLine, Turn
from model_accuracy_eval.run_folder.predictions import FindingLine

# What a judge said of a reply, and what became of the program in it, as the page shows it beside the reply.


_decode = msgspec.json.Decoder(FindingLine).decode


class FindingDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One opinion, or how one program ended."""

    judge: str | None = None
    """None: a program; empty: the judge."""
    text: str = ""
    """The judge's words, or why the program failed."""
    verdict: str = ""
    output: str = ""
    seconds: float | None = None
    cases: tuple[int, int] | None = None
    """Of how many there are, how many passed."""


class Findings:
    """The findings about one dataset's replies. A line names the first sample that needed it; others of the problem
    in which the same was said share it."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._found: dict[int, dict[int, dict[str, FindingDocument]]] = defaultdict(lambda: defaultdict(dict))
        for line in map(_decode, lines):
            if (finding := line.opinion or line.execution) is not None:
                self._found[line.problem][line.index][line.key] = _finding_document(finding)

    def of(self, problem: int, index: int, replies: Mapping[int, object]) -> list[FindingDocument]:
        """Those about one sample. `replies` has all that was said in each sample of the problem."""
        own: dict[str, FindingDocument] = {}
        for other, findings in self._found.get(problem, {}).items():
            if other == index or replies.get(other) == replies[index]:
                own |= findings
        return list(own.values())


def _finding_document(finding: Opinion | Execution) -> FindingDocument:
    if isinstance(finding, Opinion):
        return FindingDocument(judge="", text=finding.text)
    passed = sum(case.verdict == "passed" for case in finding.cases)
    return FindingDocument(
        verdict=finding.verdict,
        text=finding.detail,
        output=finding.output + (f"\n[…]\n{finding.output_end}" if finding.output_end else ""),
        seconds=finding.wall_seconds,
        cases=(passed, finding.all_cases) if finding.all_cases else None,
    )


CHUNK_BYTES = 256 * 1024
"""Of JSON in a chunk: the browser opens one in some milliseconds."""
_LONGEST = 60_000
"""Characters of one text; of a longer one the page has the beginning and the end."""
_END = 15_000
_AS_GZIP = zlib.MAX_WBITS + 16


class StepDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What was said before the reply: an earlier turn, or a round of tool calls."""

    text: str = ""
    reasoning: str = ""
    next: str = ""
    """What was asked next."""
    calls: list[tuple[str, str, str]] = []
    """Name, arguments and result of each tool that was called."""


class SampleDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One sample as the page shows it."""

    why: VerdictReason | None = None
    read: str | None = None
    """What was read from the reply."""
    value: float | None = None
    """Only where a reply can be partly right."""
    text: str | None = None
    """None: there is no reply."""
    media: list[tuple[str, str, str]] = []
    """Kind, id and file of each sound and picture."""
    reasoning: str = ""
    steps: list[StepDocument] = []
    likelihoods: list[tuple[float, int | None, bool | None] | None] = []
    finish: str | None = None
    ttft: float | None = None
    e2e: float | None = None
    gap: float | None = None
    tokens: tuple[int | None, int | None, int | None] | None = None
    """Of the prompt, the completion, and the reasoning in it."""
    shared: bool = False
    """Whether the tokens are those of one request for several samples."""
    seed: int | None = None
    tries: int = 1
    error: str = ""
    status: int | None = None
    findings: list[FindingDocument] = []


class ProblemDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One problem as the page shows it."""

    id: int
    gold: list[str] = []
    prompt: list[Turn] = []
    pictures: dict[str, str] = {}
    """Id, as the prompt names it → data URI."""
    samples: list[SampleDocument | None] = []
    old: list[SampleDocument | None] = []
    """Where two runs are compared, the samples of the older one."""


class PackedReplies(msgspec.Struct, frozen=True):
    """The replies to one dataset."""

    chunks: Sequence[str] = ()
    """Base64 of compressed JSON lists of `ProblemDocument`."""
    places: dict[int, int] = {}
    """Problem → its chunk."""

    @property
    def size(self) -> int:
        return sum(map(len, self.chunks))


_PICTURE = re.compile(r"\[picture\b[^\[\]]*, ([0-9a-f]{12})\]")
_encode = msgspec.json.Encoder().encode
_decode_turns = msgspec.json.Decoder(list[Turn]).decode


def pack(
    result: DatasetResult,
    answers: Iterable[bytes],
    failures: Iterable[bytes],
    findings: Iterable[bytes],
    pictures: Iterable[bytes] = (),
) -> PackedReplies:
    """The replies to one dataset, from the lines of its files. Problems without a result are left out."""
    read = documents(result, answers, failures, findings)
    return pack_documents(illustrated(read, predictions.addresses(pictures)))


def illustrated(documents: Iterable[ProblemDocument], addresses: Mapping[str, str]) -> Iterator[ProblemDocument]:
    """The same with the pictures that their prompts name."""
    for document in documents:
        named = (name for turn in document.prompt for name in _PICTURE.findall(turn.prompt))
        samples = (sample for sample in (*document.samples, *document.old) if sample)
        said = (name for sample in samples for _, name, _ in sample.media)
        document.pictures = {name: addresses[name] for name in (*named, *said) if name in addresses}
        yield document


def pack_documents(documents: Iterable[ProblemDocument]) -> PackedReplies:
    """The same of problems whose texts are there already."""
    chunks: list[str] = []
    places: dict[int, int] = {}
    pending: list[bytes] = []
    for document in documents:
        places[document.id] = len(chunks)
        pending.append(_encode(document))
        if sum(map(len, pending)) >= CHUNK_BYTES:
            chunks.append(packed(pending))
            pending = []
    if pending:
        chunks.append(packed(pending))
    return PackedReplies(chunks, places)


def packed(parts: Sequence[bytes]) -> str:
    """A JSON list of the parts, compressed, as text that can stand in a page."""
    compressor = zlib.compressobj(6, zlib.DEFLATED, _AS_GZIP)
    compressed = compressor.compress(b"[" + b",".join(parts) + b"]")
    return b64encode(compressed + compressor.flush()).decode()


def documents(
    result: DatasetResult,
    answers: Iterable[bytes],
    failures: Iterable[bytes],
    findings: Iterable[bytes],
) -> Iterator[ProblemDocument]:
    """Each problem as soon as all its samples were read."""
    waiting = {problem.problem: problem for problem in result.problem_results}
    found = Findings(findings)
    failed: dict[int, dict[int, FailureLine]] = defaultdict(dict)
    for failure in map(journal.failure_of, failures):
        failed[failure.id][failure.index] = failure
    answered: dict[int, dict[int, AnswerLine]] = defaultdict(dict)
    for answer in map(journal.answer_of, answers):
        if answer.id not in waiting:
            continue
        samples = answered[answer.id]
        samples[answer.index] = answer
        if len(samples.keys() | failed[answer.id].keys()) >= waiting[answer.id].n:
            yield _document(waiting.pop(answer.id), answered.pop(answer.id), failed.pop(answer.id), found)
    for number, problem in waiting.items():
        yield _document(problem, answered[number], failed[number], found)


def _document(
    problem: ProblemResult, answers: dict[int, AnswerLine], failures: dict[int, FailureLine], found: Findings
) -> ProblemDocument:
    requests = [answer.request for answer in answers.values()]
    said = {
        index: (answer.prediction, answer.reasoning, answer.earlier, answer.rounds) for index, answer in answers.items()
    }
    samples: list[SampleDocument | None] = []
    for index in range(problem.n):
        sample = SampleDocument()
        if answer := answers.get(index):
            sample = _answered(answer, shared=bool(answer.request) and requests.count(answer.request) > 1)
            sample.findings = found.of(problem.problem, index, said)
        elif failure := failures.get(index):
            sample = SampleDocument(error=failure.error_info, status=failure.status, tries=failure.tries)
        sample.why, sample.read = problem.why[index], _cut(problem.answers[index])
        if problem.c is None:
            sample.value = problem.values[index]
        samples.append(sample)
    prompt = next((answer.origin_prompt for answer in answers.values()), None)
    prompt = prompt or next((failure.input for failure in failures.values()), None)
    return ProblemDocument(
        id=problem.problem,
        gold=[_said(reference) for reference in problem.references],
        prompt=[Turn(turn.role, _said(turn.prompt)) for turn in _decode_turns(prompt)] if prompt else [],
        samples=samples,
    )


def _answered(answer: AnswerLine, *, shared: bool) -> SampleDocument:
    timings, usage = answer.timings, answer.usage
    steps = [
        StepDocument(text=_said(one.text), reasoning=_said(one.reasoning), next=one.next) for one in answer.earlier
    ]
    for one in answer.rounds:
        calls = [(use.call.name, use.call.arguments, use.result) for use in one.uses]
        steps.append(StepDocument(text=_said(one.text), reasoning=_said(one.reasoning), calls=calls))
    return SampleDocument(
        text=_cut(answer.prediction),
        media=[(one.kind, one.sha256[:12], one.name or one.url) for one in answer.media],
        reasoning=_said(answer.reasoning),
        steps=steps,
        likelihoods=[None if one is None else (one.logprob, one.tokens, one.greedy) for one in answer.loglikelihoods],
        finish=answer.finish_reason,
        ttft=_rounded(timings.ttft) if timings else None,
        e2e=_rounded(timings.e2e) if timings else None,
        gap=_rounded(timings.gap_mean) if timings else None,
        tokens=(usage.prompt_tokens, usage.completion_tokens, usage.reasoning_tokens) if usage else None,
        shared=shared,
        seed=answer.seed,
        tries=answer.tries,
    )


def _rounded(seconds: float | None) -> float | None:
    """Microseconds are what anybody reads of it."""
    return None if seconds is None else round(seconds, 6)


def _cut(text: str | None) -> str | None:
    return None if text is None else _said(text)


def _said(text: str) -> str:
    text = valid_unicode(text)
    if len(text) <= _LONGEST:
        return text
    left_out = len(text) - _LONGEST
    return (
        f"{text[: _LONGEST - _END]}\n\n[… {left_out:,} characters are left out here; the file in predictions/ has "
        f"them …]\n\n{text[-_END:]}"
    )
