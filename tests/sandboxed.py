"""Programs in a sandbox of their own, and what the tests of it have to know of this machine."""

import asyncio
import os
from collections.abc import Iterable

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.records.code import Execution, Program
from model_accuracy_eval.sandbox.backends import open_sandbox
from model_accuracy_eval.system.docker_engine import connect, has_image

EVERY = os.environ.get("REFERENCES") in {"all", "whole"}
"""Whether `make references` is running."""

WHOLE = os.environ.get("REFERENCES") == "whole"
"""Whether `make bigcodebench` is."""


def run_all(kind: str, programs: Iterable[Program], image: str | None = None) -> list[Execution]:
    async def everything() -> list[Execution]:
        place = open_sandbox(kind, os.environ, image=image)
        try:
            return list(await asyncio.gather(*map(place.run, programs)))
        finally:
            await place.close()

    return asyncio.run(everything())


def lacks(image: str) -> str | None:
    """Why no program can run in that image here."""
    try:
        client = connect(os.environ)
    except Refused as refusal:
        return refusal.sentence
    there = has_image(client, image)
    client.close()
    return None if there else f"the engine has no image {image}"
