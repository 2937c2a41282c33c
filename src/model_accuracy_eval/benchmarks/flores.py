"""flores_en_de and nine more, flores_zh_en: 1,012 sentences of Wikipedia's sister projects, to be translated.

Home: https://huggingface.co/datasets/facebook/flores, arXiv:2207.04672. Licence: CC-BY-SA-4.0; its authors ask not to
publish the sentences as plain text.
A row: {"id": 1, "URL": "…", "domain": "wikinews", "topic": "Health", "has_image": 0, "has_hyperlink": 0, "sentence":
"…"}; each language has a file of its own, in which the same sentences have the same ids. The devtest split.
Asked: for the translation alone, of one sentence at a time.
Judged: by chrF++, as its authors recommend beside spBLEU, and by BLEU where words have blanks between them or sacrebleu
splits them (Chinese by "zh"). Their spBLEU needs a model of subwords that is not here.
Needs the extra `text`.
"""

from model_accuracy_eval.benchmarks import prompt_parts
from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import DataFile, DataRow, DataSource, MetricUse, Pipeline, Prompt, Step, TaskSpec

_LANGUAGES = {
    "ar": ("arb_Arab", "Arabic", "13a"),
    "de": ("deu_Latn", "German", "13a"),
    "en": ("eng_Latn", "English", "13a"),
    "es": ("spa_Latn", "Spanish", "13a"),
    "fr": ("fra_Latn", "French", "13a"),
    "hi": ("hin_Deva", "Hindi", "13a"),
    "ja": ("jpn_Jpan", "Japanese", ""),
    "ko": ("kor_Hang", "Korean", ""),
    "pt": ("por_Latn", "Portuguese", "13a"),
    "ru": ("rus_Cyrl", "Russian", "13a"),
    "zh": ("zho_Hans", "simplified Chinese", "zh"),
}
"""Code → the configuration of its file, the language as it is asked for, and sacrebleu's tokeniser for BLEU."""


def _file(code: str, role: str, *more: DataFile) -> DataFile:
    config = _LANGUAGES[code][0]
    return DataFile(
        name=f"flores/devtest/{config}",
        source=DataSource(hf="facebook/flores", config=config, split="devtest"),
        more=more,
        adds={"role": role},
    )


def _pair(source: str, target: str) -> TaskSpec:
    _, language, tokenizer = _LANGUAGES[target]
    bleu = (MetricUse(name="bleu", label="BLEU", args={"tokenizer": tokenizer}),) if tokenizer else ()
    return TaskSpec(
        name=f"flores_{source}_{target}",
        about=f"Sentences of FLORES in {_LANGUAGES[source][1]}, to be translated into {language}.",
        home="https://huggingface.co/datasets/facebook/flores",
        licence="CC-BY-SA-4.0",
        data=_file(source, "source", _file(target, "target")),
        views=(Step(name="side_by_side", args={"key": "id", "role": "role", "column": "sentence"}),),
        fields=("id", "sentence", "domain"),
        prompt=Prompt(
            question=f"Translate this into {language}. Reply with the translation alone.\n\n{{{{ source }}}}"
        ),
        reference="{{ target }}",
        key=("id",),
        category="domain",
        max_tokens=1024,
        pipelines=(
            Pipeline(
                filters=(Step(name="strip_thoughts"), Step(name="stripped")),
                metrics=(MetricUse(name="chrf++", label="chrF++"), *bleu),
            ),
        ),
    )


TASKS = (*(_pair("en", code) for code in _LANGUAGES if code != "en"), _pair("zh", "en"))
GROUPS = (prompt_parts.plain_mean("flores", TASKS, "chrF++"),)


def side_by_side(rows: list[DataRow], *, key: str, role: str, column: str) -> list[DataRow]:
    """One row of all with the same key, with a column of each one's role that has its `column`.

    The other columns are the first one's. Rows without a partner are refused: a text would be asked for that nobody
    knows.
    """
    roles = list(dict.fromkeys(str(row[role]) for row in rows))
    together: dict[str, DataRow] = {}
    for row in rows:
        own = {str(row[role]): row[column]}
        together[str(row[key])] = {**row, **together.get(str(row[key]), {}), **own}
    for name, row in together.items():
        if lacking := [one for one in roles if one not in row]:
            raise BadData(f"The row whose {key} is {name} has no {lacking[0]}: the files are of different splits.")
    if len(together) * len(roles) != len(rows):
        raise BadData(f"{len(rows):,} rows have {len(together):,} different values of {key}: some occur twice.")
    return list(together.values())


VIEWS = {"side_by_side": side_by_side}
