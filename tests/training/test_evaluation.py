"""Scores of models whose behaviour is known beforehand."""

import math

import numpy as np
import pytest
import torch

from attention import EncoderDecoder, ModelConfig, StackConfig, greedy_decode
from attention.cross_attention import Memory
from attention.metrics.alignment import alignment_score
from attention.model import Encoded, Output, PerKind
from attention.tasks import END, PAD, START, Example, get_task
from attention.training.evaluation import Accuracy, Apart, Scores, evaluate, evaluate_apart

reverse = get_task("reverse")
CONFIG = ModelConfig(
    encoder=StackConfig(d_model=22, num_heads=2, num_layers=1),
    decoder=StackConfig(d_model=22, num_heads=1, num_layers=1),
    src_vocab_size=29,
    tgt_vocab_size=29,
)


class Known(EncoderDecoder):
    """A "model" that says the source backwards, replaces every 'x', and looks at the letter it says."""

    def forward(self, src_ids, tgt_ids, need_maps=True, generator=None):
        return self.decode(tgt_ids, self.encode(src_ids), need_maps)

    def encode(self, src_ids, need_maps=True, generator=None):
        return Encoded(Memory(src_ids, None), ())

    def step(self, ids, cache):
        before, _ = cache.read(ids != PAD)
        so_far = torch.zeros(len(ids), before + 1, dtype=torch.long)  # which tokens these are does not matter here
        return self.decode(so_far, Encoded(cache.memory, ()), need_maps=False).logits[:, -1:], (), ()

    def decode(self, tgt_ids, encoded, need_maps=True, generator=None):
        src_ids = encoded.memory.hidden
        (rows, q_len), kv_len = tgt_ids.shape, src_ids.shape[1]
        logits, weights = torch.zeros(rows, q_len, 29), torch.zeros(rows, 1, q_len, kv_len)
        x, y = reverse.tgt_vocab.encode("xy")
        for row, source in enumerate(src_ids.tolist()):
            length = source.index(END)
            for t in range(q_len):
                position = max(length - 1 - t, 0)
                said = END if t >= length else source[position]
                logits[row, t, y if said == x else said] = 1.0
                weights[row, 0, t, position] = 1.0
        if not need_maps:
            return Output(logits, None, None, None)
        mask = torch.ones(len(weights), 1, 1, weights.shape[-1], dtype=torch.bool)
        return Output(logits, PerKind((), (), (weights,)), None, PerKind((), (), (mask,)))


def example(word: str, *others: str) -> Example:
    source, target = tuple(word), tuple(reversed(word))
    targets = (target, *map(tuple, others))
    return Example(source, targets, tuple(reverse.gold_alignment(source, t) for t in targets))


def test_a_perfect_model():
    scores = evaluate(Known(CONFIG), reverse, [example("abc"), example("fedcb")], batch_size=2)
    assert scores.token_accuracy == scores.sequence_accuracy == 1.0
    assert scores.alignment == ((1.0,),)
    assert (scores.num_examples, scores.num_aligned) == (2, 8)
    assert scores.diagonal == scores.same_index == 2 / 8  # the middle letters of both


def test_known_mistakes_are_counted():
    # "axb" costs one of three letters and the whole sequence; ends are not counted
    scores = evaluate(Known(CONFIG), reverse, [example("axb"), example("cdefg")], batch_size=1)
    assert scores.token_accuracy == 7 / 8
    assert scores.sequence_accuracy == 1 / 2
    assert scores.alignment == ((1.0,),)  # it looked at the right place all the same


def test_any_right_answer_counts_and_the_best_one_for_tokens():
    scores = evaluate(Known(CONFIG), reverse, [example("axb", "bya")])
    assert scores.sequence_accuracy == scores.token_accuracy == 1.0
    assert scores.num_aligned == 3  # only the first answer has gold


def test_without_gold_alignment_is_nan():
    nothing = Example(("a", "b"), (("b", "a"),), (None,))
    scores = evaluate(Known(CONFIG), reverse, [nothing])
    assert math.isnan(scores.alignment[0][0])
    assert math.isnan(scores.diagonal)
    assert scores.num_aligned == 0


def test_no_examples_are_refused():
    with pytest.raises(ValueError, match="no examples"):
        evaluate(Known(CONFIG), reverse, [])


