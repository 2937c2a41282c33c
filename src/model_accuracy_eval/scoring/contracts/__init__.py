"""The promises of every metric, estimator, reduction and aggregation, as one table that can be executed.

A contract has a rule, an example, and a case in which a wrong implementation would show itself.
"""

from model_accuracy_eval.scoring.contracts import (
    dependency_contracts,
    estimator_contracts,
    maths_contracts,
    text_contracts,
)

CONTRACTS = (
    *estimator_contracts.CONTRACTS,
    *text_contracts.CONTRACTS,
    *maths_contracts.CONTRACTS,
    *dependency_contracts.CONTRACTS,
)
