"""AISBench's names of datasets, which are those of its files of settings: what each is here, and how it differs.

`gsm8k_gen_4_shot_cot_str`: the dataset; `gen` for a reply, `ppl` for the likeliest option; solved examples; more of how
it is asked. Names of AISBench 3.1 (August 2026). Datasets that only this program lacks are not in the table.
"""

import re
from collections.abc import Mapping

from model_accuracy_eval.records import TaskSpec

_BY_OURS: Mapping[str, str] = {
    "gsm8k@aisbench": "gsm8k_gen_0_shot_cot_chat_prompt gsm8k_gen_0_shot_noncot_chat_prompt",
    "gsm8k@aisbench-str": "gsm8k_gen_0_shot_cot_str gsm8k_gen_0_shot_cot_str_perf",
    "gsm8k_4shot@aisbench": "gsm8k_gen gsm8k_gen_4_shot_cot_str gsm8k_gen_4_shot_cot_chat_prompt",
    "gsm8k_demo@aisbench": "demo_gsm8k_gen_4_shot_cot_chat_prompt",
    "mgsm": "mgsm_gen_0_shot_cot_chat_prompt mgsm_gen_8_shot_cot_chat_prompt",
    "math500": """
        math500_gen_0_shot_cot_chat_prompt math_prm800k_500_0shot_cot_gen math_prm800k_500_5shot_cot_gen
    """,
    "aime24": "aime2024_gen aime2024_gen_0_shot_str aime2024_gen_0_shot_chat_prompt",
    "aime25@aisbench": "aime2025_gen aime2025_gen_0_shot_chat_prompt aime2025_gen_0_shot_llmjudge",
    "aime26@aisbench": "aime2026_gen aime2026_gen_0_shot_chat_prompt aime2026_gen_0_shot_str",
    "mmlu": "mmlu_gen mmlu_gen_5_shot_str mmlu_gen_5_shot_chat_prompt",
    "mmlu@aisbench": "mmlu_gen_0_shot_cot_chat_prompt",
    "mmlu_choice": "mmlu_ppl_0_shot_str",
    "mmlu_pro": "mmlu_pro_gen_0_shot_str mmlu_pro_gen_5_shot_str",
    "gpqa_diamond@simple-evals": "gpqa_gen_0_shot_cot_chat_prompt",
    "gpqa_diamond": "gpqa_gen gpqa_gen_0_shot_str",
    "gpqa_diamond_choice": "gpqa_ppl_0_shot_str",
    "arc_challenge": "ARC_c_gen_0_shot_chat_prompt ARC_c_gen_25_shot_chat_prompt",
    "arc_challenge_choice": "ARC_c_ppl_0_shot_str",
    "arc_easy": "ARC_e_gen_0_shot_chat_prompt ARC_e_gen_25_shot_chat_prompt",
    "arc_easy_choice": "ARC_e_ppl_0_shot_str",
    "bbh": "bbh_gen bbh_gen_3_shot_cot_chat",
    "agieval": "agieval_gen_0_shot_chat_prompt",
    "mt_bench": "mtbench_gen",
    "hle_text": "hle_llmjudge",
    "bfcl_simple": "BFCL_gen_simple",
    "bfcl_multiple": "BFCL_gen_multiple",
    "bfcl_parallel": "BFCL_gen_parallel",
    "bfcl_parallel_multiple": "BFCL_gen_parallel_multiple",
    "bfcl_irrelevance": "BFCL_gen_irrelevance",
    "longbench_v2": "longbenchv2_gen longbenchv2_gen_75fbba",
    "ceval": "ceval_gen ceval_gen_0_shot_str ceval_gen_0_shot_str_perf ceval_gen_5_shot_str",
    "ceval@aisbench": "ceval_gen_0_shot_cot_chat_prompt ceval_gen_0_shot_noncot_chat_prompt",
    "ceval_choice": "ceval_ppl_0_shot_str",
    "cmmlu": "cmmlu_gen_5_shot_cot_chat_prompt",
    "cmmlu@aisbench": "cmmlu_gen_0_shot_cot_chat_prompt",
    "cmmlu_choice": "cmmlu_ppl_0_shot_cot_chat_prompt",
    "hellaswag": "hellaswag_gen_10_shot_chat_prompt",
    "hellaswag@aisbench": "hellaswag_gen_0_shot_chat_prompt",
    "hellaswag_choice": "hellaswag_ppl_0_shot_chat_prompt",
    "winogrande": "winogrande_gen_5_shot_chat_prompt",
    "winogrande@aisbench": "winogrande_gen_0_shot_chat_prompt",
    "piqa": "piqa_gen_0_shot_str",
    "piqa@aisbench": "piqa_gen_0_shot_chat_prompt",
    "piqa_choice": "piqa_ppl_0_shot_str",
    "siqa@aisbench": "siqa_gen siqa_gen_0_shot_chat",
    "siqa_choice": "siqa_ppl_0_shot_chat",
    "ifeval": "ifeval_0_shot_gen_str",
    "boolq": """
        SuperGLUE_BoolQ_gen SuperGLUE_BoolQ_gen_0_shot_str SuperGLUE_BoolQ_gen_0_shot_str_perf
        SuperGLUE_BoolQ_gen_0_shot_noncot_str SuperGLUE_BoolQ_gen_5_shot_str
    """,
    "boolq@aisbench": "SuperGLUE_BoolQ_gen_0_shot_cot_str",
    "race_middle": "race_middle_gen_5_shot_chat race_middle_gen_5_shot_cot_chat",
    "race_high": "race_gen race_high_gen_5_shot_chat race_high_gen_5_shot_cot_chat",
    "race_high_choice": "race_ppl_0_shot_chat",
    "drop": "drop_gen_0_shot_str drop_gen_3_shot_str",
    "triviaqa": "triviaqa_gen_5_shot_chat_prompt",
    "lambada": "lambada_gen lambada_gen_0_shot_chat lambada_gen_0_shot_str",
    "humaneval": "humaneval_gen_0_shot humaneval_gen_0_shot_perf",
    "humaneval_x_python": "humanevalx_gen_0_shot",
    "mbpp": "mbpp_passk_gen_3_shot_chat_prompt",
    "mbpp_sanitized": "sanitized_mbpp_passk_gen_3_shot_chat_prompt",
    "livecodebench": "livecodebench_code_generate_lite_gen_0_shot_chat",
    "mmmu": "mmmu_gen",
    "mmmu_pro": "mmmu_pro_options10_gen mmmu_pro_options10_cot_gen",
    "mmmu_pro_vision": "mmmu_pro_vision_gen mmmu_pro_vision_cot_gen",
    "mmstar": "mmstar_gen mmstar_gen_cot",
    "realworldqa": "realworldqa_gen realworldqa_gen_base64",
    "textvqa@aisbench": "textvqa_gen textvqa_gen_base64 glm4v_textvqa_gen_base64",
    "docvqa": "docvqa_gen",
    "infovqa": "infovqa_gen",
}
_LONGBENCH = """
    2wikimqa_gen_6b3efc dureader_gen_c6c7e4 gov_report_gen_54c5b0 hotpotqa_gen_6b3efc lcc_gen_6ba507 lsht_gen_e8a339
    multi_news_gen_6f9da9 multifieldqa_en_gen_d3838e multifieldqa_zh_gen_e9a7ef musique_gen_6b3efc
    narrativeqa_gen_a68305 passage_count_gen_dcdaab passage_retrieval_en_gen_734db5 passage_retrieval_zh_gen_01cca2
    qasper_gen_6b3efc qmsum_gen_d33331 samsum_gen_f4416d trec_gen_824187 triviaqa_gen_d30cb9 vcsum_gen_f7a8ac
"""
NAMES: dict[str, str] = {theirs: ours for ours, names in _BY_OURS.items() for theirs in names.split()}
"""AISBench's name → ours."""
for _name in _LONGBENCH.split():
    _part = _name.partition("_gen")[0]
    NAMES[f"longbench_{_name}"] = NAMES[f"longbench_{_part}_gen"] = f"longbench_{_part}"
