"""`diagnose --variants`: adapters whose faults parts of them cause, which deploy.sh can leave out."""

from pathlib import Path

import pytest
from tests.e2e import command
from tests.e2e.broken import script, serving
from tests.waiting import free_port


def adapter(folder: Path, fault: str, variants: str) -> Path:
    folder.mkdir()
    (folder / "deploy.sh").write_text(script(f'"${{FAULT:-{fault}}}"'))
    (folder / "variants.yaml").write_text(variants)
    return folder


def compared(folder: Path, *more: object) -> command.Done:
    return command.run(
        *("diagnose", folder, "--variants", "--model", command.WEIGHTS, "--port", free_port(), *more),
        *("--ready-timeout", 240),
    )


@pytest.mark.slow
def test_the_variant_that_mends_is_the_cause_and_others_are_not(tmp_path: Path) -> None:
    """A fault of full batches is gone with smaller ones, and stays where something else is left out; what does not
    start is told with its own words."""
    variants = (
        "no-prefix-cache: {OTHER: 1}\nseqs-32: {SERVER_ARGS: --max-num-seqs 32}\ntp1: {SERVER_ARGS: --no-such-option}\n"
    )
    done = compared(adapter(tmp_path / "adapter", "wrong from 33 in flight", variants))
    assert done.code == 1, done.out + done.err
    default, without_cache, small, not_started, _, cause, step = done.out.splitlines()
    assert default.startswith("FAIL  default")
    assert "among 64" in default
    assert without_cache.startswith("FAIL  no-prefix-cache")
    assert "are wrong as before" in without_cache
    assert small.startswith("PASS  seqs-32")
    assert not_started.startswith("SKIP  tp1")
    assert "unrecognized arguments: --no-such-option" in not_started
    assert cause.startswith("What seqs-32 changes causes ")
    assert step == "Next: serve with SERVER_ARGS='--max-num-seqs 32' until it is mended."


@pytest.mark.slow
def test_what_is_wrong_in_all_it_says_takes_a_reference(tmp_path: Path) -> None:
    """Two that agree with themselves and not with each other: one of them is wrong, and a trusted one tells which."""
    folder = adapter(tmp_path / "adapter", "one layer left out", "eager: {FAULT: healthy}\n")
    done = compared(folder)
    assert done.code == 1, done.out + done.err
    assert "What eager changes decides answers, and which are right is not known." in done.out
    with serving("healthy") as url:
        command.run("diagnose", "--endpoint", url, "--ready-timeout", 240, "--record", tmp_path / "ref.trace")
    done = compared(folder, "--reference", tmp_path / "ref.trace")
    assert done.code == 1, done.out + done.err
    assert "PASS  eager" in done.out
    assert "What eager changes causes " in done.out


@pytest.mark.parametrize(
    ("variants", "words"),
    [
        ("", "There is no variants.yaml in"),
        ("eager: --enforce-eager\n", "has to name variables and their texts for each variant"),
        ("eager: {HF_TOKEN: abc}\n", "deploy.sh never gets HF_TOKEN ('eager'), as it is named like a secret"),
    ],
)
def test_what_cannot_be_a_variant_is_told(variants: str, words: str, tmp_path: Path) -> None:
    folder = adapter(tmp_path / "adapter", "healthy", variants)
    if not variants:
        (folder / "variants.yaml").unlink()
    done = compared(folder)
    assert done.code == 2
    assert words in done.err


@pytest.mark.parametrize("words", [("--variants",), ("--bisect", "a..b")])
def test_a_service_that_runs_has_neither_variants_nor_commits(words: tuple[str, ...]) -> None:
    done = command.run("diagnose", "--endpoint", "http://127.0.0.1:9", *words)
    assert done.code == 2
    assert "name its folder in place of --endpoint" in done.err
