"""What the environment's variables do here: who is talked to, by which proxies, and tokens that must not be printed.

An earlier step of the job can set variables for this one (`$GITHUB_ENV`). Those that load code never do so in the
image, whose first program drops them (docker/entrypoint).
"""

import re
from collections.abc import Mapping
from typing import NoReturn

import httpx

from model_accuracy_eval.errors import BadValue

REDIRECTING = (
    "DOCKER_CONFIG", "DOCKER_HOST", "HF_ENDPOINT", "MODELSCOPE_ENDPOINT", "MODEL_ACCURACY_EVAL_CACHE",
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
)  # fmt: skip
"""They are obeyed, because private networks need them, and say who is talked to; the report names them."""


def obeyed(environment: Mapping[str, str]) -> list[str]:
    """Returns the variables that decide whom this step talks to."""
    return [name for name in REDIRECTING if environment.get(name) or environment.get(name.lower())]


# Checks the proxies that the environment names.


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


# Servers for whose certificate nobody vouches: to ask them again does not help, to name their authority does.


def is_untrusted(error: Exception) -> bool:
    """Says whether a connection failed because the server's certificate is by nobody who is trusted here."""
    return "CERTIFICATE_VERIFY_FAILED" in str(error)


def with_cure(error: Exception) -> str:
    """The error's text, and what to do where it is about such a certificate."""
    text = str(error) or type(error).__name__
    if not is_untrusted(error):
        return text
    return f"{text}; if the authority is a private one, name a file with all certificates to trust in SSL_CERT_FILE"


# A token that cannot be printed by mistake: repr, formatting and pickling do not show it.


class Secret:
    """`name` is the input that it came from. Only `reveal` gives the text, which is easy to search for. Two secrets are
    equal only if they are the same object, so that a comparison gives nothing away."""

    __slots__ = ("_text", "name")

    def __init__(self, text: str, name: str = "token") -> None:
        self._text = text.strip()  # a line feed after a pasted token would break the header
        self.name = name

    def reveal(self) -> str:
        return self._text

    def __bool__(self) -> bool:
        """Whether there is any text: an input that was not given is empty."""
        return bool(self._text)

    def __repr__(self) -> str:
        return f"<secret {self.name}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"the secret {self.name} must not leave this process")
