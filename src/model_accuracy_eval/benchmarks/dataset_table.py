"""The table of datasets: everything that can be evaluated by its name alone."""

from collections.abc import Iterable

from model_accuracy_eval.benchmarks import (
    agieval,
    ai2d,
    aime,
    apps,
    arc,
    bbeh,
    bbh,
    bfcl,
    bigcodebench,
    boolq,
    ceval,
    chartqa,
    cmath,
    cmmlu,
    codecontests,
    commonsenseqa,
    core,
    cruxeval,
    demo,
    docvqa,
    drop,
    flores,
    folder_places,
    gaokao,
    gpqa,
    gsm8k,
    harmbench,
    hellaswag,
    hle,
    hmmt,
    humaneval,
    humaneval_x,
    ifeval,
    known_rows,
    lambada,
    livecodebench,
    longbench,
    longbench_v2,
    math500,
    mathvista,
    mbpp,
    mgsm,
    mmau,
    mmbench,
    mmlu,
    mmlu_pro,
    mmlu_redux,
    mmmu,
    mmstar,
    mmvu,
    mt_bench,
    multi_if,
    multipl_e,
    musr,
    nq_open,
    ocrbench,
    olympiadbench,
    openbookqa,
    piqa,
    race,
    realworldqa,
    ruler,
    simpleqa,
    siqa,
    spelling,
    squad,
    supergpqa,
    svamp,
    textvqa,
    triviaqa,
    truthfulqa,
    tydiqa,
    winogrande,
    wmt24pp,
    yes_or_no_pictures,
    zebralogic,
)
from model_accuracy_eval.records import GroupMean, TaskGroup, TaskSpec
from model_accuracy_eval.tasks.dataset_names import DatasetNames

_CORE = tuple(core.TASKS.values())

_SECTIONS: dict[str, tuple[TaskSpec, ...]] = {
    "Comes with the package": (demo.ARITHMETIC, demo.DIGITS, demo.WORD_PROBLEMS),
    "Mathematics": (
        gsm8k.ZERO_SHOT,
        gsm8k.FOUR_SHOT,
        gsm8k.NANOCHAT,
        gsm8k.TOOLS,
        mgsm.TASK,
        svamp.TASK,
        math500.TASK,
        aime.AIME24,
        aime.AIME25,
        aime.AIME26,
        hmmt.HMMT25,
        hmmt.HMMT26,
        *olympiadbench.TASKS,
        cmath.TEST,
        cmath.DEV,
    ),
    "Knowledge and thought": (
        mmlu.GENERATED,
        mmlu.CHOICE,
        mmlu.FIVE_SHOT,
        mmlu.NANOCHAT,
        *mmlu.IN_OTHER_WORDS,
        mmlu_pro.TASK,
        *mmlu_redux.TASKS,
        *gpqa.TASKS,
        *supergpqa.TASKS,
        arc.EASY,
        arc.EASY_CHOICE,
        arc.EASY_NANOCHAT,
        arc.CHALLENGE,
        arc.CHALLENGE_CHOICE,
        arc.CHALLENGE_NANOCHAT,
        *arc.IN_OTHER_WORDS,
        *arc.OTHER_SPLITS,
        bbh.TASK,
        bbeh.TASK,
        *musr.TASKS,
        zebralogic.TASK,
        *agieval.TASKS,
        truthfulqa.GENERATED,
        truthfulqa.CHOICE,
        truthfulqa.MC1,
        truthfulqa.MC2,
        *truthfulqa.IN_THE_PAPERS_FORM,
    ),
    "Graded by a judge": (
        simpleqa.ENGLISH,
        simpleqa.CHINESE,
        mt_bench.TASK,
        hle.TEXT,
        harmbench.STANDARD,
        harmbench.CONTEXTUAL,
    ),
    "Function calls": (*bfcl.NATIVE, *bfcl.PROMPTED),
    "Long texts": (*longbench.TASKS, longbench_v2.TASK),
    "Long texts made here": tuple(task for tasks in ruler.BY_LENGTH.values() for task in tasks),
    "Knowledge in Chinese": (*ceval.TASKS, *cmmlu.TASKS, gaokao.TASK),
    "Everyday thought": (
        *hellaswag.TASKS,
        *winogrande.TASKS,
        *piqa.TASKS,
        *siqa.TASKS,
        *commonsenseqa.TASKS,
        *openbookqa.TASKS,
    ),
    "Following instructions": (ifeval.TASK, multi_if.TASK),
    "Translation": (*wmt24pp.TASKS, *flores.TASKS),
    "Reading and spelling": (
        *boolq.TASKS,
        *race.TASKS,
        *drop.TASKS,
        *squad.TASKS,
        *triviaqa.TASKS,
        *nq_open.TASKS,
        tydiqa.GOLD_PASSAGE,
        tydiqa.TASK,
        *lambada.TASKS,
        spelling.BEE,
        spelling.SIMPLE,
    ),
    "Code": (
        humaneval.TASK,
        humaneval.BASE,
        humaneval.PLUS,
        mbpp.TASK,
        mbpp.SANITIZED,
        mbpp.PLUS,
        bigcodebench.COMPLETE,
        bigcodebench.INSTRUCT,
        bigcodebench.HARD,
        bigcodebench.HARD_INSTRUCT,
        cruxeval.OUTPUT,
        cruxeval.INPUT,
        *humaneval_x.TASKS,
        *multipl_e.TASKS,
        *livecodebench.TASKS,
        *apps.TASKS,
        *codecontests.TASKS,
    ),
    "Pictures": (
        *mmmu.TASKS,
        mmstar.TASK,
        mmbench.ENGLISH,
        mmbench.CHINESE,
        *mmbench.CIRCULAR,
        mathvista.TASK,
        ai2d.TASK,
        realworldqa.TASK,
        yes_or_no_pictures.HALLUSIONBENCH,
        yes_or_no_pictures.POPE,
        ocrbench.TASK,
        textvqa.TASK,
        docvqa.DOCUMENTS,
        docvqa.INFOGRAPHICS,
        chartqa.TASK,
    ),
    "Sound and video": (mmau.TASK, mmvu.TASK),
    "Base models (CORE)": _CORE,
}
SECTIONS = {
    heading: tuple(task.with_data(known_rows.pinned).with_data(folder_places.placed) for task in tasks)
    for heading, tasks in _SECTIONS.items()
}
"""Heading → the datasets under it."""

