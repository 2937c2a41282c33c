"""A release: its notes, and its workflow, whose last step runs here before a real git repository."""

import os
import re
import shutil
import subprocess
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
import yaml
from docs.release_notes import notes, sections
from packaging.requirements import Requirement
from packaging.version import Version

from model_accuracy_eval import __version__

ROOT = Path(__file__).parent.parent


def jobs(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text())["jobs"]
    return loaded


JOBS = jobs("release.yml")
LOCKS = jobs("locks.yml")
CHANGELOG = "# Changelog\n\n## Versions\n\nAbout them.\n\n## [1.2.3] - 2026-01-31\n\n### Added\n\n- This.\n\n## 1.2.2\n\n- That.\n"
DIGEST = f"sha256:{'ab' * 32}"


def test_the_notes_are_the_changelogs_section() -> None:
    """From its heading to the next one, in either way of writing it."""
    assert notes("1.2.3", "1.2.3", CHANGELOG) == "### Added\n\n- This."
    assert notes("1.2.2", "1.2.2", CHANGELOG) == "- That."


@pytest.mark.parametrize(
    ("version", "package", "changelog", "told"),
    [
        ("1.2", "1.2", CHANGELOG, "'1.2' is no version such as 1.2.3"),
        ("1.2.3; id", "1.2.3", CHANGELOG, "is no version"),
        ("1.2.3", "1.2.2", CHANGELOG, "The package has version 1.2.2, not 1.2.3"),
        ("1.2.4", "1.2.4", CHANGELOG, "nothing under '## 1.2.4'"),
        ("1.2.4", "1.2.4", f"{CHANGELOG}\n## 1.2.4\n\n", "nothing under '## 1.2.4'"),
        (
            "1.2.3",
            "1.2.3",
            CHANGELOG.replace("## [", "## Unreleased\n\n- More.\n\n## ["),
            "1 lines under '## Unreleased'",
        ),
    ],
)
def test_what_cannot_be_released_is_refused(version: str, package: str, changelog: str, told: str) -> None:
    """With what has to be done first."""
    with pytest.raises(ValueError, match=re.escape(told)):
        notes(version, package, changelog)


def test_the_changelog_tells_about_the_packages_version() -> None:
    """A release of it is never refused for want of a section."""
    assert sections((ROOT / "CHANGELOG.md").read_text())[__version__]


def test_the_oldest_versions_are_those_that_are_allowed() -> None:
    """`make oldest` tries what pyproject.toml promises: the lower bounds, of the program and of its extras there."""
    lines = map(Requirement, requires("model-accuracy-eval") or [])
    extras = ("", "fast", "text", "action")
    allowed = [one for one in lines if not one.marker or any(one.marker.evaluate({"extra": extra}) for extra in extras)]
    bounds = {one.name: Version(bound.version) for one in allowed for bound in one.specifier if bound.operator == ">="}
    pins = (ROOT / "tests" / "oldest-versions.txt").read_text().partition("# What the tests")[0].splitlines()
    tried = [Requirement(line) for line in pins if not line.startswith("#")]
    assert {one.name: Version(pin.version) for one in tried for pin in one.specifier} == bounds


def test_the_base_of_every_image_is_one_digest() -> None:
    """One line of each Dockerfile, which Dependabot reads and moves; it looks into each of their folders."""
    files = [ROOT / "Dockerfile", *sorted((ROOT / "docker").glob("*/Dockerfile"))]
    bases = [re.findall(r"^FROM (\S+[:@]\S+)", file.read_text(), re.MULTILINE) for file in files]
    assert len({base for (base,) in bases}) == 1
    assert re.fullmatch(r"python:3\.11-slim-bookworm@sha256:[0-9a-f]{64}", bases[0][0])
    updates = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text())["updates"]
    (docker,) = [update for update in updates if update["package-ecosystem"] == "docker"]
    assert {ROOT / folder.lstrip("/") for folder in docker["directories"]} == {file.parent for file in files}


