"""The figures of a run, packed into the comment's hidden marker: the next run's comment shows old and new side by side.

Anyone who may edit the comment can edit the marker. So what is read back is bounded, checked and taken for foreign.
"""

import base64
import binascii
import hashlib
import math
import re
import zlib

import msgspec

from model_accuracy_eval.records import Record, Report, Row
from model_accuracy_eval.reporting import foreign

_LONGEST_MARKER = 12_000
_LARGEST_DIGEST = 200_000
_MARKER = re.compile(rf"\A<!-- model-accuracy-eval ([0-9a-f]{{16}})(?: ([A-Za-z0-9+/=]{{1,{_LONGEST_MARKER}}}))? -->")


class Figure(Record, frozen=True, kw_only=True):
    """One row's value, and what makes it comparable."""

    dataset: str
    version: str
    metric: str
    value: float


class Figures(Record, frozen=True, kw_only=True):
    """What one run found; `of` names it for readers, such as the short form of its commit."""

    of: str = ""
    rows: tuple[Figure, ...] = ()

    def find(self, row: Row) -> Figure | None:
        """The same dataset's same metric, whatever its version."""
        return next((old for old in self.rows if (old.dataset, old.metric) == (row.dataset, row.metric)), None)


def of_report(report: Report, of: str) -> Figures | None:
    """None when the run is no verdict: half of its figures must not become what the next run is compared with."""
    if report.outcome.conclusion in {"broken", "stopped", "refused"}:
        return None
    rows = tuple(
        Figure(
            dataset=foreign.sound(row.dataset), version=row.version, metric=foreign.sound(row.metric), value=row.value
        )
        for sheet in report.sheets
        for row in sheet.rows
        if row.value is not None
    )
    return Figures(of=foreign.sound(of), rows=rows) if rows else None


def of_baseline(report: Report) -> Figures | None:
    """The old figures of a run that was compared with a baseline."""
    if report.comparison is None:
        return None
    rows = tuple(
        Figure(
            dataset=foreign.sound(change.dataset),
            version=change.old_version,
            metric=foreign.sound(one.metric),
            value=one.old,
        )
        for change in report.comparison.changes
        for one in change.differences
        if one.old is not None
    )
    return Figures(of=foreign.sound(report.comparison.base[:12]), rows=rows) if rows else None


def key_of(*parts: str) -> str:
    """Names a comment among several of ours on one pull request: the same parts, the same comment."""
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:16]


def marker(key: str, figures: Figures | None) -> str:
    """First line of the comment. Base64 knows no dash, so nothing in it ends an HTML comment."""
    rows = figures.rows if figures else ()
    while figures and rows:
        packed = zlib.compress(msgspec.json.encode(msgspec.structs.replace(figures, rows=rows)), 9)
        digest = base64.b64encode(packed).decode()
        if len(digest) <= _LONGEST_MARKER:
            return f"<!-- model-accuracy-eval {key} {digest} -->"
        rows = rows[: len(rows) // 2]
    return f"<!-- model-accuracy-eval {key} -->"


def is_ours(body: str, key: str) -> bool:
    """Whether the body starts with the marker of this key. Look at the author, too: anyone can write it."""
    found = _MARKER.match(body)
    return found is not None and found[1] == key


def read(body: str) -> Figures | None:
    """The figures that a comment carries; None when it carries none that can be trusted to be figures."""
    found = _MARKER.match(body)
    if not found or not found[2]:
        return None
    try:
        packed = base64.b64decode(found[2], validate=True)
        unpacker = zlib.decompressobj()
        source = unpacker.decompress(packed, _LARGEST_DIGEST)
        figures = msgspec.json.decode(source, type=Figures)
    except (binascii.Error, zlib.error, msgspec.DecodeError, ValueError, RecursionError):
        return None
    whole = unpacker.eof and all(math.isfinite(row.value) and -1e9 < row.value < 1e9 for row in figures.rows)
    return figures if whole else None
