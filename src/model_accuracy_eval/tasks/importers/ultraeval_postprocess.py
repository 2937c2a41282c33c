"""The module that transforms import as `UltraEval.tasks.postprocess`: classes that turn replies into answers."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from model_accuracy_eval.scoring.answers.ultraeval_answers import POSTPROCESS

CLASSES = {
    "ExactMatchPost": "exact_match_post",
    "MathPost": "math_post",
    "UntilReturnPost": "until_return_post",
    "HumanEvalPost": "humaneval_post",
    "ArithmeticPost": "arithmetic_post",
    "TheoremQAPost": "theoremqa_post",
    "GSM8KPost": "gsm8k_post",
    "MbppPost": "mbpp_post",
    "HumanEvalGPT": "humaneval_chatgpt",
    "HellaSwagPost": "hellaswag_post",
    "GaoKaoSingleChoicePost": "gaokao_single_choice_post",
    "GaoKaoMultiQuestionChoicePost": "gaokao_multi_question_choice_post",
    "GaoKaoMultiChoicePost": "gaokao_multi_choice_post",
    "GaoKaoFiveOutOfSevenPost": "gaokao_five_out_of_seven_post",
    "AGIEvalClozePost": "agieval_cloze_post",
    "AGIEvalSingleAnswerPost": "agieval_single_answer_post",
    "AGIEvalMultipleAnswerPost": "agieval_multiple_answer_post",
    "CommonMathPost": "common_math_post",
    "NewMbppPost": "new_mbpp_post",
    "BBHPost": "bbh_post",
}


@dataclass(frozen=True, slots=True)
class Post:
    """Called with the inputs and the replies; returns the inputs and the answers."""

    function: Callable[[str], str | None]

    def __call__(self, raw: list[str], texts: str | list[str]) -> tuple[list[str], list[str | None]]:
        return raw, [self.function(text) for text in ([texts] if isinstance(texts, str) else texts)]


def __getattr__(name: str) -> Callable[[], Post]:
    if name not in CLASSES:
        raise AttributeError(name)
    return partial(Post, POSTPROCESS[CLASSES[name]])
