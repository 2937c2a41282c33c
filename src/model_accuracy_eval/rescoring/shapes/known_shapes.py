"""The table of shapes."""

from model_accuracy_eval.rescoring.shapes import (
    code_files,
    evalscope_files,
    inspect_logs,
    lm_eval_samples,
    opencompass_files,
)
from model_accuracy_eval.rescoring.shapes.shape import Shape

KNOWN_SHAPES: tuple[Shape, ...] = (
    *opencompass_files.SHAPES,
    *lm_eval_samples.SHAPES,
    *inspect_logs.SHAPES,
    *evalscope_files.SHAPES,
    *code_files.SHAPES,
)
