"""What an image's label says is loaded before the first program: real images, made of the base one."""

import io
import os
import secrets
from collections.abc import Callable, Iterator

import pytest
from tests.integration.sandbox.conftest import LABELS, obstacle, runner

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.ports import Sandbox
from model_accuracy_eval.records.code import Execution, Limits, Program
from model_accuracy_eval.sandbox.backends import IMAGE, open_sandbox
from model_accuracy_eval.sandbox.docker_backend import PRELOAD
from model_accuracy_eval.system.clock import run
from model_accuracy_eval.system.docker_engine import connect

pytestmark = pytest.mark.slow

_HEAVY_MB = 600
_MODULES = {
    "heavy": f"import mmap, os; os.write(1, b'I am'); print('here.'); held = mmap.mmap(-1, {_HEAVY_MB} << 20)",
    "busy": "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()",
}

Labelled = Callable[[str], str]


@pytest.fixture(scope="module")
def labelled() -> Iterator[Labelled]:
    """`labelled(names)` is the tag of an image that has the modules above and wants these loaded."""
    if (why := obstacle("docker")) is not None:
        pytest.skip(why)
    client, made = connect(os.environ), []
    place = "$(python3 -c 'import sysconfig; print(sysconfig.get_path(\"purelib\"))')"
    writing = "".join(f' && echo "{text}" > {name}.py' for name, text in _MODULES.items())

    def build(names: str) -> str:
        made.append(f"model-accuracy-eval-test-libraries-{secrets.token_hex(4)}:1")
        text = f'FROM {IMAGE}\nRUN mkdir -p "{place}" && cd "{place}"{writing}\nLABEL {PRELOAD}="{names}"\n'
        client.images.build(fileobj=io.BytesIO(text.encode()), tag=made[-1], rm=True, forcerm=True)
        return made[-1]

    yield build
    for tag in made:
        client.images.remove(tag, force=True)
    client.close()


def opened(image: str) -> Sandbox:
    return open_sandbox("docker", os.environ, image=image, workers=1, labels=LABELS)


def run_on(image: str, *programs: Program) -> list[Execution]:
    box = opened(image)
    try:
        return runner(box)(programs)
    finally:
        run(box.close())


def test_a_program_finds_the_libraries_loaded_that_its_image_names(labelled: Labelled) -> None:
    """A name that the image lacks, and a word that a library prints when it is loaded, are in nobody's way."""
    asking = Program(code="import sys\ndef f(name): return name in sys.modules", tests="assert f('heavy')")
    found = run_on(labelled("heavy no_such_module"), asking, asking)
    assert [(one.verdict, one.output) for one in found] == [("passed", ""), ("passed", "")]
    assert [one.verdict for one in run_on(IMAGE, asking)] == ["failed"]


def test_a_program_does_not_pay_for_libraries_that_it_did_not_load(labelled: Labelled) -> None:
    """Its limit of memory is what it may take beside them, and still holds."""
    limits = Limits(memory_mb=256)
    light, greedy = (
        Program(
            code=f"def f(): return len(bytearray({size} << 20))", tests=f"assert f() == {size} << 20", limits=limits
        )
        for size in (128, 512)
    )
    assert [one.verdict for one in run_on(labelled("heavy"), light, greedy)] == ["passed", "out_of_memory"]


def test_a_library_that_starts_threads_is_refused_by_name(labelled: Labelled) -> None:
    """A process with threads cannot be forked: whatever they hold stays held for ever in its children."""
    with pytest.raises(Refused, match="busy starts threads when it is loaded"):
        opened(labelled("heavy busy"))
