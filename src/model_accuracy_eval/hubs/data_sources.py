"""Where a data file comes from: `github:owner/name@commit/path`, `hf:…` or `ms:…`, and its address there."""

import re
from collections.abc import Mapping
from urllib.parse import quote, unquote, urlsplit

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.hubs.hub_listings import HuggingFace, ModelScope
from model_accuracy_eval.hubs.hub_requests import WeightsHub
from model_accuracy_eval.hubs.weights_listing import ModelReference
from model_accuracy_eval.records import Record
from model_accuracy_eval.system.process_environment import Secret

_SOURCE = re.compile(r"^(?P<scheme>\w+):(?P<repository>[\w.-]+/[\w.-]+)@(?P<revision>[\w.-]+)/(?P<path>.+)$")

PLACES = {
    "github": ("GITHUB_RAW_ENDPOINT", "https://raw.githubusercontent.com", "{repository}/{revision}/{path}"),
    "hf": ("HF_ENDPOINT", "https://huggingface.co", "datasets/{repository}/resolve/{revision}/{path}"),
    "ms": (
        "MODELSCOPE_ENDPOINT",
        "https://www.modelscope.cn",
        "api/v1/datasets/{repository}/repo?Revision={revision}&FilePath={path}",
    ),
}
"""Scheme → the variable that names a mirror, the usual host, and the path of a file on it."""


class Address(Record, frozen=True, kw_only=True):
    """One file at a host."""

    reference: ModelReference
    endpoint: str
    url: str


class RawHost:
    """Implements `Hub` for hosts that are asked for public files alone."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint

    def credentials(self, token: Secret) -> dict[str, str]:
        raise AssertionError(f"{token.name} is not for {self.endpoint}")


def address(text: str, environment: Mapping[str, str]) -> Address:
    """What the text names; environment variables name mirrors."""
    if text.startswith(("http://", "https://")):
        host = "/".join(text.split("/")[:3])
        return Address(reference=ModelReference(source="url", name=text, kind="dataset"), endpoint=host, url=text)
    parts = _SOURCE.match(text)
    if parts is None or parts["scheme"] not in PLACES:
        raise BadData(
            f"'{text}' is not a source of a file: write scheme:owner/name@revision/path with {', '.join(PLACES)}."
        )
    endpoint, path = _endpoint(parts["scheme"], environment), PLACES[parts["scheme"]][2]
    return Address(
        reference=ModelReference(
            source=parts["scheme"],  # type: ignore[arg-type]  # it is a key of PLACES
            name=parts["repository"],
            revision=parts["revision"],
            kind="dataset",
        ),
        endpoint=endpoint,
        url=f"{endpoint}/{path.format(**{**parts.groupdict(), 'path': quote(parts['path'])})}",
    )


def file_name(text: str) -> str:
    """The name of the file at an address."""
    return unquote(urlsplit(text).path).rpartition("/")[2]


def dataset_hub(scheme: str, environment: Mapping[str, str]) -> tuple[WeightsHub, Secret] | None:
    """The hub of datasets, and the token of the variable that its own tools read; None for other hosts."""
    if scheme == "hf":
        return HuggingFace(environment), Secret(environment.get("HF_TOKEN", ""), "HF_TOKEN")
    if scheme == "ms":
        return ModelScope(environment), Secret(environment.get("MODELSCOPE_API_TOKEN", ""), "MODELSCOPE_API_TOKEN")
    return None


def _endpoint(scheme: str, environment: Mapping[str, str]) -> str:
    variable, host, _ = PLACES[scheme]
    return (environment.get(variable) or host).rstrip("/")
