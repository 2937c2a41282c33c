"""The records that flow through a run. Frozen, keyword-only, ready for JSON; they know no file, socket or clock.

inputs → RunPlan → PreparedDatasets → Service → Attempts → Verdicts → ProblemResults → Report → Outcome

Programs that models wrote are described in `code`.
"""

from model_accuracy_eval.records.base import *
from model_accuracy_eval.records.exchange import *
from model_accuracy_eval.records.plan import *
from model_accuracy_eval.records.problem import *
from model_accuracy_eval.records.report import *
from model_accuracy_eval.records.scores import *
from model_accuracy_eval.records.task import *
from model_accuracy_eval.settings import LoglikelihoodSetting as LoglikelihoodSetting
from model_accuracy_eval.settings import SamplingSetting as SamplingSetting
from model_accuracy_eval.settings import Settings as Settings
