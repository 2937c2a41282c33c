"""triviaqa: 17,944 quiz questions, asked without the pages that their answers were found on.

Home: https://nlp.cs.washington.edu/triviaqa, arXiv:1705.03551. Licence: Apache-2.0.
A row: {"question_id": "tc_2", "question": "Who was the man behind The Chipmunks?", "answer": {"value": "David
Seville", "aliases": ["David Seville"], "normalized_aliases": ["david seville"], …}, …}. The validation split, because
the test split has no answers.
Asked: for the answer alone; EvalScope gives the pages too and asks 7,993 of the questions, lm-eval shows examples.
Judged: officially: the same as one of the names apart from case, articles and punctuation, and the words in common
(f1), by the best name.
"""

from model_accuracy_eval.records import DataFile, DataSource, MetricUse, Pipeline, Prompt, Step, TaskSpec

TASK = TaskSpec(
    name="triviaqa",
    about="Quiz questions without any pages: a name as the reply.",
    home="https://nlp.cs.washington.edu/triviaqa",
    licence="Apache-2.0",
    aliases=("trivia_qa", "triviaqa_wiki_nocontext"),
    data=DataFile(
        name="triviaqa/rc.nocontext_validation.jsonl",
        source=DataSource(hf="mandarjoshi/trivia_qa", config="rc.nocontext", split="validation"),
    ),
    fields=("question", "answer"),
    prompt=Prompt(question="{{ question | trim }}\n\nReply with the answer alone, in as few words as name it."),
    reference="{{ answer.value }}",
    references="{{ ([answer.value] + answer.aliases + answer.normalized_aliases) | unique | list | tojson }}",
    key=("question_id",),
    max_tokens=256,
    pipelines=(
        Pipeline(
            filters=(Step(name="short_answer"),),
            metrics=(MetricUse(name="triviaqa_em", label="exact_match"), MetricUse(name="triviaqa_f1", label="f1")),
        ),
    ),
)
TASKS = (TASK,)
