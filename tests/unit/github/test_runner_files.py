"""Inputs, outputs, state, the job summary and ownership, as the runner hands them out and takes them back."""

import io
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.simulator.commands import pairs, read_log

from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.github.runner import Runner, append

LIMIT = 1_048_576
VALUES = st.text(st.sampled_from("a=<\n\r:é😀 \0") | st.characters(codec="utf-8"), max_size=40)


def runner(**environ: str) -> Runner:
    return Runner(environ, io.StringIO())


def test_inputs_keep_their_hyphens_and_a_missing_one_is_empty() -> None:
    """The runner upper-cases the name, turns blanks into underscores, and sets inputs that nobody gave to nothing."""
    found = Runner({"INPUT_MAX-WEIGHT-SIZE": " 90GB\n", "INPUT_MODEL": "", "INPUT_A_B": "c"}, io.StringIO())
    assert found.input("max-weight-size") == "90GB"
    assert found.input("model") == ""
    assert found.input("gate") == ""
    assert found.input("a b") == "c"


def test_every_output_has_a_delimiter_of_its_own(tmp_path: Path) -> None:
    """Whoever has seen one delimiter cannot end the next value with it."""
    path = tmp_path / "output"
    for _ in range(5):
        runner(GITHUB_OUTPUT=str(path)).output("a", "b")
    delimiters = {line.partition("<<")[2] for line in path.read_text().splitlines() if "<<" in line}
    assert len(delimiters) == 5
    assert all(len(delimiter) > 30 for delimiter in delimiters)


@given(st.dictionaries(st.from_regex(r"[a-z][a-z-]{0,8}", fullmatch=True), VALUES, max_size=4))
def test_outputs_arrive_as_they_were_written(tmp_path_factory: pytest.TempPathFactory, values: dict[str, str]) -> None:
    """Whatever a value holds, it is one value, and no second output; the runner takes no NUL."""
    path = tmp_path_factory.mktemp("runner") / "output"
    for name, value in values.items():
        runner(GITHUB_OUTPUT=str(path)).output(name, value)
    data = path.read_bytes() if path.exists() else b""
    assert data == b"" or data.endswith(b"\n")
    assert pairs(data) == {name: value.replace("\0", "\N{REPLACEMENT CHARACTER}") for name, value in values.items()}


def test_state_is_found_again_in_the_post_step(tmp_path: Path) -> None:
    """There it is a variable of the environment."""
    path = tmp_path / "state"
    runner(GITHUB_STATE=str(path)).save("sibling", "abc")
    assert path.read_bytes().endswith(b"\n")
    assert pairs(path.read_bytes()) == {"sibling": "abc"}
    assert runner(STATE_sibling="abc").state("sibling") == "abc"
    assert runner().state("sibling") == ""


def test_without_a_runner_nothing_is_written_and_nothing_fails() -> None:
    """The same program runs in a terminal."""
    alone = runner()
    alone.output("a", "b")
    alone.save("a", "b")
    alone.summary("text")
    assert alone.event() == {}


def test_the_event_is_read_and_a_broken_one_is_empty(tmp_path: Path) -> None:
    """Whoever needs it says what is missing."""
    path = tmp_path / "event.json"
    for text, payload in (('{"number": 7}', {"number": 7}), ("[]", {}), ("{", {}), ("\xff", {})):
        path.write_text(text)
        assert runner(GITHUB_EVENT_PATH=str(path)).event() == payload
    path.write_text(json.dumps({"a": 1}))
    assert runner(GITHUB_EVENT_PATH=str(path)).event() == {"a": 1}


def test_a_file_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    """With its path in it."""
    with pytest.raises(PublishFailed, match="could not be written to .*output"):
        runner(GITHUB_OUTPUT=str(tmp_path / "no" / "output")).output("a", "b")


def test_a_full_disk_leaves_no_half_of_an_entry() -> None:
    """Half of one would fail the whole step."""
    with pytest.raises(PublishFailed, match="No space left"):
        append("/dev/full", b"a=b\n")


@given(before=st.integers(0, LIMIT), line=st.text("aé😀|", min_size=1, max_size=2000))
def test_a_summary_never_exceeds_what_the_runner_takes(
    tmp_path_factory: pytest.TempPathFactory, before: int, line: str
) -> None:
    """One byte more and the runner drops all of it: whole lines are kept, and the cut is told."""
    path = tmp_path_factory.mktemp("runner") / "summary"
    path.write_bytes(b"\n" * before)
    stream = io.StringIO()
    Runner({"GITHUB_STEP_SUMMARY": str(path)}, stream).summary(f"{line}\n" * (LIMIT // len(line.encode()) + 1))
    data = path.read_bytes()
    assert len(data) <= LIMIT
    assert set(data[before:].decode().split("\n")) <= {line, ""}
    assert len(read_log(stream.getvalue()).named("notice")) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_root_wrote_goes_to_the_owner_of_the_workspace(tmp_path: Path) -> None:
    """Folders and links themselves, never what a link points to, and nothing that belongs to somebody else."""
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"
    (workspace / "outputs" / "run").mkdir(parents=True)
    (workspace / "outputs" / "run" / "file").write_text("x")
    (workspace / "outputs" / "other").write_text("x")
    outside.mkdir()
    (outside / "secret").write_text("x")
    (workspace / "outputs" / "link").symlink_to(outside)
    os.chown(workspace, 1234, 2345)
    os.chown(workspace / "outputs" / "other", 99, 99)
    runner(GITHUB_WORKSPACE=str(workspace)).give_back(str(workspace / "outputs"))
    owners = {
        name: ((workspace / name).lstat().st_uid, (workspace / name).lstat().st_gid)
        for name in ("outputs", "outputs/run", "outputs/run/file", "outputs/link", "outputs/other")
    }
    assert owners.pop("outputs/other") == (99, 99)
    assert set(owners.values()) == {(1234, 2345)}
    assert outside.stat().st_uid == (outside / "secret").stat().st_uid == 0


def test_giving_back_without_a_workspace_does_nothing(tmp_path: Path) -> None:
    """As in a terminal."""
    before = tmp_path.stat().st_uid
    runner().give_back(str(tmp_path))
    runner(GITHUB_WORKSPACE=str(tmp_path)).give_back(str(tmp_path))
    assert tmp_path.stat().st_uid == before


def test_others_may_not_list_the_command_files(tmp_path: Path) -> None:
    """Nor does anything else change: later steps still write to the files whose names they are told."""
    tmp_path.chmod(0o755)
    runner(GITHUB_OUTPUT=str(tmp_path / "output"), GITHUB_STATE=str(tmp_path / "state")).hide_files()
    assert tmp_path.stat().st_mode & 0o777 == 0o711
