"""race_middle, race_high: 1,436 and 3,498 questions on passages of English exams of Chinese schools.

Home: https://www.cs.cmu.edu/~glai1/data/race, arXiv:1704.04683. Licence: for research only.
A row: {"example_id": "high19088.txt", "article": "…", "question": "…", "options": ["…", …], "answer": "C"}
Asked: every question by itself after its passage, for a letter as the reply; or which option is likeliest
(race_high_choice). lm-eval's own task asks only the last question of each passage, after the others' solutions.
Judged: the option.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.benchmarks.option_questions import OptionQuestions, Wording
from model_accuracy_eval.records import DataFile, DataSource, TaskSpec

_EVALSCOPE = Wording(
    "EvalScope",  # benchmarks/race/race_adapter.py, without its three examples
    "Answer the following multiple choice question. The last line of your response should be of the following format: "
    "'ANSWER: [LETTER]' (without quotes) where [LETTER] is one of {letters}. Think step by step before answering.\n\n"
    "Article:\n{{ article }}\nQuestion:\n{{ question }}\n{listing}",
    mark=") ",
)


def _tasks(level: str) -> tuple[TaskSpec, ...]:
    questions = OptionQuestions(
        name=f"race_{level}",
        about=f"Reading at the level of {level} schools: four options.",
        question="{{ article | trim }}\n\n{{ question | trim }}",
        options="options",
        place="'ABCD'.index(answer)",
        spec={
            "home": "https://www.cs.cmu.edu/~glai1/data/race",
            "licence": "research only",
            "data": DataFile(
                name=f"race/test/{level}", source=DataSource(hf="ehovy/race", ms="evalscope/race", config=level)
            ),
            "fields": ("article", "question", "options", "answer"),
            "cluster": "article",
            "key": ("example_id",),
            "baseline": 0.25,
        },
    )
    return (
        questions.asked_for_a_letter(),
        questions.likeliest_text("Article: {{ article }}\n\nQuestion: {{ question }}\nAnswer:"),
        questions.in_words("evalscope", _EVALSCOPE),
    )


TASKS = (*_tasks("middle"), *_tasks("high"))
GROUPS = (prompt_parts.plain_mean("race", [task for task in TASKS if task.name in {"race_middle", "race_high"}]),)
