"""One tree of errors: each class knows its exit code, its stage and its sentence."""

import signal

import pytest

from model_accuracy_eval import errors
from model_accuracy_eval.errors import EvalError, Stopped, UnknownName

CODES = {
    "UsageError": 2,
    "BadValue": 2,
    "BadData": 2,
    "MissingData": 2,
    "BadReuse": 2,
    "Refused": 3,
    "Unfetched": 3,
    "AdapterFailed": 4,
    "NoHonestScore": 5,
    "PublishFailed": 6,
    "Altered": 1,
    "Defect": 70,
}


@pytest.mark.parametrize(("name", "code"), CODES.items())
def test_every_kind_has_its_exit_code(name: str, code: int) -> None:
    """As the command line documents them; the sentence, the detail and the stage can be read."""
    error = getattr(errors, name)("It broke.", detail="line 1")
    assert isinstance(error, EvalError)
    assert (error.exit_code, error.sentence, error.detail, str(error)) == (code, "It broke.", "line 1", "It broke.")
    assert error.stage
    assert getattr(errors, name)("It broke.", stage="elsewhere").stage == "elsewhere"


def test_no_kind_is_forgotten() -> None:
    """The table above and the module hold the same classes."""
    found = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, EvalError)}
    assert found == {*CODES, "EvalError", "UnknownName", "UnknownDataset", "Unsupported", "Stopped"}


def test_the_exit_code_of_a_signal_is_that_of_shells() -> None:
    """128 and the signal's number."""
    assert Stopped(signal.SIGINT, "SIGINT").exit_code == 130
    assert Stopped(signal.SIGTERM, "SIGTERM").exit_code == 143
    assert "SIGTERM" in Stopped(signal.SIGTERM, "SIGTERM").sentence


@pytest.mark.parametrize(
    ("name", "known", "sentence"),
    [
        ("gsm8", ["gsm8k", "mmlu"], "There is no dataset called 'gsm8' in x; did you mean gsm8k?"),
        ("zzz", ["mmlu", "gsm8k"], "There is no dataset called 'zzz' in x; known: gsm8k, mmlu."),
        ("zzz", [], "There is no dataset called 'zzz' in x; known: none."),
    ],
)
def test_an_unknown_name_is_answered_with_what_there_is(name: str, known: list[str], sentence: str) -> None:
    """The nearest names, or all of them where none is near."""
    error = UnknownName("dataset", name, known, where=" in x")
    assert (error.sentence, error.exit_code) == (sentence, 2)