TASKS: dict[str, TaskSpec] = {task.name: task for section in SECTIONS.values() for task in section}

_CORE_MEAN = (GroupMean(metric="centred accuracy", weight_by_size=False),)
_ACCURACY_MEAN = (GroupMean(metric="accuracy", weight_by_size=False),)
_CHAT_CORE = (arc.EASY_NANOCHAT, arc.CHALLENGE_NANOCHAT, mmlu.NANOCHAT, gsm8k.NANOCHAT, humaneval.TASK, spelling.BEE)


def _group(name: str, tasks: Iterable[TaskSpec], means: tuple[GroupMean, ...]) -> TaskGroup:
    return TaskGroup(name=name, members=tuple(task.name for task in tasks), means=means)


GROUPS: dict[str, TaskGroup] = {
    group.name: group
    for group in (
        _group("agieval", agieval.TASKS, _ACCURACY_MEAN),
        _group("arc", (arc.EASY, arc.CHALLENGE), _ACCURACY_MEAN),
        _group("bfcl", bfcl.NATIVE[:4], _ACCURACY_MEAN),
        _group("bfcl_prompt", bfcl.PROMPTED[:4], _ACCURACY_MEAN),
        *(_group(name, tasks, _ACCURACY_MEAN) for name, tasks in ruler.BY_LENGTH.items()),
        _group("musr", musr.TASKS, _ACCURACY_MEAN),
        _group("race", (task for task in race.TASKS if task.name in {"race_middle", "race_high"}), _ACCURACY_MEAN),
        _group("longbench", longbench.TASKS, (GroupMean(metric="score", weight_by_size=False),)),
        _group("chat_core", _CHAT_CORE, _CORE_MEAN),
        _group("wmt24pp", wmt24pp.TASKS, (GroupMean(metric="chrF", weight_by_size=False),)),
        _group("flores", flores.TASKS, (GroupMean(metric="chrF++", weight_by_size=False),)),
        _group("harmbench_all", (harmbench.STANDARD, harmbench.CONTEXTUAL), (GroupMean(metric="not fulfilled"),)),
        _group("core", _CORE, _CORE_MEAN),
    )
}
"""Names that stand for several datasets."""


NAMES = DatasetNames(SECTIONS, GROUPS)


def canonical(name: str) -> str | None:
    """The table's own name of a dataset or group that may be written as another tool writes it."""
    return name if name in TASKS or name in GROUPS else NAMES.canonical(name)


def find(name: str) -> TaskSpec:
    """The task of that name; the error for an unknown one tells its kind, and how to bring it."""
    known = canonical(name)
    if known is None or known not in TASKS:
        raise NAMES.unknown(name)
    return TASKS[known]


def members(name: str) -> tuple[TaskSpec, ...]:
    """The tasks of a group, or the one of that name."""
    group = GROUPS.get(canonical(name) or name)
    return tuple(map(find, group.members)) if group else (find(name),)
