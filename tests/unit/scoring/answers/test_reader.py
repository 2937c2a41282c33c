"""One reader for every kind of answer: the same marks, the same order of strength, the same withdrawals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.records import Message, Problem
from model_accuracy_eval.scoring.answers.reader import Doubtful
from model_accuracy_eval.scoring.answers.stated_numbers import as_number
from model_accuracy_eval.scoring.filters.filters import EXTRACTORS

PROBLEM = Problem(id=0, messages=(), references=("x",), choices=("Berlin", "Paris", "Rome", "Madrid"))
HARMONY = "<|channel|>analysis<|message|>maybe A or 3<|end|><|start|>assistant<|channel|>final<|message|>{}<|return|>"


def read(kind: str, text: str, problem: Problem = PROBLEM) -> str | None:
    return EXTRACTORS[kind](text, problem)


@pytest.mark.parametrize(
    "reply",
    [
        "\\boxed{@}",
        "**Final Answer**\n\n\\boxed{@}",
        "Final answer: @\n\nNote: I used 7 steps of plan D.",
        "#### @",
        "<answer>@</answer>",
        "<final_answer>(@)</final_answer>",
        '{"answer": "@", "steps": 3}',
        '```json\n{"reasoning": "not A, not 3", "final_answer": "@"}\n```',
        "First 3 of A.\nAnswer: @",
        'not A, not 3\n</think>\n\n"answer": "@"',
        "So the answer is @.",
        "So the answer is **@** [1].",
        "At first 3, or A.\n\n@",
        "@<|im_end|>",
        "<|im_start|>assistant\nThe answer is @.<|im_end|>\n<|im_start|>user\nAnswer: 3 or D",
        "The answer is @.</s>",
        "<think>The answer is 3, so A.</think>Answer: @",
        "[THINK]A or 3[/THINK]The answer is @",
        "◁think▷A? 3?◁/think▷\\boxed{@}",
        HARMONY.format("The answer is @."),
        "analysisThe answer is #.assistantfinal@",
        # other languages
        "Die richtige Antwort ist @.",
        "Antwort: @",
        "La bonne réponse est @.",
        "Réponse finale : @",
        "La respuesta correcta es @.",
        "Respuesta: @",
        "A resposta correta é @.",
        "Resposta: @",
        "La risposta corretta è @.",
        "Правильный ответ: @",
        "Ответ — @.",
        "الإجابة الصحيحة هي @",
        "الإجابة: @",
        "答案：@",
        "【答案】@\n【解析】A错，3错",
        "所以答案是@。",
        "正解は@です。",
        "答え：@",
        "정답은 @입니다.",
        "সুতরাং, 7.\n\n**চূড়ান্ত উত্তর:** @",
        "ดังนั้น คำตอบสุดท้ายคือ @",
        "తుది సమాధానం: @",
        "Hatua ya 7.\n\nKwa hivyo, jibu sahihi ni **@**.",
        "回答：「@」",
        "답: @",
        # taken back, denied, somebody's mistake
        "The answer is D3. Wait — actually it should be @.".replace("D3", "#"),
        "The answer is #. No, wait: @.",
        "Answer: #. Sorry, I made a mistake. The answer is @.",
        "\\boxed{#}\n\nNo, wait.\n\nSo the answer is @.",
        "The answer is not #, it is @.",
        "The answer is @. A common mistake is to say the answer is #.",
        "Answer: @\n\nSome students may think the answer is #.",
        "One might say that the answer is #, but the answer is @.",
        "The wrong answer is #. The answer is @.",
        "The answer is @. Is the answer #?",
        "Die Antwort ist nicht #, sondern @.",
        "答案是@，不是#。",
        # what only shows the form of an answer
        'Answer: @\n\n## Question\nGive it in the field `answer`, e.g., `"answer": "#"`.',
        "答案：@\n\n请把答案写在[正确答案]之后，例如[正确答案]#。",
        "@<eoa>\n",
        "[正确答案]@<eoa>\n请你回答：谁？\n[正确答案]#<eoa>",
    ],
)
@pytest.mark.parametrize(("kind", "right", "other"), [("choice_letter", "C", "B"), ("number_answer", "14", "25")])
def test_every_mark_serves_every_kind(reply: str, kind: str, right: str, other: str) -> None:
    """A letter and a number are found by the same words; what stands behind "@" is the answer, "#" is none."""
    assert read(kind, reply.replace("@", right).replace("####", "§").replace("#", other).replace("§", "####")) == right


LABEL = "So the correct answer: @"
STRENGTHS = {
    "So we have $\\boxed{@}$.": 0,
    "<answer>@</answer>": 1,
    "#### @": 1,
    "My final answer is @.": 1,
    "The answer is @.": 2,
    LABEL: 1,
}
"""Lines that state an answer → which wins: the lower number."""
NOTHING = (
    "That follows from what was said before.",
    "Some may think that the answer is 9.",
    "For example, the answer is 9.",
    "Of this answer is 9 the best part.",
    "The answer is not 9.",
)
WAIT = "Wait, there is one more thing to look at."


@given(
    st.lists(
        st.tuples(st.sampled_from([*STRENGTHS]), st.sampled_from("2345")) | st.sampled_from([*NOTHING, WAIT]),
        max_size=8,
    )
)
def test_the_strongest_and_last_statement_counts(lines: list[tuple[str, str] | str]) -> None:
    """Of those behind the last "wait" that any follows; where others were as strong, it is doubtful."""
    stated, taken_back = list[tuple[int, str]](), False
    for place, line in enumerate(lines):
        if isinstance(line, str):
            taken_back |= line == WAIT
            continue
        if taken_back:
            stated, taken_back = [], False
        begins = not place and line[0] == LABEL  # it may stand before all of its reasoning
        stated.append((2 if begins else STRENGTHS[line[0]], line[1]))
    said = [line if isinstance(line, str) else line[0].replace("@", line[1]) for line in lines]
    steps = ("sand", "clay", "wood", "iron", "salt", "wool", "milk", "rice")  # what goes in circles would be cut off
    text = "\n".join(f"{line}\nWe go on with {step}." for line, step in zip(said, steps, strict=False))
    found = EXTRACTORS["number_answer"](text, PROBLEM, flexible=False)
    strongest = min((strength for strength, _ in stated), default=3)
    equals = [value for strength, value in stated if strength == strongest]
    assert found == (equals[-1] if equals else None)
    assert isinstance(found, Doubtful) == (len({*equals}) > 1)


@pytest.mark.parametrize(
    ("kind", "reply", "answer"),
    [
        ("number_answer", "She works.\n- Question: how long in total?\n5+3=8\n\n\\boxed{8}\n\n2 checks done", "8"),
        ("number_answer", "Answer: 6 dollars per day (365 days)", "6"),
        ("number_answer", "The answer is 104 [1].", "104"),
        ("number_answer", "It is 104 [1].", "104"),
        ("number_answer", "18,00 €", "18"),
        ("number_answer", "Die Antwort ist 1.234,50 €.", "1234.5"),
        ("number_answer", "The answer is 3/4.", "0.75"),
        ("number_answer", "The answer is 7, because x = 3.", "7"),
        ("number_answer", "The answer is 7, so x = 3.", "7"),
        ("number_answer", "The answer is 160 minutes = 2 hours 40 minutes", "160"),
        ("choice_letter", "- B", "B"),
        ("number_answer", "The answer is 3 * 4 = 12 eggs in 2 days.", "12"),
        ("number_answer", "Answer: There are 3 boxes with 4 eggs. 3*4 = 12.", "12"),
        ("number_answer", "Answer: 3 boxes have 4 eggs each. So 3*4=12. The answer is 12.", "12"),
        ("number_answer", "12\n\nThere are 3 boxes with 4 eggs.", "12"),
        ("number_answer", "It makes 5 after 3 days because 7 - 2 is 5.", "5"),
        ("number_answer", "The answer is 5 or 6.", None),
        ("number_answer", "Answer: 5\nAnswer: 6", None),
        ("number_answer", "There are 70 boards, so it cannot be determined.", None),
        ("number_answer", "One is 24, the other is 19, which means that the gap is 5.", "5"),
        ("number_answer", "The answer is $\\frac{3}{4}$.", "0.75"),
        ("number_answer", "So: $$\\frac{3}{4}*\\frac{1}{3}=\\frac{1}{4}$$", "0.25"),
        ("number_answer", "Answer: He cut 2 roses and 19 orchids.", None),
        ("number_answer", "7 lay 6.\nAnswer: 42 eggs are left if 6 hens lay 7.", None),
        ("number_answer", "Now we can find the rest by adding 7.", None),
        ("number_answer", "We need to round up, so it takes 2 years, and therefore 2.", "2"),
        ("number_answer", "It is 7.\n$E = -\\frac{3.40}{(8.85", None),
        ("number_answer", "It is <<2.5/3=0.833", None),
        ("choice_letter", "D\n\nExplanation: The answer A would be right if it rained.", "D"),
        ("choice_letter", "D\n\nQuestion: What else?\nA. x\nB. y\nAnswer: A", "D"),
        ("choice_letter", "The answer is B. The answer is C.", None),
        ("choice_letter", "The answer is Paris.", "B"),
        ("choice_letter", "D\n\nExplanation of the answer: A is in Germany.", "D"),
        ("choice_letter", "The capital is old. So the best fit is (B) Paris.", "B"),
        ("choice_letter", "The answer is (B).\n\nAll answers:\nA. old\nB. new", "B"),
        ("choice_letter", "答案：ABD\n\nC", None),
        ("number_answer", "Die Antwort ist 1 234.", "1234"),
        ("number_answer", "The answer is 1{,}234 of 5,000.", "1234"),
        ("number_answer", "Es sind 2,5 kg.", "2.5"),
        ("number_answer", "Answer: 18,00 Euro", "18"),
        ("number_answer", "It makes 104 eggs [1].", "104"),
        ("choice_letter", "The answer is X-ray.\n\nB", "B"),
        ("number_answer", "He pays #### 800 for it less 20% of it.", "800"),
        ("maths_answer", "So:\nAnswer: The sum of $a$ and $b$ is $7$.", "7"),
        ("maths_answer", "Of $a$ we get $2$ and $3$", "3"),
        ("number_answer", "الإجابة هي 3٫5", "3.5"),
        ("maths_answer", "#### Sum\nWe get $5$.", "5"),
        ("number_answer", "She works.\nQuestion: how long in total?\n5+3=8\n\n\\boxed{8}", "8"),
        ("choice_letter", "Answer: B is what comes to mind. But the answer is C.", "C"),
        ("choice_letter", "The answer is B. Wait, it is clear that the answer is not C.", "B"),
        ("choice_letter", "My final answer is B.\n\nThe answer is C if it rains.", "B"),
        ("number_answer", "İİ. The answer is 1234.", "1234"),
        ("number_answer", "The answer is near.\nSo we have 5 eggs.", "5"),
        ("choice_letter", "He answered that one is B.\n\nC", "C"),
        ("choice_letter", "Rückantwort ist B.\n\nC", "C"),
        ("maths_answer", "Final answer:\n\\[\n\\text{Answer: } 720\n\\]", "720"),
        ("choice_letter", "I pick B. Sorry, I meant C.", "C"),
        ("choice_letter", "Resposta: A, C e D.", None),
        ("choice_letter", "The closest is:\n\n**B. Paris, I think**\n\nIt fits, but for A.", "B"),
        ("choice_letter", "The options are:\n\nA. old\nB. new", None),
        ("choice_letter", "So it must be **(B) the old one**. Note that A is new.", "B"),
        ("choice_letter", "It is near to 3 (Option B).**", "B"),
        ("choice_letter", "Option D is new.\n**Option B:**\nold", None),
        ("choice_letter", "I like neither option (A) nor (B).", None),
        ("choice_letter", "La risposta è C. Non A, e non B.", "C"),
        ("choice_letter", "答案：C\n解析：图中应该是A，B之间的点。", "C"),
        ("choice_letter", "La opción correcta es B.", "B"),
        ("choice_letter", "Not B, it is A", "A"),
        # a small letter with its bracket, but no list of parts
        ("choice_letter", "The answer is **b) the one in France**.", "B"),
        ("choice_letter", "b) the one in France.\n\nIt is old.", "B"),
        ("choice_letter", "So the best fit is:\n\n> **b) the one in France** (of four)\n\nIt is old.", "B"),
        ("choice_letter", "So $$\n\\boxed{\\text{b) The one in France.}}\n$$", "B"),
        ("choice_letter", "Final answer:\na) Oslo: no\n\nb) Bern: yes", None),
        ("choice_letter", "Final answer: a) is no, b) is yes.", None),
        ("choice_letter", "Therefore a) is 5, and b) is 6 by the same rule", None),
        ("choice_letter", "(a) As x = y, it is that y = z. (b) As y = z, it is that", None),
        # the last of several in brackets is not the one in brackets at the end; none of them is none
        ("choice_letter", "D: It has what is asked for, so it is not old (A), new (B), or small (C).", "D"),
        ("choice_letter", "It is in the north.\n\nAnswer: None of the above (the closest answer is A).", None),
        ("choice_letter", "The answer is C. Now, the first map might suggest the answer is B.", "C"),
        ("choice_letter", "正しい選択肢は「B. パリ」ではありません。", None),
        ("number_answer", "Final answer: This cannot be solved. We know of 3 days alone (of 103 and 92 guests).", None),
        ("choice_letter", "So $\\boxed{\\text{Paris}}$.", "B"),
        ("choice_letter", "Final answer: The better option is **a) the one in Germany**, by its size.", "A"),
        # boxes with the steps, and with a sentence
        ("maths_answer", "\\boxed{9+x=12\\implies x=3.}\n\n\\boxed{x=3}", "x=3"),
        ("maths_answer", "\\boxed{\\text{Each of them has 5 choices, so it is }4\\cdot 5=20.}", "20"),
        ("maths_answer", "\\boxed{3+x=5 \\Rightarrow x=2,\\quad x+y=2+8=10.}", "10"),
        (
            "maths_answer",
            "\\boxed{\\text{Each step has 30 degrees. Four of them from 12 on land at }4\\text{ at last.}}",
            None,
        ),
        ("maths_answer", "\\boxed{\\text{I can’t tell it without the map of }9\\text{ towns.}}", None),
        ("maths_answer", "\\boxed{\\text{They meet where }x=y,\\ \\text{so that the point is }(1,0).}", "(1,0)"),
        ("choice_letters", "【答案】：A、C", "AC"),
        ("maths_answer", "$$\n\\text{Answer: } 66\n$$", "66"),
        ("maths_answer", "Answer:\n\\[\n8\n\\]\nof $9$", "8"),
        ("maths_answer", "Final answer:\n```\n$8$\n```\nof 9", "8"),
        ("maths_answer", "$x = \\boxed{2}，$f(\\frac{1}{2}) = \\boxed{1}$", "2, 1"),
        ("maths_answer", "It is impossible to find out what $Y$ could be.", None),
        ("maths_answer", "So $x = 2$, and $y = \\frac{1}{(2", None),
        ("maths_answer", "**Answer:** The sixth term is 350.", "350"),
        ("short_answer", "Rome. The answer is Paris.", "Paris"),
        ("short_answer", '{"answer": "Paris", "of": "3"}', "Paris"),
        ("short_answer", r'{"answer": "\"Paris\""}', "Paris"),
        ("short_answer", '{"answer": ["a", "b"], "of": 3}', '["a", "b"]'),
        ("short_answer", '{"answer": {"a": 2, "b": 5}}', '{"a": 2, "b": 5}'),
        ("yes_or_no", "La réponse est oui.", "yes"),
        ("yes_or_no", "So 7 is a prime number.\n\n[Yes]", "yes"),
        # nothing is guessed, least of all from a thought that was cut off
        ("number_answer", "I cannot tell.", None),
        ("number_answer", "", None),
        ("number_answer", "  \n", None),
        ("number_answer", "<think>It is 7, because 3 and 4", None),
        ("number_answer", "no digits at all ####", None),
        # a box has the value of what stands in it; the half is no 1, and two values are no number
        ("number_answer", r"So \boxed{\frac{1}{2}} after 3 steps.", "0.5"),
        ("number_answer", r"So \boxed{1\frac{1}{2}} after 3 steps.", "1.5"),
        ("number_answer", r"So \boxed{3 \times 4 = 12} after 3 steps.", "12"),
        ("number_answer", r"So \boxed{1.5 \times 10^3} after 3 steps.", "1500"),
        ("number_answer", r"So \boxed{\text{42 eggs for 7 days}} after 3 steps.", "42"),
        ("number_answer", r"So \boxed{1, 2} after 3 steps.", None),
        ("number_answer", r"So \boxed{x^2 + 1} after 3 steps.", None),
        ("number_answer", r"So \boxed{2 = 3} after 3 steps.", None),
        # cut off, or in circles
        ("number_answer", "So 5 + 3 =", None),
        ("number_answer", "We have 5 eggs.\nFinally, add those of the 3 hens:", None),
        ("number_answer", '{\n "reasoning": "For the first 5 months he has $100,00', None),
        ("number_answer", "He has 5 and 3 \ufffd", None),
        ("number_answer", "5 hens. " + "They lay no egg at all, not one. " * 20 + "Then", None),
        ("maths_answer", "As $x = y$ and $y = z$, we get that $x^2 \\ge 0,$", None),
        ("number_answer", "请你回答：\n文书:2016年的9个", "9"),
        ("number_answer", "70 [gMASK]sop I'm 3", "70"),
        ("choice_letter", "```python\nx = 2\n```\n```python\n", None),
        ("number_answer", "It comes to [金额]270元<eoa>, as 200 were sent and 70 taken.", "270"),
        ("number_answer", "14 of them have at least 3 scarves.", "14"),
        # a part of a formula is no number
        ("number_answer", "The answer is \\(2\\pi i\\).", None),
        ("number_answer", "The answer is 8!/(2!)^4.", None),
        ("number_answer", "The answer is 3^2023.", None),
        ("number_answer", "The answer is 2pi.", None),
        ("number_answer", "Final answer: Kim+8-Ann-12", None),
        ("number_answer", "Final answer: 420/number of days", None),
        ("number_answer", "The answer is 420/x.", None),
        ("number_answer", "Final answer: 60/month", "60"),
        ("number_answer", "The answer is 15 / 2sin^2(4).", None),
        ("number_answer", "Of 5, the value of A is 10pi.", None),
        ("number_answer", "The area is 3^2 = 9 cm, not 8.", "9"),
        ("number_answer", "The answer is 1/sqrt(5).", None),
        ("number_answer", "The answer is 2\\sqrt{3} \\approx 3.46.", "3.46"),
        ("number_answer", "The answer is 5!", "5"),
        ("number_answer", "The answer is 6!.", None),
        ("number_answer", "The answer is -n!/4.", None),
        ("number_answer", "It is 5. The answer is $\\frac{4xy}{(x^2+y^2)^2}$.", None),
        ("number_answer", "The answer is $\\frac{0.08 * Face Value}{0.09}$", None),
        ("number_answer", "The answer is 2e.", None),
        ("number_answer", "The answer is 4x.", None),
        ("number_answer", "The answer is \\(\\binom{4}{2} - 1\\).", "5"),
        ("number_answer", "The answer is 1.35 \ttimes 10^{3} days.", "1350"),
        # a range, a pair and a time are several numbers, but the full hour; and what is infinite is none
        ("number_answer", "The answer is 2-7.", None),
        ("number_answer", "The answer is 42 to 2 significant figures.", "42"),
        ("number_answer", "The answer is 42 apples and 3 of them are red.", "42"),
        ("number_answer", "600 and 634 make 1234", "1234"),
        ("number_answer", "Answer: 10 to 15 minutes", None),
        ("number_answer", "2-7", None),
        ("number_answer", "The range is 4-9.", None),
        ("number_answer", "Read pages 3-7", None),
        ("number_answer", "10-2=8", "8"),
        ("number_answer", "The answer is [0.33, 0.34].", None),
        ("number_answer", "The answer is (1, 0)", None),
        ("number_answer", "The answer is 5 hours and 30 minutes.", None),
        ("number_answer", "The answer is 7 between 3 and 10.", "7"),
        ("number_answer", "The answer is 6:30.", None),
        ("number_answer", "['$18 thousand', '$16 thousand']", None),
        ("number_answer", "The answer is V: 3.76, I: 0.8", None),
        ("number_answer", "The answer is 6! = 720.", "720"),
        ("number_answer", "For x = 3 the left side is also undefined.", None),
        ("number_answer", "The answer is 2:00 pm.", "2"),
        ("number_answer", "The sum is 5.\nThe answer is $\\infty$", None),
        ("number_answer", "The sum is 5.\nThe answer is $\\text{none}$", None),
        ("number_answer", "It is 5.\nAnswer: infinite\n6 of them", None),
        # what breaks off says what it said before
        ("number_answer", "The answer is -\\frac{1}{2}.\nThe answer is -\\frac{1", "-0.5"),
        (
            "number_answer",
            "It was on the 7th. " + "It was he who took all of it, and he has been found out. " * 3,
            None,
        ),
        ("number_answer", "```python\nreturn -1\n<answer>5</answer>", "5"),
        ("number_answer", "Of 20, the answer is none.", None),
        ("number_answer", "It is flawed, as 3 and -5 have no valid solution.", None),
        ("number_answer", "The area up to 3 with n = 4 steps is 4.46.", "4.46"),
        ("number_answer", "She needs $64.86 to buy 9 pens and 7 books.", "64.86"),
        (
            "maths_answer",
            '{"answer": "R^2 - 15, where R is the way from the midpoint of it to each of its corners"}',
            "R^2 - 15",
        ),
        ("choice_letter", "错误的是D：马德里在海边。", "D"),
        ("choice_letter", "不正确的说法是D：马德里在海边。", "D"),
        ("choice_letter", "正确的是B选项，即巴黎。", "B"),
        ("choice_letter", "正确的是：A：柏林；B：巴黎；C：罗马。", None),
        ("maths_answer", "Of $a$ we get\n\\[\n= \\frac{31}{2}", None),
        (
            "maths_answer",
            "We get $b$." + " As $x = y$, it is that $y = z$, so that $z = x$." * 4 + " As $x = y$, it is that",
            None,
        ),
        (
            "maths_answer",
            '{"answer": "The matter is hard, and what it comes to cannot be written in so few words as these are."}',
            None,
        ),
        ("maths_answer", "If $O$ is the centre, the ways from $O$ to all of the corners are equal.", None),
        # a hyphen joins a word, so that it takes nothing back; a price begins no formula
        ("maths_answer", "So there are $\\boxed{31}$ non-empty sets of primes.", "31"),
        ("maths_answer", "\\boxed{(3, 1)}\n\nSo it is:\n\n\\boxed{(3, 1)}", "(3, 1)"),
        ("maths_answer", "\\boxed{3}\n\n\\boxed{3}", "3"),
        ("maths_answer", "So $x=\\boxed{3}$, $y=\\boxed{3}$.", "3, 3"),
        ("maths_answer", "2 x $6 = $12.\n\nTherefore, the package will cost $12.", "12"),
        ("maths_answer", "495 x $15 = $7425.\n\nTherefore, she makes $7425 in 1 week.", "7425"),
        ("maths_answer", "It is $8x = $400, so x = $400 / $8 = 50.\n\nSo he sold 50 bags.", "50"),
        ("maths_answer", "$$\n\\boxed{6}\n$$\n\nWait, one more thing!\n\nIt holds, so:\n\n$$\n\\boxed{6}\n$$", "6"),
        ("maths_answer", "It is $\\boxed{6}$.\n\nBut wait, one more thing! It does hold for all of them.", "6"),
        ("number_answer", "The answer is 12.\nThe answer is 1", "12"),
        # the result of a step, and its heading
        (
            "maths_answer",
            "1. Multiply 2 by the result: $2 \\times 399 = 798$\n2. Add $2$.\n\nSo, $x = 800$.",
            "x = 800",
        ),
        ("number_answer", "#### 3.2. Sideways\nShe swims on, and it takes 15 minutes.", "15"),
        ("number_answer", "So it is 18 dollars.\n#### 18. She makes that each day.", "18"),
        ("number_answer", "There are 62 + 3x wolves. #### 62 + 3x", None),
        ("number_answer", "Q1: He has 20.\nQ2: He has 20/4=5.\n\nA1: So 80.\n\nFinal answer: 80", "80"),
        ("number_answer", "It is 5 or 6.\nFinal answer: 3/4", "0.75"),
        ("number_answer", "We try 5.\n\nFor n = 5 it is \\(2^5 - 5 = 27 \\not\\equiv 0\\).", None),
        (
            "number_answer",
            "He has 5 and 9 of the red ones, and none of the blue ones. " * 2 + "\n" * 400 + "12 answer",
            "12",
        ),
        # of an option nothing but its letter counts; P(A) names none
        ("choice_letter", "The answer is (B) A and C.", "B"),
        ("choice_letter", "The answer is (B) (i) LDA (ii) water.", "B"),
        ("choice_letter", "The answer is (B) (C).", None),
        ("choice_letter", "The statement that is NOT true is B. All of it is old.", "B"),
        ("choice_letter", "So we get P(A)", None),
        # what is no statement
        ("number_answer", "As a result, there are 9/14*84 = 54 women.\nA: 34", "34"),
        ("number_answer", "Step 1: total = 100\nStep 2: print(total)", None),
        ("number_answer", "It takes 3 1/2 hours.", "3.5"),
        ("number_answer", "The answer is $3\\frac{1}{2}$.", "3.5"),
        ("maths_answer", "```python\nresult = solve(x)\n```\nThe answer is $5$.", "5"),
        ("choice_letter", "(A) old (C) new (D) other", None),
        ("choice_letter", "We cannot tell which of A or B is correct. So C is the most accurate.", "C"),
        ("choice_letter", "The answer is not (A) Berlin, (B) Paris, or (D) Madrid.", None),
        ("choice_letter", "Option B is more accurate.", "B"),
        ("yes_or_no", "答案：不是", "no"),
        # a "no" inside a sentence states nothing
        ("yes_or_no", "ANSWER: yes", "yes"),
        ("yes_or_no", "Yes, there is no doubt of it.", "yes"),
        ("yes_or_no", "No. The answer to the first part is yes, but\nANSWER: **No**", "no"),
        ("yes_or_no", "We see that it is so.\n\nYes", "yes"),
        ("yes_or_no", "The answer is \\boxed{\\text{no}}.", "no"),
        ("yes_or_no", "The passage says nothing.", None),
        ("yes_or_no", "There is no bridge.", None),
        ("yes_or_no", "Yes.\nNo one doubts it.", "yes"),
        ("yes_or_no", "I know it: noble", None),
        ("yes_or_no", "Answer: not at all", None),
        # what follows the last mark, or the first line of the reply
        ("short_answer", "Paris.", "Paris"),
        ("short_answer", "Paris is it.\nIt is old.", "Paris is it"),
        ("short_answer", "long " * 30, ("long " * 30).strip()),
        ("short_answer", "long " * 30 + "\nParis", None),
        ("short_answer", "It is clear.\nAnswer: the Seine\nbecause it is.", "the Seine"),
        ("short_answer", "First answer: x\nThe answer is **Rome**.", "Rome"),
        ("short_answer", "5.0", "5.0"),
        ("short_answer", "  \n ", None),
        ("short_answer", "Answer:", None),
        ("unanswerable", "The question is unanswerable.", "unanswerable"),
        ("unanswerable", "in 1820", "in 1820"),
    ],
)
def test_what_a_careful_reader_reads(kind: str, reply: str, answer: str | None) -> None:
    """Beside other numbers and letters, in other notations, and nothing where two stay."""
    found = read(kind, reply)
    as_value = as_number if answer and kind == "number_answer" else str
    assert (found and as_value(found)) == (answer and as_value(answer))


@pytest.mark.parametrize("choices", [("It may be.", "Can't be told.", "Cannot be so"), ("", "", "")])
@pytest.mark.parametrize(("letter", "words"), [("B", "Can’t be told."), ("C", "Cannot be so")])
def test_the_words_of_an_option_deny_nothing(choices: tuple[str, ...], letter: str, words: str) -> None:
    """Also where the options are not known."""
    problem = Problem(id=0, messages=(), references=(letter,), choices=choices)
    assert read("choice_letter", f"We have no hint. So the best answer is ({letter}) {words}", problem) == letter
    assert read("choice_letter", f"The answer is {letter}. That cannot be told.", problem) == letter
    assert read("choice_letter", f"That the answer is ({letter}) cannot be right.", problem) is None


@pytest.mark.parametrize(
    ("kind", "reply", "is_doubtful"),
    [
        ("number_answer", "5", False),
        ("number_answer", "We have 5 eggs.", False),
        ("number_answer", "We have 3 pans and 5 eggs.", True),
        ("maths_answer", "We get $\\frac{1}{2}$ cm", True),
        ("maths_answer", "The solution is 5", True),
        ("maths_answer", "Square the result:\n\\[\n9\n\\]\nThen add all of them:\n\\[\n3 =", True),
        ("choice_letter", "I choose B. The right answer is near the sea.", True),
        ("choice_letter", "I choose B.", False),
        ("choice_letter", "So far the answer is B. But we also have to look at (", True),
        ("choice_letter", "Final answer: B\n\nFor we also have to look at (", False),
        ("number_answer", "Final answer: 200 GB have to be fetched by Carla.\n---\n" * 4, True),
        ("short_answer", "Paris", False),
    ],
)
def test_an_answer_that_is_not_stated_once_is_doubtful(kind: str, reply: str, is_doubtful: bool) -> None:
    """The last that occurs, the last of several that are stated, and one beside an announcement of something else."""
    assert isinstance(read(kind, reply), Doubtful) is is_doubtful


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("<|im_start|>assistant\nC", "C"),
        ("C<|im_end|>\nD", "C"),
        ("no, 7\n</think>C", "C"),
        ("[THINK]7[/THINK]C", "C"),
        ("◁think▷7◁/think▷C", "C"),
        ("<think>7", None),
        ("so far <think>7", "so far"),
        ("<think>7</think>C", "C"),
        ("<think>7</think>C<think>8", "C"),
        ("<think>7<think>8</think>9</think>C", "C"),
        ("no thought", "no thought"),
        ("C <|channel|>", "C "),
        ("<|channel|>analysis<|message|>7", None),
        ("<|channel|>commentary<|message|>C<|end|><|channel|>analysis<|message|>7", "C"),
        ("<|channel|>final<|message|>C<|end|><|channel|>commentary<|message|>7", "C"),
        ("<|channel|>commentary<|message|>7<|end|><|channel|>commentary<|message|>C", "C"),
        ("analysis7assistantfinalC", "C"),
        ("So assistantfinal is one word, and analysis another.",) * 2,
        ("analysis of all",) * 2,
    ],
)
def test_marks_and_thoughts_are_not_said(reply: str, said: str | None) -> None:
    """Nor what stands behind the end of the turn, nor in another channel than the final one."""
    assert EXTRACTORS["strip_thoughts"](reply, PROBLEM) == said


SHOTS = "Question: 1+1?\nAnswer: 2\n\nQuestion: 2+2?\nAnswer:"


@pytest.mark.parametrize(
    ("problem", "reply", "answer"),
    [
        (
            Problem(id=0, messages=(Message(role="user", content=SHOTS),), references=("4",)),
            "It is 4.\nSo 4.\nQuestion: 3+3?",
            "4",
        ),
        (
            Problem(id=0, messages=(), text="Question: 2+2?\nAnswer:", references=("4",)),
            "It is\n4.\n\nQuestion: 3+3?\nAnswer: 6",
            "4",
        ),
        (
            Problem(id=0, messages=(Message(role="user", content="Question: 2+2?"),), references=("4",)),
            "It is 3.\nOr 4.\nQuestion: is it?\nIt is 5.",
            "5",
        ),
        (PROBLEM, "It is 4.\n\nQuestion: 3+3?\nAnswer: 6", "4"),
        (PROBLEM, "\n\nC. It is 4\n\nQuestion: 3+3?\nA. 6", "4"),
        (PROBLEM, "First:\nQuestion: how many?\nAnswer: 4\nThen\nQuestion: and twice?\nAnswer: 8", "8"),
    ],
)
def test_a_next_question_is_cut_off(problem: Problem, reply: str, answer: str) -> None:
    """In the form of the prompt's own examples, or behind a reply of one line; not in a reply that asks itself."""
    assert read("number_answer", reply, problem) == answer


