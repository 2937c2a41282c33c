"""Rows with sounds and videos: what is asked of them, and which are refused."""

from typing import Any

import pytest
from tests import dataset_fixtures

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.benchmarks.mmau import heard_questions
from model_accuracy_eval.errors import BadData


def test_sounds_and_videos_are_parts_of_the_question() -> None:
    """A sound by its bytes, a video by its address."""
    heard, seen = (dataset_fixtures.prepared(find(name)).problems for name in ("mmau", "mmvu"))
    assert {(media.kind, media.url) for one in heard for media in one.messages[-1].media} == {("audio", "")}
    assert [media.url for one in seen for media in one.messages[-1].media] == [
        f"https://hub.invalid/videos/Art/{number}.mp4" for number in (0, 1, 3, 4, 5)
    ]
    assert {media.kind for one in seen for media in one.messages[-1].media} == {"video"}


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({"choices": "[", "answer": "a"}, "row 1: 'choices' is no JSON"),
        ({"choices": '["a", "b"]', "answer": "c"}, "row 1: the right answer 'c' is 0 of the 2 options"),
        ({"choices": ["a", "A "], "answer": "a"}, "row 1: the right answer 'a' is 2 of the 2 options"),
    ],
)
def test_options_without_the_right_answer(row: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadData, match=sentence):
        heard_questions([row])