NAMES |= dict.fromkeys(("longbench_repobench_gen", "longbench_repobench_gen_6df953"), "longbench_repobench-p")

_SHOTS = {"gsm8k_gen": 4, "mmlu_gen": 5, "ceval_gen": 5, "bbh_gen": 3, "race_gen": 5}
"""Of names that do not say it."""
_SHOWN = {"bbh": 3}
"""Of ours where one example holds several."""
_SAME_WORDS = {"math500", "aime24", "gpqa_diamond@simple-evals", "ifeval", "mt_bench"}
_ALSO = {
    "gsm8k_4shot@aisbench": "the solved examples are the first of the training file, not AISBench's",
    "gsm8k_demo@aisbench": "the solved examples are the first of the training file, not AISBench's",
    "humaneval_x_python": "Python alone; name humaneval_x_cpp and others beside it",
    "hle_text": "questions without pictures",
}
_ASKED = re.compile(r"_(?:gen|ppl|passk|\d+_?shot|cot|noncot|llmjudge)(?:_.*)?$")


def base(name: str) -> str:
    """The dataset in a name of AISBench's form; the name itself, if it has another."""
    return _ASKED.sub("", name)


def differences(name: str, task: TaskSpec) -> str:
    """What is otherwise than AISBench does it under this name; empty if nothing is."""
    said = re.search(r"_(\d+)_?shot", name)
    shots = int(said[1]) if said else _SHOTS.get(name, 0)
    shown = _SHOWN.get(task.name, task.prompt.fewshot.count if task.prompt.fewshot else 0)
    weighs = task.kind == "choice"
    found = [
        *([f"{shown or 'no'} solved examples, where AISBench shows {shots}"] if shots != shown else []),
        *([f"in {_words(task)}"] if _other_words(task) and not weighs else []),
        *(["asked to think, too"] if "noncot" in name and task.prompt_of == "AISBench" else []),
        *(["judged by rules, not by a judge"] if "llmjudge" in name and task.name.startswith("aime") else []),
        *([_ALSO[task.name]] if task.name in _ALSO else []),
    ]
    return "; ".join(found)


def _words(task: TaskSpec) -> str:
    if task.prompt_of == "official":
        return "the benchmark's own words"
    return f"words of {task.prompt_of or 'this program'}"


def _other_words(task: TaskSpec) -> bool:
    return task.prompt_of != "AISBench" and task.name not in _SAME_WORDS
