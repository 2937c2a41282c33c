"""musr_murder_mysteries, musr_object_placements, musr_team_allocation: 756 questions about stories of a thousand words.

Home: https://github.com/Zayne-sprague/MuSR, arXiv:2310.16049. Licence: MIT.
A row: {"narrative": "…", "question": "Who is the most likely murderer?", "choices": "['Ana', 'Bo']", "answer_index": 0,
"answer_choice": "Ana"}; `choices` is the text of a Python list.
Asked: the story, the question and its options, with room to think before the letter.
Judged: the letter. The group's figure is the plain mean of the three kinds of stories.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataSource, Prompt, TaskSpec

_KINDS = {
    "murder_mysteries": "Who is the murderer: two suspects, and who had means, motive and opportunity.",
    "object_placements": "Where somebody will look for a thing that others have moved.",
    "team_allocation": "Which of three ways to share out the work is best for the people of the story.",
}


def _task(kind: str) -> TaskSpec:
    return TaskSpec(
        name=f"musr_{kind}",
        about=_KINDS[kind],
        home="https://github.com/Zayne-sprague/MuSR",
        licence="MIT",
        aliases=(f"leaderboard_musr_{kind}",),
        data=DataFile(
            name=f"musr/{kind}.jsonl", source=DataSource(hf="TAUR-Lab/MuSR", ms="AI-ModelScope/MuSR", split=kind)
        ),
        fields=("narrative", "question", "choices", "answer_index"),
        cluster="narrative",
        prompt=Prompt(
            question="{{ narrative | trim }}\n\n{{ question | trim }}"
            f"{prompt_parts.lettered('choices | options')}\n\n{prompt_parts.LETTER_ENDING}"
        ),
        reference=prompt_parts.letter_at("answer_index | int"),
        choices="{{ choices | options | tojson }}",
        max_tokens=4096,
        pipelines=prompt_parts.LETTER_PIPELINES,
    )


TASKS = tuple(map(_task, _KINDS))
GROUPS = (prompt_parts.plain_mean("musr", TASKS),)
