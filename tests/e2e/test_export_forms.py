"""`report --as` of a real run: its forms read back by our own reader of saved replies."""

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.e2e import command
from tests.servers.fault_server import FaultServer

FORMS = ("junit", "model-card", "lm-eval", "benchmark-action")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the demo's sums against a service that always says the same, and hostile things besides."""
    out = tmp_path_factory.mktemp("run")
    with FaultServer(lambda _: ["85 <script>\x1b[2J"]) as server:
        done = command.run(
            "run", "--endpoint", server.url, "--datasets", "demo_arithmetic", "-n", 2, "--out", out,
            "--gate", "demo_arithmetic: avg@2 >= 50",
        )  # fmt: skip
    assert done.code == 1, done.err
    return command.only_run(out)


def exported(run: Path, folder: Path, *forms: str) -> list[Path]:
    done = command.run("report", run, "--into", folder, *(word for form in forms for word in ("--as", form)))
    assert done.code == 0, done.err
    return [Path(line) for line in done.out.splitlines()]


def test_every_form_of_a_real_run_is_readable(run: Path, tmp_path: Path) -> None:
    """From the folder and from a zip of it, the same files."""
    paths = exported(run, tmp_path / "a", *FORMS)
    assert [path.name.partition("_")[0].partition("-")[0] for path in paths] == [
        "junit.xml", "model", "results", "samples", "custom",
    ]  # fmt: skip
    suite = ElementTree.parse(paths[0]).getroot()[0]
    assert [suite.get(name) for name in ("tests", "failures")] == ["2", "1"]
    lines = paths[3].read_text().splitlines()
    assert len(lines) == 100
    assert json.loads(lines[0])["resps"] == [["85 <script>\x1b[2J"] * 2]
    zipped = shutil.make_archive(str(tmp_path / "run"), "zip", run)
    again = exported(Path(zipped), tmp_path / "b", *FORMS)
    assert [path.read_bytes() for path in paths] == [path.read_bytes() for path in again]


def test_lm_evals_form_is_judged_again_with_the_same_figures(run: Path, tmp_path: Path) -> None:
    """By `rescore`, which reads lm-eval's own files: ours and the claimed ones are equal."""
    _, samples = exported(run, tmp_path, "lm-eval")
    done = command.run("rescore", samples, "--json")
    assert done.code == 0, done.err
    (told,) = json.loads(done.out)
    figures = json.loads((run / "run.json").read_bytes())["datasets"]["demo_arithmetic"]["metrics"]
    compared = {each["metric"]: (each["ours"], each["claimed"]) for each in told["figures"]}
    ours, claimed = compared["accuracy"]
    assert ours == claimed == pytest.approx(figures["avg@2"])
    assert compared["pass@2"][0] == pytest.approx(figures["pass@2"])
