"""Weights by reference: measured before anything is fetched, kept between runs, and refused when they are too large."""

from collections.abc import Callable, Mapping
from pathlib import Path

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.records import Stock
from model_accuracy_eval.rim.hubs import weights
from model_accuracy_eval.rim.hubs.sizes import parse_size, show_size
from model_accuracy_eval.rim.hubs.weights_records import Weights, parse_reference, refuse_size
from model_accuracy_eval.rim.secret import Secret


class HubWarehouse:
    """Implements `ports.Warehouse`. `token` goes to the hub of the reference and nowhere else."""

    def __init__(
        self,
        environment: Mapping[str, str],
        folder: str,
        *,
        token: Secret,
        check: Callable[[], object],
        say: Callable[[str], object],
    ) -> None:
        self._environment = environment
        self._folder = folder
        self._token = token
        self._check = check
        self._say = say
        self._measured: dict[str, Weights] = {}

    def measure(self, reference: str, limit: str) -> Stock:
        parsed = parse_reference(reference)
        if parsed.source == "path" and not Path(parsed.name).exists():
            raise Refused(f"The weights '{parsed.name}' are not there.")
        found = weights.measure(parsed, environment=self._environment, token=self._token, check=self._check)
        refuse_size(found, parse_size(limit))
        weights.refuse_room(found, self._folder)
        self._measured[reference] = found
        return Stock(
            reference=reference,
            commit=found.commit,
            size=found.total,
            shown=show_size(found.total),
            task_types=found.task_types,
        )

    def fetch(self, reference: str, limit: str) -> str:
        return weights.fetch(
            self._measured[reference],
            self._folder,
            environment=self._environment,
            token=self._token,
            limit=parse_size(limit),
            check=self._check,
            tell=self._teller(),
            say=self._say,
        )

    def _teller(self) -> Callable[[int, int], None]:
        """Says how far a fetch is, at every tenth."""
        told = 0

        def tell(done: int, total: int) -> None:
            nonlocal told
            tenth = 10 * done // total if total else 10
            if tenth > told and total:
                told = tenth
                self._say(f"Weights: {show_size(done)} of {show_size(total)}.")

        return tell
