"""Exports, read back by the libraries and programs that they are made for."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from huggingface_hub.repocard_data import model_index_to_eval_results
from msgspec.structs import replace
from tests.unit.report.fixed_report import many, problem_result, row

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import AskedPart, Attempt, DataFile, Interval, Loglikelihood, Report
from model_accuracy_eval.records.problem import DataSource
from model_accuracy_eval.report import exports, lm_eval_results, model_card
from model_accuracy_eval.report.exports import AskedProblem, ExportedRun, file_name
from model_accuracy_eval.report.model_card import HubDataset

etree: Any = pytest.importorskip("lxml.etree")  # sacrebleu brings it
HOSTILE = "a\x00\x0b\x1b[31m <b>&amp;]]> \"'\ud800\uffff\n]]>é"
JUNIT = """
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" elementFormDefault="qualified">
  <xs:complexType name="told"><xs:simpleContent><xs:extension base="xs:string">
    <xs:attribute name="message" type="xs:string"/><xs:attribute name="type" type="xs:string"/>
  </xs:extension></xs:simpleContent></xs:complexType>
  <xs:element name="testsuites"><xs:complexType><xs:sequence>
    <xs:element name="testsuite" maxOccurs="unbounded"><xs:complexType><xs:sequence>
      <xs:element name="properties" minOccurs="0"><xs:complexType><xs:sequence>
        <xs:element name="property" minOccurs="0" maxOccurs="unbounded"><xs:complexType>
          <xs:attribute name="name" type="xs:string" use="required"/>
          <xs:attribute name="value" type="xs:string" use="required"/>
        </xs:complexType></xs:element>
      </xs:sequence></xs:complexType></xs:element>
      <xs:element name="testcase" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence>
        <xs:choice minOccurs="0"><xs:element name="skipped" type="told"/><xs:element name="error" type="told"/>
          <xs:element name="failure" type="told"/></xs:choice>
        <xs:element name="system-out" type="xs:string" minOccurs="0"/>
      </xs:sequence>
        <xs:attribute name="name" type="xs:string" use="required"/>
        <xs:attribute name="classname" type="xs:string" use="required"/>
        <xs:attribute name="time" type="xs:decimal"/>
      </xs:complexType></xs:element>
    </xs:sequence>
      <xs:attribute name="name" type="xs:string" use="required"/>
      <xs:attribute name="tests" type="xs:int" use="required"/>
      <xs:attribute name="failures" type="xs:int" use="required"/>
      <xs:attribute name="errors" type="xs:int" use="required"/>
      <xs:attribute name="skipped" type="xs:int"/>
      <xs:attribute name="time" type="xs:decimal"/>
      <xs:attribute name="timestamp" type="xs:dateTime"/>
    </xs:complexType></xs:element>
  </xs:sequence>
    <xs:attribute name="name" type="xs:string"/><xs:attribute name="tests" type="xs:int"/>
    <xs:attribute name="failures" type="xs:int"/><xs:attribute name="errors" type="xs:int"/>
    <xs:attribute name="time" type="xs:decimal"/>
  </xs:complexType></xs:element>
