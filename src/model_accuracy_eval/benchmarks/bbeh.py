"""bbeh: BIG-Bench Extra Hard, 4,520 questions of 23 tasks that took the place of BIG-Bench Hard's.

Home: https://github.com/google-deepmind/bbeh, arXiv:2502.19187. Licence: CC-BY-4.0.
A row: {"input": "…", "target": "(B)"}, in one file for each task.
Asked: the question, then to think step by step and to end with "The answer is:".
Judged: by the authors' rules, on what follows that: case, quotation marks, brackets and a final mark do not count.
Every task has a row of its own. The authors print the harmonic mean of the tasks first and the share of all questions
beside it; the latter is the figure here, and the plain mean of the tasks stands behind it.
"""

from model_accuracy_eval.records import (
    DataFile,
    DataSource,
    Grouping,
    MetricUse,
    Pipeline,
    Prompt,
    PublishedScore,
    Step,
    TaskSpec,
)

_AT = "github:google-deepmind/bbeh@80d12ca916b7158f22293fcf3144f4d3d854d4be/bbeh/benchmark_tasks"
_LEADERBOARD = "https://github.com/google-deepmind/bbeh/blob/main/leaderboard.md, micro average"

_TASKS = {
    "boardgame_qa": "3d47dc41eb825b2ee77a696e79859d8d2043b1bf04077e120caec4ad324f32a8",
    "boolean_expressions": "49e763f10dbea048be56036c8cbf2a6d0bb735235e3806b50809a1addb57eee2",
    "buggy_tables": "c27b76200bf1b0d4ada3729f5a40aa1f0062267e42c4f40820b3e40891c3fe85",
    "causal_understanding": "b10bbf43f7f5cdde927b0ad03f99a7a78b3525de4bfa90008b36b12b010c9a81",
    "disambiguation_qa": "6d34e0c89c3b1e1386df5919159b8d67b4668308d1225bd1ee54eb1e946472bd",
    "dyck_languages": "a089612502bdfb98a447c8cba84f972724308ea0d059e8561e3cc9785de585cc",
    "geometric_shapes": "7ff506d026450cb878a0963ce478724ad1451bc56469c813c791b9345ac1bea7",
    "hyperbaton": "0fbacc94f4c740c3050021f4c57089f2011d7bd77fcff3346a7f4b9dbef842e2",
    "linguini": "ba387d2aa1bde122e6c9937fca4e075b9cc7d64e6047b170cfcffd6304919ea8",
    "movie_recommendation": "808882647b84c116a57e0975e3d357749525e12d215c4a5dae83de83ae8c4772",
    "multistep_arithmetic": "47207086cd2afe74df9968172d24134c82af8c666144092f04e4c1ebad8cf3d2",
    "nycc": "67c9a9dca40e6ec820a279da19a019cedd5427fbaaae3fd175cdb74965474b08",
    "object_counting": "a0a8b10ca1aa06eae611c7c7e854fbec4f9622c8f74a74ffa00436a9a8609b67",
    "object_properties": "d606b3aa0c35d5397afc5937207174593c82ad5dfcaf7e5dfb40a99278aef0e4",
    "sarc_triples": "4c7b8eb4b542d326152394456c0a1afc8ef5447ee06dd4187b7eb91027a6b821",
    "shuffled_objects": "43cda28220c66e8d63e667d3091cd18b0b17aa55c005bb24bbb63144afdba9c1",
    "spatial_reasoning": "e77986b73e0ed15b5f950978b7758f55311b4d50e7215961084b126e4d960cb7",
    "sportqa": "69b3f164d9617eab9185830eacf4250badb56c2d718ddc75012597ed1a4bc9bf",
    "temporal_sequence": "55f6711d3d76925acb5d2fffdc1947e0e7186c686f0a343598394a57df6c7c6e",
    "time_arithmetic": "2510515a6f12024a742743e29a389f07beacb3bf4c71e0b59be12f3e364cf31b",
    "web_of_lies": "15f23d32579285701f68dae7947e2191eff21ee97440dfa73cb3565a66c77a6d",
    "word_sorting": "f49674b7b85774d6190c2844e1682c2ee8ff591ca1eeee4e785a45ef1e20024d",
    "zebra_puzzles": "0acd979060ee49f063f241dd1a298bd80b63d6b7fbfb08057ff480bff98a6198",
}
"""Task → the hash of its file."""


def _file(task: str, more: tuple[DataFile, ...] = ()) -> DataFile:
    return DataFile(
        name=f"bbeh/bbeh_{task}.json",
        source=DataSource(url=f"{_AT}/bbeh_{task}/task.json", hash=_TASKS[task]),
        more=more,
        adds={"task": task},
    )


_FIRST, *_OTHERS = _TASKS

TASK = TaskSpec(
    name="bbeh",
    about="23 very hard tasks of reasoning, step by step without examples.",
    home="https://github.com/google-deepmind/bbeh",
    licence="CC-BY-4.0",
    aliases=("big_bench_extra_hard",),
    published=(
        PublishedScore(model="o3-mini (high)", metric="accuracy", value=54.2, source=_LEADERBOARD),
        PublishedScore(model="Gemini 2.0 Flash", metric="accuracy", value=23.9, source=_LEADERBOARD),
        PublishedScore(model="Llama 3.1 8b Instruct", metric="accuracy", value=10.6, source=_LEADERBOARD),
        PublishedScore(model="guessing", metric="accuracy", value=8.4, source=_LEADERBOARD),
    ),
    data=_file(_FIRST, tuple(map(_file, _OTHERS))),
    fields=("input", "target"),
    prompt=Prompt(
        question="{{ input }}\n\nThink step by step, then end with: The answer is: followed by the answer alone."
    ),
    reference="{{ target }}",
    category="task",
    max_tokens=8192,
    pipelines=(
        Pipeline(
            filters=(Step(name="strip_thoughts"), Step(name="stripped")),
            metrics=(MetricUse(name="bbeh_match", label="accuracy"),),
        ),
    ),
    grouping=Grouping(by="category", weight_by_size=False),
)

TASKS = (TASK,)
