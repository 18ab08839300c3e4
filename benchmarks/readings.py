"""How well the shipped pinyin models read the characters that are read in several ways.

    python -m benchmarks.readings

Held-out phrases, the right syllables before given (teacher forcing). To compare: a rule that knows no neighbours and
always says the reading that the character has most often in the training phrases.
"""

from collections import Counter, defaultdict

import torch

from attention.checkpoints import DIRECTORY, shipped
from attention.model import EncoderDecoder
from attention.tasks import Example, Task, get_task, make_batch
from attention.tasks.pinyin.phrases import phrases
from attention.training.stored import load_weights


def usual_readings() -> dict[str, str]:
    """The most frequent reading of each character in the training phrases."""
    counts: dict[str, Counter] = defaultdict(Counter)
    for phrase, readings in phrases().readings.items():
        if get_task("pinyin").part_of(tuple(phrase)) == "training":
            for char, syllable in zip(phrase, readings[0], strict=True):
                counts[char][syllable] += 1
    return {char: found.most_common(1)[0][0] for char, found in counts.items()}


@torch.no_grad()
def said(model: EncoderDecoder, task: Task, examples: list[Example]) -> list[tuple[str, ...]]:
    """What the model says for each example when the right syllables before are given."""
    batch = make_batch(task, [(example.source, example.targets[0]) for example in examples])
    best = model(batch.src_ids, batch.tgt_in, need_maps=False).logits.argmax(-1).tolist()
    return [task.tgt_vocab.decode(row[: len(example.source)]) for row, example in zip(best, examples, strict=True)]


def share_right(examples: list[Example], answers: list[tuple[str, ...]], several: frozenset[str]) -> float:
    """Of the characters in `several`, the share whose syllable is right."""
    right = [
        answer == syllable
        for example, spoken in zip(examples, answers, strict=True)
        for char, syllable, answer in zip(example.source, example.targets[0], spoken, strict=True)
        if char in several
    ]
    return sum(right) / len(right)


def main() -> None:
    task, several, usual = get_task("pinyin"), phrases().several_readings, usual_readings()
    examples = task.held_out()
    count = sum(char in several for example in examples for char in example.source)
    print(f"{count:,} held-out characters that are read in several ways")
    by_rule = [tuple(usual.get(char, "") for char in example.source) for example in examples]
    print(f"always the usual reading: {share_right(examples, by_rule, several):.3f}")
    for (name, config), card in shipped().items():
        if name == "pinyin":
            model = load_weights(DIRECTORY / f"{card.name}.safetensors", config)
            print(f"{card.name}: {share_right(examples, said(model, task, examples), several):.3f}")


if __name__ == "__main__":
    main()
