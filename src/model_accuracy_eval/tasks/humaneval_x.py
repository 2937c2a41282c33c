r"""humaneval_x: HumanEval's 164 tasks in C++, Java and JavaScript, written and checked by hand.

Home: https://github.com/THUDM/CodeGeeX, arXiv:2303.17568. Licence: Apache-2.0.
A row: {"task_id": "CPP/0", "prompt": "/* … */ bool f(…){\n", "declaration": "#include… bool f(…){\n",
"test": "int main(){…"}
Asked: for the whole function. Judged: compiled and run; the exit code decides. The sandbox needs the language's tools.
Go and Rust are not here: their tests need packages of third parties beside the compiler.
"""

from model_accuracy_eval.records import DataFile, Measure, Pipeline, Prompt, Step, TaskSpec

_QUESTION = (
    "Complete this {} function; give it whole, with what it needs, but without tests and without main."
    "\n\n{{{{ prompt }}}}"
)


def _task(short: str, shown: str, language: str, sha256: str) -> TaskSpec:
    return TaskSpec(
        name=f"humaneval_x_{short}",
        about=f"HumanEval's functions in {shown}, run against their tests; the sandbox needs its tools.",
        home="https://github.com/THUDM/CodeGeeX",
        licence="Apache-2.0",
        data=DataFile(name=f"humaneval_x/humaneval_{short}.jsonl", sha256=sha256),
        fields=("task_id", "prompt", "declaration", "canonical_solution", "test"),
        prompt=Prompt(question=_QUESTION.format(shown)),
        reference="{{ canonical_solution }}",
        extras=("prompt", "declaration", "test"),
        max_tokens=1024,
        pipelines=(
            Pipeline(
                filters=(Step(name="strip_thoughts"), Step(name="foreign_code", args={"language": language})),
                metrics=(Measure(name="tests", label="accuracy", args={"suite": "foreign", "language": language}),),
            ),
        ),
    )


CPP = _task("cpp", "C++", "cpp", "af420b4b58c1b5e7f4cac9c1257daad7b20b5c77e88d59ccc120e63825f03325")
JAVA = _task("java", "Java", "java", "2157a77a6ff808020adc20142228b4ff698048c0696b33110786400c47c5d79c")
JAVASCRIPT = _task("js", "JavaScript", "javascript", "da529500a73fcbc86bc8f6c7855c0f2c0fc7af1c4dc530e26a54bbfd17f97cef")
