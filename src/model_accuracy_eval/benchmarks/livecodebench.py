r"""livecodebench: problems of programming contests, each with the date of its contest.

Home: https://github.com/LiveCodeBench/LiveCodeBench, arXiv:2403.07974. Licence: of the texts unclear; its code MIT.
A row of code_generation_lite: {"question_content": "…", "platform": "leetcode", "contest_date": "2023-08-21T00:00:00",
"starter_code": "class Solution: …", "difficulty": "easy", "public_test_cases": "[{\"input\": …, \"output\": …}]",
"private_test_cases": "eJx…", "metadata": "{\"func_name\": …}"}; the second list is packed. Release 3 is test.jsonl,
test2.jsonl and test3.jsonl; livecodebench is release 6, `livecodebench@2024-08-01..` what is newer than July 2024.
Asked: in the benchmark's own words, those of its generic chat style. Judged: by the last fenced block, run in all cases
with six seconds for each; output is compared by lines and decimal numbers, returned values by being equal. `best of n`
takes of each problem's samples the first that passes the public cases, which the question shows.
"""

from msgspec import structs

from model_accuracy_eval.records import DataFile, DataSource, Grouping, MetricUse, Pipeline, Prompt, Step, TaskSpec

_SYSTEM = (
    "You are an expert Python programmer. You will be given a question (problem specification) and will generate a "
    "correct Python program that matches the specification and passes all tests."
)
_QUESTION = """### Question:
{{ question_content }}

{% if starter_code %}### Format: You will use the following starter code to write the solution to the problem and \
enclose your code within delimiters.
```python
{{ starter_code }}
```
{% else %}### Format: Read the inputs from stdin solve the problem and write the answer to stdout (do not directly \
test on the sample inputs). Enclose your code within delimiters as follows. Ensure that when the python program runs, \
it reads the inputs, runs the algorithm and writes output to STDOUT.
```python
# YOUR CODE HERE
```
{% endif %}
### Answer: (use the provided format with backticks)

"""
"""Both texts are LiveCodeBench's (lcb_runner/prompts/code_generation.py): figures are comparable with them alone."""
_FILES = ("test", "test2", "test3", "test4", "test5", "test6")
"""The n-th release has the first n."""


def _data(release: int) -> DataFile:
    first, *more = (DataFile(name=f"livecodebench/{name}.jsonl") for name in _FILES[:release])
    at_hubs = DataFile(
        name=f"livecodebench/hub/release_v{release}",
        source=DataSource(
            hf="livecodebench/code_generation_lite",
            ms="evalscope/livecodebench_code_generation_lite_parquet",
            config=f"release_v{release}",
        ),
    )
    return structs.replace(first, more=tuple(more), instead=(at_hubs,))


TASK = TaskSpec(
    name="livecodebench",
    about="Problems of programming contests with their dates, release 6; a time can be chosen.",
    home="https://github.com/LiveCodeBench/LiveCodeBench",
    licence="unclear",
    data=_data(len(_FILES)),
    fields=("question_id", "question_content", "contest_date", "difficulty", "public_test_cases", "private_test_cases"),
    prompt=Prompt(system=_SYSTEM, question=_QUESTION),
    reference="",
    category="difficulty",
    dated="contest_date",
    key=("question_id",),
    extras=("question_id", "contest_date", "platform", "public_test_cases", "private_test_cases", "metadata"),
    grouping=Grouping(),
    temperature=0.2,
    top_p=0.95,
    max_tokens=2000,
    pipelines=(
        Pipeline(
            filters=(Step(name="strip_thoughts"), Step(name="last_fence")),
            metrics=(
                MetricUse(name="tests", label="accuracy", args={"suite": "livecodebench"}),
                MetricUse(name="best_of_n", label="best of n", args={"suite": "livecodebench"}, reduction="best_shown"),
            ),
        ),
    ),
)

TASKS = (
    TASK,
    *(
        structs.replace(
            TASK,
            name=f"livecodebench_v{release}",
            about=f"The problems of its release {release}.",
            data=_data(release),
        )
        for release in range(1, len(_FILES))
    ),
)
