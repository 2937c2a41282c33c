"""Keeps of GitHub's published OpenAPI description what the tests need: `python tests/schemas/extract.py [FOLDER]`.

The description is the npm package `@octokit/openapi`, installed by name into FOLDER (a cache folder by default, never
this repository). Of the operations that we use, the parameters, the request body and those fields of the answer that
our fake GitHub gives are written to `github.json`: structure only, without prose and examples.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PACKAGE = "@octokit/openapi@23.0.2"
TARGET = Path(__file__).parent / "github.json"

REPO = "/repos/{owner}/{repo}"
OPERATIONS = {
    "/user": ["get"],
    f"{REPO}/collaborators/{{username}}/permission": ["get"],
    f"{REPO}/properties/values": ["get"],
    f"{REPO}/topics": ["get"],
    f"{REPO}/contents/{{path}}": ["get", "put"],
    f"{REPO}/git/blobs/{{file_sha}}": ["get"],
    f"{REPO}/git/commits": ["post"],
    f"{REPO}/git/refs": ["post"],
    f"{REPO}/git/trees": ["post"],
    f"{REPO}/pulls/{{pull_number}}": ["get"],
    f"{REPO}/commits/{{commit_sha}}/pulls": ["get"],
    f"{REPO}/commits/{{ref}}/check-runs": ["get"],
    f"{REPO}/issues/{{issue_number}}/comments": ["get", "post"],
    f"{REPO}/issues/comments/{{comment_id}}": ["patch", "delete"],
    f"{REPO}/issues/comments/{{comment_id}}/reactions": ["post"],
    f"{REPO}/check-runs": ["post"],
    f"{REPO}/check-runs/{{check_run_id}}": ["get", "patch"],
    f"{REPO}/statuses/{{sha}}": ["post"],
    f"{REPO}/actions/workflows/{{workflow_id}}/runs": ["get"],
    f"{REPO}/actions/runs/{{run_id}}/artifacts": ["get"],
    f"{REPO}/actions/artifacts": ["get"],
    f"{REPO}/actions/artifacts/{{artifact_id}}/{{archive_format}}": ["get"],
}

FIELDS = frozenset({
    "annotations_count", "base", "body", "check_runs", "conclusion", "content", "context", "encoding",
    "external_id", "full_name", "head", "head_sha", "html_url", "id", "login", "merge_commit_sha", "names", "number",
    "output", "permission", "property_name", "repo", "role_name", "sha", "state", "status", "summary", "text", "title",
    "total_count", "type", "user", "value",
})  # fmt: skip
"""Fields of answers that are kept, wherever they stand."""

ARTIFACT_FIELDS = frozenset({
    "artifacts", "conclusion", "digest", "event", "expired", "full_name", "head_branch", "head_repository",
    "head_repository_id", "id", "name", "path", "repository_id", "size_in_bytes", "status", "total_count", "workflow_run",
    "workflow_runs",
})  # fmt: skip
"""Fields of answers about runs of workflows and what they keep."""

PROSE = frozenset({"description", "title", "example", "examples", "externalDocs", "deprecated", "default", "summary"})


def main(folder: Path) -> None:
    source = folder / "node_modules/@octokit/openapi/generated/api.github.com.json"
    if not source.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--no-save", "--prefix", str(folder), PACKAGE], check=True)
    whole = json.loads(source.read_text())
    kept = {
        path: {method: operation(whole, whole["paths"][path][method], fields(path)) for method in methods}
        for path, methods in OPERATIONS.items()
    }
    told = {"source": PACKAGE, "openapi": whole["openapi"], "paths": kept}
    TARGET.write_text(json.dumps(told, indent=1, sort_keys=True) + "\n")


def fields(path: str) -> frozenset[str]:
    if "/artifacts" in path or path.endswith("/runs"):
        return ARTIFACT_FIELDS
    # PyGithub edits a comment at the address that it came with, and wants the commit that a new file made.
    return FIELDS | {"url"} if "/comments" in path else FIELDS | {"commit"} if "/contents/" in path else FIELDS


def operation(whole: Any, told: Any, kept_fields: frozenset[str]) -> Any:
    """Parameters, request body and good answers, each as a JSON Schema."""
    parameters = [resolved(whole, parameter) for parameter in told.get("parameters", [])]
    kept = {
        "parameters": [
            {"name": item["name"], "in": item["in"], "required": bool(item.get("required"))}
            | {"schema": structure(whole, item["schema"])}
            for item in parameters
        ],
        "answers": {
            status: only_fields(structure(whole, answer), kept_fields)
            for status, answer in ((status, content(whole, reply)) for status, reply in told["responses"].items())
            if status.startswith("2") and answer is not None
        },
    }
    body = content(whole, told.get("requestBody") or {})
    return kept | ({"body": structure(whole, body)} if body is not None else {})


def content(whole: Any, told: Any) -> Any:
    kinds = resolved(whole, told).get("content") or {}
    return kinds.get("application/json", {}).get("schema")


def resolved(whole: Any, told: Any) -> Any:
    while "$ref" in told:
        node = whole
        for name in told["$ref"].removeprefix("#/").split("/"):
            node = node[name]
        told = node
    return told


def structure(whole: Any, schema: Any, within: tuple[int, ...] = ()) -> Any:
    """References put in place, prose dropped, OpenAPI 3.0's `nullable` said as JSON Schema says it."""
    schema = resolved(whole, schema)
    if id(schema) in within:
        return {}
    within = (*within, id(schema))
    kept = {name: value for name, value in schema.items() if name not in PROSE and not name.startswith("x-")}
    nullable = kept.pop("nullable", False)
    if "properties" in kept:
        kept["properties"] = {name: structure(whole, value, within) for name, value in kept["properties"].items()}
    for name in ("items", "additionalProperties"):
        if isinstance(kept.get(name), dict):
            kept[name] = structure(whole, kept[name], within)
    for name in ("oneOf", "anyOf", "allOf"):
        if name in kept:
            kept[name] = [structure(whole, part, within) for part in kept[name]]
    if nullable and "enum" in kept:
        kept["enum"] = [*kept["enum"], None]
    if nullable and "type" in kept:
        kept["type"] = [kept["type"], "null"]
    elif nullable:
        kept = {"anyOf": [kept, {"type": "null"}]}
    return kept


def only_fields(schema: Any, fields: frozenset[str]) -> Any:
    """An answer's schema without the fields that nobody reads; `required` shrinks with it."""
    kept = dict(schema)
    if "properties" in kept:
        kept["properties"] = {
            name: only_fields(value, fields) for name, value in kept["properties"].items() if name in fields
        }
    if "required" in kept:
        kept["required"] = [name for name in kept["required"] if name in fields]
    if isinstance(kept.get("items"), dict):
        kept["items"] = only_fields(kept["items"], fields)
    # Variants that differ in dropped fields only have become the same, so `oneOf` would never hold.
    variants = [only_fields(part, fields) for part in kept.pop("oneOf", kept.pop("anyOf", []))]
    if variants:
        kept["anyOf"] = variants
    if "allOf" in kept:
        kept["allOf"] = [only_fields(part, fields) for part in kept["allOf"]]
    kept.pop("discriminator", None)
    return kept


if __name__ == "__main__":
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "model-accuracy-eval" / "openapi"
    main(Path(sys.argv[1]) if sys.argv[1:] else cache)
