"""Score, reduce, aggregate: pipelines of filters and metrics, as documented and as the harness computes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.scoring.judged_tasks import pipe, problem, rows, said, task, values

from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.records import Attempt, Candidate, Loglikelihood, MetricUse, Pipeline, Step
from model_accuracy_eval.scoring.figures.judging import check
from model_accuracy_eval.scoring.figures.reductions import reduction
from model_accuracy_eval.scoring.figures.scorecard import Scorecard, metric_names
from model_accuracy_eval.scoring.metrics.metric_table import pipelines


def test_l1_samples_are_reduced_before_problems_are_aggregated() -> None:
    """pass@1 of 2/3 and 0, pass@3 of 1 and 0: a third and a half."""
    measure = MetricUse(name="exact_match", reduction="pass@k", k=(1, 3))
    found = values(rows(task(pipe(measure)), [["a", "b", "a"], ["b", "b", "b"]], ["a", "a"]))
    assert found == pytest.approx({"pass@1(exact_match)": 100 / 3, "pass@3(exact_match)": 50})


def test_l2_figures_are_named_by_metric_and_pipeline() -> None:
    """The pipeline `none` goes without saying."""
    spec = task(pipe("exact_match"), pipe("exact_match", name="strict", filters=[Step(name="lowercase")]))
    assert values(rows(spec, [["A"]], ["a"])) == {"exact_match": 0, "exact_match,strict": 100}


def test_l4_what_is_asked_decides_where_nothing_is_said() -> None:
    """Texts are matched, options weighed, texts foreseen."""
    told = {kind: [measure.name for measure in pipelines(task(kind=kind))[0].metrics]
            for kind in ("generate", "choice", "target", "rolling")}  # fmt: skip
    assert told == {
        "generate": ["exact_match"],
        "choice": ["acc", "acc_norm"],
        "target": ["perplexity", "acc"],
        "rolling": ["word_perplexity", "byte_perplexity", "bits_per_byte", "perplexity"],
    }


def test_l5_explicit_metrics_replace_those_of_the_scorer() -> None:
    """Without them the scorer's looseness counts; with them it is lost."""
    scorer = Step(name="first_token")
    assert values(rows(task(scorer=scorer), [[" b "]], ["B"])) == {"exact_match": 100}
    assert values(rows(task(pipe("exact_match"), scorer=scorer), [[" b "]], ["B"])) == {"exact_match": 0}


def test_l6_every_pipeline_has_its_own_metrics_or_the_tasks() -> None:
    """Strict, flexible and inherited, over the same replies."""
    strict = Step(name="regex", args={"regex_pattern": r"The answer is (\d+)"})
    spec = task(
        pipe("exact_match", filters=[strict], name="strict"),
        pipe(
            MetricUse(name="exact_match", args={"ignore_case": True}), filters=[Step(name="take_first")], name="flex"
        ),
        pipe(
            MetricUse(name="exact_match", args={"ignore_punctuation": True}),
            filters=[Step(name="lowercase")],
            name="inherit",
        ),
    )  # fmt: skip
    found = values(rows(spec, [["The answer is 5"], ["YES"]], ["5", "yes."]))
    assert found == {"exact_match,strict": 50, "exact_match,flex": 0, "exact_match,inherit": 50}


def test_l14_to_l17_scorers_are_filters_and_metrics_under_one_name() -> None:
    """The first word, what a pattern finds, the letter of the choice."""

    def right(scorer: Step, reply: str, reference: str) -> float | None:
        return values(rows(task(scorer=scorer), [[reply]], [reference]))["exact_match"]

    first = Step(name="first_token")
    assert [right(first, " B.\n", "b"), right(first, "B then", "B"), right(first, "no B", "B")] == [100, 100, 0]
    hashes = Step(name="regex")
    assert [right(hashes, "x #### 42", "42"), right(hashes, "42", "42")] == [100, 0]
    letter = Step(name="choice_match")
    assert [right(letter, reply, "B") for reply in ("(B)", "B.", "The answer is B", "A")] == [100, 100, 100, 0]
    documented = Step(name="regex_extraction", args={"regex_pattern": r"The answer is (\w+)"})
    assert right(documented, "The answer is Paris", "paris") == 100


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=8), st.data())
def test_l18_reductions_by_every_name(samples: list[float], data: st.DataObject) -> None:
    """pass@k is the share of k-subsets with something right, under each of its spellings; more than n is refused."""
    k = data.draw(st.integers(1, len(samples)))
    spellings = [reduction(name)(samples, (k,)) for name in ("pass@k", "pass_at_k", f"pass@{k}", f"pass_at_{k}")]
    assert all(one == spellings[0] for one in spellings)
    assert list(spellings[0]) == [f"pass@{k}"]
    assert reduction("maj")(samples, ()) == reduction("majority")(samples, ())
    assert reduction("max")(samples, ())[""] == max(samples)
    assert reduction("cons@k")(samples, (k,)) == reduction(f"cons@{k}")(samples, ())
    with pytest.raises(BadValue, match=f"k = {len(samples) + 1} and n = {len(samples)}"):
        reduction("pass@k")(samples, (len(samples) + 1,))
    with pytest.raises(UnknownName, match="no reduction called 'meen'"):
        reduction("meen")


