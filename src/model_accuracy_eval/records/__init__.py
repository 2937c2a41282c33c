"""The nouns that flow through a run. Frozen, keyword-only, JSON-ready; they know no file, socket or clock.

inputs → RunPlan → clearance → Service → Attempts → Verdicts → Tallies → Report → Outcome
"""

from model_accuracy_eval.records.base import JSONObject, Record
from model_accuracy_eval.records.change import Change, Comparison, Difference, Flips
from model_accuracy_eval.records.data import DataFile, Listing, Recipe, Slice, Step, Transform
from model_accuracy_eval.records.exam import Exam
from model_accuracy_eval.records.marks import Counts, Interval, Ran, Row, Sheet, Speed, Spread, Tally, Verdict, Why
from model_accuracy_eval.records.plan import Clearance, Gate, Patience, Rung, RunPlan, Sampling, Shard, Stock, Weigh
from model_accuracy_eval.records.problem import Candidate, Message, Problem
from model_accuracy_eval.records.reply import (
    Attempt,
    Ballot,
    Choice,
    Fault,
    FaultKind,
    Likelihood,
    Reply,
    Request,
    Service,
    Timings,
    Usage,
)
from model_accuracy_eval.records.report import Conclusion, Decision, GateResult, Outcome, Report
from model_accuracy_eval.records.task import (
    WHOLE_ROW,
    FewShot,
    Grouping,
    GroupMean,
    Kind,
    Measure,
    Pipeline,
    Prompt,
    TaskGroup,
    TaskSpec,
)
from model_accuracy_eval.records.tools import ToolCall, ToolName, ToolRound, ToolUse

__all__ = [
    "WHOLE_ROW",
    "Attempt",
    "Ballot",
    "Candidate",
    "Change",
    "Choice",
    "Clearance",
    "Comparison",
    "Conclusion",
    "Counts",
    "DataFile",
    "Decision",
    "Difference",
    "Exam",
    "Fault",
    "FaultKind",
    "FewShot",
    "Flips",
    "Gate",
    "GateResult",
    "GroupMean",
    "Grouping",
    "Interval",
    "JSONObject",
    "Kind",
    "Likelihood",
    "Listing",
    "Measure",
    "Message",
    "Outcome",
    "Patience",
    "Pipeline",
    "Problem",
    "Prompt",
    "Ran",
    "Recipe",
    "Record",
    "Reply",
    "Report",
    "Request",
    "Row",
    "RunPlan",
    "Rung",
    "Sampling",
    "Service",
    "Shard",
    "Sheet",
    "Slice",
    "Speed",
    "Spread",
    "Step",
    "Stock",
    "Tally",
    "TaskGroup",
    "TaskSpec",
    "Timings",
    "ToolCall",
    "ToolName",
    "ToolRound",
    "ToolUse",
    "Transform",
    "Usage",
    "Verdict",
    "Weigh",
    "Why",
]
