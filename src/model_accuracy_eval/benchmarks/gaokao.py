"""gaokao_bench: the 1,781 objective blocks of GAOKAO-Bench, Chinese college entrance exams of 2010 to 2022.

Home: https://github.com/OpenLMLab/GAOKAO-Bench, arXiv:2305.12474. Licence: Apache-2.0.
A row: {"keyword": "2010-2022_Physics_MCQs", "question": "…", "answer": ["AC"], "score": 6, …}; a block may have several
questions, and an answer several letters.
Asked: in Chinese, step by step, with the letters after 【答案】 on the last line.
Judged: question by question, as the exam marks: right, half right where right letters are missing and none is wrong,
else nothing. The value of a block is the mean of its questions; `scoring rate` is the published figure, points won of
points possible. Replies are read as the published script reads them; `strict-match` takes only what stands right after
【答案】, with one letter for each question. Every subject and every paper has a row of its own.
"""

from model_accuracy_eval.benchmarks.prompt_parts import other_reading
from model_accuracy_eval.records import DataFile, DataSource, Grouping, MetricUse, Pipeline, Prompt, Step, TaskSpec

_AT = "github:OpenLMLab/GAOKAO-Bench@6dbb24f8d8439041e5431c4c184a582182a6ce9c/Data/Objective_Questions"
PAPERS = {
    "2010-2013_English_MCQs": "126fb62dd4123c53fadbfcd950498c5710f1f21ea1d8f5b16c1d0c59efea4225",
    "2010-2022_Biology_MCQs": "acdef3dd5b47ab76d27032b5be60bbf0dc7bb6080b34f46a2eff76c226e4974a",
    "2010-2022_Chemistry_MCQs": "c14257debeedb4f11122a17d2f92ce8d7cc1713041f5b038f58f4c85739be35e",
    "2010-2022_Chinese_Lang_and_Usage_MCQs": "83bf5c5ea189948e61797d4b4fb9b3be08713467cfbe2d10e78251e82066f278",
    "2010-2022_Chinese_Modern_Lit": "a0255a8ee6b0c6099ae78cb1c12a0888b41685b875add032a2fa8ba7446e5459",
    "2010-2022_English_Fill_in_Blanks": "60014396003ed5407566e00d745d4dce1016d366c8839febdb3d631ff05d4b1f",
    "2010-2022_English_Reading_Comp": "edb64a92871a97c06fc03d68ff818b3020e09a9ae9dd546a74262dbf02f74fc0",
    "2010-2022_Geography_MCQs": "cd69dc502f5e0c96b94d5d67b5f8a2811a799a18b0ba3fd16da6a15e964b7d03",
    "2010-2022_History_MCQs": "c662fa9bea0663e346b1107134fd708a7b4353e60925185b9a0d6fe41e8a4f14",
    "2010-2022_Math_II_MCQs": "5f977c8aefbd54d7de6f630cb7cb4a85ac5391fd96753fb6689aa052819e1df7",
    "2010-2022_Math_I_MCQs": "e1d80fb7e6f1b614edeadf6c9007c3ea0e47540b9c6b41ac68bb414ea39fed4c",
    "2010-2022_Physics_MCQs": "bb0287539421c3d9317f5be3afe7ca0a752da15605f20bf1b4cfc002029532aa",
    "2010-2022_Political_Science_MCQs": "aab7ab67f5bd94a796a8d80c0e3f994fce2a6bfe8893d07835fa9ef34ede32bd",
    "2012-2022_English_Cloze_Test": "cd54d889b80bb586e739be352795d49bc28f0cac86185839494553421b5b2660",
}
"""Paper → hash of its file, in the order of the whole."""


def _paper(name: str, *more: DataFile) -> DataFile:
    return DataFile(
        name=f"gaokao_bench/{name}.json",
        source=DataSource(url=f"{_AT}/{name}.json", hash=PAPERS[name]),
        more=more,
        adds={"keyword": name},
    )


_FIRST, *_OTHERS = PAPERS
_ENDING = (
    "{% if answer | length > 1 %}这道题共有 {{ answer | length }} 个小题。"
    "{% elif 'Physics' in keyword %}正确的选项可能不止一个。{% endif %}"
    "请逐步思考，然后在最后一行写【答案】，其后{% if answer | length > 1 %}按小题顺序{% endif %}只写选项的字母。"
)

_POINTS = MetricUse(name="exam_points", label="points")
SUBJECTS = {
    "2010-2013_English_MCQs": "English",
    "2010-2022_English_Fill_in_Blanks": "English",
    "2012-2022_English_Cloze_Test": "English",
    "2010-2022_English_Reading_Comp": "English",
    "2010-2022_Math_I_MCQs": "Math",
    "2010-2022_Math_II_MCQs": "Math",
    "2010-2022_Chinese_Modern_Lit": "Chinese",
    "2010-2022_Chinese_Lang_and_Usage_MCQs": "Chinese",
    "2010-2022_Physics_MCQs": "Physics",
    "2010-2022_Chemistry_MCQs": "Chemistry",
    "2010-2022_Biology_MCQs": "Biology",
    "2010-2022_History_MCQs": "History",
    "2010-2022_Geography_MCQs": "Geography",
    "2010-2022_Political_Science_MCQs": "Politics",
}
"""Paper → subject, as the published scores are grouped."""

TASK = TaskSpec(
    name="gaokao_bench",
    about="Chinese college entrance exams: one letter, several, or one for each of several questions.",
    home="https://github.com/OpenLMLab/GAOKAO-Bench",
    licence="Apache-2.0",
    data=DataFile(name="gaokao_bench/objective.jsonl", instead=(_paper(_FIRST, *map(_paper, _OTHERS)),)),
    fields=("keyword", "question", "answer", "score"),
    prompt=Prompt(question=f"{{{{ question | trim }}}}\n\n{_ENDING}"),
    reference="{{ answer | join(',') }}",
    key=("keyword", "index"),
    category="keyword",
    extras=("score",),
    max_tokens=2048,
    pipelines=(
        Pipeline(
            filters=(Step(name="strip_thoughts"), Step(name="gaokao_answer")),
            metrics=(_POINTS, MetricUse(name="scoring_rate", label="scoring rate")),
        ),
        other_reading("strict-match", Step(name="gaokao_answer", args={"strict": True}), metric=_POINTS),
    ),
    grouping=Grouping(by="category", areas=SUBJECTS, figures=("scoring rate",)),
)

TASKS = (TASK,)
