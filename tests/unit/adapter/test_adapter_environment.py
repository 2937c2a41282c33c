"""Which environment variables reach the adapter, and which do not."""

import pytest

from model_accuracy_eval.adapter.adapter_files import adapter_environment, visible_npus
from model_accuracy_eval.errors import Refused

PATH = "/usr/local/bin:/usr/bin:/bin"

DROPPED = [
    "GITHUB_TOKEN", "GH_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_RESULTS_URL", "ACTIONS_ID_TOKEN_REQUEST_URL",
    "INPUT_TOKEN", "INPUT_ADAPTER-TOKEN", "INPUT_MODEL", "STATE_run", "GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH",
    "GITHUB_STATE", "GITHUB_STEP_SUMMARY", "RUNNER_TRACKING_ID", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN",
    "MODELSCOPE_API_TOKEN", "OPENAI_API_KEY", "openai_api_key", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID",
    "AWS_SESSION_TOKEN", "AZURE_CLIENT_SECRET", "DB_PASSWORD", "PGPASSWORD", "MYSQL_PWD", "REDIS_PASS", "MY_PASSWD",
    "SSH_PRIVATE_KEY", "SSH_AUTH_SOCK", "GIT_ASKPASS", "WANDB_APIKEY", "GOOGLE_CREDENTIALS", "AUTHTOKEN", "CI_JWT",
    "GH_PAT", "DOCKER_AUTH_CONFIG", "SENTRY_DSN", "SLACK_WEBHOOK_URL", "SESSION_COOKIE", "PYTHONHOME",
]  # fmt: skip
KEPT = [
    "PATH", "HOME", "LANG", "PWD", "OLDPWD", "TMPDIR", "TOKENIZERS_PARALLELISM", "KEYBOARD", "CUDA_VISIBLE_DEVICES",
    "ASCEND_RT_VISIBLE_DEVICES", "ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "LD_LIBRARY_PATH", "PYTHONPATH", "HF_HOME",
    "HCCL_BUFFSIZE", "VLLM_USE_V1", "OMP_NUM_THREADS", "GITHUB_ACTIONS", "GITHUB_SHA", "RUNNER_OS", "CI", "COMPASS",
    "XAUTHORITY", "PIP_INDEX_URL", "PATTERN", "PASSAGE", "MONKEY", "AUTHOR", "http_proxy",
]  # fmt: skip


def given(**environ: str) -> dict[str, str]:
    return adapter_environment(environ, model_path="/weights", port=8000)


@pytest.mark.parametrize("name", DROPPED)
def test_dropped(name: str) -> None:
    """Secrets, and what is the runner's or ours, do not reach the adapter."""
    assert given(**{name: "some value"}) == {"MODEL_PATH": "/weights", "PORT": "8000"}


@pytest.mark.parametrize("name", KEPT)
def test_kept(name: str) -> None:
    """What an adapter may need reaches it unchanged."""
    assert given(**{name: "some value"})[name] == "some value"


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("EOS_TOKEN_ID", "151645", True),
        ("MAX_TOKENS", "4096", True),
        ("MAX_TOKENS", "abc", False),
        ("PIN_PASSWORD", "12", False),
    ],
)
def test_numbers(name: str, value: str, kept: bool) -> None:
    """In this trade a token is often a number, and then it is no secret."""
    assert (name in given(**{name: value})) == kept


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("http://proxy:3128", "http://proxy:3128"),
        ("http://me:pass@proxy:3128", "http://proxy:3128"),
        ("https://sometoken@host/simple", "https://host/simple"),
        ("http://me:p@ss@proxy:3128/", "http://proxy:3128/"),
        ("ssh://git@host/x.git", "ssh://git@host/x.git"),
        ("postgres://me:pass@host/db", "postgres://host/db"),
        ("a http://u:p@one b socks5://u:p@two", "a http://one b socks5://two"),
        ("https://host/@scope/x", "https://host/@scope/x"),
        ("mail me@host", "mail me@host"),
    ],
)
def test_urls(value: str, kept: str) -> None:
    """A URL loses user and password, nothing else."""
    assert given(SOME_URL=value)["SOME_URL"] == kept


def test_secret_values() -> None:
    """A secret's value is not kept under another name; a path such as a credentials file's does no harm."""
    environ = {"MY_TOKEN": "ghs_0123456789", "HEADER": "Bearer ghs_0123456789", "KEY_FOLDER": "/usr/bin", "PATH": PATH}
    assert given(**environ) == {"PATH": PATH, "MODEL_PATH": "/weights", "PORT": "8000"}


@pytest.mark.parametrize(("path", "kept"), [("/venv/bin:/bin", True), ("/bin", False), ("/venv/bin2", False)])
def test_virtual_env(path: str, kept: bool) -> None:
    """VIRTUAL_ENV stays only where the PATH uses it: else it is that of our own tool."""
    assert ("VIRTUAL_ENV" in given(VIRTUAL_ENV="/venv", PATH=path)) == kept


def test_given_values_win() -> None:
    """MODEL_PATH and PORT are the run's, also when the machine has some, and there may be no model."""
    assert adapter_environment({"MODEL_PATH": "/old", "PORT": "1"}, model_path=None, port=8000) == {"PORT": "8000"}


@pytest.mark.parametrize(
    ("environ", "places", "seen"),
    [
        ({}, None, {}),
        ({}, (2, 3), {"ASCEND_RT_VISIBLE_DEVICES": "2,3"}),
        ({"ASCEND_RT_VISIBLE_DEVICES": ""}, (0,), {"ASCEND_RT_VISIBLE_DEVICES": "0"}),
        ({"ASCEND_RT_VISIBLE_DEVICES": "4, 5,6,7"}, (2, 3), {"ASCEND_RT_VISIBLE_DEVICES": "6,7"}),
        ({"ASCEND_RT_VISIBLE_DEVICES": "4,5"}, None, {}),
    ],
)
def test_a_replica_sees_its_cards_alone(environ: dict[str, str], places: tuple[int, ...] | None, seen: object) -> None:
    """By their places among those that are visible; without a number of cards nothing is set."""
    assert visible_npus(environ, places) == seen


def test_more_cards_than_are_visible_are_refused() -> None:
    """With the list, and what to give instead."""
    with pytest.raises(Refused, match="the places 2, 3 of ASCEND_RT_VISIBLE_DEVICES, which is '4,5'"):
        visible_npus({"ASCEND_RT_VISIBLE_DEVICES": "4,5"}, (2, 3))
