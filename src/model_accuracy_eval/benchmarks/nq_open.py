"""nq_open: 3,610 questions that people typed into a search engine, without the pages that answer them.

Home: https://github.com/google-research-datasets/natural-questions/tree/master/nq_open, arXiv:1906.00300. Licence:
CC-BY-SA-3.0.
A row: {"question": "when was the last time anyone was on the moon", "answer": ["14 December 1972 UTC", …]}. The
validation split, which is the one that scores are published on.
Asked: for the answer alone.
Judged: as SQuAD is: the same as one of the answers apart from case, articles and punctuation; f1 counts the words in
common.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataSource, Prompt, TaskSpec

TASK = TaskSpec(
    name="nq_open",
    about="Questions of a search engine without any pages: a name, a date or a number as the reply.",
    home="https://github.com/google-research-datasets/natural-questions/tree/master/nq_open",
    licence="CC-BY-SA-3.0",
    aliases=("natural_questions", "nq"),
    data=DataFile(
        name="nq/nq-open-validation.jsonl", source=DataSource(hf="google-research-datasets/nq_open", split="validation")
    ),
    fields=("question", "answer"),
    prompt=Prompt(question="{{ question | trim }}?\n\nReply with the answer alone, in as few words as name it."),
    reference="{{ answer[0] }}",
    references="{{ answer | tojson }}",
    max_tokens=256,
    pipelines=prompt_parts.SPAN_PIPELINES,
)
TASKS = (TASK,)
