"""Runs with other samplers are other runs: what they send, and that they are never compared without a word."""

import json
from typing import Literal

import pytest
from msgspec.structs import replace
from tests.fake_ports import MemoryStore, ScriptedChat
from tests.unit.run import test_pipeline
from tests.unit.run.test_pipeline import plan, right

from model_accuracy_eval.benchmarks import demo
from model_accuracy_eval.errors import BadReuse, BadValue
from model_accuracy_eval.records import Report, RunPlan, Samplers, Sampling, SamplingSetting, Service, Shard
from model_accuracy_eval.report import comment, history, terminal
from model_accuracy_eval.report.remarks import service_notes
from model_accuracy_eval.run import previous_run
from model_accuracy_eval.run_folder import history_file, kept_run, shard_folders
from model_accuracy_eval.run_folder.shard_folders import ShardFolder

LLAMA_CPP = Samplers(server="llama.cpp", own={"top_k": 40, "min_p": 0.05})
NEUTRAL = Samplers(server="llama.cpp", own={"top_k": 40, "min_p": 0.05}, neutral={"top_k": 0, "min_p": 0.0})
PLAIN_LESS = Samplers(
    server="llama.cpp", own={"top_k": 40, "min_p": 0.05}, neutral={"min_p": 0.0}, refused={"top_k": "HTTP 400."}
)
VLLM = Samplers(server="vLLM", remark="takes top_k from the generation_config.json of the weights")


def sampled(setting: SamplingSetting, **settings: object) -> RunPlan:
    gate = str(settings.pop("gate", ""))
    return plan(gate=gate).with_settings(sampling=setting, **settings)


def evaluate(
    the_plan: RunPlan, samplers: Samplers, store: MemoryStore | None = None, base: MemoryStore | None = None
) -> tuple[Report, MemoryStore, ScriptedChat]:
    folder, chat = store or MemoryStore(), ScriptedChat(right)
    chat.known_samplers = samplers
    parts = {"chat": chat, "open_store": lambda _: folder, "open_archive": lambda _: base}
    return test_pipeline.evaluate(the_plan, right, **parts)[0], folder, chat


def compared(first: tuple[SamplingSetting, Samplers], second: tuple[SamplingSetting, Samplers]) -> tuple[str, ...]:
    """The notes of the comparison of two runs, which are also those of a run beside its baseline."""
    _, old, _ = evaluate(sampled(first[0]), first[1])
    _, new, _ = evaluate(sampled(second[0]), second[1])
    notes = previous_run.compare(*map(kept_run.opened, (old, new))).notes
    report, _, _ = evaluate(sampled(second[0], baseline="base"), second[1], base=old)
    assert report.comparison is not None
    assert report.comparison.notes == notes
    return notes


def test_neutral_values_are_in_every_request_and_in_every_report() -> None:
    """But not in the readiness probe; run.json, page, terminal and comment name them."""
    report, store, chat = evaluate(sampled("plain"), NEUTRAL)
    probe, *requests = chat.requests
    assert probe.extra == {}
    assert {json.dumps(request.extra) for request in requests} == {'{"top_k": 0, "min_p": 0.0}'}
    run = json.loads(store.files["run.json"])
    assert (run["sampling"], run["samplers"]["neutral"]) == ("plain", {"top_k": 0, "min_p": 0.0})
    sentence = "Requests had neutral values of samplers (--sampling plain): top_k 0, min_p 0."
    assert run["service_notes"] == [sentence]
    assert sentence in store.files["report.html"].decode()
    assert sentence in terminal.as_text(report)
    assert "top\\_k 0, min\\_p 0" in comment.as_summary(report)


@pytest.mark.parametrize(
    ("setting", "mode", "texts"), [("server", "text", []), ("plain", "chat", [None]), ("plain", "text", [None, "1+1="])]
)
def test_neutral_values_are_tried_with_requests_of_the_kinds_that_the_run_makes(
    setting: SamplingSetting, mode: Literal["chat", "text"], texts: list[str | None]
) -> None:
    """And not at all where samplers are left alone."""
    chat = ScriptedChat(right)
    the_plan = replace(sampled(setting), tasks=(replace(demo.WORD_PROBLEMS, mode=mode),))
    test_pipeline.evaluate(the_plan, right, chat=chat)
    assert [request.text for request in chat.sampler_probes] == texts


def test_the_tasks_and_the_users_values_win() -> None:
    """A field that either of them gives is not neutralised."""
    sampling = Sampling(n=1, neutral={"top_k": 0, "min_p": 0.0, "mirostat": 0}, extra={"top_k": 20, "min_p": 0.1})
    assert sampling.of(replace(demo.WORD_PROBLEMS, generation={"top_k": 5, "mirostat": 2})).extra == {
        "top_k": 20,
        "min_p": 0.1,
        "mirostat": 2,
    }


