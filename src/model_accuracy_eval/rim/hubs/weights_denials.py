"""Why a hub gave no answer, in a sentence that says which token to look at. Pure."""

from model_accuracy_eval.rim.hubs.weights_records import Reference
from model_accuracy_eval.rim.secret import Secret


def denial(model: Reference, hub: str, token: Secret, status: int, code: str) -> str:
    """`code` is the hub's own word for it, where it has one."""
    return _by_code(model, hub, token, code) or _by_status(model, hub, token, status)


def _by_code(model: Reference, hub: str, token: Secret, code: str) -> str | None:
    if code == "GatedRepo":
        lack = "" if token else "no token was given, and "
        return (
            f"{model} is gated: {lack}the owner of the token ({token.name}) has to accept its terms "
            f"at {hub}/{model.name} first."
        )
    if code == "RevisionNotFound":
        return f"{model.source}:{model.name} has no revision '{model.revision or 'main'}' at {hub}."
    if code == "EntryNotFound":
        return f"A file that {hub} lists for {model} does not exist there."
    return None


def _by_status(model: Reference, hub: str, token: Secret, status: int) -> str:
    tokenless = f"no token was given ({token.name})"
    if status == 401 and token:
        return f"{hub} does not know the token ({token.name}), or it may not read {model}."
    if status in (401, 403) and not token:
        return f"{model} is private or does not exist at {hub}: {tokenless}."
    if status == 403:
        return f"The token ({token.name}) may not read {model} at {hub}."
    hidden = "" if token else f"; if it is private, {tokenless}"
    version = f", or it has no revision '{model.revision}'" if model.revision else ""
    return f"There is no model '{model.name}' at {hub}{version} (HTTP {status}){hidden}."
