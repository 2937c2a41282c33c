"""A token that cannot be printed by mistake."""

import copy
import pickle

import msgspec
import pytest

from model_accuracy_eval.system.process_environment import Secret

MARKER = "MARKER-token-not-real"


def test_it_is_never_shown() -> None:
    """No way of printing shows the text; `reveal` gives it, without the line feed that was pasted with it."""
    secret = Secret(f"{MARKER}\n", "model-token")
    shown = [repr(secret), str(secret), f"{secret}", f"{secret!r:>60}", "%s" % secret, repr({"token": secret})]  # noqa: UP031
    assert not any(MARKER in text for text in shown)
    assert str(secret) == "<secret model-token>"
    assert secret.reveal() == MARKER


def test_it_does_not_travel() -> None:
    """Neither pickle, nor a copy, nor JSON takes it along."""
    for way in (pickle.dumps, copy.deepcopy, msgspec.json.encode):
        with pytest.raises(TypeError) as refusal:
            way(Secret(MARKER))
        assert MARKER not in str(refusal.value)


def test_equality_tells_nothing() -> None:
    """Two secrets of the same text are different, and an empty one is false."""
    assert Secret(MARKER) != Secret(MARKER)
    assert Secret(MARKER)
    assert not Secret(" ")
