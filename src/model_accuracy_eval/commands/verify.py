"""`verify`: whether a run's files are as the run left them."""

import click

from model_accuracy_eval.run_folder import manifest, runfile
from model_accuracy_eval.run_folder.run_archive import open_archive


@click.command()
@click.argument("run")
def verify(run: str) -> None:
    """Check that every file of a run, a folder or a zip of one, is as the run left it; exit code 1 if not."""
    archive = open_archive(run)
    manifest_hash = manifest.verify(archive)
    ended = runfile.read(archive.read(runfile.RUN_FILE) or b"", run)
    click.echo(
        f"{run} is what its run left: {len(archive.names())} files. It ended as '{ended.status}': {ended.sentence}"
    )
    for doubt in ended.unverified or ():
        click.echo(f"Unverified: {doubt}.")
    facts = {"verdict about": ended.identity.line, "deploy.sh": ended.environment.get("deploy.sh", "")}
    for name, fact in facts.items():
        if fact:
            click.echo(f"{name}: {fact}")
    click.echo(
        f"The manifest's SHA-256 is {manifest_hash}. Who can write the folder can write a new manifest: compare this "
        "number with the job's log, or the artifact with its attestation (gh attestation verify)."
    )
