"""What the shell is told when somebody presses the tabulator."""

import pytest
from click.shell_completion import split_arg_string
from tests.e2e import command


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("run --datasets demo_gs", "plain,demo_gsm8k"),
        ("run --datasets gsm8k,demo_gs", "plain,gsm8k,demo_gsm8k"),
        ("run --datasets my", "file,my"),
        ("run --reuse outp", "file,outp"),
        ("tasks show demo_gs", "plain,demo_gsm8k"),
        ("tas", "plain,tasks"),
        ("history --dataset demo_gs", "plain,demo_gsm8k"),
    ],
)
def test_names_and_files_are_completed(typed: str, offered: str) -> None:
    """In bash, as the line in the documentation makes it ask."""
    words = ["model-accuracy-eval", *split_arg_string(typed)]
    asked = {"COMP_WORDS": f"model-accuracy-eval {typed}", "COMP_CWORD": str(len(words) - 1)}
    done = command.run(_MODEL_ACCURACY_EVAL_COMPLETE="bash_complete", **asked)
    assert offered in done.out.splitlines(), done.out + done.err
