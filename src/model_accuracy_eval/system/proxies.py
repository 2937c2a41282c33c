"""Checks the proxies that the environment names."""

import re
from collections.abc import Mapping

import httpx

from model_accuracy_eval.errors import BadValue

_VARIABLES = ("https_proxy", "http_proxy", "all_proxy")


def check(environment: Mapping[str, str]) -> None:
    """Refuses an address that is not a proxy before a run starts; httpx would raise in the middle of it."""
    for name, value in environment.items():
        if value and name.lower() in _VARIABLES:
            _check(name, value)


def _check(name: str, value: str) -> None:
    try:
        httpx.Proxy(value if "://" in value else f"http://{value}")
    except (ValueError, httpx.InvalidURL) as error:
        raise BadValue(
            f"{name} is '{masked(value)}', which is not a proxy: write http://HOST:PORT, https://HOST:PORT or "
            "socks5://HOST:PORT."
        ) from error


def masked(text: str) -> str:
    """The text without user names and passwords in its URLs."""
    return re.sub(r"//[^/@\s]*@", "//", text)
