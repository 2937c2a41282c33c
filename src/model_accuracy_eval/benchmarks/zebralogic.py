"""zebralogic: 1,000 logic puzzles about two to six houses, whose inhabitants are told apart by clues alone.

Home: https://huggingface.co/datasets/WildEval/ZebraLogic, arXiv:2502.01100. Licence: none is stated there.
A row: {"id": "lgp-test-5x6-16", "size": "5*6", "puzzle": "There are 5 houses, …", "solution": {"header": ["House",
"Name", …], "rows": [["1", "Bob", …], …]}}; in `size`, houses come first, then attributes.
Asked: the puzzle, and for a JSON object with the attributes of every house. The authors show a solved puzzle before it,
which this prompt does not.
Judged: the last such object of the reply; a puzzle counts if every cell is right, apart from case. Beside it stands the
share of right cells. Every size has a row of its own, and so have the authors' four ranges of the number of possible
grids.
"""

from math import factorial

from model_accuracy_eval.records import DataFile, DataSource, Grouping, MetricUse, Pipeline, Prompt, Step, TaskSpec

_RANGES = {"small": 1e3, "medium": 1e6, "large": 1e10}
"""Range → the number of possible grids that it ends before; the rest is extra-large."""


def _range(houses: int, attributes: int) -> str:
    grids = factorial(houses) ** attributes
    return next((name for name, end in _RANGES.items() if grids < end), "extra-large")


_SIZES = {f"{houses}*{attributes}": _range(houses, attributes) for houses in range(2, 7) for attributes in range(2, 7)}

_QUESTION = """{{ puzzle | trim }}

Which attributes has each house? Reason as much as you need, then end with one JSON object of this form, every ___ \
replaced by its value:

{"solution": {
{%- for _ in solution.rows %}
  "House {{ loop.index }}": {
    {%- for name in solution.header[1:] %}"{{ name }}": "___"{{ ", " if not loop.last }}{% endfor -%}
  }{{ "," if not loop.last }}
{%- endfor %}
}}"""

TASK = TaskSpec(
    name="zebralogic",
    about="Logic puzzles: who lives in which house, by clues.",
    home="https://huggingface.co/datasets/WildEval/ZebraLogic",
    licence="none stated",
    aliases=("zebra_logic", "zebralogicbench", "zebra_grid"),
    data=DataFile(
        name="zebralogic/grid_mode.jsonl",
        source=DataSource(
            hf="WildEval/ZebraLogic", ms="allenai/ZebraLogicBench-private", config="grid_mode", split="test"
        ),
    ),
    fields=("puzzle", "solution", "size"),
    prompt=Prompt(question=_QUESTION),
    reference="{{ solution.rows | tojson }}",
    key=("id",),
    category="size",
    extras=("solution",),
    max_tokens=8192,
    pipelines=(
        Pipeline(
            filters=(Step(name="strip_thoughts"), Step(name="solution_grid")),
            metrics=(MetricUse(name="grid_solved", label="accuracy"), MetricUse(name="grid_cells", label="cells")),
        ),
    ),
    grouping=Grouping(by="category", areas=_SIZES),
)

TASKS = (TASK,)
