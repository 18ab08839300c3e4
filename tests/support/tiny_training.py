"""A training of a model so small that it takes seconds."""

from dataclasses import replace

from attention import ModelConfig, StackConfig
from attention.tasks import get_task
from attention.training import TrainingSettings


def tiny(num_steps: int, **changes) -> TrainingSettings:
    task = get_task("reverse")
    sizes = {"src_vocab_size": len(task.src_vocab), "tgt_vocab_size": len(task.tgt_vocab)}
    stack = {"d_model": 16, "num_layers": 1}
    encoder, decoder = StackConfig(num_heads=2, **stack), StackConfig(num_heads=4, **stack)
    config = ModelConfig(encoder=encoder, decoder=decoder, **sizes)
    return replace(TrainingSettings("reverse", config, num_steps, batch_size=7, warmup=5), **changes)
