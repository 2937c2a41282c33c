"""Questions with options, in the ways in which they are asked: a letter as the reply, in our words or in those of
another tool, and the likelihoods of the options' texts or of their letters."""

from typing import Any

import msgspec

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import MetricUse, Pipeline, Prompt, Step, TaskSpec

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Wording(msgspec.Struct, frozen=True):
    """How a tool asks for a letter. In `template`, {question}, {listing}, {letters} and {joined} are filled in."""

    whose: str
    template: str
    mark: str = ". "
    """What stands between a letter and its option."""
    reading: Step | None = None
    """How the tool reads replies, if that is another row of the summary."""


WORDINGS = {
    "cot": Wording(
        "",
        "{question}{listing}\n\nThink step by step, and write down what you think. Then end with: ANSWER: X (the "
        "letter of the right option).",
    ),
    # common.py, QUERY_TEMPLATE_MULTICHOICE
    "simple-evals": Wording(
        "simple-evals",
        "Answer the following multiple choice question. The last line of your response should be of the following "
        "format: 'Answer: $LETTER' (without quotes) where LETTER is one of {joined}. Think step by step before "
        "answering.\n\n{question}\n{listing}",
        mark=") ",
        reading=Step(name="regex", args={"regex_pattern": r"(?i:Answer)[ \t]*:[ \t]*\$?([A-Z])\$?", "group_select": 0}),
    ),
    # evalscope/utils/multi_choices.py, SINGLE_ANSWER_TEMPLATE_COT and SINGLE_ANSWER_TEMPLATE
    "evalscope": Wording(
        "EvalScope",
        "Answer the following multiple choice question. The last line of your response should be of the following "
        "format: 'ANSWER: [LETTER]' (without quotes) where [LETTER] is one of {letters}. Think step by step before "
        "answering.\n\n{question}\n{listing}",
        mark=") ",
    ),
    "evalscope-direct": Wording(
        "EvalScope",
        "Answer the following multiple choice question. The entire content of your response should be of the following "
        "format: 'ANSWER: [LETTER]' (without quotes) where [LETTER] is one of {letters}.\n\n{question}\n{listing}",
        mark=") ",
    ),
}
"""Name after the @ → the words."""


class OptionQuestions(msgspec.Struct, frozen=True):
    """Where the rows of a dataset have their questions and options, and everything about it that no prompt changes."""

    name: str
    about: str
    question: str
    """Template of the question."""
    options: str
    """Expression: the list of options."""
    place: str
    """Expression: the position of the right one."""
    before: str = ""
    """Template of statements that the expressions need, such as `{% set … %}`."""
    spec: dict[str, Any] = msgspec.field(default_factory=dict)
    """Further fields of all its tasks."""

    def asked_for_a_letter(self, ending: str = prompt_parts.LETTER_ENDING, **more: Any) -> TaskSpec:
        """The dataset in our words, under its own name."""
        return self._generated(self.name, f"{self.question}{self._listing('. ')}\n\n{ending}", **more)

    def in_words(self, prompt: str, wording: Wording | None = None, **more: Any) -> TaskSpec:
        """The dataset in the words of another tool, as `name@prompt`."""
        words = wording or WORDINGS[prompt]
        count = f"({self.options} | length)"
        filled = {
            "{question}": self.question,
            "{listing}": self._listing(words.mark),
            "{letters}": f"{{{{ '{_LETTERS}'[:{count}] | join(',') }}}}",
            "{joined}": f"{{{{ '{_LETTERS}'[:{count}] }}}}",
        }
        template = words.template
        for mark, text in filled.items():
            template = template.replace(mark, text)
        pipelines: tuple[Pipeline, ...] = (prompt_parts.LETTER_PIPELINE,)
        if words.reading:
            accuracy = pipelines[0].metrics[0]
            pipelines = (*pipelines, prompt_parts.other_reading(words.whose, words.reading, metric=accuracy))
        own = {"aliases": (), "published": (), "pipelines": pipelines, "prompt_of": words.whose, "max_tokens": 2048}
        return self._generated(f"{self.name}@{prompt}", template, **{**own, **more})

    def likeliest_text(self, context: str, *, prompt_of: str = "", norm: bool = True, **more: Any) -> TaskSpec:
        """Which option is likeliest after the context, as `name_choice`."""
        metrics = (MetricUse(name="acc", label="accuracy"), *([MetricUse(name="acc_norm")] if norm else []))
        return self._choice(context, f"{{{{ {self.options} | tojson }}}}", metrics, prompt_of=prompt_of, **more)

    def likeliest_letter(self, context: str, *, prompt_of: str = "", **more: Any) -> TaskSpec:
        """Which letter is likeliest after the context, which lists the options, as `name_choice`."""
        letters = f"{{{{ '{_LETTERS}'[:({self.options} | length)] | list | tojson }}}}"
        return self._choice(context, letters, (MetricUse(name="acc", label="accuracy"),), prompt_of=prompt_of, **more)

    def listed(self, mark: str = ". ") -> str:
        """The question and its options, for contexts."""
        return f"{self.before}{self.question}{self._listing(mark)}"

    def _listing(self, mark: str) -> str:
        return prompt_parts.lettered(self.options, mark)

    def _generated(self, name: str, template: str, **more: Any) -> TaskSpec:
        fields = {
            "prompt": Prompt(question=self.before + template),
            "reference": self.before + prompt_parts.letter_at(self.place),
            "choices": f"{self.before}{{{{ {self.options} | tojson }}}}",
            "max_tokens": 1024,
            "pipelines": prompt_parts.LETTER_PIPELINES,
        }
        return TaskSpec(name=name, about=self.about, **{**self.spec, **fields, **more})

    def _choice(self, context: str, weighed: str, metrics: tuple[MetricUse, ...], **more: Any) -> TaskSpec:
        lettered = f"{self.listed()}\n\n{prompt_parts.ONLY_THE_LETTER}"
        fields = {
            "name": f"{self.name}_choice",
            "about": f"{self.about.removesuffix('.')}: the likeliest of the options.",
            "prompt": Prompt(question=self.before + context, lettered=lettered),
            "reference": f"{self.before}{{{{ {self.place} }}}}",
            "choices": self.before + weighed,
            "kind": "choice",
            "pipelines": (Pipeline(metrics=metrics),),
            "aliases": (),
            "published": (),
        }
        return TaskSpec(**{**self.spec, **fields, **more})
