"""ceval: 1,346 questions of 52 subjects from Chinese schools, universities and professions.

Home: https://cevalbenchmark.com, arXiv:2305.08322. Licence: CC-BY-NC-SA-4.0.
A row: {"id": 0, "question": "…", "A": "…", "B": "…", "C": "…", "D": "…", "answer": "C", "explanation": "…"}; the
configuration of its file is its subject. The validation split, because the answers of the test split are not published.
Asked: in Chinese, for a letter as the reply, in our words or in EvalScope's or AISBench's; or which letter is likeliest
(ceval_choice).
Judged: the option. Every subject and every area has a row of its own.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.benchmarks.option_questions import OptionQuestions, Wording
from model_accuracy_eval.records import DataFile, DataSource, Grouping

_SUBJECTS = {
    "STEM": """
        computer_network:计算机网络 operating_system:操作系统 computer_architecture:计算机组成
        college_programming:大学编程 college_physics:大学物理 college_chemistry:大学化学
        advanced_mathematics:高等数学 probability_and_statistics:概率统计 discrete_mathematics:离散数学
        electrical_engineer:注册电气工程师 metrology_engineer:注册计量师 high_school_mathematics:高中数学
        high_school_physics:高中物理 high_school_chemistry:高中化学 high_school_biology:高中生物
        middle_school_mathematics:初中数学 middle_school_biology:初中生物 middle_school_physics:初中物理
        middle_school_chemistry:初中化学 veterinary_medicine:兽医学
    """,
    "social science": """
        college_economics:大学经济学 business_administration:工商管理 marxism:马克思主义基本原理
        mao_zedong_thought:毛泽东思想和中国特色社会主义理论体系概论 education_science:教育学
        teacher_qualification:教师资格 high_school_politics:高中政治 high_school_geography:高中地理
        middle_school_politics:初中政治 middle_school_geography:初中地理
    """,
    "humanities": """
        modern_chinese_history:近代史纲要 ideological_and_moral_cultivation:思想道德修养与法律基础 logic:逻辑学
        law:法学 chinese_language_and_literature:中国语言文学 art_studies:艺术学
        professional_tour_guide:导游资格 legal_professional:法律职业资格 high_school_chinese:高中语文
        high_school_history:高中历史 middle_school_history:初中历史
    """,
    "other": """
        civil_servant:公务员 sports_science:体育学 plant_protection:植物保护 basic_medicine:基础医学
        clinical_medicine:临床医学 urban_and_rural_planner:注册城乡规划师 accountant:注册会计师
        fire_engineer:注册消防工程师 environmental_impact_assessment_engineer:环境影响评价工程师
        tax_accountant:税务师 physician:医师资格
    """,
}
_NAMED = {area: [pair.split(":") for pair in subjects.split()] for area, subjects in _SUBJECTS.items()}
AREAS = {name: area for area, pairs in _NAMED.items() for name, _ in pairs}
"""Subject → area."""
_CHINESE = {name: chinese for pairs in _NAMED.values() for name, chinese in pairs}


def _data(subject: str, *more: DataFile) -> DataFile:
    return DataFile(
        name=f"ceval/formal_ceval/val/{subject}_val",
        source=DataSource(hf="ceval/ceval-exam", ms="evalscope/ceval", config=subject, split="val"),
        more=more,
        adds={"subject": subject, "chinese": _CHINESE[subject]},
    )


_FIRST, *_OTHERS = AREAS

_QUESTIONS = OptionQuestions(
    name="ceval",
    about="Chinese exams of 52 subjects: four options.",
    question="{{ question | trim }}",
    options="[A, B, C, D]",
    place="'ABCD'.index(answer)",
    spec={
        "home": "https://cevalbenchmark.com",
        "licence": "CC-BY-NC-SA-4.0",
        "data": _data(_FIRST, *map(_data, _OTHERS)),
        "fields": ("subject", "chinese", "question", "A", "B", "C", "D", "answer"),
        "key": ("subject", "id"),
        "category": "subject",
        "grouping": Grouping(by="category", areas=AREAS),
        "baseline": 0.25,
    },
)
_EVALSCOPE = Wording(
    "EvalScope",  # benchmarks/ceval/ceval_adapter.py, without its five examples
    "以下是中国关于{{ chinese }}的单项选择题，请选出其中的正确答案。你的回答的最后一行应该是这样的格式："
    '"答案：[LETTER]"（不带引号），其中 [LETTER] 是 A、B、C、D 中的一个。\n\n问题：{question}\n选项：{listing}\n',
)
_AISBENCH = Wording(
    "AISBench",  # configs/datasets/ceval/ceval_gen_0_shot_cot_chat_prompt.py
    "以下是中国关于{{ chinese }}考试的单项选择题，请选出其中的正确答案。回答的最后一行应采用以下格式：”answer:$LETTER“"
    "（不带引号），其中LETTER 是ABCD之一。回答之前先一步步思考。\n\n{question}{listing}",
)

TASKS = (
    _QUESTIONS.asked_for_a_letter(prompt_parts.CHINESE_LETTER_ENDING, aliases=("c_eval", "ceval_valid")),
    _QUESTIONS.likeliest_letter(
        f"{_QUESTIONS.listed()}\n答案：",
        prompt_of="lm-eval",
    ),
    _QUESTIONS.in_words("evalscope", _EVALSCOPE),
    _QUESTIONS.in_words("aisbench", _AISBENCH),
)
