"""In which language a text is, as langdetect finds it."""

from functools import cache, lru_cache
from typing import Any

from model_accuracy_eval.scoring.libraries import library

EXTRA = "ifeval"


@cache
def _factory() -> Any:
    """One of our own with a seed: the library draws at random, and a reply's verdict must not change."""
    langdetect = library("langdetect.detector_factory", EXTRA)
    factory = langdetect.DetectorFactory()
    factory.load_profile(langdetect.PROFILES_DIRECTORY)
    factory.set_seed(0)
    return factory


# One reply is looked at by four metrics in eight forms.
@lru_cache(maxsize=64)
def language(text: str) -> str | None:
    """Its code, such as `en` or `zh-cn`; None where there is no letter to tell it by."""
    detector = _factory().create()
    detector.append(text)
    try:
        return str(detector.detect())
    except library("langdetect", EXTRA).LangDetectException:
        return None
