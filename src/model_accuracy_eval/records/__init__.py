"""The records that flow through a run. Frozen, keyword-only, ready for JSON; they know no file, socket or clock.

inputs → RunPlan → PreflightResult → Service → Attempts → Verdicts → ProblemResults → Report → Outcome

Programs that models wrote are described in `code`, what is said to GitHub in `github`.
"""

from model_accuracy_eval.records.base import JSONObject as JSONObject
from model_accuracy_eval.records.base import Record as Record
from model_accuracy_eval.records.exchange import Attempt as Attempt
from model_accuracy_eval.records.exchange import Choice as Choice
from model_accuracy_eval.records.exchange import Fault as Fault
from model_accuracy_eval.records.exchange import FaultKind as FaultKind
from model_accuracy_eval.records.exchange import Loglikelihood as Loglikelihood
from model_accuracy_eval.records.exchange import LoglikelihoodRequest as LoglikelihoodRequest
from model_accuracy_eval.records.exchange import Opinion as Opinion
from model_accuracy_eval.records.exchange import Question as Question
from model_accuracy_eval.records.exchange import Reply as Reply
from model_accuracy_eval.records.exchange import Request as Request
from model_accuracy_eval.records.exchange import RequestMethod as RequestMethod
from model_accuracy_eval.records.exchange import Service as Service
from model_accuracy_eval.records.exchange import Timings as Timings
from model_accuracy_eval.records.exchange import ToolCall as ToolCall
from model_accuracy_eval.records.exchange import ToolName as ToolName
from model_accuracy_eval.records.exchange import ToolRound as ToolRound
from model_accuracy_eval.records.exchange import ToolUse as ToolUse
from model_accuracy_eval.records.exchange import Usage as Usage
from model_accuracy_eval.records.plan import ClientLimits as ClientLimits
from model_accuracy_eval.records.plan import Gate as Gate
from model_accuracy_eval.records.plan import PreflightResult as PreflightResult
from model_accuracy_eval.records.plan import RunPlan as RunPlan
from model_accuracy_eval.records.plan import Sampling as Sampling
from model_accuracy_eval.records.plan import Shard as Shard
from model_accuracy_eval.records.plan import WeightsInfo as WeightsInfo
from model_accuracy_eval.records.problem import Candidate as Candidate
from model_accuracy_eval.records.problem import DataFile as DataFile
from model_accuracy_eval.records.problem import Listing as Listing
from model_accuracy_eval.records.problem import Message as Message
from model_accuracy_eval.records.problem import Problem as Problem
from model_accuracy_eval.records.problem import Recipe as Recipe
from model_accuracy_eval.records.problem import Slice as Slice
from model_accuracy_eval.records.problem import Step as Step
from model_accuracy_eval.records.problem import Transform as Transform
from model_accuracy_eval.records.report import Comparison as Comparison
from model_accuracy_eval.records.report import Conclusion as Conclusion
from model_accuracy_eval.records.report import DatasetChange as DatasetChange
from model_accuracy_eval.records.report import Decision as Decision
from model_accuracy_eval.records.report import Difference as Difference
from model_accuracy_eval.records.report import DoctorFinding as DoctorFinding
from model_accuracy_eval.records.report import Flips as Flips
from model_accuracy_eval.records.report import GateResult as GateResult
from model_accuracy_eval.records.report import Outcome as Outcome
from model_accuracy_eval.records.report import Report as Report
from model_accuracy_eval.records.scores import Counts as Counts
from model_accuracy_eval.records.scores import DatasetResult as DatasetResult
from model_accuracy_eval.records.scores import ExecutionSummary as ExecutionSummary
from model_accuracy_eval.records.scores import FigureBounds as FigureBounds
from model_accuracy_eval.records.scores import Interval as Interval
from model_accuracy_eval.records.scores import ProblemResult as ProblemResult
from model_accuracy_eval.records.scores import Speed as Speed
from model_accuracy_eval.records.scores import Spread as Spread
from model_accuracy_eval.records.scores import SummaryRow as SummaryRow
from model_accuracy_eval.records.scores import Verdict as Verdict
from model_accuracy_eval.records.scores import VerdictReason as VerdictReason
from model_accuracy_eval.records.settings import LoglikelihoodSetting as LoglikelihoodSetting
from model_accuracy_eval.records.settings import Settings as Settings
from model_accuracy_eval.records.task import WHOLE_ROW as WHOLE_ROW
from model_accuracy_eval.records.task import FewShot as FewShot
from model_accuracy_eval.records.task import Grouping as Grouping
from model_accuracy_eval.records.task import GroupMean as GroupMean
from model_accuracy_eval.records.task import MetricUse as MetricUse
from model_accuracy_eval.records.task import Pipeline as Pipeline
from model_accuracy_eval.records.task import PreparedDataset as PreparedDataset
from model_accuracy_eval.records.task import Prompt as Prompt
from model_accuracy_eval.records.task import RequestKind as RequestKind
from model_accuracy_eval.records.task import TaskGroup as TaskGroup
from model_accuracy_eval.records.task import TaskSpec as TaskSpec
