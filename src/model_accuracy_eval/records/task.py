"""A task as data: prompts and scoring."""

from collections.abc import Callable, Container, Mapping
from typing import Annotated, Literal

from msgspec.structs import replace

from model_accuracy_eval.records.base import FREE, JSONObject, Record
from model_accuracy_eval.records.exchange import ToolName
from model_accuracy_eval.records.problem import DataFile, Problem, RowsSource, Slice, Step


class FewShot(Record, frozen=True, kw_only=True):
    """Solved examples shown before the question."""

    data: DataFile | None = None
    """The file of the examples; None: the other rows of the questions' file."""
    rows: tuple[JSONObject, ...] = ()
    """The examples themselves, if the task contains them."""
    fields: tuple[str, ...] | None = None
    """Columns that every example must have; None: those of the questions."""
    count: int
    without_itself: bool | None = None
    """Whether a question's own row is left out of its examples; None: if both come from the same file."""
    question: str | None = None
    """Template of an example's question; None: the question's template."""
    answer_delimiter: str | None = None
    """Text between an example's question and answer; None: the prompt's delimiter."""
    sampler: Step = Step(name="first")
    """How examples are chosen: a sampler of `tasks.preparation`."""
    delimiter: str = "\n\n"
    """Text between examples, if they are one text."""
    turns: bool = True
    """Whether examples are earlier turns of the conversation; if not, they are text before the question."""


class Prompt(Record, frozen=True, kw_only=True):
    """Jinja templates over a row's fields."""

    question: str
    answer: str = ""
    """The answer of a solved example; empty: its right option, otherwise its first right answer. For `schema` tasks,
    the continuation of the contexts."""
    system: str | None = None
    dialogue: str | None = None
    """Column with messages to send before the question; an empty question after them is left out."""
    description: str = ""
    """Text before everything else; in a conversation, part of the system message."""
    prefix: str = ""
    """Text that the reply has to start with."""
    lettered: str = ""
    """The question with lettered options, for services without log-likelihoods; empty: written by `tasks.prompts`."""
    follow_ups: str | None = None
    """Jinja template of a JSON list of what is asked next, each after the model's reply to what was asked before."""
    delimiter: str = " "
    """Text between question and answer, if both are one text."""
    fewshot: FewShot | None = None
    strategies: dict[str, str] = {}
    """Other prompt styles: name → question."""


class MetricUse(Record, frozen=True, kw_only=True):
    """One metric of a pipeline; None: what the table of metrics says."""

    name: str
    label: str = ""
    """Its name in the report; empty: `name`."""
    args: JSONObject = {}
    reduction: str | None = None
    """How the values of a problem's samples are combined."""
    k: tuple[int, ...] = ()
    aggregation: str | None = None
    """How the values of the problems are combined."""
    higher_is_better: bool | None = None


class Pipeline(Record, frozen=True, kw_only=True):
    """How replies become scores: filters extract the answers, and metrics score them."""

    name: str = "none"
    turn: int | Literal["each"] | None = None
    """In a conversation of several turns, the turn whose reply is judged, from 1; `each`: all, and a sample's value is
    the mean of its turns' values; None: the last one."""
    filters: tuple[Step, ...] = ()
    metrics: tuple[MetricUse, ...] = ()
    """Empty: the metrics of the task's scorer, otherwise the default ones for the task's kind."""
    spoken: bool = False
    """As the task says."""


WHOLE_ROW = ("*",)
"""The extras of a task whose scoring may use every column."""

RequestKind = Literal["generate", "choice", "schema", "target", "rolling"]
"""What the model has to do: write a text; then by log-likelihood: choose an option, choose a context for one
continuation, rate the reference, rate the whole text."""


class Grouping(Record, frozen=True, kw_only=True):
    """Scores of parts of a dataset, and their mean."""

    by: str = "category"
    weight_by_size: bool = True
    areas: Mapping[str, str | tuple[str, ...]] = {}
    """Part → its area, or its areas. Every area has a score, too, over all its problems."""
    figures: tuple[str, ...] = ()
    """Labels of the metrics that have a row for each part and area besides the first one."""


class PublishedScore(Record, frozen=True, kw_only=True):
    """What somebody measured, to hold an own figure against."""

    model: str
    metric: str
    value: float
    """In per cent, or in the metric's own unit."""
    source: str
    """An address, with the setting (shots, prompt) where it is known."""