class Told(type(reverse)):
    """String reversal, with strings that begin with "x" said to resemble training."""

    def resemble_training(self, examples):
        return [example.source[0] == "x" for example in examples]


def test_accuracies_apart_are_those_of_the_two_kinds_of_examples_alone():
    resembling = [example("xab"), example("xb"), example("xxabcd")]
    rest = [example("abc"), example("ax"), example("bcdefgh"), example("ba")]
    mixed = [rest[0], *resembling, *rest[1:]]
    scores, apart = evaluate_apart(Known(CONFIG), Told(), mixed, batch_size=3)
    assert scores == evaluate(Known(CONFIG), reverse, mixed)
    for part, examples, all_right in ((apart.resembling, resembling, 0), (apart.rest, rest, 3)):
        alone = evaluate(Known(CONFIG), reverse, examples)
        assert part == Accuracy(alone.token_accuracy, alone.sequence_accuracy, len(examples))
        assert part.sequence_accuracy == all_right / len(examples)  # the model gets every "x" wrong
    assert Apart.from_dict(apart.to_dict()) == apart


def test_accuracy_of_a_kind_without_examples_is_no_number():
    _, apart = evaluate_apart(Known(CONFIG), Told(), [example("abc")])
    assert math.isnan(apart.resembling.token_accuracy) and apart.resembling.num_examples == 0
    assert apart.to_dict()["resembling"] == {"token_accuracy": None, "sequence_accuracy": None, "num_examples": 0}


def test_a_task_that_cannot_tell_has_no_accuracies_apart():
    assert evaluate_apart(Known(CONFIG), reverse, [example("abc")])[1] is None


def test_scores_as_json_types():
    scores = evaluate(Known(CONFIG), reverse, [example("axb")])
    assert Scores.from_dict(scores.to_dict()) == scores


def test_batching_changes_nothing_and_a_plain_loop_agrees():
    """Words one at a time, unpadded, first answer by first answer."""
    spelling = get_task("spelling")
    config = ModelConfig(
        encoder=StackConfig(d_model=22, num_heads=2, num_layers=1),
        decoder=StackConfig(d_model=22, num_heads=11, head_dim=3, num_layers=2),
        src_vocab_size=len(spelling.src_vocab),
        tgt_vocab_size=len(spelling.tgt_vocab),
    )
    model = EncoderDecoder(config, seed=7).double()
    examples = spelling.held_out(limit=37)
    scores = evaluate(model, spelling, examples, batch_size=17)

    right = total = sequences = sounds = 0
    hits = np.zeros((2, 11))
    for one in examples:
        src = torch.tensor([spelling.encode_source(one.source)])
        found = []
        for target, gold in zip(one.targets, one.alignments, strict=True):
            ids = spelling.tgt_vocab.encode(target)
            with torch.no_grad():
                out = model(src, torch.tensor([[START, *ids]]))
            found.append((sum(a == b for a, b in zip(out.logits[0].argmax(-1).tolist(), ids, strict=False)), len(ids)))
            if gold:
                sounds += len(gold)
                for layer, weights in enumerate(out.maps.cross):
                    hits[layer] += len(gold) * alignment_score(weights[0].numpy(), gold)
        best = max(found, key=lambda pair: pair[0] / pair[1])
        right, total = right + best[0], total + best[1]
        (said,) = greedy_decode(model, src, spelling.max_tgt_len(len(one.source)))
        sequences += any(said == [*spelling.tgt_vocab.encode(target), END] for target in one.targets)
        assert PAD not in said

    assert scores.token_accuracy == right / total
    assert scores.sequence_accuracy == sequences / len(examples)
    assert scores.num_aligned == sounds
    np.testing.assert_allclose(scores.alignment, hits / sounds, rtol=1e-12)


def test_heads_that_do_not_read_the_source_have_no_alignment():
    task = get_task("reverse")
    stacks = StackConfig(d_model=8, num_heads=2, num_layers=1), StackConfig(d_model=8, num_heads=4, head_dim=4)
    config = ModelConfig(*stacks, kv="extra", src_vocab_size=len(task.src_vocab), tgt_vocab_size=len(task.tgt_vocab))
    found = evaluate(EncoderDecoder(config).eval(), task, task.held_out()[:5])
    assert [[np.isnan(score) for score in layer] for layer in found.alignment] == [[False, False, True, True]] * 2
