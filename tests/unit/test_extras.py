"""The table of libraries that may be missing, each in one sentence."""

import sys
from pathlib import Path

import pytest

from model_accuracy_eval import extras
from model_accuracy_eval.errors import UsageError

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


@pytest.mark.parametrize("name", sorted(extras.LIBRARIES))
def test_a_missing_library_is_one_sentence_with_the_command(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module inside it is missed as the library is; `installed` says that it is missing."""
    monkeypatch.setitem(sys.modules, name, None)
    extra = extras.LIBRARIES[name]
    with pytest.raises(UsageError) as error:
        extras.load(f"{name}.anything")
    assert (
        error.value.sentence
        == f"{extra.purpose} needs {extra.package or name}, which is not installed: {extra.command}."
    )
    assert error.value.next_step == extra.command
    with pytest.raises(UsageError, match="^The metric 'x' needs "):
        extras.load(name, needed_by="The metric 'x'")
    assert not extras.installed(name)


def test_commands_name_what_can_be_installed() -> None:
    """An extra of the project, or a package."""
    text = PYPROJECT.read_text(encoding="utf-8")
    for name, extra in extras.LIBRARIES.items():
        assert f"\n{extra.name} = [" in text if extra.name else extra.package, name
    assert extras.LIBRARIES["sacrebleu"].command == "pip install 'model-accuracy-eval[text]'"
    assert extras.LIBRARIES["evaluate"].command == "pip install evaluate"
