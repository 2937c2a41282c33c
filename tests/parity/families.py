"""Rows with the columns that lm-eval's own task files expect, made up here: dataset path → one row by its number."""

from collections.abc import Callable
from typing import Any

Row = dict[str, Any]

_WORDS = [
    "river",
    "stone",
    "{brace}",
    "don't",
    '"quoted"',
    "naïve",
    "数字",
    "<tag>",
    "apple",
    "seven",
    "blue-green",
    "over_under",
    "3.5",
    "$12",
    "100%",
    "Zoë",
]
_LETTERS = "ABCDE"


def some(number: int, salt: int, length: int = 6) -> str:
    """A text that differs from row to row, with characters that are easily lost on the way."""
    words = [_WORDS[(number * 7 + salt * 3 + step * (salt + 2)) % len(_WORDS)] for step in range(length)]
    return " ".join(words)


def several(number: int, count: int, salt: int = 5) -> list[str]:
    return [f"{some(number, salt + place, 2 + place)} {number}-{place}" for place in range(count)]


def _mmlu(i: int) -> Row:
    return {"question": f"  {some(i, 1)}? ", "choices": several(i, 4), "answer": i % 4, "subject": "anatomy"}


def _arc(i: int) -> Row:
    labels = list("1234" if i % 5 == 4 else "ABCD")
    return {
        "id": str(i),
        "question": some(i, 2),
        "choices": {"text": several(i, 4), "label": labels},
        "answerKey": labels[i % 4],
    }


def _lettered(i: int) -> Row:
    options = several(i, 4)
    return {"question": f"{some(i, 3)}？", "Question": some(i, 3), **dict(zip("ABCD", options, strict=True)),
            "answer": _LETTERS[i % 4], "Answer": _LETTERS[(i + 1) % 4]}  # fmt: skip


def _pair(i: int) -> Row:
    return {"sentence": some(i, 1), "sentence1": some(i, 2), "sentence2": some(i, 3), "question": some(i, 4), "question1": some(i, 5),
            "question2": some(i, 6), "premise": some(i, 7), "hypothesis": some(i, 8), "passage": some(i, 9, 20), "label": i % 2,
            "start1": 2, "end1": 7, "idx": i, "word": "river", "start2": 1, "end2": 4}  # fmt: skip


def _gsm8k(i: int) -> Row:
    return {
        "question": f"Ann has {i} apples and buys {i + 2}. {some(i, 1)}?",
        "answer": f"{i}+{i + 2}=<<{i}+{i + 2}={2 * i + 2}>>{2 * i + 2}\n#### {2 * i + 2:,}",
    }


def _story(i: int) -> Row:
    return {**{f"input_sentence_{place}": f"{some(i, place)}." for place in (1, 2, 3, 4)},
            "sentence_quiz1": some(i, 8), "sentence_quiz2": some(i, 9), "answer_right_ending": 1 + i % 2}  # fmt: skip


def _piqa(i: int) -> Row:
    return {"goal": some(i, 1), "sol1": some(i, 2), "sol2": some(i, 3), "label": i % 2, "prompt": some(i, 4),
            **{f"solution{place}": text for place, text in enumerate(several(i, 4))}}  # fmt: skip


def _belebele(i: int) -> Row:
    return {"flores_passage": some(i, 1, 25), "question": f" {some(i, 2)}?", "correct_answer_num": str(1 + i % 4),
            **{f"mc_answer{place + 1}": text for place, text in enumerate(several(i, 4))}}  # fmt: skip


def _sciq(i: int) -> Row:
    wrong = several(i, 3)
    return {"support": f"  {some(i, 1, 12)}", "question": some(i, 2), "correct_answer": some(i, 3),
            **{f"distractor{place + 1}": text for place, text in enumerate(wrong)}}  # fmt: skip


