"""The hub that our tests play is one that Hugging Face's own client can read; what it fetches is what we fetch."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.integration.weights.conftest import FILES, NAME, QUICK
from tests.servers.fake_hub import FakeHub
from tests.waiting import HANGING

from model_accuracy_eval.hubs.hub_weights import HubWeights
from model_accuracy_eval.hubs.weights_listing import parse_reference

CLIENT = """
import sys
from huggingface_hub import HfApi, snapshot_download
name, folder = sys.argv[1:]
info = HfApi().model_info(name, files_metadata=True)
print(info.sha, *sorted(f"{file.rfilename}|{file.size}|{file.lfs.sha256 if file.lfs else ''}" for file in info.siblings), sep="\\n")
snapshot_download(name, local_dir=folder)
"""


@pytest.mark.skipif(
    importlib.util.find_spec("huggingface_hub") is None and os.environ.get("CI") != "true",
    reason="huggingface_hub is not installed",
)
def test_the_official_client_reads_the_same(hub: FakeHub, tmp_path: Path) -> None:
    """Commit, sizes, hashes and bytes are the same for both clients."""
    theirs, home = tmp_path / "theirs", tmp_path / "home"
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "HF_HOME": str(home), **hub.environment}
    client = subprocess.run(
        [sys.executable, "-c", CLIENT, NAME, str(theirs)],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANGING,
    )
    assert client.returncode == 0, client.stderr
    weights = HubWeights(hub.environment, "", retry=QUICK).list_files(parse_reference(f"hf:{NAME}"))
    files = [f"{file.path}|{file.size}|{file.hash if len(file.hash) == 64 else ''}" for file in weights.files]
    assert client.stdout.splitlines() == [weights.commit, *files]
    ours = Path(HubWeights(hub.environment, str(tmp_path / "cache"), retry=QUICK).fetch_files(weights))
    for path in FILES:
        assert (theirs / path).read_bytes() == (ours / path).read_bytes() == FILES[path].data
