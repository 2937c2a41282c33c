"""What the environment may name as a proxy, and what is none."""

import pytest

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.system import process_environment


@pytest.mark.parametrize(
    "value",
    ["", "proxy:3128", "http://proxy", "https://user:word@proxy:3128", "socks5://proxy:1080", "socks5h://[::1]:1"],
)
def test_proxies_that_clients_use(value: str) -> None:
    """With a scheme or without, of either kind."""
    process_environment.check({"HTTPS_PROXY": value, "all_proxy": value})


@pytest.mark.parametrize("value", ["socks9://proxy:1", "http://proxy:port", "ftp://user:pass-marker@proxy"])
def test_what_is_no_proxy_is_refused_in_one_sentence(value: str) -> None:
    """It names the variable, and never the password."""
    with pytest.raises(
        BadValue, match="^https_proxy is '.*proxy.*', which is not a proxy: write http://HOST"
    ) as raised:
        process_environment.check({"https_proxy": value})
    assert "pass-marker" not in raised.value.sentence


def test_other_variables_are_nobodys_business() -> None:
    """NO_PROXY has no address, and FTP_PROXY is of no use here."""
    process_environment.check({"NO_PROXY": "a b", "FTP_PROXY": "gopher://x"})