@pytest.mark.parametrize(("samplers", "words"), [(LLAMA_CPP, "applies top_k 40, min_p 0.05"), (VLLM, VLLM.remark)])
def test_what_the_service_adds_stands_in_the_report(samplers: Samplers, words: str) -> None:
    """With the default setting nothing is sent, and a reader learns what the service does by itself."""
    report, store, chat = evaluate(sampled("server"), samplers)
    assert {json.dumps(request.extra) for request in chat.requests} == {"{}"}
    (note,) = json.loads(store.files["run.json"])["service_notes"]
    assert words in note
    assert "--sampling plain" in note
    assert note in terminal.as_text(report)


def test_a_run_that_only_reads_log_likelihoods_is_not_told_of_samplers() -> None:
    """Nothing is drawn in it, and no answer can be cut."""
    service = Service(base_url="http://fake-service", sends_finish_reasons=False, samplers=LLAMA_CPP)
    generating = plan()
    choosing = replace(generating, tasks=(replace(demo.WORD_PROBLEMS, kind="choice"),))
    assert len(service_notes(generating, service)) == 2
    assert service_notes(choosing, service) == ()


def test_refused_fields_are_named_with_what_is_left_of_them() -> None:
    """The run goes on, and the report says which samplers are not neutral."""
    report, _, _ = evaluate(sampled("plain"), PLAIN_LESS)
    assert report.outcome.exit_code == 0
    assert (
        "The service refused top_k; where it has such samplers, they are its own: llama.cpp says that it applies top_k 40."
        in (terminal.as_text(report))
    )


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (("server", LLAMA_CPP), ("plain", NEUTRAL), "before with the service's own samplers (--sampling server: llama"),
        (("plain", NEUTRAL), ("server", LLAMA_CPP), "now with the service's own samplers"),
        (("plain", NEUTRAL), ("plain", PLAIN_LESS), "now with neutral values (--sampling plain: min_p 0)"),
        (("server", LLAMA_CPP), ("server", VLLM), "llama.cpp says that it applies top_k 40, min_p 0.05), now with"),
    ],
)
def test_runs_that_sampled_differently_are_compared_with_a_word(
    first: tuple[SamplingSetting, Samplers], second: tuple[SamplingSetting, Samplers], words: str
) -> None:
    """By `compare` and beside a baseline; the note says what each of them did."""
    *_, note = compared(first, second)
    assert note.startswith("Samples were drawn differently: ")
    assert words in note


@pytest.mark.parametrize("run", [("server", LLAMA_CPP), ("plain", NEUTRAL), ("plain", PLAIN_LESS)])
def test_runs_that_sampled_alike_are_compared_without_a_word(run: tuple[SamplingSetting, Samplers]) -> None:
    """There is nothing to note."""
    assert compared(run, run) == ()


def test_a_gate_on_a_baseline_with_other_sampling_is_refused() -> None:
    """Before anything is asked, with both settings in the sentence."""
    _, base, _ = evaluate(sampled("server"), LLAMA_CPP)
    the_plan = sampled("plain", gate="demo_gsm8k: avg@5 >= baseline", baseline="base")
    with pytest.raises(BadValue, match="was run with --sampling server, and this run has --sampling plain"):
        evaluate(the_plan, NEUTRAL, base=base)


@pytest.mark.parametrize(
    ("setting", "then", "now"), [("plain", NEUTRAL, PLAIN_LESS), ("server", LLAMA_CPP, Samplers(server="llama.cpp"))]
)
def test_a_run_does_not_go_on_with_other_samplers(setting: SamplingSetting, then: Samplers, now: Samplers) -> None:
    """A service that was started anew with other samplers would give samples of two kinds."""
    _, store, _ = evaluate(sampled(setting), then)
    with pytest.raises(BadReuse, match="drawn in two ways. Samples were drawn differently: before with "):
        evaluate(sampled(setting), now, store)


def test_shards_that_sampled_differently_are_not_merged() -> None:
    """One of them was asked of a service that applied other samplers."""
    folders = []
    for index, samplers in enumerate([LLAMA_CPP, VLLM]):
        shard = replace(sampled("server", shard=f"{index}/2"), shard=Shard(index=index, count=2))
        _, store, _ = evaluate(shard, samplers, MemoryStore(f"shard {index}"))
        folders.append(ShardFolder(store=store, plan=shard))
    with pytest.raises(BadReuse, match="are not shards of one run. Samples were drawn differently"):
        shard_folders.check(folders)


def test_history_keeps_samplings_apart() -> None:
    """No change is shown from a run of one setting to a run of the other."""
    runs: list[history_file.HistoryLine] = []
    for day, (setting, samplers) in enumerate([("server", LLAMA_CPP), ("plain", NEUTRAL), ("server", LLAMA_CPP)]):
        the_plan = sampled("plain" if setting == "plain" else "server")
        _, store, _ = evaluate(the_plan, samplers)
        tree = json.loads(store.files["run.json"]) | {"finished": f"2026-01-0{day + 1}", "run_id": f"{day:032x}"}
        store.write("run.json", json.dumps(tree).encode())
        runs += history_file.of_run(store.seal()).lines
    plain, server = sorted(history.history(runs).series, key=lambda series: len(series.points))
    assert [point.change for point in server.points] == [None, 0.0]
    assert [point.change for point in plain.points] == [None]
    assert (server.sampling["service"], plain.sampling["neutral"]) == (LLAMA_CPP.own, NEUTRAL.neutral)
