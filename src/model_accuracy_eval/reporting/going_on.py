"""The command that goes on with a run, or judges it again.

A run's folder may be anybody's. What starts programs, loosens their sandbox or gets a key is never taken from it, but
typed again by whoever trusts it.
"""

import shlex
from collections.abc import Container, Iterator

from model_accuracy_eval.records import Settings

_WEAK_SANDBOXES = {"uid", "none"}


def command(settings: Settings, folder: str | None, *, asks: bool = True) -> str:
    """`asks`: whether it asks for what is missing; else it only judges."""
    mode = [] if asks else ["--mode", "eval"]
    words = [*to_be_typed(settings, asks=asks), *mode, "--reuse", str(folder)]
    return shlex.join(["model-accuracy-eval", "run", *words])


def to_be_typed(
    settings: Settings,
    given: Container[str] = (),
    *,
    asks: bool,
    model_key: bool = False,
    judge_key: bool = False,
) -> Iterator[str]:
    """The words, but for the settings that are `given`. `model_key` and `judge_key`: whether there is a key that would
    be sent to the model's service, and to the judge's."""
    deploys = asks and settings.adapter is not None
    matters = {
        "adapter": deploys,
        "adapter_image": deploys and settings.adapter_image is not None,
        "trust_python": settings.trust_python,
        "sandbox": settings.sandbox in _WEAK_SANDBOXES,
        "endpoint": asks and model_key and bool(settings.endpoint),
        "judge_endpoint": judge_key and settings.judge_endpoint is not None,
        "judge_panel": judge_key and any("@" in judge for judge in settings.judge_panel),
    }
    for name in (name for name, is_so in matters.items() if is_so and name not in given):
        value = getattr(settings, name)
        if name != "adapter":  # which is an argument
            yield f"--{name.replace('_', '-')}"
        if value is not True:
            yield value if isinstance(value, str) else ",".join(value)
