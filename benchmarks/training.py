"""How fast a model learns, side by side with four others of the same size, in one run on one thread.

    python -m benchmarks.training [--tasks reverse spelling] [--seed 0] [--max-steps 2000]

    this project      its model, and the recipe of the page's button (`TrainingSettings.quick`)
    our recipe        PyTorch's own `nn.Transformer`, pre-norm, with this project's optimisers, schedule and clipping
    nn.Transformer    the same, with the recipe that tutorials give it: Adam, 1e-3
    x-transformers    with the same Adam
    BART              Hugging Face's, with the same Adam

All are 64 wide, with 2 + 2 layers, 8 heads and feed-forward layers of 256. They take turns, a block of steps at a time,
so that all see the same machine; seconds are those of the processor, which a busy machine changes less than those of
the clock. After each block (not counted) each is scored on validation examples, and it stops once the share of whole
answers that are right reaches the task's mark. The size of a batch belongs to the recipe: those with Adam take 64
examples, the other two what this project's button takes. How long a step takes is compared apart from that, with 64
examples for all.
"""

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention import ModelConfig, StackConfig
from attention.config import PAD
from attention.model import sinusoids
from attention.tasks import Batch, Example, Task, get_task, make_batch
from attention.training import TrainingSettings, advance, start
from attention.training.steps import make_optimisers, set_rates, update

WIDTH, HEADS, LAYERS, FFN = 64, 8, 2, 256
MARKS = {"reverse": 0.95, "spelling": 0.45}
NUM_EXAMPLES = 300
BLOCK = 20  # steps between two scores
BATCH = 64  # examples in a step with Adam, and of all where steps are timed
TIMED_BLOCKS = 9
ADAM_RATE = 1e-3


@dataclass
class Learner:
    """One of the five. `learn(number)` takes so many further steps; `logits` are its predictions as it is now."""

    name: str
    learn: Callable[[int], None]
    logits: Callable[[Batch], Tensor]
    max_steps: int
    steps: int = 0
    reached: bool = False
    score: float = 0.0
    seconds: list[float] = field(default_factory=list)  # of each block


class Plain(nn.Module):
    """`nn.Transformer` with what it leaves to others: embeddings, positions, the way to logits."""

    def __init__(self, task: Task) -> None:
        super().__init__()
        self.src = nn.Embedding(len(task.src_vocab), WIDTH)
        self.tgt = nn.Embedding(len(task.tgt_vocab), WIDTH)
        sizes = {"dim_feedforward": FFN, "dropout": 0.0, "batch_first": True, "norm_first": True}
        self.body = nn.Transformer(WIDTH, HEADS, LAYERS, LAYERS, activation="gelu", **sizes)
        self.out = nn.Linear(WIDTH, len(task.tgt_vocab))
        self.register_buffer("positions", sinusoids(64, WIDTH).float())

    def forward(self, src_ids: Tensor, tgt_in: Tensor) -> Tensor:
        length = tgt_in.shape[1]
        forbidden = torch.ones(length, length, dtype=torch.bool).triu(1)  # here True means "may not attend"
        padding = src_ids == PAD
        hidden = self.body(
            self.src(src_ids) + self.positions[: src_ids.shape[1]],
            self.tgt(tgt_in) + self.positions[:length],
            tgt_mask=forbidden,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )
        return self.out(hidden)


def our_settings(task: Task, seed: int, **changes: int) -> TrainingSettings:
    stack = StackConfig(WIDTH, HEADS, num_layers=LAYERS)
    sizes = {"src_vocab_size": len(task.src_vocab), "tgt_vocab_size": len(task.tgt_vocab)}
    return replace(TrainingSettings.quick(task, ModelConfig(stack, stack, bias=True, **sizes), seed), **changes)


def this_project(settings: TrainingSettings) -> Learner:
    """Through `advance`, as the app does it: what a chunk costs besides its steps is counted too."""
    state = start(settings)

    def learn(number: int) -> None:
        nonlocal state
        state = advance(state, number)

    def logits(batch: Batch) -> Tensor:
        return state.model()(batch.src_ids, batch.tgt_in, need_maps=False).logits

    return Learner("this project", learn, logits, settings.num_steps)


