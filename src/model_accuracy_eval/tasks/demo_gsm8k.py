r"""demo_gsm8k: twenty word problems of our own in GSM8K's format, to try a service without fetching anything.

Home: this package. Licence: the package's own.
A row: {"question": "A baker puts 6 rolls …", "answer": "She fills 8+5=<<8+5=13>>13 trays.\n…\n#### 78"}
Asked and judged: as gsm8k.
"""

from model_accuracy_eval.records import DataFile, TaskSpec
from model_accuracy_eval.tasks import gsm8k

TASK = TaskSpec(
    name="demo_gsm8k",
    about="Twenty own word problems in GSM8K's format; needs no download.",
    licence="Apache-2.0",
    data=DataFile(name="demo_gsm8k.jsonl", bundled="demo_gsm8k.jsonl"),
    fields=gsm8k.FIELDS,
    prompt=gsm8k.ZERO_SHOT.prompt,
    reference=gsm8k.REFERENCE,
    max_tokens=gsm8k.ZERO_SHOT.max_tokens,
    pipelines=gsm8k.ZERO_SHOT.pipelines,
)
