r"""cmath, cmath_dev: word problems of Chinese primary schools, from grade 1 to 6.

Home: https://github.com/XiaoMi/cmath, arXiv:2306.16636. Licence: CC-BY-4.0.
A row: {"grade": 4, "question": "…", "golden": "3/8", "reasoning_step": 2, "num_digits": 2}; the development set, 600
problems in the authors' own file, has `input` where the test set of 1,098 has `question`.
Asked: in Chinese, step by step, with the answer in \boxed{}.
Judged: as mathematics, without units: 0.375 is 3/8. Every grade has a row of its own.
"""

import msgspec

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataSource, Grouping, Prompt, TaskSpec

_ENDING = "请一步一步推理，最后将答案放在\\boxed{}中。"

TEST = TaskSpec(
    name="cmath",
    about="Word problems of Chinese primary schools, grade by grade.",
    home="https://github.com/XiaoMi/cmath",
    licence="CC-BY-4.0",
    prompt_of="EvalScope",
    data=DataFile(
        name="cmath/test.jsonl", source=DataSource(hf="weitianwen/cmath", ms="evalscope/cmath", split="test")
    ),
    fields=("question", "golden", "grade"),
    prompt=Prompt(question=f"{{{{ question | trim }}}}\n{_ENDING}"),
    reference="{{ golden }}",
    category="grade",
    max_tokens=4096,
    pipelines=prompt_parts.MATHS_PIPELINES,
    grouping=Grouping(by="category"),
)

DEV = msgspec.structs.replace(
    TEST,
    name="cmath_dev",
    about="Word problems of Chinese primary schools, the 600 that the authors' repository has.",
    data=DataFile(
        name="cmath/cmath_dev.jsonl",
        source=DataSource(
            url="github:XiaoMi/cmath@9fa13ef0b2d03f5a18c1ace7001248d3981d65ea/datasets/cmath_dev.jsonl",
            hash="b9c6333a31fd740e7f5b5a71022bd59e00748798a3377364346d280549b25e3b",
        ),
    ),
    fields=("input", "golden", "grade"),
    prompt=Prompt(question=f"{{{{ input | trim }}}}\n{_ENDING}"),
)

TASKS = (TEST, DEV)
