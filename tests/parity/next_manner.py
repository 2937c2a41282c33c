"""What lm-eval 0.5.0.dev1 does otherwise than 0.4.13, and than this package.

Published figures are 0.4's, so those rules hold here; its own accidents are not copied either.

`task` and `exam` put ours in its manner, so that everything else can be held equal to the byte and to nine digits.
"""

from msgspec.structs import replace

from model_accuracy_eval.records import (
    Candidate,
    FewShot,
    MetricUse,
    Pipeline,
    PreparedDataset,
    Problem,
    Step,
    TaskSpec,
)
from model_accuracy_eval.scoring.metrics.metric_table import pipelines
from model_accuracy_eval.tasks.importers.lm_eval_files import TaskFields

LEFT_OUT = {
    "global_piqa/nonparallel_cloze/eng_latn": "not shipped",
    "global_piqa/nonparallel_generation/eng_latn": "not shipped",
    "global_piqa/parallel_cloze/eng_latn": "not shipped",
    "bigbench/multiple_choice/causal_judgment": "stops at rows without options, which 0.4.13's Python left out; so do we",
    "wikitext/wikitext": "its Python wants a pair where 0.4.13 gives the logarithm of a whole text alone, as we do",
}
"""Task files of the list that cannot be held against it."""

READ_NOW = ["winogrande/default"]
"""Its older file weighs contexts by a number that Python gives, which is refused here; the newer one lists them."""

STOPS = {
    "super_glue/boolq/seq2seq": "string operation on non-string array",
    "mgsm/direct/mgsm_direct_de": "string operation on non-string array",
    "asdiv/default": "the target should be a string representing the continuation to score. Got None",
    "translation/wmt14_en-fr": "not enough values to unpack (expected 2, got 1)",
    "afrobench/flores/prompt_1/african-english/flores_amh_Ethi-eng_Latn": "Aggregation 'bleu' not found in registry",
}
"""Task files that it ships and cannot run: right answers that are digits become numbers, and every figure of
sacrebleu fails."""

UNLIKE = {
    "xnli_en": "blank in front of the whole text",
    "blimp_anaphor_gender_agreement": "blank in front of the whole text",
    "blimp_wh_island": "blank in front of the whole text",
    "triviaqa": "several right answers",
    "nq_open": "several right answers",
}
"""Tasks of the list with another prompt or figure than ours, asked without examples."""

UNLIKE_WITH_EXAMPLES = UNLIKE | {
    "belebele_acm_Arab": "a question among its own examples",
    "belebele_zho_Hans": "a question among its own examples",
    "mmlu_anatomy_continuation": "length of an option",
}

STOPS_AT_OUR_OWN = {
    "blanks": "Conditional/unconditional choice order mismatch",
    "k": "got an unexpected keyword argument 'k'",
    "mean": "Reduction 'mean' not found in registry",
    "scorer_arguments": "unexpected keyword argument 'regex_pattern'",
}
"""Files of our own that say what its documentation says, and that it cannot run."""

UNLIKE_OF_OUR_OWN = {
    "own_first_token": "whole text",
    "own_choice_match": "whole text",
    "own_scorer_with_metrics": "whole text",
    "own_likelihoods": "length of an option, and what is called likelihood",
    "own_plain": "length of an option",
    "own_repeats": "reduction where none is named",
    "own_several": "reduction where none is named",
}

UNLIKE_WITH_PYTHON = {"copa": "two blanks in front of an ending"}


def task(asked: TaskSpec, fields: TaskFields) -> TaskSpec:
    """Its examples may be the question itself where the first are taken, and several right answers have to be announced."""
    prompt = asked.prompt
    if prompt.fewshot and prompt.fewshot.sampler.name == "first":
        prompt = replace(prompt, fewshot=_with_itself(prompt.fewshot))
    listed = asked.kind == "generate" and "doc_to_choice" not in fields and not fields.get("multiple_targets")
    return replace(
        asked,
        prompt=prompt,
        references=None if listed else asked.references,
        pipelines=tuple(_pipeline(one, asked) for one in pipelines(asked)),
    )


def _pipeline(one: Pipeline, asked: TaskSpec) -> Pipeline:
    """Its scorers compare whole texts, and samples are reduced to pass@k, unless one answer is left of them."""
    scorer = asked.scorer.name if asked.scorer else ""
    chosen = any(step.name in ("take_first", "majority_vote") for step in one.filters)
    alone = chosen or (asked.repeats or 1) == 1
    return replace(
        one,
        filters=_WHOLE_TEXT.get(scorer, one.filters),
        metrics=tuple(_measure(measure, "take_first" if alone else "pass@k") for measure in one.metrics),
    )


_WHOLE_TEXT = {"first_token": (Step(name="remove_whitespace"),), "choice_match": (Step(name="noop"),)}


def _measure(measure: MetricUse, reduction: str) -> MetricUse:
    """Its likelihood is a logarithm, and averaged by a function that a bootstrap draws for."""
    if measure.name == "likelihood":
        return replace(measure, name="logprob", label="likelihood", aggregation="nanmean")
    return replace(measure, reduction=reduction) if measure.name == "exact_match" else measure


def _with_itself(shown: FewShot) -> FewShot:
    return replace(shown, without_itself=False)


def prepared(asked: PreparedDataset) -> PreparedDataset:
    """Options are parted from their context only where neither has a blank there, and are as long as what is weighed."""
    if asked.task.kind not in ("choice", "schema"):
        return asked
    delimiter = asked.task.prompt.delimiter
    return replace(asked, problems=tuple(_weighed(problem, delimiter) for problem in asked.problems))


def _weighed(problem: Problem, delimiter: str) -> Problem:
    candidates = tuple(_parted(one, delimiter) for one in problem.candidates)
    endings = tuple(one.continuation for one in candidates[: len(problem.choices)])
    return replace(problem, candidates=candidates, choices=endings)


def _parted(one: Candidate, delimiter: str) -> Candidate:
    ending = one.continuation.removeprefix(delimiter)
    bare = one.context and not one.context[-1].isspace() and not ending[0].isspace()
    return one if bare else Candidate(context=one.context, continuation=ending)
