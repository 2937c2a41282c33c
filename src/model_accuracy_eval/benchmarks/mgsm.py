"""mgsm: 250 problems of GSM8K in eleven languages, translated by people.

Home: https://github.com/google-research/url-nlp/tree/main/mgsm, arXiv:2210.03057. Licence: CC-BY-4.0.
A row: {"lang": "de", "index": 0, "question": "…", "answer": "18"}; at the hubs {"question": "…", "answer": null,
"answer_number": 18, "equation_solution": null}, with the language as the configuration.
Asked: in its own language, step by step, with the number on a last line after ####.
Judged: as gsm8k. Every language has a row of its own.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataSource, Grouping, Prompt, PublishedScore, TaskSpec

_ENDINGS = {
    "en": prompt_parts.NUMBER_ENDING,
    "es": "Resuélvelo paso a paso. En la última línea escribe #### y detrás solo el número de la respuesta.",
    "fr": "Résolvez le problème étape par étape. Sur la dernière ligne, écrivez #### suivi du seul nombre cherché.",
    "de": "Löse die Aufgabe Schritt für Schritt. Schreibe in die letzte Zeile #### und dahinter nur die Zahl.",
    "ru": "Реши задачу шаг за шагом. В последней строке напиши #### и после него только число.",
    "zh": "请一步一步地解答。在最后一行写 ####，后面只写答案的数字。",
    "ja": "順を追って解いてください。最後の行に #### と書き、その後に答えの数だけを書いてください。",
    "th": "จงแก้โจทย์ทีละขั้นตอน แล้วเขียน #### ตามด้วยตัวเลขคำตอบเท่านั้นในบรรทัดสุดท้าย",
    "sw": "Tatua hatua kwa hatua. Kwenye mstari wa mwisho andika #### kisha nambari ya jibu pekee.",
    "bn": "ধাপে ধাপে সমাধান করুন। শেষ লাইনে #### লিখে তার পরে শুধু উত্তরের সংখ্যাটি লিখুন।",
    "te": "దశలవారీగా పరిష్కరించండి. చివరి వరుసలో #### రాసి, దాని తర్వాత జవాబు సంఖ్యను మాత్రమే రాయండి.",
}


def _at_hubs(language: str, *more: DataFile) -> DataFile:
    return DataFile(
        name=f"mgsm/hub/{language}",
        source=DataSource(hf="juletxara/mgsm", ms="evalscope/mgsm", config=language),
        more=more,
        adds={"lang": language},
    )


_FIRST, *_OTHERS = _ENDINGS

TASK = TaskSpec(
    name="mgsm",
    about="Grade-school word problems in eleven languages.",
    home="https://github.com/google-research/url-nlp/tree/main/mgsm",
    licence="CC-BY-4.0",
    data=DataFile(name="mgsm/mgsm.jsonl", instead=(_at_hubs(_FIRST, *map(_at_hubs, _OTHERS)),)),
    fields=("lang", "question"),
    cluster="{{ index | default('') }}",
    prompt=Prompt(question=f"{{{{ question | trim }}}}\n\n{{{{ {_ENDINGS!r}[lang] }}}}"),
    reference="{{ answer if answer_number is undefined else answer_number }}",
    published=(
        PublishedScore(
            model="gpt-4o-2024-11-20",
            metric="accuracy",
            value=90.3,
            source="https://github.com/openai/simple-evals (its own prompt)",
        ),
    ),
    key=("lang", "index"),
    category="lang",
    max_tokens=1024,
    pipelines=prompt_parts.NUMBER_PIPELINES,
    grouping=Grouping(by="category", weight_by_size=False),
)

TASKS = (TASK,)
