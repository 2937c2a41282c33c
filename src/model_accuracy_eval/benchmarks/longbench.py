"""longbench: 21 tasks over long texts in English, Chinese and code; each is a dataset of its own, longbench_qasper.

Home: https://github.com/THUDM/LongBench, arXiv:2308.14508. Licence: MIT; the texts have those of their 17 sources.
A row: {"context": "…", "question": "…", "answers": ["…"], "length": 3210, "all_classes": null, …}; the authors' own
files have `input` where the copy that is fetched has `question`.
Asked: the text first, then the question, in the task's language and in words of our own that ask for what the authors
ask for: a few words, a class, a paragraph's number, a page of summary, the next line of code. Texts that do not fit
into the model's context are rejected by the service and counted so; the authors cut out their middles.
Judged: by the task's own measure (F1 of words, ROUGE-L, share of the right class or number, similarity of the line), by
the best of the right answers, as the authors' script computes it. The group's figure is the plain mean of the tasks.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import (
    DataFile,
    DataSource,
    MetricUse,
    Pipeline,
    Prompt,
    PublishedScore,
    Step,
    TaskSpec,
)

_QUESTION = "{{ question | default(input) }}"
_SHORT = "Answer with the fewest words that say it, and write nothing else."
_PASSAGES = (
    f"Here are some passages.\n\n{{{{ context }}}}\n\nAnswer this from the passages. {_SHORT}\n\nQuestion: {_QUESTION}"
)

_PROMPTS = {
    "narrativeqa": "Here is a story, from a novel or a film script.\n\n{{ context }}\n\n"
    f"Answer this about the story. {_SHORT}\n\nQuestion: {_QUESTION}",
    "qasper": "Here is a scientific article.\n\n{{ context }}\n\nAnswer this from the article in a phrase or a "
    "sentence, without explaining. Write unanswerable if the article does not tell, and yes or no where that is asked."
    f"\n\nQuestion: {_QUESTION}",
    "multifieldqa_en": f"{{{{ context }}}}\n\nAnswer this from the text above. {_SHORT}\n\nQuestion: {_QUESTION}",
    "multifieldqa_zh": f"{{{{ context }}}}\n\n请根据上文用中文简短回答，除答案外不要写别的。\n\n问题：{_QUESTION}",
    "hotpotqa": _PASSAGES,
    "2wikimqa": _PASSAGES,
    "musique": _PASSAGES,
    "dureader": f"下面是几篇文章。\n\n{{{{ context }}}}\n\n请根据文章回答。\n\n问题：{_QUESTION}",
    "gov_report": "Here is a report of a government agency.\n\n{{ context }}\n\nSummarise the report on one page.",
    "qmsum": "Here is the transcript of a meeting.\n\n{{ context }}\n\nAnswer this about the meeting in a sentence or "
    f"a few.\n\n{_QUESTION}",
    "multi_news": "Here are several news articles.\n\n{{ context }}\n\nSummarise all of them on one page.",
    "vcsum": "下面是一段会议记录。\n\n{{ context }}\n\n请写一段话，总结会议的内容。",
    "trec": "Name the type of the last question, as the examples do, and write nothing else.\n\n"
    f"{{{{ context }}}}\n{_QUESTION}",
    "triviaqa": "Answer the last question from its passage, as the examples do, and write nothing else.\n\n"
    f"{{{{ context }}}}\n\n{_QUESTION}",
    "samsum": "Summarise the last dialogue in a few short sentences, as the examples do.\n\n"
    f"{{{{ context }}}}\n\n{_QUESTION}",
    "lsht": f"请像例子那样写出最后一条新闻的类别，不要写别的。\n\n{{{{ context }}}}\n{_QUESTION}",
    "passage_count": "Some of these paragraphs may occur more than once.\n\n{{ context }}\n\n"
    "How many different paragraphs are there? Reply with the number alone.",
    "passage_retrieval_en": "Here are 30 numbered paragraphs.\n\n{{ context }}\n\nThis is a summary of one of them:\n\n"
    f'{_QUESTION}\n\nWhich one is it? Reply in the form "Paragraph 1" and with nothing else.',
    "passage_retrieval_zh": "下面是若干编号的段落。\n\n{{ context }}\n\n这是其中一段的摘要：\n\n"
    f"{_QUESTION}\n\n摘要出自哪一段？请只按“段落1”的形式回答。",
    "lcc": "Write the line that comes next in this code, and nothing else.\n\n{{ context }}",
    "repobench-p": f"Write the line that comes next in this code, and nothing else.\n\n{{{{ context }}}}{_QUESTION}",
}

_METRICS = {
    "words_f1": ("narrativeqa", "qasper", "multifieldqa_en", "hotpotqa", "2wikimqa", "musique", "triviaqa"),
    "words_f1_zh": ("multifieldqa_zh",),
    "sentence_rouge_l": ("gov_report", "qmsum", "multi_news", "samsum"),
    "sentence_rouge_l_zh": ("dureader", "vcsum"),
    "one_class": ("trec", "lsht"),
    "number_share": ("passage_count", "passage_retrieval_en", "passage_retrieval_zh"),
    "next_line": ("lcc", "repobench-p"),
}
_LENGTHS = {
    32: (
        "hotpotqa",
        "2wikimqa",
        "musique",
        "triviaqa",
        "passage_count",
        "passage_retrieval_en",
        "passage_retrieval_zh",
    ),
    64: ("multifieldqa_en", "multifieldqa_zh", "trec", "lsht", "lcc", "repobench-p"),
    128: ("narrativeqa", "qasper", "dureader", "samsum"),
    512: ("gov_report", "qmsum", "multi_news", "vcsum"),
}
"""The longest replies that the authors take, in tokens."""
_SIZES = {"multifieldqa_en": 150, "lcc": 500, "repobench-p": 500}
"""Questions of those tasks that have not 200."""
_ONE_LINE = ("trec", "triviaqa", "samsum", "lsht")
"""Tasks with examples, after whose answers models go on with a further example."""

_SCORES = {
    "narrativeqa": (23.6, 26.0),
    "qasper": (43.3, 43.3),
    "multifieldqa_en": (52.3, 51.7),
    "multifieldqa_zh": (61.2, 62.3),
}
_MODELS = ("GPT-3.5-Turbo-16k", "ChatGLM3-6B-32k")


def _of(name: str, table: dict[str, tuple[str, ...]] | dict[int, tuple[str, ...]]) -> str | int:
    return next(value for value, names in table.items() if name in names)


def _task(name: str) -> TaskSpec:
    first_line = Step(name="regex", args={"regex_pattern": r"\A\n*([^\n]+)"})
    metric = str(_of(name, _METRICS))
    return TaskSpec(
        name=f"longbench_{name}",
        about=f"The task {name} of LongBench.",
        home="https://github.com/THUDM/LongBench",
        licence="MIT",
        published=tuple(
            PublishedScore(
                model=model,
                metric="score",
                value=value,
                source="https://github.com/THUDM/LongBench, the authors' prompts, middles of long texts cut out",
            )
            for model, value in zip(_MODELS, _SCORES.get(name, ()), strict=False)
        ),
        data=DataFile(
            name=f"longbench/{name}.jsonl", source=DataSource(hf="Xnhyacinth/LongBench", config=name, split="test")
        ),
        fields=("context", "answers"),
        cluster="context",
        prompt=Prompt(question=_PROMPTS[name]),
        reference="{{ answers[0] }}",
        references="{{ answers | tojson }}",
        key=("_id",),
        extras=("all_classes",) if metric == "one_class" else (),
        max_tokens=int(_of(name, _LENGTHS)),
        pipelines=(
            Pipeline(
                filters=(Step(name="strip_thoughts"), *([first_line] if name in _ONE_LINE else [])),
                metrics=(MetricUse(name=metric, label="score"),),
            ),
        ),
    )


TASKS = tuple(map(_task, _PROMPTS))
GROUPS = (prompt_parts.plain_mean("longbench", TASKS, "score"),)
