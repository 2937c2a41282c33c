r"""multipl_e: HumanEval and MBPP as other languages have them, translated with their tests by programs.

Home: https://github.com/nuprl/MultiPL-E, arXiv:2208.08227. Licence: MIT.
A row: {"name": "HumanEval_0_has_close_elements", "language": "cpp", "prompt": "#include<assert.h>\n…{\n",
"doctests": "transform", "original": "…", "prompt_terminology": "reworded", "tests": "}\nint main() {…}\n",
"stop_tokens": ["\n}"]}. There are no solutions.
Asked: `multipl_e_humaneval_cpp` for the whole function, in words of ours; `…_base` lets a base model go on with the
prompt, as its authors do. Judged: prompt, completion and tests are one file, whose exit code decides. The sandbox needs
an image with compilers: docker/humaneval_x.
"""

from model_accuracy_eval.records import DataFile, DataSource, MetricUse, Pipeline, Prompt, Step, TaskSpec

_QUESTION = (
    "Complete this {} function; give it whole, with what it needs, but without tests and without main.\n\n"
    "```{}\n{{{{ prompt }}}}\n```"
)
_LANGUAGES = {
    "cpp": ("cpp", "C++", ("\n}",)),
    "go": ("go", "Go", ("\nfunc", "struct", "\n// ")),
    "java": ("java", "Java", ("\n    }\n",)),
    "js": ("javascript", "JavaScript", ("\nfunction ", "\n/*", "\n//", "\nconsole.log")),
    "pl": ("perl", "Perl", ("\nsub", "\n#", "\n\n")),
    "rs": ("rust", "Rust", ("\n}",)),
    "sh": ("bash", "Bash", ("\n}",)),
}
"""Its name of a language → ours, how it is shown, and where a completion ends; the rows' own ends count as well."""
_SOURCES = {"humaneval": "HumanEval's functions", "mbpp": "MBPP's tasks"}


def _task(source: str, short: str, *, base: bool) -> TaskSpec:
    language, shown, stop = _LANGUAGES[short]
    ending = "_base" if base else ""
    read = Step(name="multipl_e_code", args={"language": language, "continues": base})
    filters = (read,) if base else (Step(name="strip_thoughts"), read)
    return TaskSpec(
        name=f"multipl_e_{source}_{short}{ending}",
        about=f"{_SOURCES[source]} in {shown}" + (", for base models." if base else ", run against their tests."),
        home="https://github.com/nuprl/MultiPL-E",
        licence="MIT",
        aliases=(
            f"multipl_e_{source}_{shown}{ending}",
            *((f"multiple-{short}",) if source == "humaneval" and base else ()),
        ),
        prompt_of="official" if base else "",
        data=DataFile(
            name=f"multipl_e/{source}-{short}.jsonl",
            source=DataSource(hf="nuprl/MultiPL-E", config=f"{source}-{short}", split="test"),
        ),
        fields=("name", "language", "prompt", "tests", "stop_tokens"),
        prompt=Prompt(question="{{ prompt }}" if base else _QUESTION.format(shown, language)),
        reference="",
        key=("name",),
        extras=("name", "prompt", "tests", "stop_tokens"),
        mode="text" if base else "chat",
        max_tokens=1024,
        stop=stop if base else (),
        pipelines=(
            Pipeline(
                filters=filters,
                metrics=(MetricUse(name="tests", label="accuracy", args={"suite": "multipl_e", "language": language}),),
            ),
        ),
    )


TASKS = tuple(_task(source, short, base=base) for source in _SOURCES for short in _LANGUAGES for base in (False, True))
