"""The log as the runner reads it: our commands arrive as they were meant, and nobody else's do."""

import base64
import io
import itertools
import threading
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.simulator.commands import REGISTERED, read_log

from model_accuracy_eval.github.runner import Runner, cut

ATOMS = ["::", ":", "##[", "#", "[", "]", "\n", "\r", " ", "\t", "\u2028", "\x85", "\ufeff", "%0A", "x", "=", ","]
FOREIGN = st.lists(st.sampled_from([*ATOMS, *sorted(REGISTERED)]) | st.text(max_size=4), max_size=14).map("".join)
"""Text made of what commands are made of."""


def stage() -> tuple[Runner, io.StringIO]:
    stream = io.StringIO(newline="")
    return Runner({}, stream), stream


@given(FOREIGN)
@example("::error::x")
@example("a\r::error::x")
@example("\u3000 ::set-output name=a::b")
@example("fine ##[add-path]/evil")
@example("###[error]x")
def test_no_foreign_text_starts_a_command(text: str) -> None:
    """However often it is printed; and commands of ours are still read afterwards."""
    runner, stream = stage()
    runner.say(text)
    runner.say(text)
    assert read_log(stream.getvalue()).commands == []
    runner.notice("still heard")
    assert [command.name for command in read_log(stream.getvalue()).commands] == ["notice"]


@given(FOREIGN, FOREIGN.filter(lambda text: text.strip() != ""))
@example("a%0A\r\n::b", "one, file=two: 100%3A")
def test_messages_arrive_as_they_were_written(message: str, title: str) -> None:
    """Data and properties are escaped by the runner's rules, so line ends, colons and commas survive."""
    runner, stream = stage()
    runner.error(message, title=title)
    (command,) = read_log(stream.getvalue()).commands
    assert (command.name, command.data) == ("error", message)
    assert command.properties["title"].strip() == title.strip()


def test_ten_annotations_of_a_level_are_commands_and_the_rest_are_lines() -> None:
    """The runner would drop the eleventh; as a line it is still to be read, and still no command."""
    runner, stream = stage()
    for number in range(13):
        runner.warning(f"::error::{number}")
    runner.error("another level has its own ten")
    log = read_log(stream.getvalue())
    assert (len(log.named("warning")), len(log.named("error"))) == (10, 1)
    assert log.lines == [f"Warning: ::error::{number}" for number in (10, 11, 12)]


@given(st.text(st.sampled_from("aé漢😀"), min_size=1, max_size=7), st.integers(500, 5000))
def test_long_messages_are_cut_by_the_runners_count(piece: str, times: int) -> None:
    """4,096 UTF-16 units; a character of two is not torn."""
    runner, stream = stage()
    message = piece * times
    runner.notice(message)
    (command,) = read_log(stream.getvalue()).commands
    assert len(command.data.encode("utf-16-le")) <= 2 * 4096
    assert command.data == message or message.startswith(command.data.removesuffix("…"))
    assert cut("abc", 3) == "abc"


def test_a_secret_is_masked_in_every_form_that_it_takes() -> None:
    """Line by line, URL-encoded, and as base64 in both alphabets, alone and as git sends it."""
    runner, stream = stage()
    secret = "TEST-TOKEN/+%?é>>>\n}\nsecond line"
    runner.mask(secret)
    masks = [command.data for command in read_log(stream.getvalue()).named("add-mask")]
    raw = secret.encode()
    for form in (
        "TEST-TOKEN/+%?é>>>",
        "second line",
        quote(secret, safe=""),
        base64.b64encode(raw).decode(),
        base64.urlsafe_b64encode(raw).decode(),
        base64.b64encode(b"x-access-token:" + raw).decode(),
    ):
        assert any(mask in form and len(form) - len(mask) <= 2 for mask in masks), form
    assert "}" not in masks


def test_a_group_is_closed_whatever_happens() -> None:
    """And its title is one line."""
    runner, stream = stage()
    with pytest.raises(ZeroDivisionError), runner.group("De\nploy"):
        runner.say("inside")
        _ = 1 / 0
    log = read_log(stream.getvalue())
    assert [(command.name, command.data) for command in log.commands] == [("group", "De\nploy"), ("endgroup", "")]


def test_threads_do_not_tear_each_others_lines() -> None:
    """One prints text that looks like commands, others report: every notice is read, and nothing else is."""
    runner, stream = stage()

    def report() -> None:
        for _ in range(3):
            runner.notice("ours")

    threads = [threading.Thread(target=report) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in itertools.count():
        runner.say(f"::error::{number}\n")
        if number > 50 and not any(thread.is_alive() for thread in threads):
            break
    for thread in threads:
        thread.join()
    log = read_log(stream.getvalue())
    assert (len(log.named("notice")), len(log.named("error"))) == (9, 0)


def test_nothing_is_masked_for_an_empty_secret() -> None:
    """A mask of nothing would be a warning of the runner, and one of a blank hides everything."""
    runner, stream = stage()
    for empty in ("", " ", "\n \n"):
        runner.mask(empty)
    assert stream.getvalue() == ""
    runner.mask("x")
    assert [command.data for command in read_log(stream.getvalue()).commands] == ["x"]
