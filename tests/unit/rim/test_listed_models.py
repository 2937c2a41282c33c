"""What `/v1/models` says, and what is not believed of it."""

import json
from typing import Any

import pytest

from model_accuracy_eval.rim.service.wire import read_context, read_models


def listed(*entries: Any) -> bytes:
    return json.dumps({"object": "list", "data": list(entries)}).encode()


@pytest.mark.parametrize("told", [None, 0, -1, True, "4096", 4096.5, [4096], {"tokens": 4096}])
def test_a_context_that_is_no_number_of_tokens_is_not_told(told: Any) -> None:
    """Some servers write what they please there."""
    assert read_context(listed({"id": "m", "max_model_len": told}), "m") is None


def test_the_context_is_that_of_the_model_that_is_asked() -> None:
    """One model alone needs no name; of several none is guessed."""
    one, other = {"id": "one", "max_model_len": 512}, {"id": "other", "max_model_len": 4096}
    assert [read_context(listed(one, other), name) for name in ("one", "other", "third", None)] == [
        512,
        4096,
        None,
        None,
    ]
    assert read_context(listed(one), None) == 512
    assert read_context(listed(one), "an alias") == 512


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"data": {}}', b'{"data": [1, null, {"id": 7}]}'])
def test_anything_else_lists_nothing(body: bytes) -> None:
    """A page of HTML, or a list of something else."""
    assert (read_models(body), read_context(body, "m")) == ((), None)
