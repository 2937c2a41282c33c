r"""humaneval_x: HumanEval's 164 tasks in six languages, written and checked by hand.

Home: https://github.com/THUDM/CodeGeeX, arXiv:2303.17568. Licence: Apache-2.0.
A row: {"task_id": "CPP/0", "prompt": "/* … */ bool f(…){\n", "declaration": "#include… bool f(…){\n",
"canonical_solution": "…", "test": "int main(){…"}; Go has its imports in columns of their own, Rust's prompt is a
comment alone.
Asked: for the whole function. Judged: compiled and run; the exit code decides, but for Python. A problem whose own
solution does not pass in the sandbox is not judged. The sandbox needs an image with compilers: docker/humaneval_x.
"""

from model_accuracy_eval.records import DataFile, DataSource, MetricUse, Pipeline, Prompt, Step, TaskSpec

_QUESTION = "Complete this {} function; give it whole, with what it needs, but without tests and without main.\n\n{}"
_AT = "github:THUDM/CodeGeeX@2838420b7b4492cf3d16bce5320e26e65960c9e2/codegeex/benchmark/humaneval-x"
_PROMPT = "{{ prompt }}"
_NAMES = {
    "cpp": ("cpp", "C++"),
    "go": ("go", "Go"),
    "java": ("java", "Java"),
    "javascript": ("js", "JavaScript"),
    "python": ("python", "Python"),
    "rust": ("rust", "Rust"),
}
"""Language → what the files call it, and how it is shown."""
_COLUMNS = ("task_id", "prompt", "declaration", "canonical_solution", "test")


def _task(language: str, sha256: str, *, question: str = _PROMPT, more: tuple[str, ...] = ()) -> TaskSpec:
    """`question` is a template over a row; `more` are columns that the language's rows alone have."""
    short, shown = _NAMES[language]
    return TaskSpec(
        name=f"humaneval_x_{short}",
        about=f"HumanEval's functions in {shown}, run against their tests.",
        home="https://github.com/THUDM/CodeGeeX",
        licence="Apache-2.0",
        aliases=(f"humaneval_x_{shown}",),
        data=DataFile(
            name=f"humaneval_x/humaneval_{short}.jsonl",
            source=DataSource(url=f"{_AT}/{short}/data/humaneval_{short}.jsonl.gz", hash=sha256),
        ),
        fields=(*_COLUMNS, *more),
        prompt=Prompt(question=_QUESTION.format(shown, question)),
        reference="{{ canonical_solution }}",
        key=("task_id",),
        extras=(*_COLUMNS, *more),
        max_tokens=1024,
        pipelines=(
            Pipeline(
                filters=(Step(name="strip_thoughts"), Step(name="foreign_code", args={"language": language})),
                metrics=(MetricUse(name="tests", label="accuracy", args={"suite": "foreign", "language": language}),),
            ),
        ),
    )


TASKS = (
    _task("cpp", "dcf2e280a1e91bbc3c5f90edb41397e8a9ac1ccc9f5d2b70082f0b0fbfb6dbb0"),
    _task("go", "09126ef64ac68f87296c5f3781186aedc5dec799b114d9df99d6de4a715a7830", more=("test_setup",)),
    _task("java", "276f36db2eb7aeb864f36a19a2f4e1bb2460fb6e22ff100f0b5bedabe3799967"),
    _task("javascript", "fe5d467f2c1a027b3f6f18d3729aca01f6458c1de2e2d1292a019c5aa9bed424"),
    _task("python", "5752fb122efddb0e9b47c77907ae6ce9a15aac4dea14e44c46032c831e6b987a"),
    _task(
        "rust",
        "ae5cabbbfc8fe25244a608b04f09ac3b324c645ac969dfc033756c12f0f9924c",
        question="{{ prompt | trim }}\n\n{{ declaration | trim }}",
    ),
)
