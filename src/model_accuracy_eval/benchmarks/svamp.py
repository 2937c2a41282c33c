"""svamp: 1,000 one-step word problems, varied so that surface patterns mislead.

Home: https://github.com/arkilpatel/SVAMP, arXiv:2103.07191. Licence: MIT.
A row: {"Body": "Each pack of dvds costs 76 dollars. …", "Question": "How much …?", "Answer": 51.0, …}
Asked: step by step, with the number on a last line after ####. All 1,000 rows, where the hub's test split has 300.
Judged: as gsm8k.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataSource, Prompt, TaskSpec

TASK = TaskSpec(
    name="svamp",
    about="Short word problems whose wording misleads.",
    home="https://github.com/arkilpatel/SVAMP",
    licence="MIT",
    data=DataFile(
        name="svamp/SVAMP.json",
        source=DataSource(
            url="github:arkilpatel/SVAMP@689d7ccac74b9983a2ac7cc3b264f441b99e7c53/SVAMP.json",
            hash="5be77703a6d891ae476d7c082787ad361392aa02453b132516cdd5f4e7934e3e",
        ),
    ),
    fields=("Body", "Question", "Answer"),
    prompt=Prompt(
        question="{{ Body | trim }}{{ '' if (Body | trim)[-1] in '.,?!' else '.' }} {{ Question | trim }}\n\n"
        + prompt_parts.NUMBER_ENDING
    ),
    reference="{{ Answer }}",
    key=("ID",),
    max_tokens=1024,
    pipelines=prompt_parts.NUMBER_PIPELINES,
)

TASKS = (TASK,)
