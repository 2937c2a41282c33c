"""The post-processing functions of UltraEval, under its names: a reply → the answer that its metrics look at.

They say what UltraEval's say for every text, strange ones included, because figures are compared with published ones.
Nothing is imported here but `re`: the author's own Python uses them too, in a process of its own.
"""

from collections.abc import Callable

from model_accuracy_eval.scoring.ultraeval import formulas, letters, programs, words

POSTPROCESS: dict[str, Callable[[str], str | None]] = {
    "exact_match_post": words.exact_match,
    "until_return_post": words.until_return,
    "arithmetic_post": words.arithmetic,
    "theoremqa_post": words.theoremqa,
    "gsm8k_post": words.gsm8k,
    "hellaswag_post": words.hellaswag,
    "bbh_post": words.bbh,
    "math_post": formulas.final_answer,
    "common_math_post": formulas.plain,
    "agieval_cloze_post": formulas.cloze,
    "gaokao_single_choice_post": letters.gaokao_single_choice,
    "gaokao_multi_question_choice_post": letters.gaokao_multi_question_choice,
    "gaokao_multi_choice_post": letters.gaokao_multi_choice,
    "gaokao_five_out_of_seven_post": letters.gaokao_five_out_of_seven,
    "agieval_single_answer_post": letters.agieval_single_answer,
    "agieval_multiple_answer_post": letters.agieval_multiple_answer,
    "humaneval_post": programs.humaneval,
    "humaneval_chatgpt": programs.humaneval_chatgpt,
    "mbpp_post": programs.mbpp,
    "new_mbpp_post": programs.new_mbpp,
}