</xs:schema>"""
"""What the schemas of Jenkins, Maven and GitLab agree on."""


def exported(report: Report, reply: Callable[[int, int], Attempt | None] | None = None) -> ExportedRun:
    def asked(result: Any) -> list[AskedProblem]:
        answer = reply or (lambda problem, index: Attempt(problem=problem, index=index, text=f"{problem}/{index}"))
        return [
            AskedProblem(problem, f"What is {problem.problem}?", problem.references[0],
                         [answer(problem.problem, index) for index in range(problem.n)])
            for problem in result.problem_results
        ]  # fmt: skip

    return ExportedRun(report, asked)


def whole(**settings: Any) -> Report:
    """Two problems of five samples, no lost ones, and the gates of `many`."""
    report = many()
    result = replace(
        report.dataset_results[0],
        rows=(row("accuracy (5 runs average)", 70.0, interval=Interval(low=40, high=90)), row("pass@5", 100.0)),
        problem_results=(
            problem_result(0, ("right",) * 5, ("18",) * 5),
            problem_result(3, ("right", "right", "wrong", "wrong", "not found"), ("4", "4", "5", "5", None), "4"),
        ),
    )
    report = replace(
        report,
        dataset_results=(result,),
        plan=report.plan.with_settings(**settings),
        environment={"model-accuracy-eval": "0.1.0"},
    )
    return replace(report, outcome=replace(report.outcome, conclusion="complete"))


def suite(report: Report) -> Any:
    ((name, content),) = exports.junit(exported(report))
    assert name == "junit.xml"
    root = etree.fromstring(content)
    etree.XMLSchema(etree.fromstring(JUNIT)).assertValid(root)
    return root[0]


def test_junit_has_a_case_for_each_dataset_and_gate() -> None:
    """A failed gate fails, a dataset without a figure is an error; the counts are those of the cases."""
    cases = suite(many())
    found = {(case.get("classname"), case.get("name")): [child.tag for child in case] for case in cases[1:]}
    assert found == {
        ("demo_gsm8k", "figures"): ["system-out"],
        ("gsm8k", "figures"): ["error", "system-out"],
        ("demo_gsm8k", "avg@5 >= 60"): ["failure"],
        ("demo_gsm8k", "pass@5 > 20"): ["system-out"],
    }
    assert [cases.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["4", "1", "1", "0"]
    assert "1 rejected" in cases[1][0].text


@pytest.mark.parametrize(("setting", "tag"), [("block", "failure"), ("fail", "failure"), ("pass", "skipped")])
def test_an_undecided_gate_is_never_green(setting: str, tag: str) -> None:
    """Where the settings let it pass, it was skipped."""
    report = whole(on_undecided=setting)
    gates = tuple(replace(gate, decision="undecided") for gate in report.gates)
    cases = suite(replace(report, gates=gates))
    assert {case[0].tag for case in cases[2:]} == {tag}


@pytest.mark.parametrize("conclusion", ["broken", "stopped"])
def test_a_run_without_a_verdict_is_red(conclusion: Any) -> None:
    """Though no gate failed."""
    report = whole()
    outcome = replace(report.outcome, conclusion=conclusion, sentence=HOSTILE, detail=HOSTILE)
    cases = suite(replace(report, outcome=outcome, gates=()))
    assert cases[-1][0].get("type") == conclusion
    assert cases.get("errors") == "1"


def test_hostile_texts_are_texts_in_every_form() -> None:
    """Control characters and half characters have no place in XML; the rest is there as it was."""
    report = whole()
    result = replace(report.dataset_results[0], dataset=HOSTILE, notes=(HOSTILE,))
    report = replace(report, dataset_results=(result,), environment={HOSTILE: HOSTILE})
    cases = suite(report)
    assert "<b>&amp;]]> \"'" in cases[1].get("classname")
    assert cases[1].get("classname").count("\ufffd") == 5
    told = HOSTILE.replace("\ud800", "")  # what is read from JSON holds no half characters
    result = replace(result, dataset=told, notes=(told,))
    report = replace(report, dataset_results=(result,), environment={told: told})
    run = exported(report, lambda problem, index: Attempt(problem=problem, index=index, text=told))
    for name, content in [
        *exports.benchmark_entries(run),
        *lm_eval_results.files(run),
        *model_card.model_card(run, {}),
    ]:
        assert ".." not in name
        assert content
    assert file_name("../../etc/x y") == "_.._etc_x_y"


def test_the_card_is_read_by_the_hubs_own_library() -> None:
    """Both forms; the leaderboard's entry names what was measured."""
    hub = {"demo_gsm8k": HubDataset("openai/gsm8k", "main")}
    written = dict(model_card.model_card(exported(whole()), hub))
    assert list(written) == [".eval_results/demo_gsm8k.yaml", "model-index.yaml"]
    name, results = model_index_to_eval_results(yaml.safe_load(written["model-index.yaml"])["model-index"])
    told = [(each.dataset_type, each.dataset_config, each.metric_type, each.metric_value) for each in results]
    assert (name, told) == (
        "weights",
        [("openai/gsm8k", "main", "accuracy", 70.0), ("openai/gsm8k", "main", "pass@5", 100.0)],
    )
    (entry,) = yaml.safe_load(written[".eval_results/demo_gsm8k.yaml"])
    assert entry["dataset"] == {"id": "openai/gsm8k", "task_id": "main"}
    assert (entry["value"], entry["date"]) == (70.0, "2026-03-26")
    assert "n=5, 95 % interval 40.00 .. 90.00, version 0ba9da" in entry["notes"]
    huggingface_hub = pytest.importorskip("huggingface_hub", minversion="1.3")
    (read,) = huggingface_hub.parse_eval_result_entries([entry])
    assert (read.dataset_id, read.task_id, read.value) == ("openai/gsm8k", "main", 70.0)


def test_a_dataset_of_a_hub_names_its_place_itself() -> None:
    """Others stand in the card alone, without an entry for a leaderboard."""
    report = whole()
    split = DataSource(hf="owner/name", config="sub", revision="abc")
    task = replace(find("demo_gsm8k"), data=DataFile(name="x", source=split))
    plan = replace(report.plan, tasks=(task,))
    written = dict(model_card.model_card(exported(replace(report, plan=plan)), {}))
    (entry,) = yaml.safe_load(written[".eval_results/demo_gsm8k.yaml"])
    assert entry["dataset"] == {"id": "owner/name", "task_id": "sub", "revision": "abc"}
    assert list(dict(model_card.model_card(exported(report), {}))) == ["model-index.yaml"]


