"""Training in exact pieces (`steps`), how good the result is (`accuracy`, `evaluation`), and its file (`stored`)."""

from attention.training.steps import StepReport, TrainingSettings, TrainingState, advance, start, train_step

__all__ = ["StepReport", "TrainingSettings", "TrainingState", "advance", "start", "train_step"]