ROWS: dict[str, Callable[[int], Row]] = {
    "cais/mmlu": _mmlu,
    "hails/mmlu_no_train": _mmlu,
    "cais/wmdp": _mmlu,
    "allenai/ai2_arc": _arc,
    "allenai/openbookqa": lambda i: {**_arc(i), "question_stem": some(i, 1), "choices": {"text": several(i, 4), "label": list("ABCD")}, "answerKey": f" {_LETTERS[i % 4]}"},
    "tau/commonsense_qa": lambda i: {"question": f"{some(i, 1)} ", "choices": {"text": several(i, 5), "label": list(_LETTERS)}, "answerKey": _LETTERS[i % 5]},
    "baber/piqa": _piqa,
    "mrlbenchmarks/global-piqa-nonparallel": _piqa,
    "mrlbenchmarks/global-piqa-parallel": _piqa,
    "allenai/sciq": _sciq,
    "lighteval/siqa": lambda i: {"context": some(i, 1), "question": some(i, 2), "answerA": some(i, 3), "answerB": some(i, 4), "answerC": some(i, 5), "label": str(1 + i % 3)},
    "allenai/swag": lambda i: {"startphrase": some(i, 1), "label": i % 4, **{f"ending{place}": text for place, text in enumerate(several(i, 4))}},
    "aps/super_glue": _pair,
    "nyu-mll/glue": _pair,
    "openai/gsm8k": _gsm8k,
    "qintongli/GSM-Plus": lambda i: {**_gsm8k(i), "solution": f"It is #### {3 * i}"},
    "juletxara/mgsm": lambda i: {"question": some(i, 1), "answer": None if i % 2 else "Antwort", "answer_number": 4 * i},
    "SaylorTwift/bbh": lambda i: {"input": some(i, 1, 12), "target": ("True", "False")[i % 2]},
    "EleutherAI/lambada_openai": lambda i: {"text": f"{some(i, 1, 15)} {_WORDS[i % len(_WORDS)]}"},
    "mandarjoshi/trivia_qa": lambda i: {"question": some(i, 1), "answer": {"aliases": several(i, 1 + i % 3), "value": some(i, 2)}},
    "google-research-datasets/nq_open": lambda i: {"question": some(i, 1), "answer": several(i, 1 + i % 3)},
    "CogComp/mc_taco": lambda i: {"sentence": some(i, 1), "question": some(i, 2), "answer": some(i, 3), "label": i % 2},
    "baber/logiqa2": lambda i: {"content": some(i, 1, 20), "ideal": _LETTERS[i % 4]},
    "EleutherAI/asdiv": lambda i: {"body": some(i, 1), "question": some(i, 2), "answer": f"{i} (apples)"},
    "NeelNanda/pile-10k": lambda i: {"text": f"{some(i, 1, 30)}\n{some(i, 2, 9)}"},
    "EleutherAI/headqa": lambda i: {"qtext": some(i, 1), "ra": 1 + i % 4, "answers": [{"aid": place, "atext": text} for place, text in enumerate(several(i, 4))]},
    "facebook/belebele": _belebele,
    "facebook/xnli": lambda i: {"premise": some(i, 1), "hypothesis": some(i, 2), "label": i % 3},
    "facebook/anli": lambda i: {"premise": some(i, 1), "hypothesis": some(i, 2), "label": i % 3},
    "juletxara/xstory_cloze": _story,
    "LSDSem/story_cloze": _story,
    "nyu-mll/blimp": lambda i: {"sentence_good": some(i, 1), "sentence_bad": some(i, 2)},
    "jumelet/multiblimp": lambda i: {"sen": some(i, 1), "wrong_sen": some(i, 2)},
    "ceval/ceval-exam": _lettered,
    "haonan-li/cmmlu": _lettered,
    "HAERAE-HUB/KMMLU": lambda i: {**_lettered(i), "answer": 1 + i % 4},
    "HAERAE-HUB/HAE_RAE_BENCH": lambda i: {"query": some(i, 1), "answer": f"({_LETTERS[i % 5]})"},
    "Muennighoff/babi": lambda i: {"passage": f"{some(i, 1, 12)}\n", "question": some(i, 2), "answer": _WORDS[i % 9]},
    "lm-pub-quiz/BEAR": lambda i: {"text_options": several(i, 3 + i % 3), "correct": i % 3},
    "HiTZ/EusProficiency": lambda i: {"question": some(i, 1), "candidates": several(i, 4), "answer": i % 4},
    "hitachi-nlp/FLD.v2": lambda i: {"prompt_serial": some(i, 1), "world_assump_label": ("PROVED", "DISPROVED", "UNKNOWN")[i % 3]},
    "EleutherAI/hendrycks_ethics": lambda i: {"scenario": some(i, 1), "excuse": f"{some(i, 2)}  ", "label": i % 2},
    "inverse-scaling/quote-repetition": lambda i: {"prompt": some(i, 1), "classes": several(i, 2), "answer_index": i % 2},
    "EleutherAI/persona": lambda i: {"question": some(i, 1), "answer_matching_behavior": " Yes", "answer_not_matching_behavior": " No"},
    "wmt/wmt14": lambda i: {"translation": {"en": some(i, 1), "fr": some(i, 2, 8)}},
    "facebook/flores": lambda i: {"sentence_amh_Ethi": some(i, 1), "sentence_eng_Latn": some(i, 2, 8)},
    "HiTZ/truthfulqa-multi": lambda i: {"question": some(i, 1), "mc1_targets": {"choices": several(i, 2 + i % 3), "labels": [1, 0]}},
    "EleutherAI/unscramble": lambda i: {"context": some(i, 1), "completion": _WORDS[i % len(_WORDS)]},
    "oskarvanderwal/winogender": lambda i: {"sentence": some(i, 1), "pronoun": "she", "occupation": some(i, 2, 1), "participant": some(i, 3, 1), "label": i % 2},
    "hails/bigbench": lambda i: {"inputs": some(i, 1), "targets": several(i, 1)},
    "ibm-research/acp_bench": lambda i: {"context": some(i, 1), "question": some(i, 2), "answer": _LETTERS[i % 4], "choices": {"text": several(i, 4), "label": list("ABCD")}},
    "Rowan/hellaswag": lambda i: {"activity_label": some(i, 1, 2), "ctx_a": f"{some(i, 2)} [title] x", "ctx_b": some(i, 3), "endings": several(i, 4), "label": str(i % 4)},
    "aps/super_glue/copa": lambda i: {"premise": f"{some(i, 1)}.", "question": ("cause", "effect")[i % 2], "choice1": "It " + some(i, 2), "choice2": "They " + some(i, 3), "label": i % 2},
    "aps/super_glue/multirc": lambda i: {"paragraph": some(i, 1, 20), "question": some(i, 2), "answer": _WORDS[i % 3], "label": i % 2},
    "regisss/math_qa": lambda i: {"Problem": some(i, 1), "correct": "abcde"[i % 5], "options": f"a ) {i} , b ) {i + 1} , c ) {i + 2} , d ) {i + 3} , e ) none of these"},
    "EleutherAI/logiqa": lambda i: {"context": some(i, 1), "question": some(i, 2), "options": several(i, 4), "label": "abcd"[i % 4]},
    "alexandrainst/m_arc": lambda i: {"id": str(i), "instruction": f" {some(i, 1)}", **{f"option_{letter}": text for letter, text in zip("abcd", several(i, 4), strict=True)}, "option_e": None, "answer": _LETTERS[i % 4]},
    "TIGER-Lab/MMLU-Pro": lambda i: {"question": some(i, 1), "options": several(i, 5), "answer": _LETTERS[i % 5], "cot_content": f"A: Let's think step by step. It is {i}. The answer is ({_LETTERS[i % 5]}).", "category": ("law", "biology", "biology")[i % 3]},
    "google-research-datasets/paws-x": lambda i: {"sentence1": f"{some(i, 1)} .", "sentence2": f"It is n't {some(i, 2)}" if i % 7 else "", "label": i % 2},
    "hails/bigbench/causal_judgment_zero_shot": lambda i: {"inputs": some(i, 1), "targets": [several(i, 3)[i % 3]], "multiple_choice_targets": several(i, 3) if i % 5 else [], "multiple_choice_scores": [1, 0, 0] if i % 5 else []},
    "EleutherAI/wikitext_document_level/wikitext-2-raw-v1": lambda i: {"page": f" = {some(i, 1, 2)} = \n {some(i, 2, 30)} , it 's 3 @,@ 000 . \n"},
    "truthfulqa/truthful_qa/multiple_choice": lambda i: {"question": some(i, 1), **{f"mc{kind}_targets": {"choices": several(i, 4), "labels": [1, *[int(kind == 2 and (i + place) % 2 == 0) for place in range(3)]]} for kind in (1, 2)}},
    "EleutherAI/hendrycks_math/algebra": lambda i: {"problem": some(i, 1), "solution": f"So it is $\\boxed{{{i}}}$."},
    "jannalu/crows_pairs_multilingual/english": lambda i: {"sent_more": some(i, 1), "sent_less": some(i, 2), "bias_type": "age"},
    "allenai/winogrande": lambda i: {"sentence": f"{some(i, 1)} _ {some(i, 2)}", "option1": some(i, 3, 2), "option2": some(i, 4, 2), "answer": str(1 + i % 2)},
    "masakhane/masakhaner-x": lambda i: {"text": some(i, 1), "target": f"PER: {some(i, 2, 1)} $$ LOC: Kenya", "ner_tags": ""},
    "masakhane/afriqa-gold-passages": lambda i: {"context": some(i, 1), "question_lang": some(i, 2), "question_translated": some(i, 3), "answer_pivot": f"The {some(i, 4, 2)}"},
    "masakhane/masakhapos": lambda i: {"tokens": ["She", "runs", str(i)], "token": "She runs", "upos": [11, 16, i % 5]},
    "SaylorTwift/bbh/word_sorting": lambda i: {"input": f"Sort the following words: List: {some(i, 1)}", "target": some(i, 2)},
    "SaylorTwift/bbh/date_understanding": lambda i: {"input": f"When?\nOptions:\n(A) 0{i % 9}/11\n(B) The first\n(C) The first of May", "target": f"({_LETTERS[i % 3]})"},
    "SaylorTwift/bbh/web_of_lies": lambda i: {"input": some(i, 1), "target": ("Yes", "No")[i % 2]},
    "sean0042/KorMedMCQA": lambda i: {"question": f" {some(i, 1)} ", "answer": 1 + i % 5, **dict(zip(_LETTERS, several(i, 5), strict=True))},
    "bond005/NEREL_bench": lambda i: {"instruction": "List them: {source_text}", "context": f'{{"source_text": "{i} Ada"}}', "true_answer": f"Ada\n{i}"},
    "json:corypaik/prost/data/default.jsonl": lambda i: {"context": some(i, 1), "ex_question": some(i, 2), "label": i % 4, **dict(zip("ABCD", several(i, 4), strict=True))},
}  # fmt: skip
ROWS |= {
    "allenai/social_i_qa": ROWS["lighteval/siqa"],
    "blimp": ROWS["nyu-mll/blimp"],
    "corypaik/prost": ROWS["json:corypaik/prost/data/default.jsonl"],
    "math_qa": ROWS["regisss/math_qa"],
    "paws-x": ROWS["google-research-datasets/paws-x"],
    "xnli": ROWS["facebook/xnli"],
}  # other versions of the task files have other names for these

