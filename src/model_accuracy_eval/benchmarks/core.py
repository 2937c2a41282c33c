"""core: the 22 tasks of the CORE metric, by which DCLM and nanochat tell how good a base model is.

Home: https://github.com/mlfoundations/dclm, arXiv:2406.11794; the files are those of mosaicml/llm-foundry. Licence:
each task's own. A row: {"query", "choices", "gold"}, {"context_options", "continuation", "gold"} or {"context",
"continuation"}. Asked: nothing is generated; the likelihoods of options, contexts or endings are compared, after solved
examples that are drawn for every question from the rest of its file. Judged: the option that is likeliest per token, or
whether greedy decoding gives the ending. Accuracy is centred on what guessing reaches; CORE is the plain mean over the
tasks.
"""

from model_accuracy_eval.benchmarks import arc, gsm8k, humaneval, mmlu, prompt_parts, spelling
from model_accuracy_eval.records import (
    DataFile,
    DataSource,
    FewShot,
    MetricUse,
    Pipeline,
    Prompt,
    RequestKind,
    Step,
    TaskSpec,
)

_AT = "github:mosaicml/llm-foundry@8c8dd48f72168c5d51e2f7b151595892a8fba43d/scripts/eval/local_data"


_Line = tuple[str, str, int, RequestKind, str, float, str, str]

_ANSWER = "\nAnswer:"
_HELLASWAG = "448321079fdc140bd8566b16b24eda9ceacd3501"
_TABLE: tuple[_Line, ...] = (
    # name, file, examples, kind, what follows the question, guessing in %, folder at the origin, hash
    ("hellaswag_zeroshot", "hellaswag", 0, "choice", "", 25.0, "language_understanding", _HELLASWAG),
    ("jeopardy", "jeopardy_all", 10, "target", _ANSWER, 0.0, "world_knowledge",
     "187e7f270a440c63d6cf11a57459fdc7e0bce889338225e42cc88e24ee13d52e"),
    ("bigbench_qa_wikidata", "bigbench_qa_wikidata", 10, "target", "", 0.0, "world_knowledge",
     "bb0d22727cb25beffb022c8e8c0c3e1159c8b3c7bd7284603c0d6491f8616265"),
    ("arc_easy", "arc_easy", 10, "choice", _ANSWER, 25.0, "world_knowledge",
     "d2d12e59543acf9a5ef6079634a72b30215e36c2fd4236fff3bc855d287b87f5"),
    ("arc_challenge", "arc_challenge", 10, "choice", _ANSWER, 25.0, "world_knowledge",
     "1ae3aeedf1951d881cbd5c2e3a31e78a1993d251479afbe4cb413b6707244636"),
    ("copa", "copa", 0, "choice", "", 50.0, "commonsense_reasoning",
     "595dca44dec54c849490bd403a3e24a29e3b944065783222ebb0eb1a55298846"),
    ("commonsense_qa", "commonsense_qa", 10, "choice", "", 40.3, "commonsense_reasoning",
     "2771f63f8127c0725b1f6b0ef2cd2ef6469168ae5875fc8d276b25b4f32c8c1a"),
    ("piqa", "piqa", 10, "choice", _ANSWER, 50.0, "commonsense_reasoning",
     "d2870e73aec5154df3faf259b7700876e11608eebdf69e9d6667435673dbe4e0"),
    ("openbook_qa", "openbook_qa", 0, "choice", "", 25.0, "commonsense_reasoning",
     "adb2e5c7f8db810ddad4d6b2bf53dcc86dcc545499f7aafcaf42a8e179476c09"),
    ("lambada_openai", "lambada_openai", 0, "target", "", 0.0, "language_understanding",
     "411bfbe5b9054346b6a19299c0242670adbefb9162efd958593cbc0290b8c9dc"),
    ("hellaswag", "hellaswag", 10, "choice", "", 25.0, "language_understanding", _HELLASWAG),
    ("winograd", "winograd_wsc", 0, "schema", "", 50.0, "language_understanding",
     "746336c27cd2e39a554cb1b8b4869d0f1ae2577ac5bfe799842d26bca5a5bf5e"),
    ("winogrande", "winogrande", 0, "schema", "", 50.0, "language_understanding",
     "ea1592526f3bfdd0948ed3acb1b4dfa3f83d23698917118688ee1df7f8d4b8d7"),
    ("bigbench_dyck_languages", "bigbench_dyck_languages", 10, "target", "", 0.0, "symbolic_problem_solving",
     "106ba9ac7507c7ab385c5e59c49cd57aa83025abf080d9b2a2661c0d6c6dbcc5"),
    ("agi_eval_lsat_ar", "agi_eval_lsat_ar", 3, "choice", "", 25.0, "symbolic_problem_solving",
     "9ffd73480b51746c11627e56239f8b87035eb255cb92c3a58fd64e2e4b65fb56"),
    ("bigbench_cs_algorithms", "bigbench_cs_algorithms", 10, "target", "", 0.0, "symbolic_problem_solving",
     "8485683a8c7e7e6c9fc6ca3cc81140fd85edb27f34406a6736d1539cf7ebcb3a"),
    ("bigbench_operators", "bigbench_operators", 10, "target", "", 0.0, "symbolic_problem_solving",
     "41e2964ad619c49edd97c22b2c50f922a0241255d906a754bf81a20f4f66b85f"),
    ("bigbench_repeat_copy_logic", "bigbench_repeat_copy_logic", 10, "target", "", 0.0, "symbolic_problem_solving",
     "8febd2c0080a15680cd17f92bfa30d87abcfac021e646e55d0b8ad69f0cfa767"),
    ("squad", "squad", 10, "target", "", 0.0, "reading_comprehension",
     "dc733b8f58ec666c53fd946198c434b819a00680"),
    ("coqa", "coqa", 0, "target", "", 0.0, "reading_comprehension",
     "028bd4e51326cc43f8394987ae47fbb271aeba9d"),
    ("boolq", "boolq", 10, "choice", _ANSWER, 62.0, "reading_comprehension",
     "454ff101e614370bb1807fe7ebbda6fdb57e794b9662cc1ccae211bf1ff626c8"),
    ("bigbench_language_identification", "bigbench_language_identification", 10, "choice", "", 25.0,
     "language_understanding", "80c98d8e7ab8213513d1643886229c05c40a6837353b07c19ac7bd860668954e"),
)  # fmt: skip

