"""Python files that a task file names, looked for beside it first, as its data is."""

from collections.abc import Callable
from pathlib import PurePath

from msgspec.structs import replace

from model_accuracy_eval.records import MetricUse, Pipeline, Step, TaskSpec
from model_accuracy_eval.scoring import function_paths


def beside(path: str, task: TaskSpec, holds: Callable[[str], bool]) -> TaskSpec:
    """The task and its parts with the functions that lie beside its own file by their paths; `holds`: whether there is
    such a file."""

    def found(name: str | None) -> str | None:
        file = function_paths.file_of(name) if name else None
        place = str(PurePath(path).parent / file) if file else ""
        return function_paths.in_other_file(name, place) if name and place and holds(place) else name

    def step(one: Step) -> Step:
        args = {key: found(value) if key == "filter_fn" else value for key, value in one.args.items()}
        return replace(one, name=found(one.name) or one.name, args=args)

    def metric(use: MetricUse) -> MetricUse:
        # The report goes on naming it as the file does, from whatever folder it is named.
        label = use.label or (use.name if function_paths.file_of(use.name) else "")
        return replace(
            use,
            name=found(use.name) or use.name,
            label=label,
            reduction=found(use.reduction),
            aggregation=found(use.aggregation),
        )

    def pipeline(one: Pipeline) -> Pipeline:
        return replace(one, filters=tuple(map(step, one.filters)), metrics=tuple(map(metric, one.metrics)))

    parts = tuple(beside(path, part, holds) for part in task.parts)
    return replace(task, pipelines=tuple(map(pipeline, task.pipelines)), parts=parts)
