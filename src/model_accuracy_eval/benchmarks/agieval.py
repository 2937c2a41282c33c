r"""agieval_*: 8,269 questions of twenty-one parts, taken from entrance and lawyers' exams in English and Chinese.

Home: https://github.com/ruixiangcui/AGIEval, arXiv:2304.06364. Licence: MIT; the questions are of third parties.
A row: {"passage": null, "question": "…", "options": ["(A)…", "(B)…", …], "label": "A", "answer": null, …}; where there
are no options, `answer` is the right text. The parts are the configurations.
Asked: for a letter as the reply, of JEC-QA and Chinese physics for one letter or more, of the mathematics without
options for an answer in \boxed{}; the Chinese parts in Chinese.
Judged: the option, all letters where several may be right, the answer as mathematics. The group `agieval` has the mean
over its parts.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataSource, MetricUse, Pipeline, Prompt, Step, TaskSpec

_Part = tuple[str, str, int]
_PARTS: tuple[_Part, ...] = (
    # name, form, options
    ("aqua-rat", "letter", 5),
    ("logiqa-en", "letter", 4),
    ("lsat-ar", "letter", 5),
    ("lsat-lr", "letter", 5),
    ("lsat-rc", "letter", 5),
    ("sat-math", "letter", 4),
    ("sat-en", "letter", 4),
    ("sat-en-without-passage", "letter", 4),
    ("math", "maths", 0),
    ("logiqa-zh", "Chinese letter", 4),
    ("gaokao-chinese", "Chinese letter", 4),
    ("gaokao-english", "letter", 4),
    ("gaokao-geography", "Chinese letter", 4),
    ("gaokao-history", "Chinese letter", 4),
    ("gaokao-biology", "Chinese letter", 4),
    ("gaokao-chemistry", "Chinese letter", 4),
    ("gaokao-physics", "letters", 0),
    ("gaokao-mathqa", "Chinese letter", 4),
    ("gaokao-mathcloze", "Chinese maths", 0),
    ("jec-qa-kd", "letters", 0),
    ("jec-qa-ca", "letters", 0),
)

_QUESTION = "{% if passage %}{{ passage | trim }}\n\n{% endif %}{{ question | trim }}"
_LISTED = "{% for option in options %}\n{{ option | trim }}{% endfor %}"
_ENDINGS = {
    "letter": prompt_parts.LETTER_ENDING,
    "Chinese letter": prompt_parts.CHINESE_LETTER_ENDING,
    "letters": "正确的选项可能不止一个。如有需要请先思考，最后一行写【答案】，其后只写正确选项的字母。",
    "maths": "Think step by step, and put the answer into \\boxed{}.",
    "Chinese maths": "请逐步思考，并把答案写在 \\boxed{} 中。",
}
_LETTERS = Pipeline(
    filters=(Step(name="choice_letters"),),
    metrics=(MetricUse(name="exact_match", label="accuracy", args={"regexes_to_ignore": ["[^A-D]"]}),),
)
_PIPELINES = {
    "letter": prompt_parts.LETTER_PIPELINES,
    "Chinese letter": prompt_parts.LETTER_PIPELINES,
    "letters": (_LETTERS,),
    "maths": prompt_parts.MATHS_PIPELINES,
    "Chinese maths": prompt_parts.MATHS_PIPELINES,
}


def _task(part: _Part) -> TaskSpec:
    name, form, options = part
    has_options = options > 0
    is_open = "maths" in form
    return TaskSpec(
        name=f"agieval_{name.replace('-', '_')}",
        about=f"Part of AGIEval: {name}{'' if is_open else ', letters as the reply' if form == 'letters' else ''}.",
        home="https://github.com/ruixiangcui/AGIEval",
        licence="MIT",
        data=DataFile(
            name=f"agieval/{name}.jsonl",
            source=DataSource(hf="opencompass/agieval", ms="opencompass/agieval", config=name),
        ),
        fields=("question",),
        cluster="passage",
        prompt=Prompt(question=f"{_QUESTION}{'' if is_open else _LISTED}\n\n{_ENDINGS[form]}"),
        reference="{{ answer if answer else label }}" if is_open else "{{ label | answers | join('') }}",
        choices="{{ options | tojson }}" if has_options else None,
        max_tokens=2048,
        pipelines=_PIPELINES[form],
        baseline=1 / options if has_options else None,
    )


TASKS = tuple(map(_task, _PARTS))
GROUPS = (prompt_parts.plain_mean("agieval", TASKS),)