def test_what_the_prompt_says_is_no_answer() -> None:
    """A base model that repeats the prompt repeats the answer of its example."""
    example = "Question: In a town by the sea there live 30 men, 20 women and 5 dogs. How many people?\nAnswer: 50\n"
    asked = example + "Question: And how many dogs?\nAnswer:"
    problem = Problem(id=0, messages=(Message(role="user", content=asked),), references=("5",))
    assert read("number_answer", example, problem) is None
    assert read("number_answer", example.replace("50", "55"), problem) == "55"
    assert read("number_answer", "Answer: 50", problem) == "50"


def test_a_letter_may_touch_the_text_of_its_option() -> None:
    """As Chinese replies write it; of another option, or of none, it is no letter."""
    days = Problem(id=0, messages=(), references=("B",), choices=("45天", "46天", "47天"))
    assert read("choice_letter", "答案：B46天。因为他先走。", days) == "B"
    assert read("choice_letter", "B46天", days) == "B"
    assert read("choice_letter", "选项B：46天，因为他先走。", days) == "B"
    assert read("choice_letter", "选项 B\n\n问题: 请选出一项", days) == "B"
    assert read("choice_letter", "答案：B45天。因为他先走。", days) is None


def test_several_answers_are_lines() -> None:
    """Where the benchmark has several."""
    assert EXTRACTORS["short_answer"]("So.\nAnswer: Baker\n\nCole.", PROBLEM, lines=True) == "Baker\nCole"
