"""Mistakes that people make in their first hours, each as one command: what they say is in a golden file.

In arguments and files, `{url}` is the service of the mistake, `{port}` a port where nobody listens, `{run}` a run that
ended, and names without a slash are files of the folder that the command runs in.
"""

import json
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import trustme
from tests.servers.fault_server import FaultServer, always
from tests.servers.http import Exchange, HttpServer

JSON = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """What somebody did, the command, and the exit code that it ends with."""

    what: str
    command: str
    code: int
    service: Callable[[], HttpServer] | None = None
    files: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)


def healthy() -> HttpServer:
    return FaultServer(lambda request: ["#### 1"] * request.get("n", 1))


def _failing(fault: str) -> Callable[[], HttpServer]:
    return lambda: FaultServer(plan=always(fault))


def _wants_key() -> HttpServer:
    async def answer(exchange: Exchange) -> None:
        if exchange.headers.get("authorization") != "Bearer right-key":
            exchange.reply(401, {"error": {"message": "Incorrect API key provided."}})
        else:
            await server._handle(exchange)

    server = FaultServer(lambda request: ["#### 1"] * request.get("n", 1))
    server._handler = answer
    return server


def _serves_other_models() -> HttpServer:
    """As vLLM answers a name that it does not serve."""

    async def answer(exchange: Exchange) -> None:
        if exchange.path.endswith("/models"):
            exchange.reply(200, {"object": "list", "data": [{"id": "qwen3-8b"}, {"id": "qwen3-8b-lora"}]})
        else:
            name = exchange.json.get("model")
            exchange.reply(404, {"error": {"message": f"The model `{name}` does not exist.", "code": 404}})

    return HttpServer(answer)


def _self_signed() -> HttpServer:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    return FaultServer(tls=context)


def _short_context() -> HttpServer:
    """Takes the probe, and nothing longer."""

    async def answer(exchange: Exchange) -> None:
        if exchange.json.get("max_tokens", 1) == 1:
            await server._handle(exchange)
        else:
            sentence = "This model's maximum context length is 512 tokens. However, you requested 1090 tokens."
            exchange.reply(400, {"error": {"message": sentence, "code": 400}})

    server = FaultServer()
    server._handler = answer
    return server


def _only_completions() -> HttpServer:
    async def answer(exchange: Exchange) -> None:
        if exchange.path.endswith("/models"):
            exchange.reply(200, {"object": "list", "data": [{"id": "base"}]})
        else:
            exchange.reply(404, {"detail": "Not Found"})

    return HttpServer(answer)


def _breaks_after_the_probe() -> HttpServer:
    return FaultServer(plan=lambda _number, request: None if request.get("max_tokens") == 1 else "status_500")


ROWS = "\n".join(json.dumps({"question": f"What is {n} plus {n}?", "answer": str(2 * n)}) for n in range(8)) + "\n"
QUESTIONS = {"mine.jsonl": ROWS}
RUN = "run --endpoint {url} --datasets demo_gsm8k -n 1"
ADAPTER = {"my-adapter/deploy.sh": "exec sleep 60\n", "weights/config.json": "{}"}
DEPLOY = "run my-adapter --model weights --datasets demo_gsm8k --port {port}"


JUDGED = """\
name: judged
data: mine.jsonl
prompt:
  question: "{{ question }}"
reference: "{{ answer }}"
scorer:
  name: judge
  args:
    prompt: "Right: {reference}. Said: {answer}. The same?"
"""


def _deploy(script: str) -> dict[str, str]:
    return {**ADAPTER, "my-adapter/deploy.sh": script}


