"""The table of datasets: where their rows are, and what they are called."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.benchmarks import aisbench_names, apps, codecontests, livecodebench
from model_accuracy_eval.benchmarks.dataset_names import KINDS
from model_accuracy_eval.benchmarks.dataset_table import GROUPS, NAMES, SECTIONS, TASKS, find
from model_accuracy_eval.errors import UnknownDataset
from model_accuracy_eval.hubs.content import is_hash
from model_accuracy_eval.records import DataFile, DataSource, TaskSpec
from model_accuracy_eval.run import plan_parts
from model_accuracy_eval.tasks.importers.own_questions import looks_like_file

WITHOUT_FILE = [
    *(task.name for task in (*livecodebench.TASKS, *apps.TASKS, *codecontests.TASKS)),
]  # fmt: skip
"""Datasets whose files nobody here has seen: no hash is known."""


def files_of(task: TaskSpec) -> list[DataFile]:
    shots = task.prompt.fewshot
    return [task.data, *([shots.data] if shots and shots.data else [])]


def test_a_file_is_in_the_package_or_pinned() -> None:
    """What can be fetched has a hash, and the place is one commit; what cannot is known by its hash, as a rule."""
    for name in TASKS:
        task = find(name)
        assert (task.name, bool(task.about), bool(task.licence)) == (name, True, True)
        for file in files_of(task):
            assert file.source or file.pin or name in WITHOUT_FILE, name
            for one in (file, *file.more, *file.instead):
                source = one.source or DataSource()
                assert not source.hash or (is_hash(source.hash) and re.search("@[0-9a-f]{40}/", source.url)), name
                assert bool(source.hash) == source.url.startswith(("github:", "hf:", "ms:")), name


def test_an_unknown_dataset_is_answered_with_the_nearest() -> None:
    """Most are typing slips."""
    with pytest.raises(UnknownDataset, match="no dataset called 'gsm8'; did you mean gsm8k"):
        find("gsm8")
    with pytest.raises(UnknownDataset, match=r"called 'ruler'\. These begin so: ruler_4k, ruler_8k, ruler_16k, "):
        find("ruler")
    with pytest.raises(UnknownDataset, match=r"called 'zzzzzz'\. `model-accuracy-eval tasks list` shows all"):
        find("zzzzzz")


def test_an_alias_stands_for_one_dataset() -> None:
    """No name of another tool is that of two datasets, whatever its capitals, hyphens and underscores."""
    places: dict[str, set[str]] = {}
    for form, name in NAMES.spellings():
        places.setdefault(form, set()).add(name)
    assert {form: names for form, names in places.items() if len(names) > 1} == {}
    aliases = [alias for task in TASKS.values() for alias in task.aliases]
    assert [alias for alias in aliases if looks_like_file(alias)] == []
    assert set(KINDS) <= set(SECTIONS)


@pytest.mark.parametrize(
    ("name", "known"),
    [("GSM8K", "gsm8k"), ("ARC-Easy", "arc_easy"), ("MMLU-Pro", "mmlu_pro"), ("mmlu@choice", "mmlu_choice"),
     ("MMLU@nanochat", "mmlu_nanochat"), ("humaneval_instruct", "humaneval"), ("gsm8k-cot-zeroshot", "gsm8k"),
     ("HumanEval+", "humaneval_plus"), ("mbpp+", "mbpp_plus"), ("MBPP+ v0.1.0", "mbpp_plus_v0.1.0"),
     ("HumanEval-X C++", "humaneval_x_cpp"), ("MMMU (val)", "mmmu")],
)  # fmt: skip
def test_names_of_other_tools_are_understood(name: str, known: str) -> None:
    """AISBench's, EvalScope's, OpenCompass's, lm-eval's and nanochat's."""
    assert find(name).name == known


@given(
    st.sampled_from([name for name in TASKS if f"{name}+" not in ("humaneval+", "mbpp+")]),
    st.sampled_from(["+", "#", "++", "*", "†"]),
)
def test_a_sign_makes_another_name(name: str, sign: str) -> None:
    """Wherever it stands: the easier benchmark must not be run for its plus edition."""
    for written in (name + sign, sign + name, name.replace("_", sign) if "_" in name else name + sign):
        with pytest.raises(UnknownDataset, match=f"^There is no dataset called '{re.escape(written)}'|^The dataset '"):
            find(written)
    assert "did you mean gsm8k? " in NAMES.unknown("gsm8k+").sentence


