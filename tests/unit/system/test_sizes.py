"""Sizes as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.system.sizes import parse_size, show_apart, show_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("100GB", 100 * 10**9), ("100 gb", 100 * 10**9), ("93.5GiB", 187 * 2**29), ("1TB", 10**12), ("2TiB", 2**41),
        ("500MB", 500 * 10**6), ("1.5kB", 1500), ("0.1GB", 10**8), ("17", 17), ("17 B", 17), (" 3MiB ", 3 * 2**20),
    ],
)  # fmt: skip
def test_sizes_are_exact(text: str, size: int) -> None:
    """Units of 1000 and of 1024 are told apart, and no fraction is lost to floating point."""
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GB", "100 GBs", "-1GB", "1e3GB", "nan", "1,000MB", "0", "0.2", "9" * 19])
def test_nonsense_is_refused(text: str) -> None:
    """What is no size is refused with the name of the setting and the text."""
    with pytest.raises(BadValue, match=r"^max-weight-size '") as refusal:
        parse_size(text)
    assert text in refusal.value.sentence


@given(st.integers(1, 10**15))
def test_what_is_shown_is_near(size: int) -> None:
    """A shown size can be read again and is off by a twentieth of its unit at most."""
    shown = show_size(size)
    if "byte" in shown:
        assert shown.split()[0] == str(size)
    else:
        unit = parse_size(f"1{shown.split()[1]}")
        assert abs(parse_size(shown) - size) * 20 <= unit


@given(st.integers(1, 10**13), st.integers(1, 10**13))
def test_different_sizes_look_different(first: int, second: int) -> None:
    """A sentence never says that 100 GB are over 100 GB."""
    shown = show_apart(first, second)
    assert (shown[0] == shown[1]) == (first == second)


def test_examples() -> None:
    """Sizes as the sentences have them."""
    assert show_size(112_400_000_000) == "112.4 GB"
    assert show_size(10**11) == "100 GB"
    assert (show_size(1), show_size(0), show_size(999)) == ("1 byte", "0 bytes", "999 bytes")
    assert show_apart(10**11 + 1, 10**11) == ("100.000000001 GB", "100 GB")