def our_recipe(task: Task, settings: TrainingSettings) -> Learner:
    """All that is ours but the model."""
    torch.manual_seed(settings.seed)
    model = Plain(task).train()
    optimisers = make_optimisers(model, settings)
    generator = torch.Generator().manual_seed(settings.seed)
    step = 0

    def logits(batch: Batch) -> Tensor:
        return model(batch.src_ids, batch.tgt_in)

    def learn(number: int) -> None:
        nonlocal step
        for _ in range(number):
            set_rates(optimisers, settings.share_of_rate_at(step))
            batch = task.sample_batch(generator, settings.batch_size)
            loss = F.cross_entropy(logits(batch).flatten(0, 1), batch.tgt_out.flatten(), ignore_index=PAD)
            update(model, optimisers, loss, settings)
            loss.item()
            step += 1

    return Learner("our recipe", learn, logits, settings.num_steps)


def with_adam(name: str, task: Task, model: nn.Module, logits: Callable[[Batch], Tensor], **limits: int) -> Learner:
    """The recipe of tutorials."""
    optimiser = torch.optim.Adam(model.parameters(), lr=ADAM_RATE)
    generator = torch.Generator().manual_seed(limits["seed"])
    model.train()

    def learn(number: int) -> None:
        for _ in range(number):
            batch = task.sample_batch(generator, BATCH)
            loss = F.cross_entropy(logits(batch).flatten(0, 1), batch.tgt_out.flatten(), ignore_index=PAD)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            loss.item()  # every recipe looks at its loss

    return Learner(name, learn, logits, limits["max_steps"])


def plain(task: Task, **limits: int) -> Learner:
    model = Plain(task)
    return with_adam("nn.Transformer", task, model, lambda batch: model(batch.src_ids, batch.tgt_in), **limits)


