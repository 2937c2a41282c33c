"""UltraEval's post-processing functions and metrics give what UltraEval gives, strange texts included."""

import random

import pytest

from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.answers.ultraeval_answers import POSTPROCESS
from model_accuracy_eval.scoring.filters.filters import EXTRACTORS
from model_accuracy_eval.scoring.metrics.metric_table import METRICS

FENCED = "Sure:\n```python\nimport os\n\ndef add(a, b):\n    return a + b\n```\nDone."

READ = [
    ("exact_match_post", "The answer is Paris, France.\nThe answer is x", "paris"),
    ("exact_match_post", "the Cat", "cat"),
    ("exact_match_post", "答案是 Rom。", "rom"),
    ("gsm8k_post", "#### 1,234", "1234"),
    ("gsm8k_post", "<<3+4=7>>7 eggs", "7"),
    ("gsm8k_post", "total = $12.", "12"),
    ("gsm8k_post", "5 or 6 left", "6"),
    ("bbh_post", "So the answer is (B).\n\nQ", "(B)"),
    ("bbh_post", "I say the answer is yes", "yes"),
    ("until_return_post", "  yes\nno", "yes"),
    ("arithmetic_post", "2+3 = 5 ", "5"),
    ("theoremqa_post", "answer is 42.0, yes", "42.0"),
    ("hellaswag_post", "hmm Canoe Option C", "Canoe Option C"),
    ("gaokao_single_choice_post", "选A吧 答案是C。", "C"),
    ("gaokao_multi_choice_post", "【答案】AC", "AC"),
    ("gaokao_multi_choice_post", "A or B: 【答案】 C D", "CD"),
    ("gaokao_multi_question_choice_post", "【答案】A 【答案】：B", "AB[SEP]AB"),
    ("gaokao_five_out_of_seven_post", "ABGXCDEF", "ABGCD"),
    ("agieval_single_answer_post", "The answer is (C)", "C"),
    ("agieval_single_answer_post", "答案是 B, not A", "B"),
    ("agieval_single_answer_post", "Gosh, E", "E"),
    ("agieval_multiple_answer_post", "(A)(C)", "AC"),
    ("agieval_cloze_post", r"$\boxed{x=3}$", "3"),
    ("agieval_cloze_post", "The answer is therefore $y = \\frac12$", r"\frac{1}{2}"),
    ("agieval_cloze_post", "2 + 2 is 4. The answer is therefore 5", "5"),
    ("agieval_cloze_post", "Then x = 3.", "3"),
    ("agieval_cloze_post", "7 cows and 8 hens", "8"),
    ("common_math_post", r"\dfrac12", r"\frac{1}{2}"),
    ("common_math_post", r"\frac12x", r"\frac{1}{2}x"),
    ("common_math_post", r"50\%", "50"),
    ("common_math_post", r"k = \sqrt3", r"\sqrt{3}"),
    ("common_math_post", r"\sqrt", r"\sqrt"),
    ("common_math_post", r"7\text{ cm}", "7"),
    ("common_math_post", r"7\text{ cm}\text{ m}", r"7\text{ cm}\text{ m}"),
    ("math_post", r"Thus the final answer is $\frac{1}{2}$.", r"\frac{1}{2}"),
    ("math_post", "we get 7. ok", "weget7"),
    ("humaneval_post", "    return 1\n\ndef other():", "    return 1\n"),
    ("humaneval_post", "    return 1<|endoftext|>\nprint(2)", "    return 1"),
    ("humaneval_chatgpt", FENCED, "    return a + b\n"),
    ("humaneval_chatgpt", "return 1", "    return 1"),
    ("mbpp_post", "def f():\n    pass\n\nprint(f())", "def f():\n    pass"),
    ("new_mbpp_post", 'def f(): pass\n"""Next task\nassert"""\ndef g(): pass', "def f(): pass"),
    ("new_mbpp_post", 'def f():\n    """Says."""\n    return 1', 'def f():\n    """Says."""\n    return 1'),
    ("new_mbpp_post", 'def f(): pass\n"""cut', "def f(): pass"),
]


@pytest.mark.parametrize(("name", "text", "answer"), READ)
def test_u11_a_reply_is_read_as_ultraeval_reads_it(name: str, text: str, answer: str) -> None:
    """Every function by texts whose answers are known from UltraEval itself."""
    assert POSTPROCESS[name].read(text) == answer


def test_u11_every_function_is_tested_and_is_a_filter() -> None:
    """The table is what UltraEval registers, less the three that a model's raw output goes through."""
    assert {name for name, _, _ in READ} == POSTPROCESS.keys() <= EXTRACTORS.keys()
    assert len(POSTPROCESS) == 20


def test_u11_no_text_is_too_strange() -> None:
    """Whatever is thrown together of the marks that they look for, an answer or none comes out."""
    pieces = [
        " ",
        "\n",
        *[r"A", r"7", r"=", r"{", r"}", r"$", r"\frac", r"\sqrt", r"\boxed", r"\text{", r"/", r"```", r"def"],
        '"""',
    ]
    draw = random.Random(3)
    for _ in range(400):
        text = "".join(draw.choices(pieces, k=draw.randrange(9)))
        assert all(isinstance(post.read(text), str | None) for post in POSTPROCESS.values())


def test_u11_an_empty_answer_counts_as_not_found() -> None:
    """A reply without a letter is no wrong answer, but none."""
    nobody = Problem(id=0, messages=(), references=("A",))
    assert EXTRACTORS["gaokao_single_choice_post"]("no idea", nobody) is None
    assert EXTRACTORS["agieval_cloze_post"]("\\boxed", nobody) is None


@pytest.mark.parametrize(
    ("said", "value"), [("answer:B", 0.0), ("(B) it is", 1.0), ("Q? pear!", 1.0), ("fig", 0.0), ("plum", 0.0)]
)
def test_u15_qa_match_by_letter_or_wording(said: str, value: float) -> None:
    """The wording is that of the first option that the row says is right."""
    row = {"question": "Q?", "target_scores": {"fig": 0, "pear": 1, "plum": 1}}
    asked = Problem(id=0, messages=(), references=("(B)",), choices=("fig", "pear", "plum"), extras=row)
    assert METRICS["qa_match"].score(said, asked) == value
