"""The proxies that the environment names: either clients can use them, or one sentence says which of them is none."""

import re
from collections.abc import Mapping

from model_accuracy_eval.errors import BadValue

_VARIABLES = ("https_proxy", "http_proxy", "all_proxy")


def check(environment: Mapping[str, str]) -> None:
    """Before anybody is asked: a client's library says it in the middle of a run, and in its own way."""
    for name, value in environment.items():
        if value and name.lower() in _VARIABLES:
            _check(name, value)


def _check(name: str, value: str) -> None:
    import httpx  # noqa: PLC0415 - most machines have no proxy, and some commands no other need of it

    try:
        httpx.Proxy(value if "://" in value else f"http://{value}")
    except (ValueError, httpx.InvalidURL) as error:
        raise BadValue(
            f"{name} is '{masked(value)}', which is no proxy: write http://HOST:PORT, https://HOST:PORT or "
            "socks5://HOST:PORT."
        ) from error


def masked(told: str) -> str:
    """Addresses without the password that may stand in them."""
    return re.sub(r"//[^/@\s]*@", "//", told)
