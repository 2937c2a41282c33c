"""simpleqa, chinese_simpleqa: short factual questions with one answer that does not change.

Home: https://github.com/openai/simple-evals (arXiv:2411.04368) and https://github.com/OpenStellarTeam/ChineseSimpleQA
(arXiv:2411.07140). Licences: MIT; MIT for the Chinese repository, CC-BY-NC-SA-4.0 for its data on Hugging Face.
A row: {"metadata": "{'topic': 'Science', …}", "problem": "Who received …?", "answer": "…"}; in Chinese:
{"id": "…", "primary_category": "社会", "secondary_category": "…", "question": "…", "answer": "…", "urls": […]}
Asked: the bare question.
Judged: by a judge model, as correct, incorrect or not attempted, with a prompt of our own over the published rules. Its
grade gives five figures: the share of each, correct among the attempted, and the F-score, the harmonic mean of correct
and of correct among the attempted. A reply without a grade is unjudged, where the published script takes it for not
attempted.
"""

from model_accuracy_eval.records import (
    DataFile,
    DataSource,
    Grouping,
    JSONObject,
    MetricUse,
    Pipeline,
    Prompt,
    PublishedScore,
    Step,
    TaskSpec,
)

_RULES = """You grade a short answer to a factual question against the right answer.

A  correct: the answer holds everything that the question asks for, and contradicts the right answer nowhere. Wording, \
case, order, doubts beside it and slips in the spelling of names do not matter.
B  incorrect: something in the answer contradicts the right answer, even if it is hedged; or it offers several answers \
and does not settle on the right one.
C  not attempted: nothing in the answer contradicts the right answer, but what is asked for is missing: it declines, \
asks back, or stays vague.

A number is correct if it agrees with the right one up to that one's last significant digit. The right answer may say \
more than is asked; only what is asked for is needed. What the question makes obvious need not be said: a family name, \
a unit, a country.

Question: {question}
Right answer: {reference}
Answer to grade: {answer}

Grade only, without answering the question yourself. End with the one letter A, B or C."""

_CHINESE_RULES = """请对照标准答案，给一个事实性问题的简短回答评分。

A  正确：回答包含问题所问的全部内容，且没有任何地方与标准答案矛盾。措辞、顺序、附带的犹豫、人名的笔误都不影响。
B  错误：回答中有内容与标准答案矛盾，即使语气不确定；或者给出几个答案却没有落在正确的那一个上。
C  未作答：回答没有与标准答案矛盾，但缺少所问的内容：拒绝回答、反问，或含糊其辞。

数字须与标准答案一致到其最后一位有效数字。标准答案可能比所问的更多，只需答出所问的部分；题目中显而易见的内容不必重复。

问题：{question}
标准答案：{reference}
待评分的回答：{answer}

只评分，不要自己回答问题。最后只写一个字母 A、B 或 C。"""


def _figures(prompt: str) -> tuple[Pipeline, ...]:
    """One question to the judge serves all five figures."""
    args: JSONObject = {"prompt": prompt}
    labels = {
        "fact_correct": "correct",
        "fact_incorrect": "incorrect",
        "fact_not_attempted": "not attempted",
        "fact_correct_of_attempted": "correct given attempted",
        "fact_f_score": "F-score",
    }
    return (
        Pipeline(
            filters=(Step(name="strip_thoughts"), Step(name="stripped")),
            metrics=tuple(MetricUse(name=name, label=label, args=args) for name, label in labels.items()),
        ),
    )


_SIMPLE_EVALS = "https://github.com/openai/simple-evals"

ENGLISH = TaskSpec(
    name="simpleqa",
    about="Short questions for facts, graded by a judge model: correct, incorrect or not attempted.",
    home="https://github.com/openai/simple-evals",
    licence="MIT",
    prompt_of="official",
    published=(
        PublishedScore(model="gpt-4o-2024-11-20", metric="correct", value=38.8, source=_SIMPLE_EVALS),
        PublishedScore(model="gpt-4o-mini-2024-07-18", metric="correct", value=9.5, source=_SIMPLE_EVALS),
        PublishedScore(model="o1", metric="correct", value=42.6, source=_SIMPLE_EVALS),
    ),
    data=DataFile(
        name="simpleqa/test.jsonl", source=DataSource(hf="basicv8vc/SimpleQA", ms="evalscope/SimpleQA", split="test")
    ),
    fields=("problem", "answer"),
    prompt=Prompt(question="{{ problem }}"),
    reference="{{ answer }}",
    max_tokens=1024,
    pipelines=_figures(_RULES),
)

CHINESE = TaskSpec(
    name="chinese_simpleqa",
    about="Short questions for facts in Chinese, graded by a judge model.",
    home="https://github.com/OpenStellarTeam/ChineseSimpleQA",
    licence="CC-BY-NC-SA-4.0",
    aliases=("csimpleqa",),
    prompt_of="official",
    data=DataFile(
        name="chinese_simpleqa/chinese_simpleqa.jsonl",
        source=DataSource(
            url="github:OpenStellarTeam/ChineseSimpleQA@8b1aa9ebc5b91092356eb61f20f355c5993e6ce5/data/chinese_simpleqa.jsonl",
            hash="c626ca34be9bdd2203a45a70af9fed177d48d9f12ba10ebe9bf10f0c6b1eb484",
        ),
    ),
    fields=("question", "answer", "primary_category"),
    prompt=Prompt(question="{{ question }}"),
    reference="{{ answer }}",
    key=("id",),
    category="primary_category",
    max_tokens=1024,
    pipelines=_figures(_CHINESE_RULES),
    grouping=Grouping(by="category"),
)

TASKS = (ENGLISH, CHINESE)