def test_l24_exact_match_of_weighed_options_is_another_metric() -> None:
    """Under the same name."""
    spec = task(pipe("exact_match"), kind="choice")
    (measure,) = pipelines(spec)[0].metrics
    assert (measure.name, measure.label) == ("exact_match_mc", "exact_match")


def test_mappings_become_several_figures() -> None:
    """Each with its own row; what is unknown of a sample counts as 0 of every part."""
    spec = task(pipe("squad"))
    found = values(rows(spec, [["big cat"], [""]], ["cat", "dog"]))
    assert found == {"em": 0, "f1": pytest.approx(100 / 3)}
    assert metric_names(spec, 1, (1,)) == ["em", "f1"]


def test_rows_carry_standard_errors_in_their_own_unit() -> None:
    """Of a share in points; of a perplexity as it is, without an interval."""
    found = rows(task(pipe("exact_match")), [["a"], ["b"], ["a"], ["a"], ["b"]], ["a"] * 5)
    assert found["exact_match"].stderr == pytest.approx(24.4949, abs=1e-4)
    card = Scorecard(task(pipe("perplexity"), kind="target"), 1, (1,))
    for number in range(3):
        card.judge(
            problem(number), [Attempt(problem=number, index=0, loglikelihoods=(Loglikelihood(logprob=-1.0 - number),))]
        )
    (row,) = card.rows("0ba9da")
    assert (row.value, row.stderr) == pytest.approx((7.389056, 3.899588), abs=1e-6)
    assert (row.interval, row.higher_is_better, row.share) == (None, False, False)


def test_corpus_figures_of_several_runs_are_averaged() -> None:
    """Each run is a corpus of its own, and problems are drawn with all their runs."""
    replies = [
        ["the cat is on the mat", "the cat sat on the mat"],
        ["a dog is in the park", "there is a dog in the park"],
    ]
    row = rows(task(pipe("bleu")), replies, ["the cat sat on the mat", "there is a dog in the park"])
    assert row["bleu (2 runs average)"].value == pytest.approx((30.101571 + 100) / 2, abs=1e-6)
    assert row["bleu (2 runs average)"].stderr == pytest.approx(1.273990 / 2, abs=1e-6)


def test_unknown_values_leave_corpus_figures_standing() -> None:
    """A text that was not weighed is left out of the perplexity, not counted as 0."""
    card = Scorecard(task(pipe("word_perplexity"), kind="rolling"), 1, (1,))
    asked = problem(0, candidates=(Candidate(context="", continuation="a b"),))
    card.judge(asked, [Attempt(problem=0, index=0, loglikelihoods=(Loglikelihood(logprob=-4),))])
    card.judge(asked, [None])
    (row,) = card.rows("0ba9da")
    assert row.value == pytest.approx(7.389056, abs=1e-6)


def test_texts_and_options_do_not_mix_in_a_pipeline() -> None:
    """A pipeline that wants both is refused before anything is asked; so are wrong arguments."""
    with pytest.raises(BadValue, match="mixes metrics of texts and of log-likelihoods: exact_match, acc"):
        check(pipe("exact_match", "acc"))
    with pytest.raises(BadValue, match="The metric 'exact_match' has no argument 'ignorecase'; it takes regexes"):
        check(pipe(MetricUse(name="exact_match", args={"ignorecase": True})))
    with pytest.raises(UnknownName, match="no aggregation called 'f2'"):
        check(pipe(MetricUse(name="exact_match", aggregation="f2")))
    with pytest.raises(UnknownName, match="no reduction called 'pass'"):
        check(pipe(MetricUse(name="exact_match", reduction="pass")))
    with pytest.raises(BadValue, match="The scorer 'regex' has no argument 'pattern'"):
        pipelines(task(scorer=Step(name="regex", args={"pattern": "x"})))


def test_more_samples_than_there_are_is_refused_when_the_names_are_made() -> None:
    """Before a run, because that is when gates look for names."""
    with pytest.raises(BadValue, match="k = 5 and n = 2"):
        metric_names(task(pipe(MetricUse(name="exact_match", reduction="pass@k", k=(5,)))), 2, (2,))
    with pytest.raises(BadValue, match="takes 3 samples of every problem, but there are 2"):
        metric_names(task(pipe("exact_match", filters=[Step(name="take_first_k", args={"k": 3})])), 2, (2,))


def test_a_sample_is_judged_alone_even_where_the_pipeline_chooses() -> None:
    """The figure is the majority's, the verdicts are the samples' own."""
    vote = Pipeline(filters=(Step(name="majority_vote"),), metrics=(MetricUse(name="exact_match"),))
    problem_result = Scorecard(task(vote), 3, (3,)).judge(problem(0), said("a", "a", "b"))
    assert problem_result.why == ("right", "right", "wrong")
    assert problem_result.figures == {"exact_match": 100.0}
