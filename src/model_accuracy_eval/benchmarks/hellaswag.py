"""hellaswag: 10,042 beginnings of everyday scenes, each with four endings, three of which a machine wrote.

Home: https://rowanzellers.com/hellaswag, arXiv:1905.07830. Licence: MIT.
A row: {"ind": 24, "activity_label": "Roof shingle removal", "ctx_a": "A man is sitting on a roof.", "ctx_b": "he",
"endings": ["…", "…", "…", "…"], "label": "3", …}. The validation split, because the test split has no answers.
Asked: which ending goes on best, a letter as the reply; or which ending is likeliest after the beginning, cleaned of
the marks of WikiHow as lm-eval cleans it (hellaswag_choice). EvalScope's and AISBench's words are there too.
Judged: the ending. `acc_norm` divides an ending's likelihood by its length, and is what is usually published.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.benchmarks.option_questions import OptionQuestions, Wording
from model_accuracy_eval.records import DataFile, DataSource


def _clean(text: str) -> str:
    return f"{text} | trim | replace(' [title]', '. ') | regex_replace('\\\\[.*?\\\\]', '') | replace('  ', ' ')"


_SCENE = "(ctx_a ~ ' ' ~ (ctx_b | capitalize))"
_TITLED = f"(activity_label ~ ': ' ~ {_SCENE})"
_ENDINGS = (
    f"{{% set _endings = [] %}}{{% for one in endings %}}{{{{ _endings.append({_clean('one')}) or '' }}}}{{% endfor %}}"
)

_QUESTIONS = OptionQuestions(
    name="hellaswag",
    about="Everyday scenes: which of four endings goes on.",
    before=_ENDINGS,
    question=f"{{{{ {_clean(_SCENE)} | trim }}}}",
    options="_endings",
    place="label | int",
    spec={
        "home": "https://rowanzellers.com/hellaswag",
        "licence": "MIT",
        "data": DataFile(
            name="hellaswag/validation",
            source=DataSource(hf="Rowan/hellaswag", ms="evalscope/hellaswag", split="validation"),
        ),
        "fields": ("activity_label", "ctx_a", "endings", "label"),
        "key": ("ind",),
        "baseline": 0.25,
    },
)
_AISBENCH = Wording(
    "AISBench",  # configs/datasets/hellaswag/hellaswag_gen_0_shot_chat_prompt.py
    "{question}\nQuestion: Which ending makes the most sense?{listing}\nYou may choose from 'A', 'B', 'C', 'D'.\n"
    "Answer:",
)

TASKS = (
    _QUESTIONS.asked_for_a_letter(f"Which ending goes on best? {prompt_parts.LETTER_ENDING}"),
    _QUESTIONS.likeliest_text(f"{{{{ {_clean(_TITLED)} }}}}", prompt_of="lm-eval"),
    _QUESTIONS.in_words("evalscope-direct"),
    _QUESTIONS.in_words("aisbench", _AISBENCH),
)