_LISTED = """
arc/arc_easy arc/arc_challenge_chat piqa/piqa openbookqa/openbookqa sciq/sciq siqa/siqa swag/swag commonsense_qa/default
super_glue/boolq/default super_glue/boolq/seq2seq super_glue/multirc/default super_glue/rte/default super_glue/wic/default
glue/cola/default glue/mrpc/default glue/qqp/default glue/sst2/default glue/wnli/default
mmlu/default/mmlu_anatomy mmlu/default/mmlu_virology mmlu/continuation/mmlu_anatomy mmlu/generative/mmlu_anatomy
mmlu/flan_n_shot/generative/mmlu_anatomy mmlu/flan_cot_fewshot/mmlu_anatomy mmlu/flan_cot_zeroshot/mmlu_anatomy
gsm8k/gsm8k gsm8k/gsm8k-cot gsm8k/gsm8k-cot-zeroshot gsm8k/gsm8k-cot-self-consistency gsm_plus/gsm_plus
mgsm/direct/mgsm_direct_de bbh/cot_fewshot/boolean_expressions bbh/cot_fewshot/navigate bbh/zeroshot/navigate
leaderboard/bbh_mc/boolean_expressions
lambada/lambada_openai lambada_cloze/lambada_openai_cloze lambada_multilingual/lambada_mt_de triviaqa/default
nq_open/nq_open mc_taco/default logiqa2/logieval asdiv/default pile_10k/pile_10k prost/corypaik_prost headqa/headqa_en
belebele/belebele_acm_Arab belebele/belebele_zho_Hans xnli/xnli_en anli/anli_r1 xstorycloze/default_en
storycloze/storycloze_2016 blimp/anaphor_gender_agreement blimp/wh_island multiblimp/multiblimp_eng
ceval/ceval-valid_accountant cmmlu/cmmlu_anatomy kmmlu/direct/kmmlu_direct_accounting haerae/haerae_gk babi/babi
bear/bear eus_proficiency/eus_proficiency fld/fld_default hendrycks_ethics/deontology
inverse_scaling/inverse_scaling_quote_repetition model_written_evals/persona/agreeableness translation/wmt14_en-fr
afrobench/flores/prompt_1/african-english/flores_amh_Ethi-eng_Latn truthfulqa-multi/truthfulqa-multi_mc1_en
unscramble/anagrams1 winogender/winogender wmdp/wmdp_bio llama3/instruct/mmlu/mmlu_anatomy llama3/instruct/gsm8k/gsm8k
bigbench/generate_until/abstract_narrative_understanding acpbench/mcq_cot_2shot/act_reach
global_piqa/nonparallel_cloze/eng_latn global_piqa/nonparallel_generation/eng_latn global_piqa/parallel_cloze/eng_latn
"""
TASKS = _LISTED.split()
"""Files below `lm_eval/tasks`, without their ending."""

