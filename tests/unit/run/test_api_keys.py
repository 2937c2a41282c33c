"""Whose key goes where."""

from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.ports import API_KEYS
from model_accuracy_eval.records import Settings
from model_accuracy_eval.run.build import GENERAL, of_run

KEYS = st.dictionaries(st.sampled_from([GENERAL, *API_KEYS.values()]), st.sampled_from(["", "secret"]))


@given(KEYS, st.booleans(), st.booleans())
def test_the_general_key_goes_to_one_role_that_has_none(keys: dict[str, str], endpoint: bool, judge: bool) -> None:
    """To the judge where one is named, else to the service that the user named; what deploy.sh serves never gets it."""
    given_keys = {name: f"{key} {name}" if key else "" for name, key in keys.items()}
    settings = Settings(endpoint=("http://model",) * endpoint, judge_endpoint="http://judge" if judge else None)
    found, word = of_run(settings, given_keys)
    general_for = "judge" if judge else "model" if endpoint else None
    for role, name in API_KEYS.items():
        own = given_keys.get(name, "")
        takes = role == general_for and not own and bool(given_keys.get(GENERAL))
        assert found.of(role).reveal() == (given_keys[GENERAL] if takes else own)
        if role == general_for:
            url = "http://judge" if judge else "http://model"
            assert word == (f"The key in {GENERAL} is sent to {url}, because {name} is not set." if takes else "")
    assert general_for or not word
