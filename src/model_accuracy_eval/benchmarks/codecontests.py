r"""codecontests: problems of programming contests, with the cases of the contests and more that were made from them.

Home: https://github.com/google-deepmind/code_contests, arXiv:2203.07814. Licence: CC-BY-4.0.
A row: {"name": "…", "description": "…", "public_tests": {"input": […], "output": […]}, "private_tests": {…},
"generated_tests": {…}}. The file may be test.parquet, as on the hub, or test.jsonl.
Asked: in words of our own, because the benchmark has none for chats; codecontests_cpp asks for C++. Judged: in all
cases of the three lists, with ten seconds for each; output is compared by the benchmark's rule, word by word, numbers
with a tolerance.
"""

from model_accuracy_eval.records import DataFile, DataSource, MetricUse, Pipeline, Prompt, Step, TaskSpec

_QUESTION = """Solve this problem of a programming contest with a {} program that reads standard input and writes \
standard output. Reply with one ```{} block and nothing else.

{{{{ description | trim }}}}"""
_LANGUAGES = {"python": ("codecontests", "Python 3"), "cpp": ("codecontests_cpp", "C++17")}
"""Language → the dataset's name, and how the language is shown."""


def _task(language: str) -> TaskSpec:
    name, shown = _LANGUAGES[language]
    return TaskSpec(
        name=name,
        about=f"Problems of programming contests, to be solved in {shown}.",
        home="https://github.com/google-deepmind/code_contests",
        licence="CC-BY-4.0",
        data=DataFile(
            name="codecontests/test",
            instead=(
                DataFile(name="codecontests/hub/test", source=DataSource(hf="deepmind/code_contests", split="test")),
            ),
        ),
        fields=("name", "description", "public_tests", "private_tests", "generated_tests"),
        prompt=Prompt(question=_QUESTION.format(shown, language)),
        reference="",
        key=("name",),
        extras=("public_tests", "private_tests", "generated_tests"),
        max_tokens=2048,
        pipelines=(
            Pipeline(
                filters=(Step(name="strip_thoughts"), Step(name="script", args={"language": language})),
                metrics=(
                    MetricUse(name="tests", label="accuracy", args={"suite": "codecontests", "language": language}),
                ),
            ),
        ),
    )


TASKS = tuple(map(_task, _LANGUAGES))
