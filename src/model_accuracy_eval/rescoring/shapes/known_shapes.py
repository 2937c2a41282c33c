"""The table of shapes."""

from model_accuracy_eval.rescoring.shapes import (
    code_files,
    evalscope_files,
    inspect_logs,
    lm_eval_samples,
    maths_outputs,
    opencompass_files,
    published_outputs,
    service_outputs,
)
from model_accuracy_eval.rescoring.shapes.shape import Shape

KNOWN_SHAPES: tuple[Shape, ...] = (
    *opencompass_files.SHAPES,
    *lm_eval_samples.SHAPES,
    *inspect_logs.SHAPES,
    *evalscope_files.SHAPES,
    *code_files.SHAPES,
    *published_outputs.SHAPES,
    *maths_outputs.SHAPES,
    *service_outputs.SHAPES,
)