MISTAKES: dict[str, list[Mistake]] = {
    "The service": [
        Mistake(what="Nobody listens at the address", command="run --endpoint http://127.0.0.1:{port} --datasets demo_gsm8k", code=4),
        Mistake(what="The host does not exist", command="run --endpoint http://no-such-host.invalid:8000 --datasets demo_gsm8k", code=4),
        Mistake(what="No `http://` before the address", command="run --endpoint 127.0.0.1:8000 --datasets demo_gsm8k", code=2),
        Mistake(what="The address is of another path", command="run --endpoint {url}/wrong/path --datasets demo_gsm8k", code=4, service=healthy),
        Mistake(what="`https://` to a server that speaks `http`", command="run --endpoint {https} --datasets demo_gsm8k", code=4, service=healthy),
        Mistake(what="The certificate is self-signed", command=RUN, code=4, service=_self_signed),
        Mistake(what="The service wants a key", command=RUN, code=4, service=_wants_key),
        Mistake(what="The key is wrong", command=RUN, code=4, service=_wants_key, environment={"MODEL_ACCURACY_EVAL_API_KEY": "wrong"}),
        Mistake(what="The key stands in `OPENAI_API_KEY`, and is wrong", command=RUN, code=4, service=_wants_key, environment={"OPENAI_API_KEY": "wrong"}),
        Mistake(what="The key was pasted with a blank", command=RUN, code=2, service=healthy, environment={"MODEL_ACCURACY_EVAL_API_KEY": "a b"}),
        Mistake(what="The key may not do this", command=RUN, code=4, service=_failing("status_403")),
        Mistake(what="A model that is not served", command=f"{RUN} --model-name qwen3", code=4, service=_serves_other_models),
        Mistake(what="A server without chat", command=RUN, code=4, service=_only_completions),
        Mistake(what="A login page stands before the service", command=f"{RUN} --ready-timeout 1", code=4, service=_failing("html_page")),
        Mistake(what="The service redirects", command=f"{RUN} --ready-timeout 1", code=4, service=_failing("status_302")),
        Mistake(what="The service is overloaded for good", command=f"{RUN} --ready-timeout 1", code=4, service=_failing("status_503")),
        Mistake(what="The proxy is none", command=RUN, code=2, service=healthy, environment={"HTTPS_PROXY": "socks9://proxy:1"}),
        Mistake(what="The context is too short for the questions", command=RUN, code=5, service=_short_context),
        Mistake(what="Every question fails in the server", command=f"{RUN}", code=5, service=_breaks_after_the_probe),
        Mistake(what="The port is of another program", command=f"{RUN} --ready-timeout 1", code=4, service=_failing("not_http")),
    ],
    "The adapter": [
        Mistake(what="The folder is not there", command="run no-adapter --model weights --datasets demo_gsm8k --port {port}", code=3, files=ADAPTER),
        Mistake(what="No `deploy.sh` in it", command="run weights --model weights --datasets demo_gsm8k --port {port}", code=3, files=ADAPTER),
        Mistake(what="A dataset stands in its place", command="run gsm8k", code=2),
        Mistake(what="No weights are named", command="run my-adapter --datasets demo_gsm8k", code=2, files=ADAPTER),
        Mistake(what="The weights are not there", command="run my-adapter --model no-weights --datasets demo_gsm8k --port {port}", code=3, files=ADAPTER),
        Mistake(what="The weights are too large", command=f"{DEPLOY} --max-weight-size 1B", code=3, files=ADAPTER),
        Mistake(what="`deploy.sh` ends with an error", command=DEPLOY, code=4, files=_deploy("echo 'loading'\necho 'ERROR: no NPU found'\nexit 3\n")),
        Mistake(what="`deploy.sh` ends with Python's traceback", command=DEPLOY, code=4, files=_deploy("exec python3 -c 'import no_such_engine'\n")),
        Mistake(what="A command of `deploy.sh` is not installed", command=DEPLOY, code=4, files=_deploy("no-such-server --port $PORT\n")),
        Mistake(what="The server is put into the background, and `deploy.sh` ends", command=DEPLOY, code=4, files=_deploy("sleep 60 &\n")),
        Mistake(what="The server listens on another port", command=f"{DEPLOY} --ready-timeout 5", code=4, files=_deploy("exec python3 -ISc 'import socket; socket.create_server((\"127.0.0.1\", {other})).accept()'\n")),
        Mistake(what="The server never gets ready", command=f"{DEPLOY} --ready-timeout 1", code=4, files=ADAPTER),
        Mistake(what="The port is in use", command="run my-adapter --model weights --datasets demo_gsm8k --port {used}", code=3, files=ADAPTER, service=healthy),
        Mistake(what="`requirements.txt` would replace torch", command=DEPLOY, code=3, files={**ADAPTER, "my-adapter/requirements.txt": "torch==2.1\n"}),
        Mistake(what="A package of `requirements.txt` does not exist", command=DEPLOY, code=4, files={**ADAPTER, "my-adapter/requirements.txt": "no-such-package-at-all==1\n"}, environment={"PIP_NO_INDEX": "1"}),
        Mistake(what="A Windows file", command=DEPLOY, code=3, files=_deploy("#!/bin/sh\r\nsleep 60\r\n")),
    ],
    "The data": [
        Mistake(what="A dataset's name with a slip", command="run --endpoint {url} --datasets demo_gms8k", code=2, service=healthy),
        Mistake(what="A dataset that does not exist", command="run --endpoint {url} --datasets leaderboard", code=2, service=healthy),
        Mistake(what="No dataset is named", command="run --endpoint {url}", code=2, service=healthy),
        Mistake(what="The file is not there", command="run --endpoint {url} --datasets no-file.jsonl", code=2, service=healthy),
        Mistake(what="The folder of data is not there", command="run --endpoint {url} --datasets demo_gsm8k --data-dir no-folder", code=2, service=healthy),
        Mistake(what="The file is empty", command="run --endpoint {url} --datasets empty.jsonl", code=2, service=healthy, files={"empty.jsonl": ""}),
        Mistake(what="A line is no JSON", command="run --endpoint {url} --datasets broken.jsonl", code=2, service=healthy, files={"broken.jsonl": ROWS + "{'question': 'no'}\n"}),
        Mistake(what="No column of answers", command="run --endpoint {url} --datasets asks.jsonl", code=2, service=healthy, files={"asks.jsonl": '{"question": "Why?"}\n'}),
        Mistake(what="Columns of unknown names", command="run --endpoint {url} --datasets columns.jsonl", code=2, service=healthy, files={"columns.jsonl": '{"ask": "What is 1 plus 1?", "say": "2"}\n'}),
        Mistake(what="A row without an answer", command="run --endpoint {url} --datasets hole.jsonl", code=2, service=healthy, files={"hole.jsonl": ROWS + '{"question": "And?", "answer": null}\n'}),
        Mistake(what="The data is not here, and nothing may be fetched", command="run --endpoint {url} --datasets gsm8k --offline", code=2, service=healthy, environment={"XDG_CACHE_HOME": "cache"}),
        Mistake(what="The task file is no YAML", command="run --endpoint {url} --datasets task.yaml", code=2, service=healthy, files={"task.yaml": "name: [x\n"}),
        Mistake(what="A field of the task file is misspelt", command="run --endpoint {url} --datasets task.yaml", code=2, service=healthy, files={**QUESTIONS, "task.yaml": "name: mine\ndata: mine.jsonl\npromt:\n  question: '{{ question }}'\nreference: '{{ answer }}'\n"}),
        Mistake(what="A metric file is not there", command="run --endpoint {url} --datasets task.yaml --trust-python", code=2, service=healthy, files={**QUESTIONS, "task.yaml": "name: mine\ndata: mine.jsonl\nprompt:\n  question: '{{ question }}'\nreference: '{{ answer }}'\npipelines:\n  - metrics:\n      - name: my_metric.py:score\n"}),
        Mistake(what="A metric file is broken", command="run --endpoint {url} --datasets task.yaml --trust-python", code=2, service=healthy, files={**QUESTIONS, "my_metric.py": "def score(:\n", "task.yaml": "name: mine\ndata: mine.jsonl\nprompt:\n  question: '{{ question }}'\nreference: '{{ answer }}'\npipelines:\n  - metrics:\n      - name: my_metric.py:score\n"}),
        Mistake(what="A metric that does not exist", command="run --endpoint {url} --datasets task.yaml", code=2, service=healthy, files={**QUESTIONS, "task.yaml": "name: mine\ndata: mine.jsonl\nprompt:\n  question: '{{ question }}'\nreference: '{{ answer }}'\npipelines:\n  - metrics:\n      - name: exact_mach\n"}),
        Mistake(what="Pictures for a model of texts", command="run --endpoint {url} --datasets demo_digits", code=3, service=healthy),
    ],
    "Settings and gates": [
        Mistake(what="An option with a slip", command="run --endpoint {url} --dataset demo_gsm8k", code=2, service=healthy),
        Mistake(what="Neither adapter nor endpoint", command="run --datasets demo_gsm8k", code=2),
        Mistake(what="Both adapter and endpoint", command="run my-adapter --model weights --endpoint {url} --datasets demo_gsm8k", code=2, service=healthy, files=ADAPTER),
        Mistake(what="k greater than n", command="run --endpoint {url} --datasets demo_gsm8k -n 3 --k 5", code=2, service=healthy),
        Mistake(what="A number that is none", command=f"{RUN} --temperature warm", code=2, service=healthy),
        Mistake(what="The configuration file is not there", command="run --config no-eval.yaml", code=2),
        Mistake(what="A key of the configuration file with a slip", command="run --config eval.yaml", code=2, files={"eval.yaml": "endpoint: http://127.0.0.1:8000\ndataset: demo_gsm8k\n"}),
        Mistake(what="A gate of a dataset that is not asked", command=f"{RUN} --gate 'gsm8k: avg@1 >= 70'", code=2, service=healthy),
        Mistake(what="A gate that cannot be read", command=f"{RUN} --gate 'demo_gsm8k avg@1 > 70'", code=2, service=healthy),
        Mistake(what="A gate's share where per cent are meant", command=f"{RUN} --gate 'demo_gsm8k: avg@1 >= 0.7'", code=2, service=healthy),
        Mistake(what="A gate that the model does not reach", command=f"{RUN} --gate 'demo_gsm8k: avg@1 >= 90'", code=1, service=healthy),
        Mistake(what="A gate on too few problems", command=f"{RUN} --limit 2 --gate-on problems --gate 'demo_gsm8k: avg@1 <= 90'", code=7, service=healthy),
        Mistake(what="The judge does not answer", command="run --endpoint {url} --datasets judged.yaml --judge-endpoint http://127.0.0.1:{port} --judge-model wise", code=3, service=healthy, files={**QUESTIONS, "judged.yaml": JUDGED}),
        Mistake(what="The judge is not named", command="run --endpoint {url} --datasets mt_bench --offline", code=2, service=healthy, environment={"XDG_CACHE_HOME": "cache"}),
    ],
    "Runs that ended": [
        Mistake(what="The run to go on with is not there", command="run --reuse outputs/no-run", code=2),
        Mistake(what="Its name has a slip", command="report {run}x", code=2),
        Mistake(what="It goes on with other samples", command="run --reuse {run} -n 3", code=2),
        Mistake(what="The baseline is not there", command="run --endpoint {url} --datasets demo_gsm8k --baseline outputs/no-run", code=2, service=healthy),
        Mistake(what="A run to compare that is not there", command="compare {run} outputs/no-run", code=2),
        Mistake(what="No runs to show", command="history no-outputs", code=2),
        Mistake(what="A file of replies that is not there", command="rescore no-replies.jsonl --task demo_gsm8k", code=2),
        Mistake(what="Replies of an unknown shape", command="rescore rows.jsonl --task demo_gsm8k", code=2, files={"rows.jsonl": '{"a": 1}\n'}),
    ],
}  # fmt: skip
