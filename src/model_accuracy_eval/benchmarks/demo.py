r"""demo_arithmetic: sums of two numbers below 100 that the example adapter's model has never seen.
demo_digits: pictures of numbers, drawn by us, that the example adapter's other model learnt to read.
demo_spoken: the same pictures, asked for an answer in sound.
demo_gsm8k: twenty word problems of our own in GSM8K's format, to try a service without fetching anything.

Home: this package. Licence: the package's own.
A row: {"question": "27+58=", "answer": "85"}; {"image": …, "question": "Which number?", "answer": "9869"};
or {"question": "A baker puts 6 rolls …", "answer": "…\n#### 78"}
Asked: the sum alone, which is all that a model of 115 thousand parameters understands; the picture and the question;
the word problems as gsm8k.
Judged: the last number of the reply; the word problems by the number that the reply states.
"""

from msgspec import structs

from model_accuracy_eval.benchmarks import gsm8k, prompt_parts
from model_accuracy_eval.records import DataFile, DataSource, MetricUse, Pipeline, Prompt, Step, TaskSpec

ARITHMETIC = TaskSpec(
    name="demo_arithmetic",
    about="Additions below 100: what the example adapter can do, and not quite do.",
    licence="Apache-2.0",
    data=DataFile(name="demo_arithmetic.jsonl", source=DataSource(url="package:demo_arithmetic.jsonl")),
    fields=("question", "answer"),
    prompt=Prompt(question="{{ question }}"),
    reference="{{ answer }}",
    max_tokens=8,
    pipelines=(Pipeline(filters=(Step(name="last_number"),), metrics=(MetricUse(name="number", label="accuracy"),)),),
)

DIGITS = structs.replace(
    ARITHMETIC,
    name="demo_digits",
    about="Numbers in noisy pictures: what the example adapter's other model can read, and not quite read.",
    data=DataFile(name="demo_digits.parquet", source=DataSource(url="package:demo_digits.parquet")),
    fields=("image", "question", "answer"),
    prompt=Prompt(question="{{ image }}{{ question }}"),
)

SPOKEN = structs.replace(
    DIGITS,
    name="demo_spoken",
    about="The same pictures, with the numbers read aloud: what is judged is the transcript of the sound.",
    spoken=True,
    generation={"modalities": ["text", "audio"], "audio": {"voice": "alloy", "format": "wav"}},
)

WORD_PROBLEMS = structs.replace(
    gsm8k.ZERO_SHOT,
    name="demo_gsm8k",
    aliases=(),
    about="Twenty own word problems in GSM8K's format; needs no download.",
    home="",
    licence="Apache-2.0",
    data=DataFile(name="demo_gsm8k.jsonl", source=DataSource(url="package:demo_gsm8k.jsonl")),
    pipelines=(prompt_parts.NUMBER_PIPELINE,),
)

TASKS = (ARITHMETIC, DIGITS, SPOKEN, WORD_PROBLEMS)
