"""The promises of every metric, estimator, reduction and aggregation, as one table that can be executed.

A contract has a rule, an example, and a case in which a wrong implementation would show itself.
"""

from collections.abc import Sequence

from model_accuracy_eval.scoring.contracts import (
    benchmark_contracts,
    dependency_contracts,
    estimator_contracts,
    maths_contracts,
    text_contracts,
)
from model_accuracy_eval.scoring.contracts.contract import Breach, Contract, breaches

__all__ = ["CONTRACTS", "Breach", "Contract", "breaches", "table"]

CONTRACTS: tuple[Contract, ...] = (
    *estimator_contracts.CONTRACTS,
    *text_contracts.CONTRACTS,
    *text_contracts.READING_CONTRACTS,
    *maths_contracts.CONTRACTS,
    *dependency_contracts.LIKELIHOOD_CONTRACTS,
    *dependency_contracts.CONTRACTS,
    *benchmark_contracts.CONTRACTS,
)


def table(found: Sequence[Breach], contracts: Sequence[Contract] = CONTRACTS) -> str:
    """One line for each contract, and below them the details of those that do not hold."""
    broken = {breach.contract.id for breach in found}
    width = max(len(contract.id) for contract in contracts)
    lines = [
        f"{'BROKEN' if contract.id in broken else 'holds '}  {contract.id.ljust(width)}  {contract.rule}"
        for contract in contracts
    ]
    details = [
        f"{breach.contract.id}: {breach.case.input} gives {breach.result}, not {breach.case.shown}.\n"
        f"    If this fails: {breach.contract.if_fails}"
        for breach in found
    ]
    holding = len(contracts) - len(broken)
    return "\n".join([*lines, "", *details, f"{holding} of {len(contracts)} contracts hold."])