def x_transformer(task: Task, **limits: int) -> Learner:
    from x_transformers import Decoder, Encoder, TransformerWrapper

    sizes = {"dim": WIDTH, "depth": LAYERS, "heads": HEADS, "attn_dim_head": WIDTH // HEADS, "attn_flash": True}
    encoder = TransformerWrapper(num_tokens=len(task.src_vocab), max_seq_len=64, attn_layers=Encoder(**sizes))
    layers = Decoder(cross_attend=True, **sizes)
    decoder = TransformerWrapper(num_tokens=len(task.tgt_vocab), max_seq_len=64, attn_layers=layers)

    def logits(batch: Batch) -> Tensor:
        real = batch.src_ids != PAD
        memory = encoder(batch.src_ids, mask=real, return_embeddings=True)
        return decoder(batch.tgt_in, context=memory, context_mask=real)

    return with_adam("x-transformers", task, nn.ModuleList([encoder, decoder]), logits, **limits)


def bart(task: Task, **limits: int) -> Learner:
    from transformers import BartConfig, BartForConditionalGeneration

    sides = {f"{side}_{what}": count for side in ("encoder", "decoder")
             for what, count in (("layers", LAYERS), ("attention_heads", HEADS), ("ffn_dim", FFN))}  # fmt: skip
    sizes = {"vocab_size": max(len(task.src_vocab), len(task.tgt_vocab)), "d_model": WIDTH, "pad_token_id": PAD}
    no_dropout = {"dropout": 0.0, "attention_dropout": 0.0, "activation_dropout": 0.0, "use_cache": False}
    model = BartForConditionalGeneration(BartConfig(**sizes, **sides, **no_dropout, max_position_embeddings=64))

    def logits(batch: Batch) -> Tensor:
        mask = (batch.src_ids != PAD).long()
        return model(input_ids=batch.src_ids, attention_mask=mask, decoder_input_ids=batch.tgt_in).logits

    return with_adam("BART", task, model, logits, **limits)


@torch.no_grad()
def whole_answers_right(learner: Learner, task: Task, examples: list[Example]) -> float:
    """The share answered rightly. A model says an answer if each of its tokens is the likeliest next one."""
    pairs = [(example.source, target) for example in examples for target in example.targets]
    owners = [number for number, example in enumerate(examples) for _ in example.targets]
    batch = make_batch(task, pairs)
    said = learner.logits(batch).argmax(-1)
    right = ((said == batch.tgt_out) | (batch.tgt_out == PAD)).all(1).tolist()
    return len({owner for owner, ok in zip(owners, right, strict=True) if ok}) / len(examples)


def ours(task: Task, seed: int, **changes: int) -> list[Learner]:
    settings = our_settings(task, seed, **changes)
    return [this_project(settings), our_recipe(task, settings)]


def others(task: Task, seed: int, max_steps: int) -> list[Learner]:
    torch.manual_seed(seed)  # they draw from the global generator
    return [make(task, seed=seed, max_steps=max_steps) for make in (plain, x_transformer, bart)]


def run(task: Task, seed: int, max_steps: int) -> list[Learner]:
    """All five, until each has reached the mark."""
    learners = [*ours(task, seed), *others(task, seed, max_steps)]
    examples = task.examples_of("validation", NUM_EXAMPLES)
    while waiting := [one for one in learners if not one.reached and one.steps < one.max_steps]:
        for learner in waiting:
            number = min(BLOCK, learner.max_steps - learner.steps)
            begin = time.process_time()
            learner.learn(number)
            learner.seconds.append(time.process_time() - begin)
            learner.steps += number
            learner.score = whole_answers_right(learner, task, examples)
            learner.reached = learner.score >= MARKS[task.name]
    return learners


def seconds_per_step(task: Task, seed: int) -> list[float]:
    """Of all five side by side, with batches of the same size."""
    blocks = 1 + TIMED_BLOCKS
    learners = [*ours(task, seed, batch_size=BATCH, num_steps=BLOCK * blocks), *others(task, seed, max_steps=BLOCK)]
    seconds: list[list[float]] = [[] for _ in learners]
    for _ in range(blocks):
        for learner, taken in zip(learners, seconds, strict=True):
            begin = time.process_time()
            learner.learn(BLOCK)
            taken.append((time.process_time() - begin) / BLOCK)
    return [statistics.median(taken[1:]) for taken in seconds]  # the first block loads and compiles


def tokens_in_a_batch(task: Task, seed: int) -> float:
    """Source and target tokens, padding not counted, on average."""
    generator = torch.Generator().manual_seed(seed)
    batches = [task.sample_batch(generator, BATCH) for _ in range(100)]
    return statistics.mean(int((batch.src_ids != PAD).sum() + (batch.tgt_out != PAD).sum()) for batch in batches)


def report(task: Task, learners: list[Learner], steps: list[float], tokens: float) -> None:
    titles = f"{'steps':>6} {'score':>6} {'seconds':>8} {'× ours':>7} {'ms a step':>10} {'× ours':>7} {'tokens/s':>9}"
    print(f"\n{task.name}, until {100 * MARKS[task.name]:.0f} % of whole answers are right; steps of {BATCH} examples")
    print(f"{'':16} {titles}")
    for one, step in zip(learners, steps, strict=True):
        total, ours = sum(one.seconds), sum(learners[0].seconds)
        more = " " if one.reached else "+"  # it had not got there
        learnt = f"{one.steps:6} {one.score:6.2f} {total:7.1f}{more} {total / ours:6.2f}{more}"
        print(f"{one.name:16} {learnt} {1000 * step:10.1f} {step / steps[0]:7.2f} {tokens / step:9.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--tasks", nargs="+", choices=MARKS, default=list(MARKS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-steps", type=int, default=2000, help="after which one of the others is given up")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", message="enable_nested_tensor")  # said of every pre-norm nn.Transformer
    for name in options.tasks:
        task = get_task(name)
        learners = run(task, options.seed, options.max_steps)
        report(task, learners, seconds_per_step(task, options.seed), tokens_in_a_batch(task, options.seed))


if __name__ == "__main__":
    main()
