"""The page over a folder of runs: what each one was and reached, and two of them to compare."""

from collections.abc import Sequence

import msgspec

from model_accuracy_eval.report import figures, page
from model_accuracy_eval.report.conclusions import CONCLUSIONS
from model_accuracy_eval.run_folder.runfile import RunFile


class ListedRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the folder. The key is its place in addresses."""

    key: str
    place: str
    run: RunFile
    has_page: bool

    @property
    def figures(self) -> list[tuple[str, str, str]]:
        """Dataset, name and value of each dataset's first figure."""
        first = ((name, entry.metrics) for name, entry in self.run.datasets.items() if entry.metrics)
        return [(name, *_shown(metrics)) for name, metrics in first]


def _shown(metrics: dict[str, float | None]) -> tuple[str, str]:
    """The average of all samples, where there is one."""
    name = next((name for name in metrics if name.startswith("avg@")), next(iter(metrics)))
    return name, figures.number(metrics[name])


def as_html(folder: str, runs: Sequence[ListedRun], unreadable: Sequence[str] = ()) -> bytes:
    """The list, the newest run first."""
    ordered = sorted(runs, key=lambda listed: listed.run.started, reverse=True)
    verdicts: dict[str, str] = {name: text.words for name, text in CONCLUSIONS.items()}
    data = {
        "folder": folder,
        "runs": ordered,
        "verdicts": verdicts | {"running": "Running"},
        "unreadable": unreadable,
        "form_action": "'self'",
    }
    return page.render("run_list.html.j2", data)


def message(title: str, sentence: str) -> bytes:
    """A page that says why there is no other."""
    return page.render("message.html.j2", {"title": title, "sentence": sentence})