_CLUSTERS = {
    "agi_eval_lsat_ar": "{{ query.rpartition('\nQ:')[0] }}",
    "squad": "{{ context.rpartition('\nQuestion:')[0] }}",
    "coqa": "{{ context.rpartition('\nPreceding questions')[0] }}",
    "boolq": "{{ query.rpartition('\nQuestion:')[0] }}",
}
"""The passage, which these files have in one text with the question."""

_FIELDS: dict[RequestKind, tuple[str, ...]] = {
    "choice": ("query", "choices", "gold"),
    "schema": ("context_options", "continuation", "gold"),
    "target": ("context", "continuation"),
}
_ABOUT = {
    "choice": "the likeliest of the options",
    "schema": "the context that makes the ending likeliest",
    "target": "whether the ending is what greedy decoding says",
}


def _prompt(kind: RequestKind, ending: str, shots: int) -> Prompt:
    # The text between question and option counts to the options, as far as they do not share its tokens.
    fewshot = FewShot(count=shots, sampler=Step(name="per_item", args={"seed": 1234}), turns=False) if shots else None
    if kind == "choice":
        return Prompt(question="{{ query }}", delimiter=f"{ending} ", fewshot=fewshot)
    if kind == "schema":
        return Prompt(question="", answer="{{ continuation }}", fewshot=fewshot)
    return Prompt(question=f"{{{{ context | trim }}}}{ending}", fewshot=fewshot)


def _task(line: _Line) -> TaskSpec:
    name, file, shots, kind, ending, guessing, folder, known = line
    after = f", after {shots} examples" if shots else ""
    return TaskSpec(
        name=f"core_{name}",
        about=f"Part of CORE: {_ABOUT[kind]}{after}.",
        home="https://github.com/mlfoundations/dclm",
        licence=_LICENCES.get(name, "Apache-2.0"),
        data=DataFile(
            name=f"core/{file}.jsonl",
            source=DataSource(url=f"{_AT}/{folder}/{file}.jsonl", hash=known),
        ),
        views=(Step(name="shuffled", args={"seed": 1337}),),
        fields=_FIELDS[kind],
        cluster=_CLUSTERS.get(name, ""),
        prompt=_prompt(kind, ending, shots),
        reference="{{ continuation }}" if kind == "target" else "{{ gold }}",
        choices={"choice": "{{ choices | tojson }}", "schema": "{{ context_options | tojson }}"}.get(kind),
        kind=kind,
        mode="text",
        boundary="shared" if kind == "choice" else "context",
        pipelines=(Pipeline(metrics=(MetricUse(name="acc" if kind == "target" else "acc_tokens", label="accuracy"),)),),
        baseline=guessing / 100,
    )


_LICENCES = {
    "arc_easy": "CC-BY-SA-4.0",
    "arc_challenge": "CC-BY-SA-4.0",
    "copa": "BSD-2-Clause",
    "commonsense_qa": "MIT",
    "piqa": "AFL-3.0",
    "lambada_openai": "MIT, modified",
    "hellaswag": "MIT",
    "hellaswag_zeroshot": "MIT",
    "winograd": "CC-BY-4.0",
    "boolq": "CC-BY-SA-3.0",
    "squad": "CC-BY-SA-4.0",
    "coqa": "of several sources, see its home",
    "jeopardy": "unclear",
    "agi_eval_lsat_ar": "unclear",
}

BY_LABEL = {line[0]: _task(line) for line in _TABLE}
TASKS = tuple(BY_LABEL.values())
_CHAT = (arc.EASY_NANOCHAT, arc.CHALLENGE_NANOCHAT, mmlu.NANOCHAT, gsm8k.NANOCHAT, humaneval.TASK, spelling.BEE)
GROUPS = (
    prompt_parts.plain_mean("core", TASKS, "centred accuracy"),
    prompt_parts.plain_mean("chat_core", _CHAT, "centred accuracy"),
)