class TaskSpec(Record, frozen=True, kw_only=True):
    """One dataset as data: where its rows are, how they become prompts, how replies are scored."""

    name: str
    about: Annotated[str, FREE]
    home: Annotated[str, FREE] = ""
    licence: Annotated[str, FREE] = ""
    aliases: Annotated[tuple[str, ...], FREE] = ()
    """What other tools call it; letter case, `-` and `_` make no difference, but `+` and `#` do."""
    prompt_of: Annotated[str, FREE] = ""
    """Whose prompt it is: `official`, `simple-evals`, `lm-eval`, `AISBench`, `OpenCompass`; empty: this project's."""
    published: Annotated[tuple[PublishedScore, ...], FREE] = ()
    data: Annotated[DataFile, FREE]
    views: tuple[Step, ...] = ()
    """Functions of `tasks.views` that change the rows before they are sliced."""
    slice: Slice = Slice()
    fields: Annotated[tuple[str, ...], FREE]
    """Columns that every row must have."""
    prompt: Prompt
    reference: Annotated[str, FREE]
    """Jinja template of the right answer; for options, its position, its letter or its text."""
    references: Annotated[str | None, FREE] = None
    """Jinja template of a JSON list of all right answers, if there may be several."""
    turn_references: Annotated[str | None, FREE] = None
    """Jinja template of a JSON list with the right answer to each turn, empty where a turn has none."""
    choices: Annotated[str | None, FREE] = None
    """Jinja template of a JSON list of the options, for multiple choice."""
    category: Annotated[str | None, FREE] = None
    """The column with the name of a row's part of the dataset."""
    cluster: Annotated[str, FREE] = ""
    """The column whose value rows share that are not independent: a passage, a story, a picture; or a Jinja template
    of it. Rows where it is empty stand alone."""
    key: Annotated[tuple[str, ...], FREE] = ()
    """Columns that identify a row in other programs' files, such as HumanEval's `task_id`."""
    extras: Annotated[tuple[str, ...], FREE] = ()
    """Columns that scoring needs besides the references; `*` alone: all columns."""
    kind: RequestKind = "generate"
    mode: Literal["chat", "text"] = "chat"
    """Whether requests go to `/v1/chat/completions` or `/v1/completions`."""
    tools: tuple[ToolName, ...] = ()
    """Tools that the model may call before it answers."""
    functions: str = ""
    """The column with the definitions of a row's own functions. Calls of these are the answer, written into its text,
    and are not carried out."""
    tool_rounds: int = 8
    """How many replies with tool calls are answered; one more ends the sample."""
    boundary: Literal["context", "shared"] = "context"
    """The measured part of an option: after its context, or after the tokens that all options have in common."""
    repeats: int | None = None
    """Samples per problem; None: what the settings say."""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int = 512
    stop: tuple[str, ...] = ()
    spoken: Annotated[bool, FREE] = False
    """Whether a reply in sound alone is judged by its transcript; else it is one without an answer."""
    generation: JSONObject = {}
    """Additional request fields."""
    scorer: Annotated[Step | None, FREE] = None
    """Filters and metrics under one name, for pipelines without their own."""
    pipelines: Annotated[tuple[Pipeline, ...], FREE] = ()
    dated: Annotated[str, FREE] = ""
    """The column with the date of a row, as 2024-08-31; `name@from..to` then takes the rows of a time."""
    grouping: Annotated[Grouping | None, FREE] = None
    baseline: Annotated[float | None, FREE] = None
    """Score that guessing reaches, 0..1; centred scores start there."""
    # The whole annotation is quoted: Python 3.10 reads no quotes inside of it.
    parts: "tuple[TaskSpec, ...]" = ()
    """Tasks that this one consists of, each with its own prompts and scoring; one that is listed twice counts twice."""
    arrangement: Literal["sequence", "mixture"] = "sequence"
    """The parts' problems one after the other, or shuffled, always in the same order."""

    def of(self, problem: Problem) -> "TaskSpec":
        """Returns the task that a problem belongs to: a part, or this task."""
        task = self
        for index in problem.part:
            task = task.parts[index]
        return task

    def with_data(self, change: Callable[[DataFile], DataFile]) -> "TaskSpec":
        """The task with each of its data files changed, those of its examples and of its parts included."""
        examples = self.prompt.fewshot
        prompt = self.prompt
        if examples and examples.data:
            prompt = replace(prompt, fewshot=replace(examples, data=change(examples.data)))
        parts = tuple(part.with_data(change) for part in self.parts)
        return replace(self, data=change(self.data), prompt=prompt, parts=parts)


class GroupMean(Record, frozen=True, kw_only=True):
    """One score of a group: the mean of its datasets' scores."""

    metric: str
    pipelines: tuple[str, ...] = ()
    """Names of the pipelines to use; empty: all."""
    weight_by_size: bool = True


class TaskGroup(Record, frozen=True, kw_only=True):
    """Several datasets under one name."""

    name: str
    members: tuple[str, ...]
    """Names of datasets and of other groups."""
    means: tuple[GroupMean, ...] = ()


class Draw(Record, frozen=True, kw_only=True):
    """Which problems of a dataset are asked, where that is not all of them."""

    asked: int
    of: int
    by: str | None = None
    """What they were drawn by, each part in its proportion, such as `subject`; empty: they have no parts. None: they
    are the first ones, which are no sample."""
    parts: dict[str, int] = {}
    """How many problems each part of the dataset has."""
    whole_groups: bool = False
    """Whether problems that count only together were drawn together."""

    @property
    def is_sample(self) -> bool:
        return self.by is not None

    @property
    def population(self) -> int | None:
        """As many problems the figures stand for; None: these alone."""
        return self.of if self.is_sample else None

    def of_parts(self, names: Container[str]) -> "Draw":
        """What it says of these parts alone."""
        parts = {name: size for name, size in self.parts.items() if name in names}
        return replace(self, of=sum(parts.values()), parts=parts) if parts else self

    def __str__(self) -> str:
        if self.by is None:
            return f"the first {self.asked:,} of {self.of:,}"
        return f"{self.asked:,} of {self.of:,}, drawn {f'by {self.by}' if self.by else 'at random'}"


class PreparedDataset(Record, frozen=True, kw_only=True):
    """One dataset ready for evaluation: its task, its problems, and their identity."""

    task: TaskSpec
    problems: tuple[Problem, ...]
    version: str
    """Six hex digits of a hash over data, prompts and scoring."""
    questions: str
    """Hash over the prompts only, so that old replies can be scored in a new way."""
    sources: tuple[RowsSource, ...] = ()
    """Where its rows came from."""
    gold_fault: str = ""
    """Which of its right answers would not be judged right; empty: none is known."""
    draw: Draw | None = None
    """Of which problems these are a sample, or the first ones; None: these are all. A shard has that of the whole."""

    @property
    def tasks(self) -> list[TaskSpec]:
        """The tasks of the problems: those of the task's parts, or the task itself."""
        if not self.task.parts:
            return [self.task] if self.problems else []
        return list({problem.part: self.task.of(problem) for problem in self.problems}.values())
