"""The page over a folder of runs: what each one was and reached, the newest first."""

from collections.abc import Sequence
from dataclasses import dataclass

from model_accuracy_eval.report import figures
from model_accuracy_eval.report.endings import CONCLUSIONS
from model_accuracy_eval.report.page import render
from model_accuracy_eval.run_folder.runfile import RunFile


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedRun:
    """One run of the folder; `page` is the address of its own page, where it has one."""

    place: str
    run: RunFile
    page: str

    @property
    def figures(self) -> list[tuple[str, str, str]]:
        """Dataset, name and value of each dataset's first figure: the average of all samples, where there is one."""
        shown = []
        for dataset, entry in self.run.datasets.items():
            if entry.metrics:
                name = next((name for name in entry.metrics if name.startswith("avg@")), next(iter(entry.metrics)))
                shown.append((dataset, name, figures.number(entry.metrics[name])))
        return shown


def as_html(folder: str, runs: Sequence[ListedRun], unreadable: Sequence[str]) -> bytes:
    """`unreadable` has a sentence for each run that could not be read."""
    ordered = sorted(runs, key=lambda listed: listed.run.started, reverse=True)
    verdicts: dict[str, str] = {name: text.words for name, text in CONCLUSIONS.items()} | {"running": "Running"}
    return render(
        "run_list.html.j2", {"folder": folder, "runs": ordered, "verdicts": verdicts, "unreadable": unreadable}
    )
