"""cmmlu: 11,582 questions of 67 subjects, many of which only somebody who knows China can answer.

Home: https://github.com/haonan-li/CMMLU, arXiv:2306.09212. Licence: CC-BY-NC-4.0.
A row: {"Question": "…", "A": "…", "B": "…", "C": "…", "D": "…", "Answer": "B"}; the configuration of its file is its
subject.
Asked: in Chinese, for a letter as the reply, in our words or in AISBench's; or which letter is likeliest
(cmmlu_choice).
Judged: the option. Every subject and every area has a row of its own.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.benchmarks.option_questions import OptionQuestions, Wording
from model_accuracy_eval.records import DataFile, DataSource, Grouping

_SUBJECTS = {
    "STEM": """
        anatomy:解剖学 astronomy:天文学 college_actuarial_science:大学精算学
        college_engineering_hydrology:大学工程水文学 college_mathematics:大学数学
        college_medical_statistics:大学医学统计 computer_science:计算机科学 conceptual_physics:概念物理学
        electrical_engineering:电气工程 elementary_mathematics:初等数学 genetics:遗传学
        high_school_biology:高中生物 high_school_chemistry:高中化学 high_school_mathematics:高中数学
        high_school_physics:高中物理学 machine_learning:机器学习 virology:病毒学
    """,
    "humanities": """
        arts:艺术学 college_law:大学法律 global_facts:全球事实 international_law:国际法学 jurisprudence:法理学
        logical:逻辑学 marxist_theory:马克思主义理论 philosophy:哲学 professional_law:专业法学 world_history:世界历史
        world_religions:世界宗教
    """,
    "social science": """
        business_ethics:商业伦理 college_education:大学教育学 economics:经济学 education:教育学
        high_school_geography:高中地理 journalism:新闻学 management:管理学 marketing:市场营销
        professional_accounting:专业会计 professional_psychology:专业心理学 public_relations:公共关系
        security_study:安全研究 sociology:社会学
    """,
    "China specific": """
        ancient_chinese:古汉语 chinese_civil_service_exam:中国公务员考试 chinese_driving_rule:中国驾驶规则
        chinese_food_culture:中国饮食文化 chinese_foreign_policy:中国外交政策 chinese_history:中国历史
        chinese_literature:中国文学 chinese_teacher_qualification:中国教师资格
        construction_project_management:建设工程管理 elementary_chinese:小学语文 elementary_commonsense:小学常识
        ethnology:民族学 high_school_politics:高中政治 modern_chinese:现代汉语
        traditional_chinese_medicine:中医中药
    """,
    "other": """
        agronomy:农学 clinical_knowledge:临床知识 college_medicine:大学医学 computer_security:计算机安全
        elementary_information_and_technology:小学信息技术 food_science:食品科学 human_sexuality:人类性行为
        legal_and_moral_basis:法律与道德基础 nutrition:营养学 professional_medicine:专业医学 sports_science:体育学
    """,
}
_NAMED = {area: [pair.split(":") for pair in subjects.split()] for area, subjects in _SUBJECTS.items()}
AREAS = {name: area for area, pairs in _NAMED.items() for name, _ in pairs}
"""Subject → area."""
_CHINESE = {name: chinese for pairs in _NAMED.values() for name, chinese in pairs}


def _data(subject: str, *more: DataFile) -> DataFile:
    return DataFile(
        name=f"cmmlu/test/{subject}",
        source=DataSource(hf="haonan-li/cmmlu", ms="opencompass/cmmlu", config=subject),
        more=more,
        adds={"subject": subject, "chinese": _CHINESE[subject]},
    )


_FIRST, *_OTHERS = sorted(AREAS)

_QUESTIONS = OptionQuestions(
    name="cmmlu",
    about="Knowledge of 67 subjects in Chinese: four options.",
    question="{{ Question | trim }}",
    options="[A, B, C, D]",
    place="'ABCD'.index(Answer)",
    spec={
        "home": "https://github.com/haonan-li/CMMLU",
        "licence": "CC-BY-NC-4.0",
        "data": _data(_FIRST, *map(_data, _OTHERS)),
        "fields": ("subject", "chinese", "Question", "A", "B", "C", "D", "Answer"),
        "category": "subject",
        "grouping": Grouping(by="category", areas=AREAS),
        "baseline": 0.25,
    },
)
_AISBENCH = Wording(
    "AISBench",  # configs/datasets/cmmlu/cmmlu_gen_0_shot_cot_chat_prompt.py
    "请回答以下关于{{ chinese }}的单项选择题, 你回答的最后一行**必须**是以下格式 '答案: $选项' (不带引号), "
    "其中选项是ABCD之一. 请在回答之前一步步思考.\n\n{question}\n{listing}",
    mark=") ",
)

TASKS = (
    _QUESTIONS.asked_for_a_letter(prompt_parts.CHINESE_LETTER_ENDING, aliases=("c_mmlu", "cmmlu_gen")),
    _QUESTIONS.likeliest_letter(f"{_QUESTIONS.listed()}\n答案：", prompt_of="lm-eval"),
    _QUESTIONS.in_words("aisbench", _AISBENCH),
)