class Release:
    """A clone with a remote, and `docker` and `gh` that only note what they were asked."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.remote, self.tools = (folder / name for name in ("clone", "remote.git", "tools"))
        self.folder.mkdir()
        self.git("init", "--quiet", "--initial-branch", "main")
        for name in ("docs/release_notes.py", "action.yml"):
            (self.folder / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, self.folder / name)
        (self.folder / "CHANGELOG.md").write_text(CHANGELOG)
        package = self.folder / "src" / "model_accuracy_eval" / "__init__.py"
        package.parent.mkdir(parents=True)
        package.write_text('__version__ = "1.2.3"\n')
        self.git("add", ".")
        self.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message", "one")
        self.git("init", "--quiet", "--bare", str(self.remote))
        self.git("remote", "add", "origin", str(self.remote))
        self.git("tag", "v1")
        self.git("push", "--quiet", "origin", "main", "v1")
        self.tools.mkdir()
        for name in ("docker", "gh"):
            self.fake(name, f'echo {name} "$@" >> "$RUNNER_TEMP/asked"')

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.folder, check=True, capture_output=True, text=True)
        return done.stdout

    def fake(self, name: str, script: str) -> None:
        (self.tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.tools / name).chmod(0o755)

    def run(self, script: str = JOBS["tags"]["steps"][-1]["run"]) -> "subprocess.CompletedProcess[str]":
        """A step; without more the one that tags."""
        environ = {
            "PATH": f"{self.tools}:{os.environ['PATH']}", "HOME": str(self.tools), "RUNNER_TEMP": str(self.tools),
            "GITHUB_OUTPUT": str(self.tools / "output"), "VERSION": "1.2.3", "NAME": "ghcr.io/acme/eval", "DIGEST": DIGEST, "GH_TOKEN": "TEST-TOKEN",
        }  # fmt: skip
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=self.folder, env=environ, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def at(self, tag: str) -> str:
        """The image that the remote's action.yml names at that tag."""
        return self.git("--git-dir", str(self.remote), "show", f"{tag}:action.yml").split("\n  image: ")[1].split()[0]


def test_the_last_step_tags_a_commit_that_names_the_image(tmp_path: Path) -> None:
    """Both tags name it by its digest; the image gets its version; the release has the changelog's notes."""
    release = Release(tmp_path)
    done = release.run()
    assert done.returncode == 0, done.stderr
    assert {release.at("v1.2.3"), release.at("v1")} == {f"docker://ghcr.io/acme/eval@{DIGEST}"}
    assert release.at("main") == "Dockerfile"
    docker, gh = (release.tools / "asked").read_text().splitlines()
    assert docker == f"docker buildx imagetools create --tag ghcr.io/acme/eval:1.2.3 ghcr.io/acme/eval@{DIGEST}"
    assert gh.startswith("gh release create v1.2.3 --verify-tag")
    assert (release.tools / "notes.md").read_text() == "### Added\n\n- This.\n"


@pytest.mark.parametrize("broken", ["docker", "gh", "tag"])
def test_v1_stays_where_it_is_when_anything_fails(tmp_path: Path, broken: str) -> None:
    """The registry, the release, or a version that is tagged already."""
    release = Release(tmp_path)
    if broken == "tag":
        release.git("push", "--quiet", "origin", "main:refs/tags/v1.2.3")
    else:
        release.fake(broken, "exit 1")
    assert release.run().returncode != 0
    assert release.at("v1") == "Dockerfile"


def test_code_of_new_versions_runs_where_nothing_can_be_written() -> None:
    """Resolving and testing have a token that reads; who may write runs nothing of what is new."""
    assert LOCKS["resolve"]["permissions"] == {"contents": "read"}
    assert not any(
        "make" in step.get("run", "") or ".ci/run" in step.get("run", "") for step in LOCKS["offer"]["steps"]
    )
