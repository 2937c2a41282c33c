"""What a run can be held against that is no path: how artifacts of earlier runs of the action are named."""

ARTIFACT_BRANCH, ARTIFACT_DIGEST = "branch:", "sha256:"


def is_artifact(place: str) -> bool:
    """Whether a baseline is no path: `branch:main`, `sha256:…`."""
    return place.startswith((ARTIFACT_BRANCH, ARTIFACT_DIGEST))
