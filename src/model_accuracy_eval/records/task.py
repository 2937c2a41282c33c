"""What is asked and how replies are judged: a task as pure data."""

from typing import Literal

from model_accuracy_eval.records.base import JSONObject, Record
from model_accuracy_eval.records.data import DataFile, Slice, Step
from model_accuracy_eval.records.problem import Problem
from model_accuracy_eval.records.tools import ToolName


class FewShot(Record, frozen=True, kw_only=True):
    """Solved examples shown before the question."""

    data: DataFile | None = None
    """None: the other rows of the questions' own file."""
    rows: tuple[JSONObject, ...] = ()
    """The examples themselves, where the task carries them."""
    fields: tuple[str, ...] | None = None
    """Columns that every example must have; None: those of the questions."""
    count: int
    without_itself: bool | None = None
    """Whether a question's own row is no example for it; None: where they are of one file."""
    question: str | None = None
    """How an example's question reads; None: as the question itself."""
    answer_delimiter: str | None = None
    """Between an example's question and its answer; None: as between question and answer."""
    sampler: Step = Step(name="first")
    """How examples are chosen: a function of `tasks.fewshot`."""
    delimiter: str = "\n\n"
    """Between examples, where they are one text."""
    turns: bool = True
    """As earlier turns of the conversation; False: in front of the question, in one text with it."""


class Prompt(Record, frozen=True, kw_only=True):
    """Jinja templates over a row's fields."""

    question: str
    answer: str = ""
    """The reply that a solved example shows; empty: its right option, else its first right answer. Where contexts are
    weighed, the ending that follows them."""
    system: str | None = None
    dialogue: str | None = None
    """Column of messages that are sent before the question; an empty question is left out behind them."""
    description: str = ""
    """In front of everything; in the system message where there are turns."""
    prefix: str = ""
    """How the reply is made to begin."""
    lettered: str = ""
    """The question for services that weigh no options: it lists them by letter; empty: as `prompts` lists them."""
    delimiter: str = " "
    """Between question and answer, where both are one text."""
    fewshot: FewShot | None = None
    strategies: dict[str, str] = {}
    """Other manners of asking the same: name → question."""


class Measure(Record, frozen=True, kw_only=True):
    """One metric of a pipeline; None leaves to the table of metrics what it knows best."""

    name: str
    label: str = ""
    """What the report calls it; empty: its name."""
    args: JSONObject = {}
    reduction: str | None = None
    """How the values of one problem's samples become one."""
    k: tuple[int, ...] = ()
    aggregation: str | None = None
    """How the values of the problems become one."""
    higher_is_better: bool | None = None


class Pipeline(Record, frozen=True, kw_only=True):
    """How replies become figures: filters read the answers out of the texts, and metrics judge these."""

    name: str = "none"
    filters: tuple[Step, ...] = ()
    metrics: tuple[Measure, ...] = ()
    """Empty: the metrics of the task's scorer, else those that suit what is asked."""


WHOLE_ROW = ("*",)
"""The extras of a task whose judging may look at every column."""

Kind = Literal["generate", "choice", "schema", "target", "rolling"]
"""What is asked for: a text; which option is likeliest; which context makes the ending likeliest; how likely the
reference is; how likely the whole text is."""


class Grouping(Record, frozen=True, kw_only=True):
    """Figures of parts of a dataset, and the mean over the parts."""

    by: str = "category"
    weight_by_size: bool = True
    areas: dict[str, str] = {}
    """Part → the area that it belongs to; every area has a figure, too, over all its problems."""


class TaskSpec(Record, frozen=True, kw_only=True):
    """One dataset as data: where its rows are, how they are asked, how replies are judged."""

    name: str
    about: str
    home: str = ""
    licence: str = ""
    data: DataFile
    views: tuple[Step, ...] = ()
    """What is made of the file's rows before they are sliced: functions of `tasks.views`."""
    slice: Slice = Slice()
    fields: tuple[str, ...]
    """Columns that every row must have."""
    prompt: Prompt
    reference: str
    """Jinja template of the right answer; where options are weighed, its position, its letter or its text."""
    references: str | None = None
    """Jinja template that gives a JSON list of all right answers, where there may be several."""
    choices: str | None = None
    """Jinja template that gives a JSON list of the options, for multiple choice."""
    category: str | None = None
    """The column that tells a row's part of the dataset."""
    extras: tuple[str, ...] = ()
    """Columns that judging needs beyond the references; `*` alone: all that a row has."""
    kind: Kind = "generate"
    mode: Literal["chat", "text"] = "chat"
    """Whether texts are asked of `/v1/chat/completions` or `/v1/completions`."""
    tools: tuple[ToolName, ...] = ()
    """What the model may use before it answers."""
    tool_rounds: int = 8
    """Replies with calls of tools that are answered; one more ends the sample."""
    boundary: Literal["context", "shared"] = "context"
    """What of an option is weighed: what follows its context, or what follows the tokens that all options share."""
    repeats: int | None = None
    """Samples of every problem; None: as many as the run asks for."""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int = 512
    stop: tuple[str, ...] = ()
    generation: JSONObject = {}
    """Further request fields that the task asks for."""
    scorer: Step | None = None
    """Filters and metrics under one name, for pipelines that have none of their own."""
    pipelines: tuple[Pipeline, ...] = ()
    grouping: Grouping | None = None
    baseline: float | None = None
    """Share, 0..1, that guessing reaches; centred figures count from there."""
    # The whole annotation is quoted: Python 3.10 reads no quotes inside of it.
    parts: "tuple[TaskSpec, ...]" = ()
    """Other tasks that make up this one, each asked and judged in its own way; one that stands here twice weighs
    double."""
    arrangement: Literal["sequence", "mixture"] = "sequence"
    """The problems of the parts one after the other, or shuffled, always in the same way."""

    def of(self, problem: "Problem") -> "TaskSpec":
        """The task that a problem comes from: a part, or this one."""
        task = self
        for at in problem.part:
            task = task.parts[at]
        return task


class GroupMean(Record, frozen=True, kw_only=True):
    """One figure of a group: the mean of its datasets' figures."""

    metric: str
    pipelines: tuple[str, ...] = ()
    """Names of the pipelines it is taken from; empty: all."""
    weight_by_size: bool = True


class TaskGroup(Record, frozen=True, kw_only=True):
    """Several datasets under one name."""

    name: str
    members: tuple[str, ...]
    """Names of datasets and of other groups."""
    means: tuple[GroupMean, ...] = ()