REAL_ROWS = {
    "allenai/ai2_arc/ARC-Easy/test": ("arc/ARC-Easy-test", {}),
    "allenai/ai2_arc/ARC-Challenge/test": ("arc/ARC-Challenge-test", {}),
    "cais/mmlu/anatomy/test": ("mmlu/test", {"subject": "anatomy"}),
    "cais/mmlu/anatomy/dev": ("mmlu/dev", {"subject": "anatomy"}),
    "openai/gsm8k/main/test": ("gsm8k/test", {}),
    "openai/gsm8k/main/train": ("gsm8k/train", {}),
    "SaylorTwift/bbh/boolean_expressions/test": ("bbh/bbh", {"task": "boolean_expressions"}),
    "SaylorTwift/bbh/navigate/test": ("bbh/bbh", {"task": "navigate"}),
}
"""Split → a benchmark's own file, and which of its rows."""

REAL_TASKS = [
    "arc/arc_easy",
    "arc/arc_challenge_chat",
    "mmlu/default/mmlu_anatomy",
    "mmlu/flan_n_shot/generative/mmlu_anatomy",
    "gsm8k/gsm8k",
    "gsm8k/gsm8k-cot",
    "bbh/cot_fewshot/boolean_expressions",
    "bbh/zeroshot/navigate",
]

TRUSTED_TASKS = [
    "hellaswag/hellaswag",
    "super_glue/copa/default",
    "glue/mnli/default",
    "mathqa/mathqa",
    "logiqa/logiqa",
    "okapi/arc_multilingual/arc_ar",
    "mmlu_pro/mmlu_pro_biology",
    "paws-x/paws_en",
    "bigbench/multiple_choice/causal_judgment",
    "wikitext/wikitext",
    "truthfulqa/truthfulqa_mc2",
    "hendrycks_math/hendrycks_math_algebra",
    "crows_pairs/crows_pairs_english",
]
"""Those whose rows or prompts are made by Python, or whose replies are judged by it."""
