"""Reports with fixed figures, as the tests of every format render them."""

from msgspec.structs import replace

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.records import (
    Counts,
    DatasetResult,
    FigureBounds,
    Gate,
    GateResult,
    Interval,
    Message,
    Outcome,
    PreparedDataset,
    Problem,
    ProblemResult,
    Report,
    RunPlan,
    Sampling,
    Service,
    Settings,
    Speed,
    Spread,
    SummaryRow,
    VerdictReason,
)

FIGURES = (("accuracy (5 runs average)", 5.6), ("avg@5", 5.6), ("pass@5", 24.0), ("cons@5", 0.0))
"""The sample table of the mission."""


BOUNDS = {"pass@5": FigureBounds(low=24.0, high=74.0, samples=2), "cons@5": FigureBounds(low=0.0, high=50.0, samples=2)}


STACK = {"engine": "vLLM 0.11.0", "chips": "2 × 910B3", "torch": "2.5.1", "serves with": "vllm serve /weights"}


def row(
    metric: str,
    value: float | None,
    dataset: str = "demo_gsm8k",
    interval: Interval | None = None,
    bounds: FigureBounds | None = None,
) -> SummaryRow:
    return SummaryRow(dataset=dataset, version="0ba9da", metric=metric, value=value, interval=interval, bounds=bounds)


def problem_result(
    problem: int, why: tuple[VerdictReason, ...], answers: tuple[str | None, ...], gold: str = "18"
) -> ProblemResult:
    return ProblemResult(
        problem=problem,
        n=len(why),
        c=why.count("right"),
        values=tuple(float(each == "right") for each in why),
        answers=answers,
        why=why,
        references=(gold,),
    )


def report(dataset_results: tuple[DatasetResult, ...], *, n: int = 5, label: str = "vllm-api-stream-chat") -> Report:
    plan = RunPlan(
        run_id="ee9480acbbac4d4aa190a124d5ddf39c",
        stamp="20260326_151326",
        settings=Settings(label=label),
        tasks=(find("demo_gsm8k"),),
        sampling=Sampling(n=n),
        k=(n,),
    )
    outcome = Outcome(
        conclusion="failed",
        exit_code=1,
        stage="score",
        sentence="1 of 2 gates failed.",
        folder="/runs/ee9480acbbac4d4aa190a124d5ddf39c",
    )
    gates = (
        GateResult(
            gate=Gate(dataset="demo_gsm8k", metric="avg@5", comparison=">=", threshold=60),
            value=5.6,
            interval=Interval(low=1.25, high=18.5),
            decision="failed",
            sentence="demo_gsm8k: avg@5 >= 60 failed: avg@5 is 5.60.",
        ),
        GateResult(
            gate=Gate(dataset="demo_gsm8k", metric="pass@5", comparison=">", threshold=20),
            value=24.0,
            decision="passed",
            sentence="demo_gsm8k: pass@5 > 20 passed: pass@5 is 24.00.",
        ),
    )
    return Report(
        plan=plan,
        outcome=outcome,
        dataset_results=dataset_results,
        gates=gates,
        service=Service(base_url="http://127.0.0.1:8000", model="/weights", stack=STACK),
        seconds={"deploy": 12.5, "infer": 100.25},
        started="2026-03-26T15:13:26+0800",
        finished="2026-03-26T15:15:20+0800",
        environment={"python": "3.11.7"},
    )


def many() -> Report:
    """n = 5: one dataset with figures and losses, one of which nothing was marked."""
    full = DatasetResult(
        dataset="demo_gsm8k",
        version="0ba9da",
        rows=tuple(
            row(metric, value, interval=Interval(low=1.25, high=18.5), bounds=BOUNDS.get(metric))
            for metric, value in FIGURES
        ),
        problem_results=(
            problem_result(0, ("right", "wrong", "not found", "empty", "right"), ("18", "17", None, None, "18.0")),
            problem_result(3, ("failed", "rejected", "wrong", "wrong", "wrong"), (None, None, "a\nb", '"', "<b>"), "4"),
        ),
        counts=Counts(planned=10, answered=8, rejected=1, failed=1, cut=2, empty=1, not_found=1),
        notes=("1 of 10 samples failed after all retries and count as not correct.",),
        speed=Speed(
            e2e=Spread(mean=1.5, p50=1.25, p90=2.0, p99=2.5, maximum=3.0), prompt_tokens=120, completion_tokens=640
        ),
    )
    blank = DatasetResult(
        dataset="gsm8k", version="a1b2c3", rows=(), problem_results=(), counts=Counts(planned=5, missing=5)
    )
    return replace(report((full, blank)), datasets=datasets())


def single() -> Report:
    """n = 1, two datasets and a label of the user's."""
    arithmetic = DatasetResult(
        dataset="demo_arithmetic",
        version="fedcba",
        rows=(row("accuracy", 200 / 3, "demo_arithmetic"),),
        problem_results=(problem_result(0, ("right",), ("85",), "85"),),
        counts=Counts(planned=3, answered=3),
    )
    awkward = DatasetResult(
        dataset='big, "odd" | sums',
        version="0ba9da",
        rows=(row("accuracy", None, 'big, "odd" | sums'),),
        problem_results=(),
        counts=Counts(),
    )
    whole = report((arithmetic, awkward), n=1, label="my-model@1.0")
    complete = replace(whole.outcome, conclusion="complete", exit_code=0, sentence="Done.", detail="Two datasets.")
    return replace(whole, outcome=complete, gates=())


def datasets() -> tuple[PreparedDataset, ...]:
    """The datasets of `many`."""
    problem = Problem(id=0, messages=(Message(role="user", content="How many?"),), references=("18",))
    return tuple(
        PreparedDataset(task=find(name), problems=(problem,), version=version, questions=f"{version}ffff")
        for name, version in (("demo_gsm8k", "0ba9da"), ("gsm8k", "a1b2c3"))
    )