def test_a_part_of_a_benchmark_is_no_figure_of_it() -> None:
    """Limits, samples, shards, lost samples, broken runs: each with its reason."""
    broken = replace(whole(), outcome=replace(whole().outcome, conclusion="broken"))
    lost = replace(many(), outcome=whole().outcome)
    (result,) = whole().dataset_results
    tiny = replace(result, dataset="gsm8k@tiny", rows=tuple(replace(row, of=1319) for row in result.rows))
    for report, words in [
        (replace(whole(), dataset_results=(tiny,)), "gsm8k@tiny is a sample of 1,319 problems"),
        (whole(limit=20), "--limit 20"),
        (broken, "the run was broken"),
        (lost, "2 samples of demo_gsm8k"),
    ]:
        with pytest.raises(BadValue, match=words):
            list(model_card.model_card(exported(report), {}))


@pytest.mark.parametrize("estimated", [True, False])
def test_estimates_of_a_part_are_no_figures_of_the_whole(estimated: bool) -> None:
    """A run that stopped when it was decided; where the rest could not change the figures, they are exact."""
    report = whole()
    part = AskedPart(read=210, planned=1000, problems=200, left_inside=False, estimated=estimated)
    result = replace(report.dataset_results[0], part=part)
    run = exported(replace(report, dataset_results=(result,)))
    for form in (lm_eval_results.files, exports.benchmark_entries, lambda run: model_card.model_card(run, {})):
        if estimated:
            with pytest.raises(BadValue, match="no further than its gates needed .21 % of the requests."):
                list(form(run))
        else:
            assert list(form(run))
    assert list(exports.junit(run))


def test_lm_eval_gets_shares_and_every_reply() -> None:
    """0..1 there; a sample without a reply is an empty one and counts."""
    run = exported(
        whole(), lambda problem, index: None if index == 4 else Attempt(problem=problem, index=index, text="x")
    )
    (results_name, results), (samples_name, samples) = lm_eval_results.files(run)
    assert results_name == "__weights/results_2026-03-26T15-15-20.json"
    assert samples_name == "__weights/samples_demo_gsm8k_2026-03-26T15-15-20.jsonl"
    tree = json.loads(results)
    assert tree["results"]["demo_gsm8k"]["accuracy,none"] == 0.7
    assert tree["results"]["demo_gsm8k"]["pass@5,none"] == 1.0
    assert tree["n-samples"]["demo_gsm8k"] == {"original": 2, "effective": 2}
    first, second = map(json.loads, samples.splitlines())
    assert first["resps"] == [["x", "x", "x", "x", ""]]
    assert (second["doc_id"], second["target"], second["accuracy"]) == (3, "4", 0.4)
    assert second["filtered_resps"] == ["4", "4", "5", "5", ""]


def test_lm_eval_gets_no_time_where_none_is_known() -> None:
    """A run's file that somebody edited; the moments of a run have parts of seconds."""
    report = replace(whole(), started="2026-03-26T15:15:20.250000+0000", finished="yesterday")
    (_, results), _ = lm_eval_results.files(exported(report))
    tree = json.loads(results)
    assert (tree["start_time"], tree["end_time"]) == (1774538120.25, None)


def test_a_benchmark_chart_gets_entries_by_what_is_better() -> None:
    """Name, unit and number; figures of which less is better are in a file of their own."""
    report = whole()
    (result,) = report.dataset_results
    lower = replace(row("perplexity", 12.5), higher_is_better=False, share=False)
    report = replace(report, dataset_results=(replace(result, rows=(*result.rows, lower)),))
    (bigger_name, bigger), (smaller_name, smaller) = exports.benchmark_entries(exported(report))
    assert (bigger_name, smaller_name) == ("custom-bigger-is-better.json", "custom-smaller-is-better.json")
    entries = json.loads(bigger)
    assert [(each["unit"], each["value"]) for each in entries] == [("%", 70.0), ("%", 100.0)]
    assert entries[0]["name"] == "demo_gsm8k accuracy (5 runs average) [vllm-api-stream-chat, 0ba9da]"
    assert [(each["unit"], each["value"]) for each in json.loads(smaller)] == [("perplexity", 12.5)]
    assert [name for name, _ in exports.benchmark_entries(exported(whole()))] == ["custom-bigger-is-better.json"]


@pytest.mark.parametrize("text", ["gsm8k", "gsm8k=openai", "=openai/gsm8k", "gsm8k=a/b/c", "gsm8k=/x"])
def test_places_of_leaderboards_are_checked(text: str) -> None:
    """With an example of a right one."""
    with pytest.raises(BadValue, match="such as gsm8k=openai/gsm8k:main"):
        model_card.parse_hub_datasets([text])


def test_lm_eval_gets_log_likelihoods_as_pairs() -> None:
    """One request for each option."""
    pair = (Loglikelihood(logprob=-1.5, greedy=True), Loglikelihood(logprob=-2.5, greedy=False))
    run = exported(whole(), lambda problem, index: Attempt(problem=problem, index=index, text="", loglikelihoods=pair))
    _, (_, samples) = lm_eval_results.files(run)
    first = json.loads(samples.splitlines()[0])
    assert first["resps"] == [[[-1.5, True]], [[-2.5, False]]]
    assert first["filtered_resps"] == [[-1.5, True], [-2.5, False]]
