"""What every metric, estimator, reduction and aggregation promises, as one table that can be executed.

A contract has a rule, an example, and a case in which a wrong implementation would give itself away.
"""

from collections.abc import Sequence

from model_accuracy_eval.scoring.contracts import asked, corpora, estimators, following, options, texts
from model_accuracy_eval.scoring.contracts.contract import Breach, Contract, breaches

__all__ = ["CONTRACTS", "Breach", "Contract", "breaches", "table"]

CONTRACTS: tuple[Contract, ...] = (
    *estimators.CONTRACTS,
    *texts.CONTRACTS,
    *options.CONTRACTS,
    *corpora.CONTRACTS,
    *following.CONTRACTS,
    *asked.CONTRACTS,
)


def table(found: Sequence[Breach], contracts: Sequence[Contract] = CONTRACTS) -> str:
    """One line a contract, and below them what is known of those that do not hold."""
    broken = {breach.contract.id for breach in found}
    width = max(len(contract.id) for contract in contracts)
    lines = [
        f"{'BROKEN' if contract.id in broken else 'holds '}  {contract.id.ljust(width)}  {contract.rule}"
        for contract in contracts
    ]
    details = [
        f"{breach.contract.id}: {breach.case.given} gives {breach.found}, not {breach.case.shown}.\n"
        f"    If this fails: {breach.contract.if_fails}"
        for breach in found
    ]
    held = len(contracts) - len(broken)
    return "\n".join([*lines, "", *details, f"{held} of {len(contracts)} contracts hold."])
