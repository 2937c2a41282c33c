"""What engines count of themselves, in Prometheus' text format."""

from pathlib import Path

import pytest

from model_accuracy_eval.client.service_metrics import Metered, read

STREAMS = Path(__file__).parents[4] / "shared" / "streams"


def test_labels_are_added_up_and_what_is_no_number_is_left_out() -> None:
    text = '# HELP a b\n# TYPE a counter\na{engine="0",x="} 7"} 1\na{engine="1"} 2.5e1\nb NaN\nc\nd{e="f"} +Inf\n'
    assert read(text) == {"a": 26.0}


def test_a_real_engine_is_read() -> None:
    file = STREAMS / "vllm/metrics.txt"
    if not file.is_file():
        pytest.skip("the captures of real engines are not on this machine (../shared/streams)")
    found = read(file.read_text())
    assert found["vllm:num_requests_running"] == 0.0
    assert found["python_gc_collections_total"] == 1559 + 142 + 10


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("", "", ""),
        ("x 1", "x 2", ""),
        (
            "vllm:prefix_cache_queries_total 1000\nvllm:prefix_cache_hits_total 10\nvllm:num_preemptions_total 2",
            "vllm:prefix_cache_queries_total 3234\nvllm:prefix_cache_hits_total 822\nvllm:num_preemptions_total 5",
            "812 of 2,234 prompt tokens from its cache, 3 preemptions",
        ),
        (
            "sglang:prompt_tokens_total 0\nsglang:cached_tokens_total 0",
            "sglang:prompt_tokens_total 50\nsglang:cached_tokens_total 0",
            "0 of 50 prompt tokens from its cache",
        ),
        (
            "",
            "vllm:spec_decode_num_draft_tokens_total 100\nvllm:spec_decode_num_accepted_tokens_total 41",
            "41 of 100 drafted tokens accepted",
        ),
    ],
)
def test_what_was_counted_since_then_is_told(before: str, after: str, words: str) -> None:
    assert Metered(read(before), read(before)).since_then(read(after)).shown == words


def test_the_most_that_ran_at_once_is_told_of_all_times() -> None:
    metered = Metered({}, {})
    for running in (3, 33, 0):
        metered = metered.since_then({"llamacpp:requests_processing": float(running)})
    assert metered.shown == "up to 33 requests at once"
