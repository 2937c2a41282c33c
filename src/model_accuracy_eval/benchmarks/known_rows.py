"""The rows of data files that this release has seen, so that a copy in another format or order of keys is theirs too.

Of each file: its name, how many rows it has, and the hash of their values; below, its columns.
"""

import re

from msgspec import structs

from model_accuracy_eval.records import DataFile, RowsPin

_SEEN = """
arc/ARC-Challenge-validation.jsonl 299 825b20a0b3981739661e0066f909e0fdf39550d6973a208bc13b9a9e307a5ecb
  answerKey, choices, id, question
arc/ARC-Easy-validation.jsonl 570 066d809f3a1ffe9f34fc51c7d4efde1c2d8a806545fcf6ceab2213b15574d615
  answerKey, choices, id, question
bbh/bbh.jsonl 6511 e35e5425e123fed92474cbf28f4e8f4306930f663c47537c5015d1794d1c502d
  index, input, target, task
bbh/cot_prompts.json 27 97f19a5e8c8fbd2f2873ea8d1d9491aaf0c519b40b4a31c55fd7f6970633a941
  key, value
bfcl/BFCL_v4_irrelevance.jsonl 240 ebe9b5b83600617c64b9d7bf34669fde9505f82f738c782b1a481411755a0510
  function, id, question
bfcl/BFCL_v4_multiple.jsonl 200 84d95035f2d13e64232a9be6b304df11f1e7ee95358e514723abeccc37da1e40
  function, id, question
bfcl/BFCL_v4_parallel.jsonl 200 8833a52187ae67b3027cd5f86c53194b9b0315e01d5be818647b631fd5a9d198
  function, id, question
bfcl/BFCL_v4_parallel_multiple.jsonl 200 fa0c0521bbc4eb50e09d3813ee44a4602bec25937939ad52482fbbb512268adb
  function, id, question
bfcl/BFCL_v4_simple_python.jsonl 400 9338b2fb26f494bf075133f6f04b23833329e4713a1ac197c4cf3f2379a4a393
  function, id, question
bfcl/possible_answer_multiple.jsonl 200 ed4abefd3faa3c8007f94d60af7134240210b14d85a260e94567a4a38aaa1265
  ground_truth, id
bfcl/possible_answer_parallel.jsonl 200 79538a54f5bb8d99c4058653b3f7ff370e1ae479e1c6cf6c1e182c28d4cffc6b
  ground_truth, id
bfcl/possible_answer_parallel_multiple.jsonl 200 38da698175f0badaabfd39dd9bc4baf5c452dae64516daecddcb599c29571d40
  ground_truth, id
bfcl/possible_answer_simple_python.jsonl 400 38e9f96b5bb30ffd8eeb9d6f1e3d346881f94ff90c899d2c638be82c9cd8d20a
  ground_truth, id
bigcodebench/BigCodeBench.jsonl 1140 ac33bf46e5683a66a94a4fa0c0ab2195b86d3cd4f09224c72a2a1dd28e984772
  apis, canonical_solution, clean_canonical_solution, doc, entry_point, instruction, libs, prompt,
  prompt_wo_doc, signature, task_id, test
core/arc_challenge.jsonl 1172 32c0ad82631eafb34cd3b9820db486d85e07849d8eab04dd2c4faf22b0e49170
  choices, gold, query
core/arc_easy.jsonl 2376 af6832c13127e4904380cf24a3cca51ac924d5cb73ba10cd6ccc7b0d523c64da
  choices, gold, query
core/bigbench_cs_algorithms.jsonl 1320 ad4ac12e7c4e5b87a36d6a9f6caa85264854643abf9ef98557a0073c14b358a8
  context, continuation
core/bigbench_dyck_languages.jsonl 1000 ad38ca8a4925ab3704a21a8c2db0901051ecaf1de77487487b7c82e742297ab8
  context, continuation
core/bigbench_language_identification.jsonl 10000 87553122f371faea227e76402bda3833da637c6f85aafab677cf754e57eb2028
  choices, gold, query
core/bigbench_operators.jsonl 210 603490af172340e1ee6ad193be1ac578691d9409ed7b73672fc264a9d09ffddf
  context, continuation
core/bigbench_qa_wikidata.jsonl 20321 31e06f8e4ca3f70a6246aff23687b69e4dd8bbd0c0e56013745adfec5dae0a60
  context, continuation
core/bigbench_repeat_copy_logic.jsonl 32 f1673d62e43b761224fc7ac1f0794578fa598ae6130a11cdbd180782bde42efb
  context, continuation
core/boolq.jsonl 3270 3a734adb4b16cf8f5e91c142ec7877e083b76a46da813332c17c67915a6d2de7
  choices, gold, query
core/commonsense_qa.jsonl 1221 3ad1e7c708b9db85569118e8498df7489c82561f7feec27c9a227524a9586a6b
  choices, gold, query
core/copa.jsonl 100 59894b240f2b8f42e51e2ac4abd702909ad97b6aa88866b791d1541ec9cac2e4
  choices, gold, query
core/lambada_openai.jsonl 5153 5996335369609ca7a75c4082faa142905774b1c8909e70e98e4214af74f1d2c3
  context, continuation
core/openbook_qa.jsonl 500 bbc668752f89217468a47d9c54454c7595f39d2b681d05bb5d737be895a4dd9c
  choices, gold, query
core/piqa.jsonl 1838 85ff84ba2ce0fbd434a7765683f78ac458c14f86d899e7bec4cf388e0aa44d94
  choices, gold, query
core/winograd_wsc.jsonl 273 75a701792b42ad41b344b6484031741e9b23aef0b98cfe0ae035c86a1b46fc8f
  context_options, continuation, gold
core/winogrande.jsonl 1267 ef34cc7c0f1e9d98302183ac544ff5aa9366f8a8b7c3e085a97d0f35b034aa3e
  context_options, continuation, gold
cruxeval/cruxeval.jsonl 800 10b90096f82f6932be49d196a2e250805cd64971a671be72295767ab5cffff72
  code, id, input, output
gaokao_bench/objective.jsonl 1781 7b366f970128a9a80f62db4d6b8208a50999c40704c94712756636da9f0b0e32
  analysis, answer, category, index, keyword, question, score, year
humaneval/HumanEval.jsonl 164 268a7f1179aeaf07e13e6bedae2e71f93c44e7990744650ac2c7ed26aa9e00e8
  canonical_solution, entry_point, prompt, task_id, test
humaneval_plus/HumanEvalPlus.jsonl 164 5051b4335c28fe055d7113b6a8063bf24167db0d06d32d94108085de9a44d619
  atol, base_input, canonical_solution, contract, entry_point, plus_input, prompt, task_id, test
humaneval_x/humaneval_cpp.jsonl 164 6a2a992f4be482d5280ca3ab309f0b7dca5db8bc11dd5471b70bcbe5a5e129cf
  canonical_solution, declaration, example_test, prompt, task_id, test
humaneval_x/humaneval_go.jsonl 164 1780e67f9787903216d047d1d79f8e7f8707aed4ef7627c6831a95eb36510f72
  canonical_solution, declaration, docstring, example_test, import, prompt, task_id, test, test_setup
humaneval_x/humaneval_java.jsonl 164 ee3f9ccdfd4b38822bf0de8482a5c812a3642e5ff22b33b3607c0df23c30d26a
  canonical_solution, declaration, example_test, prompt, task_id, test, text
humaneval_x/humaneval_js.jsonl 164 597eb70daef5aac0c02ef8a09dbb7dbf97d21ec8dfd819724ee18edc6760cb6b
  canonical_solution, declaration, example_test, prompt, task_id, test
humaneval_x/humaneval_python.jsonl 164 2b813780eda02ddd723e0d0491d40152cb4da81627bebc63611c6a20fc05e427
  canonical_solution, declaration, example_test, prompt, task_id, test, text
humaneval_x/humaneval_rust.jsonl 164 1401550cc1c3198a814bdda3a8b8b269c44f5423ba27b2c8dadf0548f89b203c
  canonical_solution, declaration, example_test, prompt, task_id, test
ifeval/input_data.jsonl 541 1c6017755b7a534f1fd2496c7a366cbe17bb60399cf85324bdf8f09d8d1933be
  instruction_id_list, key, kwargs, prompt
mbpp/mbpp.jsonl 974 07b009b27b434a1f22a5dfc7bf8527ffceac9c99ff4bd98afe87f910c4c0afaa
  challenge_test_list, code, task_id, test_list, test_setup_code, text
mbpp/sanitized-mbpp.json 427 87b9b2f36d2063f7a58c31e5a67e3370eec52dde96c5a75999a3a14c48512890
  code, prompt, source_file, task_id, test_imports, test_list
mbpp_plus/MbppPlus.jsonl 378 ca7603d3a3845fce2026f3ece6b7728fc1f7ea0ed31b0fa75b705a088f2a49b0
  assertion, atol, base_input, canonical_solution, contract, entry_point, plus_input, prompt, task_id
mgsm/mgsm.jsonl 2750 55ba51e84e119fb9a9db3478ed5bb301fb6436d5716a500d348631d3d71424b3
  answer, index, lang, question
mt_bench/question.jsonl 80 55d1a00874d6deb7c4870ffe9223a66b6fd59c3b28c73b440413499e10a64807
  category, question_id, reference, turns
mt_bench/reference_answer_gpt-4.jsonl 30 bbb34fb1994b86d8fc5ca25d5281fe6486e7371c0d0a8dfcbef59f9f18f5eaf0
  answer_id, choices, model_id, question_id, tstamp
spellingbee/words_alpha.txt 370105 d5f1c30ee7dc3f2db1e54d0f70f7ad0da69fc0a1326dfbefbdf7feea23549298
  text
svamp/SVAMP.json 1000 c5b73631a7a7b47ec4072574aa671d7051ed39de652c0a4ccbdbb40a60ccfcf5
  Answer, Body, Equation, ID, Question, Type
truthfulqa/TruthfulQA.csv 790 9e7d71bd713d262c5cb6a9ba04d52403bb3dbfabb395d0e4580631e7e56ddb62
  Best Answer, Best Incorrect Answer, Category, Correct Answers, Incorrect Answers, Question, Source, Type
tydiqa/tiny_dev.jsonl 11 1add9e2b3651a5d18b0d0035e1ea09023e9812250243cc1836a4b3527f883008
  annotations, document_plaintext, document_title, document_url, example_id, language,
  passage_answer_candidates, question_text
"""


def _pins() -> dict[str, RowsPin]:
    pins = {}
    for entry in re.split(r"\n(?=\S)", _SEEN.strip()):
        head, *columns = entry.split("\n")
        name, count, sha256 = head.split()
        names = tuple(" ".join(line.strip() for line in columns).split(", "))
        pins[name] = RowsPin(count=int(count), columns=names, sha256=sha256)
    return pins


_ON_HUBS = {"humaneval/hub_test": "humaneval/HumanEval.jsonl", "cruxeval/hub_test": "cruxeval/cruxeval.jsonl"}
"""A split as hubs have it → the file whose rows it has to have."""

KNOWN_ROWS = _pins()
"""Name of the data file → its pin."""


def pinned(file: DataFile) -> DataFile:
    """The file with its pin, and with those of the files beside it and in its place."""
    return structs.replace(
        file,
        rows=file.rows or KNOWN_ROWS.get(_ON_HUBS.get(file.name, file.name)),
        more=tuple(map(pinned, file.more)),
        instead=file.instead and pinned(file.instead),
    )
