"""The table of libraries: imported at their first use, and missed in one sentence."""

import subprocess
import sys
from pathlib import Path

import pytest

from model_accuracy_eval import optional
from model_accuracy_eval.errors import UsageError

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


def test_a_library_is_imported_at_its_first_use() -> None:
    """Importing the name costs nothing; modules inside that nothing has imported yet are found too."""
    code = (
        "import sys; from model_accuracy_eval.optional import numpy, yaml, rich\n"
        "print('numpy' in sys.modules, numpy.array([3]).max(), yaml.safe_load('[1]'), rich.live.Live.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False 3 [1] Live\n"


def test_a_name_that_a_library_lacks_is_an_attribute_error() -> None:
    """As it would be without the table."""
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = optional.yaml.no_such_name  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", sorted(optional.LIBRARIES))
def test_a_missing_library_is_one_sentence_with_the_command(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At its first use as when somebody asks beforehand; `installed` says that it is missing."""
    monkeypatch.setitem(sys.modules, name, None)
    library = optional.LIBRARIES[name]
    sentence = f"{library.purpose} needs {library.package or name}, which is not installed: {library.command}."
    with pytest.raises(UsageError) as error:
        _ = getattr(optional, name).anything
    assert error.value.sentence == sentence
    with pytest.raises(UsageError, match="^The metric 'x' needs "):
        optional.require(name, needed_by="The metric 'x'")
    assert not optional.installed(name)


def test_commands_name_what_can_be_installed() -> None:
    """An extra of the project, or a package."""
    text = PYPROJECT.read_text(encoding="utf-8")
    for name, library in optional.LIBRARIES.items():
        assert f"\n{library.extra} = [" in text if library.extra else library.package, name
    assert optional.LIBRARIES["sacrebleu"].command == "pip install 'model-accuracy-eval[text]'"
    assert optional.LIBRARIES["yaml"].command == "pip install pyyaml"
