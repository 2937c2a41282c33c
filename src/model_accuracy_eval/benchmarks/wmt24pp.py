"""wmt24pp_en_de and nine more: 960 texts of WMT 2024's English news, speech, stories and posts, to be translated.

Home: https://huggingface.co/datasets/google/wmt24pp, arXiv:2502.12404. Licence: Apache-2.0.
A row: {"lp": "en-de_DE", "domain": "news", "document_id": "…", "segment_id": 3, "is_bad_source": false, "source": "…",
"target": "…", "original_target": "…"}; 38 of the 998 have a bad source and are not asked, as their authors say.
Asked: for the translation alone, of one text at a time.
Judged: by chrF, and by BLEU where words have blanks between them or sacrebleu splits them (Chinese by "zh"), against
`target`, which professionals corrected. Its authors compare by MetricX too, a model that is not here.
Needs the extra `text`.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.records import DataFile, DataSource, MetricUse, Pipeline, Prompt, Step, TaskSpec

_LANGUAGES = {
    "de_DE": ("German", "13a"),
    "es_MX": ("Mexican Spanish", "13a"),
    "fr_FR": ("French", "13a"),
    "hi_IN": ("Hindi", "13a"),
    "it_IT": ("Italian", "13a"),
    "ja_JP": ("Japanese", ""),
    "ko_KR": ("Korean", ""),
    "pt_BR": ("Brazilian Portuguese", "13a"),
    "ru_RU": ("Russian", "13a"),
    "zh_CN": ("simplified Chinese", "zh"),
}
"""Config → the language as it is asked for, and sacrebleu's tokeniser for BLEU; none: no BLEU."""


def _into(code: str, language: str, tokenizer: str) -> TaskSpec:
    bleu = (MetricUse(name="bleu", label="BLEU", args={"tokenizer": tokenizer}),) if tokenizer else ()
    return TaskSpec(
        name=f"wmt24pp_en_{code[:2]}",
        about=f"WMT 2024's English texts, to be translated into {language}.",
        home="https://huggingface.co/datasets/google/wmt24pp",
        licence="Apache-2.0",
        data=DataFile(
            name=f"wmt24pp/en-{code}.jsonl", source=DataSource(hf="google/wmt24pp", config=f"en-{code}", split="train")
        ),
        views=(Step(name="only", args={"field": "is_bad_source", "values": [False]}),),
        fields=("source", "target", "is_bad_source", "domain"),
        cluster="{{ document_id | default('') }}",
        prompt=Prompt(
            question=f"Translate this into {language}. Reply with the translation alone.\n\n{{{{ source }}}}"
        ),
        reference="{{ target }}",
        key=("document_id", "segment_id"),
        category="domain",
        max_tokens=2048,
        pipelines=(
            Pipeline(
                filters=(Step(name="strip_thoughts"), Step(name="stripped")),
                metrics=(MetricUse(name="chrf", label="chrF"), *bleu),
            ),
        ),
    )


TASKS = tuple(_into(code, *spoken) for code, spoken in _LANGUAGES.items())
GROUPS = (prompt_parts.plain_mean("wmt24pp", TASKS, "chrF"),)
