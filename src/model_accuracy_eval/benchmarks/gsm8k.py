r"""gsm8k: 1,319 grade-school word problems whose answer is one number.

Home: https://github.com/openai/grade-school-math, arXiv:2110.14168. Licence: MIT.
A row: {"question": "…How many …?", "answer": "She made 4*3=<<4*3=12>>12 …\n#### 12"}
Asked: step by step, with the number on a last line after ####. The four-shot form shows the first four solved
problems of the training file as earlier turns, nanochat's form is the bare question, and AISBench's have its words. The
form with tools is the same as the first, and offers a calculator.
Judged: the number that the reply states, at best after #### or in \boxed{}, else the last one; 1,000 = 1000.00. What
its authors count, the number after the first #### letter by letter but for commas ("#### 72." is not 72), stands beside
it as `strict-match`, and is all that counts in nanochat's form.
"""

import msgspec

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import (
    DataFile,
    DataSource,
    FewShot,
    MetricUse,
    Pipeline,
    Prompt,
    Slice,
    Step,
    TaskSpec,
)

_FIELDS = ("question", "answer")
_REFERENCE = "{{ answer | after('####') }}"

_AT = "github:openai/grade-school-math@3101c7d5072418e28b9008a6636bde82a006892c/grade_school_math/data"


def _file(split: str, sha256: str) -> DataFile:
    """As its authors have it, or, where GitHub cannot be reached, as the hubs do: the rows have to be the same."""
    on_hubs = DataSource(hf="openai/gsm8k", ms="AI-ModelScope/gsm8k", config="main", split=split)
    return DataFile(
        name=f"gsm8k/{split}.jsonl",
        source=DataSource(url=f"{_AT}/{split}.jsonl", hash=sha256),
        instead=(DataFile(name=f"gsm8k/hub_{split}", source=on_hubs),),
    )


_TEST = _file("test", "3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14")
_TRAIN = _file("train", "17f347dc51477c50d4efb83959dbb7c56297aba886e5544ee2aaed3024813465")

_PUBLISHED = Pipeline(
    filters=(Step(name="regex", args={"regex_pattern": r"#### (\-?[0-9\.\,]+)"}),),
    metrics=(MetricUse(name="exact_match", label="accuracy", args={"regexes_to_ignore": [","]}),),
)
"""What its authors read: what stands behind the first ####, and nothing else."""
_QUESTION = "{{ question }}\n\n" + prompt_parts.NUMBER_ENDING

ZERO_SHOT = TaskSpec(
    name="gsm8k",
    aliases=("gsm8k_cot_zeroshot", "gsm8k_0_shot_cot"),
    about="Grade-school word problems, solved step by step without examples.",
    home="https://github.com/openai/grade-school-math",
    licence="MIT",
    data=_TEST,
    fields=_FIELDS,
    prompt=Prompt(question=_QUESTION),
    reference=_REFERENCE,
    max_tokens=1024,
    pipelines=(
        prompt_parts.NUMBER_PIPELINE,
        prompt_parts.other_reading("strict-match", *_PUBLISHED.filters, metric=_PUBLISHED.metrics[0]),
    ),
)

FOUR_SHOT = msgspec.structs.replace(
    ZERO_SHOT,
    name="gsm8k_4shot",
    aliases=("gsm8k_cot", "gsm8k_4_shot_cot"),
    about="Grade-school word problems, after four solved ones of the training file.",
    prompt=Prompt(
        question=_QUESTION,
        answer="{{ answer | without_calculator }}",
        fewshot=FewShot(data=_TRAIN, count=4),
    ),
)

TOOLS = msgspec.structs.replace(
    ZERO_SHOT,
    name="gsm8k_tools",
    aliases=(),
    about="Grade-school word problems, solved step by step with a calculator that the model may call.",
    tools=("calculator",),
)

NANOCHAT = TaskSpec(
    name="gsm8k_nanochat",
    about="Grade-school word problems as nanochat asks and judges them: the bare question, and #### or nothing.",
    home="https://github.com/openai/grade-school-math",
    licence="MIT",
    data=_TEST,
    fields=_FIELDS,
    prompt=Prompt(question="{{ question }}"),
    reference=_REFERENCE,
    temperature=0.0,
    max_tokens=512,
    pipelines=(_PUBLISHED,),
)

# configs/datasets/gsm8k/gsm8k_gen_0_shot_cot_chat_prompt.py, _0_shot_cot_str.py, _4_shot_cot_str.py
AISBENCH = msgspec.structs.replace(
    ZERO_SHOT,
    name="gsm8k@aisbench",
    aliases=(),
    prompt_of="AISBench",
    prompt=Prompt(
        question="Answer the following question.The last line of the response should follow this format: "
        '"answer:$ANSWER" (without quotes), where ANSWER is a number. Let\'s think step by step.\n\n'
        "Question: {{ question }}"
    ),
    max_tokens=2048,
    pipelines=(prompt_parts.NUMBER_PIPELINE,),
)
_AISBENCH_TEXT = "Question: {{ question }}\nLet's think step by step\nAnswer:"
AISBENCH_TEXT = msgspec.structs.replace(AISBENCH, name="gsm8k@aisbench-str", prompt=Prompt(question=_AISBENCH_TEXT))
AISBENCH_FOUR = msgspec.structs.replace(
    AISBENCH,
    name="gsm8k_4shot@aisbench",
    about=FOUR_SHOT.about,
    prompt=Prompt(
        question=_AISBENCH_TEXT,
        answer="{{ answer | without_calculator | replace('####', 'The answer is') }}",
        fewshot=FewShot(data=_TRAIN, count=4),
    ),
)
AISBENCH_DEMO = msgspec.structs.replace(
    AISBENCH_FOUR,
    name="gsm8k_demo@aisbench",
    about="The first eight grade-school word problems, after four solved ones: AISBench's demonstration.",
    slice=Slice(stop=8),
)

TASKS = (ZERO_SHOT, FOUR_SHOT, NANOCHAT, TOOLS, AISBENCH, AISBENCH_TEXT, AISBENCH_FOUR, AISBENCH_DEMO)
