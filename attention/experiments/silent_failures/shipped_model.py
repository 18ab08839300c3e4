"""What the demonstrations run on: the shipped reversal model, words, and how many letters it gets right.

Reversal, because everybody can check the answer, and because the shipped model makes no mistake when nothing is wrong.
"""

from collections.abc import Sequence
from typing import NamedTuple

from jaxtyping import Bool, Float
from torch import Tensor

from attention.checkpoints import load
from attention.config import ModelConfig, StackConfig
from attention.model import EncoderDecoder
from attention.tasks import Batch, Task, get_task, make_batch
from attention.training.accuracy import token_accuracy
from attention.training.stored import CheckpointError

TASK = "reverse"
NUM_HELD_OUT = 256  # strings that accuracy is measured on: enough for two digits, few enough to run at once
WIDTH, ENCODER_HEADS, DECODER_HEADS = 64, 4, 8


class ShippedModel(NamedTuple):
    """A trained model that is the caller's own (nobody else sees a change made to it), and its task."""

    model: EncoderDecoder
    task: Task


def config_for(task: Task, decoder_heads: int = DECODER_HEADS) -> ModelConfig:
    """The shipped model's configuration, or its like with another head count at the same total width."""
    return ModelConfig(
        encoder=StackConfig(WIDTH, ENCODER_HEADS),
        decoder=StackConfig(WIDTH, decoder_heads),
        src_vocab_size=len(task.src_vocab),
        tgt_vocab_size=len(task.tgt_vocab),
        bias=True,
    )


def shipped_model(task_name: str = TASK) -> ShippedModel:
    """The shipped model of 4 encoder and 8 decoder heads.

    Raises:
        CheckpointError: its file is missing or damaged.
    """
    task = get_task(task_name)
    found = load(task_name, config_for(task))
    if found is None:
        raise CheckpointError(
            f"no {task_name} model of {ENCODER_HEADS} encoder and {DECODER_HEADS} decoder heads ships"
        )
    return ShippedModel(found[0], task)


def batch_of(task: Task, words: Sequence[str]) -> Batch:
    """These words and their reversals, padded to one length."""
    sources = [task.read(word) for word in words]
    return make_batch(task, [(source, source[::-1]) for source in sources])


def held_out(task: Task) -> Batch:
    """Strings the model was never trained on, 2 to 12 letters long."""
    return make_batch(task, [(example.source, example.targets[0]) for example in task.held_out(NUM_HELD_OUT)])


def accuracy(model: EncoderDecoder, batch: Batch) -> float:
    """Token accuracy of a model as it is."""
    return token_accuracy(model(batch.src_ids, batch.tgt_in, need_maps=False).logits, batch.tgt_out)


def mean_share_on(
    maps: Sequence[Float[Tensor, "batch heads q_len kv_len"]],
    target: Bool[Tensor, "#batch #heads #q_len #kv_len"],
    rows: Bool[Tensor, "batch q_len"],
) -> float:
    """Share of attention that falls on the cells in `target`, mean over the layers' maps.

    Rows that are False (padding) and rows without any key have no attention to share out.
    """
    counted = [weights * rows[:, None, :, None] for weights in maps]
    return sum(float((weights * target).sum() / weights.sum()) for weights in counted) / len(maps)
