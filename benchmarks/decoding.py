"""How long a full decoding of held-out words takes, with the keys and values kept and with the prefix read again.

    python -m benchmarks.decoding [--words 500] [--repeats 7]

Both keep the memory. One reads only the newest token in each step (`greedy_decode`), the other the whole prefix. They
take turns on one thread, and processor time is taken, so that a busy machine matters little; the answers have to agree.
"""

import argparse
import statistics
import time
from dataclasses import replace

import torch

from attention import EncoderDecoder, ModelConfig, StackConfig, greedy_decode
from attention.checkpoints import load
from attention.config import END, PAD, START
from attention.tasks import get_task
from attention.tasks.base import pad


@torch.no_grad()
def decode_without_cache(model: EncoderDecoder, src_ids: torch.Tensor, max_len: int) -> list[list[int]]:
    """What `greedy_decode` gives, with the memory kept and the whole prefix read again for each token."""
    encoded = model.encode(src_ids, need_maps=False)
    tgt_ids = torch.full((len(src_ids), 1), START)
    finished = torch.zeros(len(src_ids), dtype=torch.bool)
    while tgt_ids.shape[1] <= max_len and not finished.all():
        logits = model.decode(tgt_ids, encoded, need_maps=False).logits[:, -1]  # (batch, tgt_vocab_size)
        logits[:, [PAD, START]] = -torch.inf
        chosen = logits.argmax(-1).masked_fill(finished, PAD)
        tgt_ids = torch.cat([tgt_ids, chosen[:, None]], dim=1)
        finished |= chosen == END
    return [[token for token in row if token != PAD] for row in tgt_ids[:, 1:].tolist()]


def seconds(decode, *args) -> tuple[float, list[list[int]]]:
    begin = time.process_time()
    rows = decode(*args)
    return time.process_time() - begin, rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--words", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    torch.set_num_threads(1)

    task = get_task("spelling")
    config = ModelConfig(
        encoder=StackConfig(d_model=64, num_heads=4),
        decoder=StackConfig(d_model=64, num_heads=8),
        src_vocab_size=len(task.src_vocab),
        tgt_vocab_size=len(task.tgt_vocab),
        bias=True,
    )
    examples = task.held_out(options.words)
    src_ids = pad([task.encode_source(example.source) for example in examples])
    limit = task.max_tgt_len(max(len(example.source) for example in examples))
    models = {"8 K/V heads (shipped)": load("spelling", config)[0]}
    one_head = replace(config, decoder=replace(config.decoder, num_kv_heads=1))
    models["1 K/V head (random weights)"] = EncoderDecoder(one_head).eval()

    print(f"{len(examples)} held-out words, limit {limit} tokens, one thread, {options.repeats} turns, medians")
    for name, model in models.items():
        kept, again = [], []
        for _ in range(options.repeats + 1):  # the first turn warms up
            first, with_cache = seconds(greedy_decode, model, src_ids, limit)
            second, without = seconds(decode_without_cache, model, src_ids, limit)
            if with_cache != without:
                raise SystemExit(f"{name}: the two do not say the same")
            kept.append(first)
            again.append(second)
        kept, again = kept[1:], again[1:]
        steps = max(map(len, with_cache))
        ratio = statistics.median(b / a for a, b in zip(kept, again, strict=True))
        print(
            f"{name}: {steps} steps; cache {statistics.median(kept):.3f} s, "
            f"prefix again {statistics.median(again):.3f} s: {ratio:.1f} × faster"
        )


if __name__ == "__main__":
    main()
