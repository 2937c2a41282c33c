r"""humaneval_x: HumanEval's 164 tasks in six languages, written and checked by hand.

Home: https://github.com/THUDM/CodeGeeX, arXiv:2303.17568. Licence: Apache-2.0.
A row: {"task_id": "CPP/0", "prompt": "/* … */ bool f(…){\n", "declaration": "#include… bool f(…){\n",
"canonical_solution": "…", "test": "int main(){…"}; Go has its imports in columns of their own, Rust's prompt is a
comment alone.
Asked: for the whole function. Judged: compiled and run; the exit code decides, but for Python. A problem whose own
solution does not pass in the sandbox is not judged. The sandbox needs an image with compilers: docker/humaneval_x.
"""

from model_accuracy_eval.records import DataFile, MetricUse, Pipeline, Prompt, Step, TaskSpec

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
            hub=f"{_AT}/{short}/data/humaneval_{short}.jsonl.gz",
            sha256=sha256,
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
    _task("cpp", "af420b4b58c1b5e7f4cac9c1257daad7b20b5c77e88d59ccc120e63825f03325"),
    _task("go", "87aba5e8ab3be26aec48a355b77c73790900ebae3731c44ea9e3fdd5ea51f1fe", more=("test_setup",)),
    _task("java", "2157a77a6ff808020adc20142228b4ff698048c0696b33110786400c47c5d79c"),
    _task("javascript", "da529500a73fcbc86bc8f6c7855c0f2c0fc7af1c4dc530e26a54bbfd17f97cef"),
    _task("python", "f0e21637407b08a725dbc5bfcc20f909049f73564dd0d55dcc11619fa0838849"),
    _task(
        "rust",
        "36938439d536c34418b582db82f7bfa5d0331990424fc69b1915c5067634b4e7",
        question="{{ prompt | trim }}\n\n{{ declaration | trim }}",
    ),
)