def test_a_similar_name_of_another_dataset_is_no_slip() -> None:
    """kmmlu is Korean, and MATH-5001 is not MATH-500: the kind is told, and how to bring one's own."""
    for name in ("kmmlu", "gsm8k2", "gsm1k"):
        with pytest.raises(UnknownDataset) as error:
            find(name)
        assert "did you mean" not in error.value.sentence
        assert f"--tasks-path FOLDER --datasets {name}; " in error.value.sentence
        assert "--datasets hf:OWNER/NAME" in error.value.sentence
    with pytest.raises(
        UnknownDataset, match="Of the kind 'Knowledge and thought' there are mmlu, mmlu_pro, mmlu_redux"
    ):
        find("kmmlu")
    with pytest.raises(UnknownDataset, match=r"The dataset 'svamp' has no prompt called 'xyz'; it has one alone\."):
        find("SVAMP@xyz")


@pytest.mark.parametrize(
    ("theirs", "ours", "shown", "otherwise"),
    [
        ("gsm8k_gen_0_shot_cot_chat_prompt", "gsm8k@aisbench", 0, ""),
        ("gsm8k_gen_4_shot_cot_str", "gsm8k_4shot@aisbench", 4, " (the solved examples are the first of the training"),
        ("demo_gsm8k_gen_4_shot_cot_chat_prompt", "gsm8k_demo@aisbench", 4, " (the solved examples are the first of"),
        ("aime2025_gen", "aime25@aisbench", 0, ""),
        ("textvqa_gen_base64", "textvqa@aisbench", 0, ""),
        ("mmlu_gen", "mmlu", 0, " (no solved examples, where AISBench shows 5; in words of this program)"),
        ("gpqa_gen_0_shot_cot_chat_prompt", "gpqa_diamond@simple-evals", 0, ""),
        ("ARC-c ppl 0 shot str", "arc_challenge_choice", 0, ""),
        ("aime2025_gen_0_shot_llmjudge", "aime25@aisbench", 0, " (judged by rules, not by a judge)"),
    ],
)
def test_aisbench_names_say_what_is_asked(theirs: str, ours: str, shown: int, otherwise: str) -> None:
    """In its words and with as many solved examples, or what differs is told in the first line of a run."""
    said: list[str] = []
    gate = f"{theirs}: anomalies <= 5"
    plan = plan_parts.plan(
        {"endpoint": "http://127.0.0.1", "datasets": theirs, "gate": gate, "task-type": "any-to-any"},
        {},
        say=said.append,
    )
    (task,) = plan.tasks
    assert (task.name, plan.gates[0].dataset, task.prompt.fewshot.count if task.prompt.fewshot else 0) == (
        ours, ours, shown,
    )  # fmt: skip
    assert said[0].startswith(f"{theirs} → {ours}{otherwise}")
    assert otherwise or said[0].endswith(ours)


def test_every_name_of_aisbench_leads_to_a_dataset() -> None:
    """And is told with what differs: the solved examples that its name has are those that are shown, or not."""
    assert {ours for ours in aisbench_names.NAMES.values() if ours not in {*TASKS, *GROUPS}} == set()
    for theirs, ours in aisbench_names.NAMES.items():
        assert ours in GROUPS or ("5_shot" not in theirs) or "AISBench shows" in NAMES.understood([theirs], {ours})


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("demo_gsm8k_gen_4_shot_cot_chat", "demo_gsm8k_gen_4_shot_cot_chat_prompt or demo_gsm8k"),
        ("gsm8k_gen_4_shot_cot_strr", "gsm8k_gen_4_shot_cot_str or gsm8k_gen_0_shot_cot_str or "),
        ("textvqa_gen_x", "textvqa_gen or textvqa or textvqa_gen_base64"),
    ],
)
def test_a_wrong_name_of_aisbench_is_answered_from_the_same_dataset(wrong: str, meant: str) -> None:
    """Never with another one because of a word such as chat or bench."""
    assert f"'{wrong}'; did you mean {meant}" in NAMES.unknown(wrong).sentence
    assert "ifeval" not in "".join(NAMES.unknown(f"{one}_gen").sentence for one in ("omnidocbench", "videobench"))
