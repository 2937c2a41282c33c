"""`report RUN`: a run's pages rendered again from what its folder holds; nobody is asked and nothing is judged."""

import hashlib

from model_accuracy_eval.config import kept
from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.ports import Store
from model_accuracy_eval.records import GateResult, Outcome, Report, RunPlan, Service
from model_accuracy_eval.reporting import journal, readback, results
from model_accuracy_eval.reporting.readback import KeptGate, KeptRun
from model_accuracy_eval.scoring import gates
from model_accuracy_eval.stages import publish


def tell(store: Store) -> list[str]:
    """Writes the summary and the page anew; returns their names. Unchanged files give the same bytes."""
    report = _report(store)
    asked = {sheet.dataset: _questions(store, report.plan.label, sheet.dataset) for sheet in report.sheets}
    return publish.rewrite(report, asked, store)


def _report(store: Store) -> Report:
    found = readback.run(store.read(publish.RUN_FILE), store.root)
    _check_untouched(store)
    plan = _plan(store)
    return Report(
        plan=plan,
        outcome=_outcome(found, store.root),
        sheets=tuple(
            readback.sheet(found, name, store.read(results.file(found.label, name)), store.root)
            for name in found.judged
        ),
        gates=tuple(map(_gate, found.gates)),
        comparison=found.comparison,
        service=Service(base_url=found.endpoint, model=found.model) if found.endpoint else None,
        seconds=found.seconds,
        started=found.started,
        finished=found.finished,
        environment=found.environment,
    )


def _plan(store: Store) -> RunPlan:
    """The newest of the configs files counts, as for `--reuse`."""
    configs = [name for name in store.names() if name.startswith("configs/")]
    if not configs:
        raise BadReuse(f"'{store.root}' is no whole folder of a run: it has no configs/*.py.")
    return kept.load((store.read(configs[-1]) or b"").decode(errors="replace"), f"{store.root}/{configs[-1]}")[1]


def _check_untouched(store: Store) -> None:
    """Figures that no longer belong to the replies beside them are not told again."""
    manifest = store.read(publish.MANIFEST)
    if manifest is None:
        raise BadReuse(f"The run '{store.root}' did not come to its end: go on with it by --reuse {store.root}.")
    for line in manifest.decode(errors="replace").splitlines():
        digest, _, name = line.partition("  ")
        if not name.startswith(("predictions/", "results/", "configs/")) and name != publish.RUN_FILE:
            continue
        if hashlib.sha256(store.read(name) or b"").hexdigest() != digest:
            raise BadReuse(
                f"{name} is not what the run '{store.root}' left, so its figures cannot be told again; "
                f"judge the replies anew with --mode eval --reuse {store.root}."
            )


def _outcome(found: KeptRun, folder: str) -> Outcome:
    if not (found.is_verdict or found.status in {"broken", "stopped"}):
        raise BadReuse(f"The run '{folder}' is {found.status}, so there is no report of it.")
    return Outcome(
        conclusion=found.status,  # type: ignore[arg-type]  # one of the five, as asked above
        exit_code=found.exit_code,
        stage=found.stage,
        sentence=found.sentence,
        detail=found.detail,
        folder=folder,
    )


def _gate(one: KeptGate) -> GateResult:
    (gate,) = gates.parse(one.gate)
    return GateResult(gate=gate, value=one.value, interval=one.interval, decision=one.decision, sentence=one.sentence)


def _questions(store: Store, label: str, dataset: str) -> dict[int, str]:
    """As they were asked, from the journal and from the samples that got no answer."""
    asked = {}
    for name in (journal.file(label, dataset), journal.failures_file(label, dataset)):
        for line in store.lines(name):
            problem, text = journal.question(line)
            asked[problem] = text
    return asked
